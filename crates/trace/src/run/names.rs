//! Names of servers by the answers of DNS that a file holds: whoever was datagram an address connects to it under that name.
//!
//! It is of one file alone, as all that a decoder knows, so that files can be read apart.

use core::net::IpAddr;
use std::collections::BTreeMap;

use rexmit_wire::dns::Datagram;
use rexmit_wire::Headers;

/// Names that are remembered; with more, all are forgotten.
const MOST: usize = 1 << 14;

/// The newest name of each address, by who was datagram it.
#[derive(Debug, Default)]
pub(crate) struct Names(BTreeMap<(IpAddr, IpAddr), String>);

impl Names {
    /// A question or an answer.
    pub fn learn(&mut self, datagram: &Datagram) {
        let Some((name, _)) = &datagram.question else {
            return;
        };
        for address in datagram.answer.iter().flatten() {
            if self.0.len() >= MOST {
                self.0.clear();
            }
            self.0.insert((datagram.asker, *address), name.clone());
        }
    }

    /// The name of a server to which a client sends a SYN.
    #[inline]
    pub fn name(&self, headers: &Headers) -> Option<String> {
        if !headers.flags.syn() || headers.flags.ack() || self.0.is_empty() {
            return None;
        }
        let (client, server) = (headers.flow.src, headers.flow.dst);
        self.0.get(&(client, server)).cloned()
    }
}

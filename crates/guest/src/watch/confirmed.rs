//! When each subflow was confirmed, as the server's packets show it.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use rexmit_time::Time;
use rexmit_wire::TcpPacket;

/// When the server sent the first packet after its SYN-ACK, by the client's end: with it the server answers the client's
/// word that the subflow is there (RFC 8684 §3.2, fourth packet of a join).
#[derive(Clone, Debug, Default)]
pub struct Confirmed(BTreeMap<SocketAddr, Time>);

impl Confirmed {
    /// Takes a packet of the server, sent at `time`.
    pub fn packet(&mut self, packet: &TcpPacket<'_>, time: Time) {
        let flags = packet.flags();
        if !flags.syn() && !flags.rst() {
            let [_, client] = packet.flow().ends();
            self.0.entry(client).or_insert(time);
        }
    }

    /// The client's ends of all subflows, and when each was confirmed.
    pub fn all(&self) -> impl Iterator<Item = (SocketAddr, Time)> + '_ {
        self.0.iter().map(|(client, time)| (*client, *time))
    }

    /// When the subflow to `client` was confirmed.
    #[must_use]
    pub fn at(&self, client: SocketAddr) -> Option<Time> {
        self.0.get(&client).copied()
    }
}

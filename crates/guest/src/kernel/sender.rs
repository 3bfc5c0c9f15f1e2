//! The kernel as the sender of a host's packets: asked at each of them that is dropped or sent again.

use anyhow::Result;
use rexmit_plan::SocketInfo;
use rexmit_tcp::Mechanism;
use rexmit_wire::FlowKey;

use super::counters::{Counters, Reader};
use super::mechanism::{Connection, Ledger};
use super::socket::Inspector;
use crate::interfaces;

/// Asks one network namespace's kernel, measurement by measurement.
pub struct SenderKernel {
    counters: Reader,
    inspector: Inspector,
    ledger: Ledger,
    before: Counters,
    connection: Connection,
}

impl SenderKernel {
    /// For the calling thread's network namespace.
    pub fn open() -> Result<Self> {
        let mut counters = Reader::open()?;
        let before = counters.read()?;
        Ok(Self {
            counters,
            inspector: Inspector::open()?,
            ledger: Ledger::new(before, interfaces::kernel()),
            before,
            connection: Connection {
                sack: false,
                rack: false,
            },
        })
    }

    /// A measurement begins; `rack` as [`Connection::rack`].
    pub fn begin(&mut self, rack: bool) -> Result<()> {
        self.before = self.counters.read()?;
        self.ledger = Ledger::new(self.before, interfaces::kernel());
        self.connection.rack = rack;
        Ok(())
    }

    /// The counters as the measurement began and now.
    pub fn counted(&mut self) -> Result<(Counters, Counters)> {
        Ok((self.before, self.counters.read()?))
    }

    /// What is known of the socket that sends `flow`, if there is one still.
    pub fn info(&mut self, flow: FlowKey) -> Result<Option<SocketInfo>> {
        let [local, remote] = flow.ends();
        self.inspector.ask(local, remote)
    }

    /// What made the kernel send the next retransmission, a packet of `flow`, by the counters: of the whole host, so that
    /// only one connection can be told of at a time. `highest`: it holds the highest sequence number sent.
    pub fn cause(&mut self, flow: FlowKey, highest: bool) -> Result<Mechanism> {
        // Once the socket waits for its last segments to die, it no longer says; SACK stays as it was.
        if let Some(info) = self.info(flow)? {
            self.connection.sack = info.sack;
        }
        let counters = self.counters.read()?;
        Ok(self.ledger.next(counters, self.connection, highest))
    }
}

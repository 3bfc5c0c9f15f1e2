//! What the kernel says at each drop and resend.

use std::collections::BTreeMap;
use std::net::SocketAddr;

use anyhow::Result;
use rexmit_loss::{Event, Resent, Transfer, TransferId};
use rexmit_tcp::{Mechanism, Need};
use rexmit_time::Time;
use rexmit_wire::{FlowKey, TcpPacket};
use serde::Serialize;

use super::Options;
use crate::filter::Observer;
use crate::kernel::counters::{Counters, Reader};
use crate::kernel::mechanism::{Connection, Ledger};
use crate::kernel::socket::{Inspector, SocketInfo};
use crate::nfqueue::Fate;

/// One resend, as the retransmissions table has it.
#[derive(Clone, Debug, Serialize)]
pub struct Resend {
    /// When it was sent.
    pub time_ns: u64,
    /// Its first byte; 1 is the first byte of data.
    pub seq: u64,
    /// Payload bytes.
    pub length_bytes: u32,
    /// It carries the FIN.
    pub fin: bool,
    /// What made the kernel send it.
    pub mechanism: Mechanism,
    /// Whether the receiver lacked it.
    pub need: Need,
    /// When the oldest of its bytes was sent first.
    pub first_sent_ns: Option<u64>,
    /// This copy was dropped too. The tail rule lets every resend pass.
    pub dropped: bool,
}

/// A transfer and what the kernel said of it.
pub struct Watched {
    /// The rule's row.
    pub transfer: Transfer,
    /// The server's socket when the first packet was dropped.
    pub at_drop: Option<SocketInfo>,
    /// Mechanism of the first resend of dropped bytes; without drops, of the first resend.
    pub mechanism: Option<Mechanism>,
    /// All resends, in the order of time.
    pub resends: Vec<Resend>,
    /// The client's initial sequence number, when the handshake was seen.
    pub isn_client: Option<u32>,
    /// The kernel's counters before the transfer and at its end.
    pub counters: (Counters, Counters),
}

/// What was noted of a transfer while it went on.
#[derive(Default)]
struct Notes {
    at_drop: Option<SocketInfo>,
    dropped: bool,
    mechanism: Option<Mechanism>,
    resends: Vec<Resend>,
}

/// Asks the kernel at each event of the rule; lives in the server's network namespace.
pub struct Witness {
    options: Options,
    counters: Reader,
    inspector: Inspector,
    before: Counters,
    ledger: Ledger,
    sack: bool,
    notes: BTreeMap<TransferId, Notes>,
    isn_client: BTreeMap<FlowKey, u32>,
    finished: Vec<Watched>,
    /// Mechanism and need of the packet at hand, if it is a resend.
    resend: Option<(Mechanism, Need)>,
}

impl Witness {
    /// For the calling thread's network namespace.
    pub fn open(options: Options) -> Result<Self> {
        let mut counters = Reader::open()?;
        let before = counters.read()?;
        Ok(Self {
            options,
            counters,
            inspector: Inspector::open()?,
            before,
            ledger: Ledger::new(before),
            sack: false,
            notes: BTreeMap::new(),
            isn_client: BTreeMap::new(),
            finished: Vec::new(),
            resend: None,
        })
    }

    /// Starts afresh.
    pub fn begin(&mut self) -> Result<()> {
        self.before = self.counters.read()?;
        self.ledger = Ledger::new(self.before);
        self.notes.clear();
        self.isn_client.clear();
        self.finished.clear();
        Ok(())
    }

    /// All transfers that are over since [`Witness::begin`].
    pub fn finish(&mut self) -> Result<Vec<Watched>> {
        let after = self.counters.read()?;
        let mut finished = std::mem::take(&mut self.finished);
        for watched in &mut finished {
            watched.counters = (self.before, after);
        }
        Ok(finished)
    }

    fn ask(&mut self, flow: FlowKey) -> Result<Option<SocketInfo>> {
        let (local, remote) = (
            SocketAddr::new(flow.src, flow.src_port),
            SocketAddr::new(flow.dst, flow.dst_port),
        );
        self.inspector.ask(local, remote)
    }

    fn resent(&mut self, resent: &Resent) -> Result<()> {
        // Once the socket waits for its last segments to die, it no longer says; SACK stays as it was.
        if let Some(info) = self.ask(resent.flow)? {
            self.sack = info.sack;
        }
        let connection = Connection {
            sack: self.sack,
            rack: self.options.rack,
        };
        let counters = self.counters.read()?;
        let mechanism = self.ledger.next(counters, connection, resent.highest);
        let need = match resent.need {
            Need::Spurious if self.options.lossy => Need::Unknown,
            need => need,
        };
        self.resend = Some((mechanism, need));
        let notes = self.notes.entry(resent.transfer).or_default();
        if resent.was_dropped || !notes.dropped {
            notes.mechanism.get_or_insert(mechanism);
        }
        notes.resends.push(Resend {
            time_ns: resent.at.as_nanos(),
            seq: resent.span.relative,
            length_bytes: resent.span.len,
            fin: resent.span.fin,
            mechanism,
            need,
            first_sent_ns: resent.first_sent.map(Time::as_nanos),
            dropped: false,
        });
        Ok(())
    }
}

impl Observer for Witness {
    fn event(&mut self, event: &Event) -> Result<()> {
        match event {
            Event::Dropped(dropped) => {
                if self.notes.entry(dropped.transfer).or_default().dropped {
                    return Ok(());
                }
                let info = self.ask(dropped.flow)?;
                let notes = self.notes.entry(dropped.transfer).or_default();
                // A resend before the first drop is none of the dropped bytes.
                (notes.dropped, notes.at_drop, notes.mechanism) = (true, info, None);
            }
            Event::Resent(resent) => self.resent(resent)?,
            Event::Finished(transfer) => {
                let notes = self.notes.remove(&transfer.id).unwrap_or_default();
                self.finished.push(Watched {
                    at_drop: notes.at_drop,
                    mechanism: notes.mechanism,
                    resends: notes.resends,
                    isn_client: self.isn_client.get(&transfer.flow).copied(),
                    counters: (self.before, self.before),
                    transfer: (**transfer).clone(),
                });
            }
            Event::Started(_) | Event::Stalled(_) | Event::Untracked(_) => {}
        }
        Ok(())
    }

    fn fate(&mut self, time: Time, bytes: &[u8], fate: Fate) {
        let resend = self.resend.take();
        if let Ok(packet) = TcpPacket::parse(bytes) {
            if packet.flags().syn() {
                // The SYN-ACK acknowledges the client's SYN.
                self.isn_client
                    .insert(packet.flow(), packet.ack().get().wrapping_sub(1));
            }
        }
        if let Some(buffer) = &self.options.capture {
            buffer.push(time, bytes, comment(fate, resend));
        }
    }
}

/// What a reader of the capture should know of a packet.
fn comment(fate: Fate, resend: Option<(Mechanism, Need)>) -> Option<String> {
    let mut parts = Vec::new();
    if fate == Fate::Drop {
        parts.push("rexmit: dropped".to_owned());
    }
    if let Some((mechanism, need)) = resend {
        parts.push(format!("rexmit: resend mechanism={mechanism} need={need}"));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_name_drops_and_resends() {
        assert_eq!(comment(Fate::Accept, None), None);
        assert_eq!(
            comment(Fate::Drop, None).as_deref(),
            Some("rexmit: dropped")
        );
        let resend = comment(Fate::Accept, Some((Mechanism::Tlp, Need::Needed)));
        assert_eq!(
            resend.as_deref(),
            Some("rexmit: resend mechanism=tlp need=needed")
        );
    }
}

//! How what a loss rule tells, and what the engine knows of its sender, become the rows of a transfer.

use std::collections::BTreeMap;

use anyhow::Result;
use rexmit_loss::{Dropped, Event, Retransmitted, Transfer, TransferId};
use rexmit_tcp::{Mechanism, Need};
use rexmit_time::Time;
use rexmit_wire::{FlowKey, TcpPacket};
use serde::Serialize;

/// The part of a socket's state that explains a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketInfo {
    /// Retransmission timeout, µs, back-off included.
    pub rto_us: u32,
    /// Smoothed round-trip time, µs.
    pub srtt_us: u32,
    /// SACK was negotiated.
    pub sack: bool,
}

/// One retransmission, as the retransmissions table has it.
#[derive(Clone, Debug, Serialize)]
pub struct Retransmission {
    /// When it was sent.
    pub time_ns: u64,
    /// Its first byte; 1 is the first byte of data.
    pub seq: u64,
    /// Payload bytes.
    pub length_bytes: u32,
    /// It carries the FIN.
    pub fin: bool,
    /// What made the sender send it.
    pub mechanism: Mechanism,
    /// Whether the receiver lacked it.
    pub need: Need,
    /// When the oldest of its bytes was sent first.
    pub first_sent_ns: Option<u64>,
    /// This copy was dropped by the rule too.
    pub dropped: bool,
}

/// A transfer and what its sender said of it.
pub struct Watched {
    /// The rule's row.
    pub transfer: Transfer,
    /// The server's socket when the first packet was dropped.
    pub at_drop: Option<SocketInfo>,
    /// Mechanism of the first retransmission of dropped bytes; without drops, of the first retransmission.
    pub mechanism: Option<Mechanism>,
    /// All retransmissions, in the order of time.
    pub retransmissions: Vec<Retransmission>,
    /// The client's initial sequence number, when the handshake was seen.
    pub isn_client: Option<u32>,
}

/// What an engine knows of its sender, asked while the packet that made the rule speak is at hand.
pub trait Sender {
    /// The socket that sends `flow`, if there is one still.
    ///
    /// # Errors
    /// When the engine cannot say.
    fn socket(&mut self, flow: FlowKey) -> Result<Option<SocketInfo>>;

    /// What made the sender send the packet.
    ///
    /// # Errors
    /// When the engine cannot say.
    fn mechanism(&mut self, retransmitted: &Retransmitted) -> Result<Mechanism>;
}

/// What was told of a retransmission.
pub type Label = (Mechanism, Need);

/// What was noted of a transfer while it went on.
#[derive(Default)]
struct Notes {
    at_drop: Option<SocketInfo>,
    dropped: bool,
    mechanism: Option<Mechanism>,
    retransmissions: Vec<Retransmission>,
}

/// The transfers of one measurement.
pub struct Story {
    lossy: bool,
    notes: BTreeMap<TransferId, Notes>,
    isn_client: BTreeMap<FlowKey, u32>,
    finished: Vec<Watched>,
}

impl Story {
    /// Nothing yet. `lossy`: packets may also be lost on the way, so that a retransmission of what the rule let pass may be
    /// needed.
    #[must_use]
    pub fn new(lossy: bool) -> Self {
        Self {
            lossy,
            notes: BTreeMap::new(),
            isn_client: BTreeMap::new(),
            finished: Vec::new(),
        }
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.notes.clear();
        self.isn_client.clear();
        self.finished.clear();
    }

    /// All transfers that are over, in the order of their ends.
    pub fn finish(&mut self) -> Vec<Watched> {
        std::mem::take(&mut self.finished)
    }

    /// Takes what the rule tells; answers what the sender said, when that is of a retransmission.
    ///
    /// # Errors
    /// Those of `sender`.
    pub fn event(&mut self, event: &Event, sender: &mut impl Sender) -> Result<Option<Label>> {
        match event {
            Event::Dropped(dropped) => {
                self.mark_dropped(dropped);
                if !self.notes.entry(dropped.transfer).or_default().dropped {
                    let info = sender.socket(dropped.flow)?;
                    let notes = self.notes.entry(dropped.transfer).or_default();
                    // A retransmission before the first drop is none of the dropped bytes.
                    (notes.dropped, notes.at_drop, notes.mechanism) = (true, info, None);
                }
            }
            Event::Retransmitted(retransmitted) => {
                return self.retransmitted(retransmitted, sender).map(Some)
            }
            Event::Finished(transfer) => {
                let notes = self.notes.remove(&transfer.id).unwrap_or_default();
                self.finished.push(Watched {
                    at_drop: notes.at_drop,
                    mechanism: notes.mechanism,
                    retransmissions: notes.retransmissions,
                    isn_client: self.isn_client.get(&transfer.flow).copied(),
                    transfer: (**transfer).clone(),
                });
            }
            Event::Started(_)
            | Event::AckDropped(_)
            | Event::Stalled(_)
            | Event::Untracked(_)
            | Event::Carried(_) => {}
        }
        Ok(None)
    }

    /// Says of the retransmission at hand that it was lost too.
    fn mark_dropped(&mut self, dropped: &Dropped) {
        let notes = self.notes.get_mut(&dropped.transfer);
        if let Some(retransmission) = notes.and_then(|notes| notes.retransmissions.last_mut()) {
            if retransmission.time_ns == dropped.at.as_nanos()
                && retransmission.seq == dropped.span.relative
            {
                retransmission.dropped = true;
            }
        }
    }

    fn retransmitted(
        &mut self,
        retransmitted: &Retransmitted,
        sender: &mut impl Sender,
    ) -> Result<Label> {
        let mechanism = sender.mechanism(retransmitted)?;
        let need = match retransmitted.need {
            Need::Spurious if self.lossy => Need::Unknown,
            need => need,
        };
        let notes = self.notes.entry(retransmitted.transfer).or_default();
        if retransmitted.was_dropped || !notes.dropped {
            notes.mechanism.get_or_insert(mechanism);
        }
        notes.retransmissions.push(Retransmission {
            time_ns: retransmitted.at.as_nanos(),
            seq: retransmitted.span.relative,
            length_bytes: retransmitted.span.len,
            fin: retransmitted.span.fin,
            mechanism,
            need,
            first_sent_ns: retransmitted.first_sent.map(Time::as_nanos),
            dropped: false,
        });
        Ok((mechanism, need))
    }

    /// Takes a packet of the server as it meets its fate.
    pub fn packet(&mut self, packet: &TcpPacket<'_>) {
        if packet.flags().syn() {
            // The SYN-ACK acknowledges the client's SYN.
            let isn = packet.ack().get().wrapping_sub(1);
            self.isn_client.insert(packet.flow(), isn);
        }
    }
}

/// What a reader of a capture should know of a packet.
#[must_use]
pub fn comment(dropped: bool, retransmission: Option<Label>) -> Option<String> {
    let mut parts = Vec::new();
    if dropped {
        parts.push("rexmit: dropped".to_owned());
    }
    if let Some((mechanism, need)) = retransmission {
        parts.push(format!(
            "rexmit: retransmission mechanism={mechanism} need={need}"
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_name_drops_and_retransmissions() {
        assert_eq!(comment(false, None), None);
        assert_eq!(comment(true, None).as_deref(), Some("rexmit: dropped"));
        let retransmission = comment(false, Some((Mechanism::Tlp, Need::Needed)));
        assert_eq!(
            retransmission.as_deref(),
            Some("rexmit: retransmission mechanism=tlp need=needed")
        );
    }
}

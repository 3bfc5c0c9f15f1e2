//! The packets of a connection that a rule holds.

use std::collections::VecDeque;

use rexmit_time::Time;

use super::losses::Lost;
use super::open::Retransmission;
use crate::{Decision, PacketId};

/// A packet that waits.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Held {
    pub id: PacketId,
    pub start: u64,
    /// Behind the payload.
    pub end: u64,
    /// Behind the FIN, if the packet carries it.
    pub top: u64,
    pub at: Time,
    /// Set as soon as its fate is settled; until the sweep is over it keeps its place in the order.
    pub fate: Option<Decision>,
}

impl Held {
    /// The packet as one that is dropped.
    pub fn lost(&self) -> Lost {
        Lost {
            flow: None,
            start: self.start,
            end: self.end,
            top: self.top,
            at: self.at,
            retransmission: false,
            again: false,
        }
    }

    /// Whether the packet carries data.
    pub fn data(&self) -> bool {
        self.start < self.end
    }
}

/// All packets of a connection that wait, in the order in which they came.
#[derive(Debug, Default)]
pub(crate) struct Waiting {
    pub packets: VecDeque<Held>,
    /// Retransmissions that passed while an earlier copy waits.
    pub retransmissions: Vec<Retransmission>,
    /// When the connection sent its last new packet.
    pub last_new: Time,
}

impl Waiting {
    pub fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// Whether some of `start..top` waits.
    pub fn touches(&self, start: u64, top: u64) -> bool {
        self.packets.iter().any(|h| h.start < top && start < h.top)
    }

    /// Takes out the packets whose fate is settled, in order.
    pub fn settled(&mut self) -> Vec<(PacketId, Decision)> {
        let mut out = Vec::new();
        if self.packets.iter().any(|held| held.fate.is_some()) {
            self.packets.retain(|held| match held.fate {
                Some(fate) => {
                    out.push((held.id, fate));
                    false
                }
                None => true,
            });
        }
        if self.packets.is_empty() {
            self.retransmissions.clear();
        }
        out
    }
}

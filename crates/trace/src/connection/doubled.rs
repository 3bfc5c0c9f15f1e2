//! Packets that the capture holds twice, before and behind a router.

use rexmit_wire::{Flags, Headers, SeqNum};

use super::Connection;
use crate::event::Direction;

/// Packets among which the first copy is looked for: what may pass while a packet is in the router.
pub(super) const RECENT: usize = 64;

/// What tells a packet from all others of its connection for a while: resends have an identification of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub direction: Direction,
    pub seq: SeqNum,
    pub ack: SeqNum,
    pub payload_len: u32,
    pub flags: Flags,
    pub ip_id: u16,
}

impl Mark {
    /// None for a packet without an identification.
    fn of(direction: Direction, headers: &Headers) -> Option<Self> {
        Some(Mark {
            direction,
            seq: headers.seq,
            ack: headers.ack,
            payload_len: headers.payload_len,
            flags: headers.flags,
            // Linux sends 0 where there are no fragments to be told apart.
            ip_id: headers.ip_id.filter(|id| *id != 0)?,
        })
    }
}

impl Connection {
    /// Whether a packet, whose time to live is not the usual one, came by before with a higher one. It is counted then.
    #[cold]
    pub(super) fn is_doubled(&mut self, direction: Direction, headers: &Headers) -> bool {
        let me = direction as usize;
        if headers.ttl > self.ttls[me] {
            self.ttls[me] = headers.ttl;
            return false;
        }
        let Some(mark) = Mark::of(direction, headers) else {
            return false;
        };
        let found = if self.is_marked() {
            self.log
                .marks()
                .rev()
                .take(RECENT)
                .any(|other| other == mark)
        } else {
            self.cold.recent.contains(&mark)
        };
        if found {
            let (packets, bytes) = &mut self.cold.doubled[me];
            *packets = packets.saturating_add(1);
            *bytes += u64::from(headers.payload_len);
        }
        found
    }

    /// Remembers a packet that is not logged, when there were such.
    pub(super) fn remember(&mut self, direction: Direction, headers: &Headers) {
        if self.cold.doubled == [(0, 0); 2] {
            return;
        }
        if self.cold.recent.len() >= RECENT {
            self.cold.recent.pop_front();
        }
        self.cold.recent.extend(Mark::of(direction, headers));
    }
}

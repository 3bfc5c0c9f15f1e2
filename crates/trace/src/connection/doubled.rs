//! Packets that the capture holds more than once: before and behind a router, or of an interface and what is made of it.

use std::collections::VecDeque;

use rexmit_time::{Duration, Time};
use rexmit_wire::headers::Timestamps;
use rexmit_wire::{Flags, Headers, SeqNum};

use super::log::Log;
use super::{Connection, Kept};
use crate::event::Direction;
use crate::sender_view::NO_TIMER;

/// Packets among which the first copy is looked for: what may pass while a packet is in the router.
const RECENT: usize = 64;

/// What comes twice within this time was doubled by the capture.
const AT_ONCE: Duration = Duration::from_micros(500);

/// No packet has a time so much later than one that is recorded behind it, unless the clock was set.
const DISORDERED: Duration = Duration::from_millis(10);

/// SYNs without an identification that come within this time were doubled: those that a delay held up may be as near to each
/// other, but seldom are.
const MOST_APART: Duration = Duration::from_millis(10);

/// What tells a packet from all others of its connection for a while: retransmissions have an identification of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mark {
    pub direction: Direction,
    pub seq: SeqNum,
    pub ack: SeqNum,
    pub payload_len: u32,
    pub flags: Flags,
    pub window: u16,
    pub stamps: Option<(u32, u32)>,
    /// How many SACK blocks it bears.
    pub blocks: u8,
    /// 0 for none: Linux sends 0 where there are no fragments to be told apart.
    pub ip_id: u16,
}

/// What tells a SYN from the same one once more.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct LastSyn {
    at: Time,
    ip_id: Option<u16>,
    stamps: Option<Timestamps>,
    /// It was sent again: it came by before, and is no double.
    again: bool,
    /// The peer's SYN came by once more behind it.
    asked: bool,
}

impl LastSyn {
    /// One that was not sent before.
    pub fn of(at: Time, headers: &Headers) -> Self {
        LastSyn {
            at,
            ip_id: headers.ip_id,
            stamps: headers.timestamps,
            again: false,
            asked: false,
        }
    }
}

impl Mark {
    fn of(direction: Direction, headers: &Headers) -> Self {
        Mark {
            direction,
            seq: headers.seq,
            ack: headers.ack,
            payload_len: headers.payload_len,
            flags: headers.flags,
            window: headers.window,
            stamps: headers.timestamps.map(|stamps| (stamps.value, stamps.echo)),
            blocks: headers.sack.blocks().len() as u8,
            ip_id: headers.ip_id.unwrap_or(0),
        }
    }
}

/// Packets that the capture holds more than once.
#[derive(Debug, Default)]
pub(super) struct Doubles {
    /// Of each side: only the first counts.
    packets: [u32; 2],
    /// The latest packets, once there was one of those and when there is no log.
    recent: VecDeque<(Mark, Time)>,
    /// The last SYN or SYN-ACK of each side.
    pub last_syns: [Option<LastSyn>; 2],
}

impl Doubles {
    /// Packets of a side that came more than once.
    pub fn packets(&self, of: Direction) -> u32 {
        self.packets[of as usize]
    }

    /// Whether there are any.
    fn any(&self) -> bool {
        self.packets != [0; 2]
    }

    /// Whether there is nothing to keep but the last SYNs.
    pub fn is_plain(&self) -> bool {
        !self.any() && self.recent.is_empty()
    }

    fn count(&mut self, of: Direction) {
        let packets = &mut self.packets[of as usize];
        *packets = packets.saturating_add(1);
    }

    /// Remembers a packet that is not logged, when there were such.
    pub fn remember(&mut self, at: Time, direction: Direction, headers: &Headers) {
        if !self.any() {
            return;
        }
        if self.recent.len() >= RECENT {
            self.recent.pop_front();
        }
        self.recent.push_back((Mark::of(direction, headers), at));
    }

    /// Remembers the latest packets of a log that ends, when there were such.
    pub fn remember_latest(&mut self, log: &Log, start: Time) {
        if self.any() {
            let latest = log.len().saturating_sub(RECENT);
            self.recent = log.marks(start).skip(latest).collect();
        }
    }

    /// Whether a SYN or SYN-ACK, of a side that sent `first`, came by just now with the same identification and stamps: a capture at both directions of a
    /// port, say, holds it twice. No timer is as short as that, and a second connection has another number. Without an
    /// identification it may have come a while ago: a timer of a SYN takes longer than others. It is counted then.
    ///
    /// A SYN-ACK behind a SYN that came once more is the answer to that, however soon it follows the first one: two SYNs
    /// that a delay held up come together, and a host answers each copy of one that the network doubled. A capture that
    /// holds packets twice has both copies of a SYN before its answer: the second is nearer to the host.
    #[cold]
    pub fn is_syn(
        &mut self,
        at: Time,
        direction: Direction,
        headers: &Headers,
        first: Option<&Kept>,
    ) -> bool {
        let me = direction as usize;
        let mut last = LastSyn::of(at, headers);
        let before = self.last_syns[me];
        let asked = self.last_syns[1 - me].filter(|syn| syn.again);
        let answers = headers.flags.ack() && before.is_some_and(|syn| syn.asked);
        let same = first.is_some_and(|syn| {
            (syn.seq, syn.flags, syn.options)
                == (headers.seq, headers.flags, headers.syn.unwrap_or_default())
        });
        let soon = |before: LastSyn| {
            if answers || asked.is_some_and(|syn| syn.at > before.at) {
                return false;
            }
            let apart = at.since(before.at);
            let alike = (before.ip_id, before.stamps) == (last.ip_id, last.stamps);
            // Answers to several SYNs may have been held up, too.
            let unnumbered = last.ip_id.unwrap_or(0) == 0 && asked.is_none();
            alike && -AT_ONCE < apart && apart < if unnumbered { MOST_APART } else { AT_ONCE }
        };
        let found = same && before.is_some_and(soon);
        last.again = same && before.is_some() && !found;
        self.last_syns[me] = Some(last);
        if let Some(answer) = &mut self.last_syns[1 - me] {
            // One of an earlier time is of a capture that begins again.
            answer.asked |= same && !headers.flags.ack() && at >= answer.at;
        }
        if found {
            self.count(direction);
        }
        found
    }
}

impl Connection {
    /// Whether a packet, whose time to live is not the usual one, came by before with a higher one: just now, where it has no
    /// identification. It is counted then.
    #[cold]
    pub(super) fn is_doubled(&mut self, at: Time, direction: Direction, headers: &Headers) -> bool {
        let me = direction as usize;
        if headers.ttl > self.ttls[me] {
            self.ttls[me] = headers.ttl;
            return false;
        }
        let mark = Mark::of(direction, headers);
        let found = self
            .latest()
            .any(|(other, then)| other == mark && (mark.ip_id != 0 || at.since(then) < NO_TIMER));
        if found {
            self.cold.doubles.count(direction);
        }
        found
    }

    /// The latest packets, as far as they are remembered, the newest first, and when each came.
    fn latest(&self) -> impl Iterator<Item = (Mark, Time)> + '_ {
        let marked = self.is_marked();
        let logged = marked.then(|| self.log.marks(self.start).rev().take(RECENT));
        let recent = (!marked).then(|| self.cold.doubles.recent.iter().rev().copied());
        logged
            .into_iter()
            .flatten()
            .chain(recent.into_iter().flatten())
    }

    /// Whether the capture has recorded a packet once more: one that is not new came by just now, the same in everything. Of a host
    /// that numbers its packets another has another identification. One that does not sends none twice at the same time; its
    /// acknowledgements may be alike, unless other packets of the connection are recorded more than once. It is counted then.
    #[cold]
    pub(super) fn is_recorded_again(
        &mut self,
        at: Time,
        direction: Direction,
        headers: &Headers,
    ) -> bool {
        let mark = Mark::of(direction, headers);
        let bare = headers.seq_len() == 0;
        let doubles = self.cold.doubles.any();
        let mut found = false;
        let mut numbered = mark.ip_id == 0;
        for (other, then) in self.latest() {
            if numbered && at.since(then) >= AT_ONCE + DISORDERED {
                break;
            }
            if other == mark {
                let apart = at.since(then);
                found |= if mark.ip_id != 0 {
                    -AT_ONCE < apart && apart < AT_ONCE
                } else {
                    apart == Duration::ZERO && mark.blocks == 0 && (doubles || !bare)
                };
            }
            numbered |= other.direction == direction && other.ip_id != mark.ip_id;
        }
        found &= numbered;
        if found {
            self.cold.doubles.count(direction);
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use rexmit_wire::headers::SynOptions;

    use super::*;
    use crate::testing::{bare, flow};

    #[test]
    fn a_syn_that_comes_at_once_with_the_same_identification_is_a_double() {
        let mut doubles = Doubles::default();
        let syn = |id| Headers {
            flags: Flags::SYN,
            ip_id: Some(id),
            syn: Some(SynOptions::default()),
            ..bare(flow(1))
        };
        let first = Kept::syn(Time::ZERO, &syn(7));
        let mut came = |us, id, known: Option<&Kept>| {
            let at = Time::ZERO + Duration::from_micros(us);
            doubles.is_syn(at, Direction::Forward, &syn(id), known)
        };
        assert!(!came(0, 7, None), "the first");
        assert!(came(100, 7, first.as_ref()));
        assert!(!came(200, 8, first.as_ref()), "another packet");
        assert!(!came(900_000, 8, first.as_ref()), "sent again");
        assert_eq!(doubles.packets(Direction::Forward), 1);
        assert!(!doubles.is_plain());
    }
}

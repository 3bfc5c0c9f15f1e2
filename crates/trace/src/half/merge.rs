//! The two streams of packets in the order in which the sender sent and heard them.

use std::collections::VecDeque;

use rexmit_tcp::SackList;
use rexmit_time::{Duration, Time};

use super::clock::Clock;
use super::stamps::Stamps;
use crate::event::Event;

/// Packets that wait to be put into order, at most.
const MOST: usize = 8192;
/// Packets before the first of which comes out: by then the delays are known.
const PRIME: usize = 256;
/// Packets of the sender among which late ones are looked for.
const AHEAD: usize = 64;
/// How long an acknowledgement is held back that no stamp of the sender has confirmed.
const HOLD: Duration = Duration::from_secs(2);

/// A packet of the receiver, with its SACK blocks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack {
    /// The packet.
    pub event: Event,
    /// Its blocks.
    pub blocks: SackList,
}

/// The next in the sender's order.
#[derive(Clone, Copy, Debug)]
pub(super) enum Next {
    /// It sent this, and then that, if anything.
    Sent(Event, Option<Event>),
    /// It heard this, no earlier than that.
    Heard(Ack, Time),
}

/// Packets of both sides that wait.
#[derive(Debug, Default)]
pub(super) struct Merge {
    sent: VecDeque<(u64, Event)>,
    heard: VecDeque<(u64, Ack)>,
    /// Packets so far; their numbers are the monitor's order.
    count: u64,
    /// The newest time on the monitor's clock.
    now: Time,
    primed: bool,
    ended: bool,
    /// Acknowledgement number and echo of what the sender sent last, and when.
    last_ack: Option<rexmit_wire::SeqNum>,
    last_sent: Option<Time>,
    /// Stamp of the acknowledgement that came out last.
    last_stamp: Option<u32>,
}

impl Merge {
    /// The sender's packet came by.
    pub(super) fn sent(&mut self, event: &Event) {
        self.now = self.now.max(event.at);
        self.sent.push_back((self.count, *event));
        self.count += 1;
    }

    /// The receiver's packet came by.
    pub(super) fn heard(&mut self, ack: Ack) {
        self.now = self.now.max(ack.event.at);
        self.heard.push_back((self.count, ack));
        self.count += 1;
    }

    /// No more will come by.
    pub(super) fn end(&mut self) {
        self.primed = true;
        self.ended = true;
        self.now = Time::MAX;
    }

    /// The newest time on the monitor's clock.
    pub(super) const fn now(&self) -> Time {
        self.now
    }

    /// The sender's packets that wait with IP identifications between the two: they come late.
    pub(super) fn sent_between(
        &self,
        a: Option<u16>,
        b: Option<u16>,
    ) -> impl Iterator<Item = &Event> {
        let (a, b) = (a.unwrap_or(0), b.unwrap_or(0));
        let between = move |id: u16| (1..b.wrapping_sub(a)).contains(&id.wrapping_sub(a));
        let waiting = self.sent.iter().take(AHEAD).map(|(_, event)| event);
        waiting.filter(move |event| event.ip_id.is_some_and(between))
    }

    /// The next one, if it is known which that is.
    pub(super) fn next(&mut self, clock: &Clock, stamps: &Stamps) -> Option<Next> {
        if !self.primed {
            if self.count < PRIME as u64 {
                return None;
            }
            self.primed = true;
        }
        let ack_first = match (self.sent.front(), self.heard.front()) {
            (None, None) => return None,
            (Some(_), None) => false,
            (Some(sent), Some(heard)) => self.ack_first(sent, heard, clock, stamps),
            (None, Some((_, ack))) => {
                let due = ack.event.at + clock.delay(true);
                let sure = if ack.event.timestamps.is_some() && due > ack.event.at {
                    due + HOLD
                } else {
                    due
                };
                if self.now <= sure && self.heard.len() < MOST {
                    return None;
                }
                true
            }
        };
        if ack_first {
            let (_, ack) = self.heard.pop_front()?;
            let mut at = ack.event.at + clock.delay(false);
            if let Some(sent) = self.last_sent {
                at = at.max(sent);
            }
            if let Some((value, _)) = ack.event.timestamps {
                self.last_stamp = Some(value);
            }
            Some(Next::Heard(ack, at))
        } else {
            // What was lost before the monitor shows at the next packet.
            if self.sent.len() < 2 && !self.ended && self.heard.len() < MOST {
                return None;
            }
            let (_, event) = self.sent.pop_front()?;
            self.last_sent = Some(stamps.of(&event));
            if event.flags.ack() {
                self.last_ack = Some(event.ack);
            }
            Some(Next::Sent(event, self.sent.front().map(|(_, e)| *e)))
        }
    }

    /// Whether the sender heard `ack` before it sent `event`.
    fn ack_first(
        &self,
        sent: &(u64, Event),
        heard: &(u64, Ack),
        clock: &Clock,
        stamps: &Stamps,
    ) -> bool {
        let ((sent_number, event), (heard_number, ack)) = (sent, heard);
        if sent_number < heard_number {
            return false;
        }
        // What is echoed is the newest stamp at the sender's left edge (RFC 7323 §4.3): a packet that would have moved
        // the echo, and did not, had not come.
        if let (Some((value, _)), Some((_, echo))) = (ack.event.timestamps, event.timestamps) {
            let at_edge = self
                .last_ack
                .is_some_and(|seen| !ack.event.seq.is_after(seen));
            if at_edge && event.flags.ack() {
                let ahead = value.wrapping_sub(echo) as i32;
                if ahead > 0 {
                    return false;
                }
                if ahead < 0 || self.last_stamp.is_none_or(|last| last != value) {
                    return true;
                }
            }
        }
        let full = event.payload_len >= 512;
        ack.event.at + clock.delay(full) <= stamps.of(event)
    }
}

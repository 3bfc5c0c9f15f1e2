//! Where the monitor stood, and the time from there to the sender and back.

use std::collections::VecDeque;

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::merge::NEAR;
use crate::rows::Position;

/// Stamps of the receiver that are remembered.
const REMEMBERED: usize = 1024;
/// A share of the round-trip time below which the monitor counts as next to a host: one tenth.
const NEXT_TO: i64 = 10;

/// The first timeout of a SYN and of a SYN-ACK (RFC 6298 §2; `TCP_TIMEOUT_INIT`).
pub(super) const SYN_TIMEOUT: Duration = Duration::from_secs(1);
/// The part of it by which it may run out late: a timer wheel rounds up to eight of a hundred ticks (`calc_wheel_index`).
const LATEST: i64 = 12;

/// The part of the way to the sender below which the way to the receiver is none.
const NOTHING: i64 = 200;

/// The delays on both sides of the monitor, each the least that was seen.
#[derive(Debug, Default)]
pub(super) struct Delays {
    /// Newest stamps of the receiver in order, each with the time at which it came by first.
    peer: VecDeque<(u32, Time)>,
    /// From the monitor to the sender and back, by small packets and by full ones.
    small: Option<Duration>,
    full: Option<Duration>,
    /// The least of those that took a packet after the handshake.
    later: Option<Duration>,
    /// From the monitor to the receiver and back.
    beyond: Option<Duration>,
    handshake: Handshake,
    /// The end of what the receiver sent first of what the sender has not acknowledged, and when that came by.
    asked: Option<(SeqNum, Time)>,
}

#[derive(Debug, Default)]
struct Handshake {
    /// When the peer's SYN or SYN-ACK came by last before the answer. One sent again comes after a second or more, and
    /// the answer is to that one then.
    syn: Option<Time>,
    /// When the first came by, and the stamps of the first and of the last.
    first: Option<Time>,
    stamps: Option<(u32, u32)>,
    answered: bool,
}

impl Delays {
    /// Nothing known yet; stamps go into `recycled`.
    pub(super) fn within(recycled: VecDeque<(u32, Time)>) -> Self {
        Delays {
            peer: recycled,
            ..Delays::default()
        }
    }

    /// Its collection.
    pub(super) fn leave(self) -> VecDeque<(u32, Time)> {
        self.peer
    }

    /// The receiver's SYN or SYN-ACK came by.
    pub(super) fn peer_syn(&mut self, at: Time, stamp: Option<u32>) {
        let shake = &mut self.handshake;
        if !shake.answered {
            shake.syn = Some(at);
            shake.first.get_or_insert(at);
            let first = shake.stamps.map(|(first, _)| first);
            shake.stamps = stamp.map(|last| (first.unwrap_or(last), last));
        }
    }

    /// When the peer's first SYN came to the sender, whose first answer, a SYN-ACK that came by at `at` and echoes this
    /// stamp, is one to a later SYN. Linux keeps the stamp of the first for all its answers (`tcp_check_req`). An answer to
    /// the first that only now came by would have overtaken the later SYN: it comes sooner after that than the way takes.
    pub(super) fn answered_before(&self, echo: u32, at: Time) -> Option<Time> {
        let shake = &self.handshake;
        let (first, last) = shake.stamps?;
        let (then, again, way) = (shake.first?, shake.syn?, self.later?);
        let to_a_later = echo == first && first != last && at - again >= way / 2;
        to_a_later.then_some(then + way)
    }

    /// When the peer's first SYN came to the sender, whose answer, a SYN-ACK that came by first at `at`, a timer sent once
    /// more: just then it runs out, for a SYN that took no longer than others, and the peer had sent its SYN again. Either
    /// that one cannot have been answered yet, or this is answered besides, by a SYN-ACK that comes by at `following`: of
    /// the timer's and an answer neither is the first.
    pub(super) fn answered_by_timer(&self, at: Time, following: Option<Time>) -> Option<Time> {
        let shake = &self.handshake;
        let (then, again, way) = (shake.first?, shake.syn?, self.later?);
        let fires = then + way + SYN_TIMEOUT;
        let at_timer = |at: Time| at >= fires && at - fires <= SYN_TIMEOUT / LATEST;
        let answers = |at: Time| at_timer(at) || at - again <= way * 2;
        let unanswered = at - again < way;
        let sure = again > then && at_timer(at) && (unanswered || following.is_some_and(answers));
        sure.then_some(then + way)
    }

    /// The sender's answer to it came by.
    pub(super) fn syn_answered(&mut self, at: Time) {
        let shake = &mut self.handshake;
        if let (Some(syn), false) = (shake.syn, shake.answered) {
            shake.answered = true;
            least(&mut self.small, at - syn);
        }
    }

    /// The receiver sent data up to `end`.
    pub(super) fn asked(&mut self, end: SeqNum, at: Time) {
        self.asked.get_or_insert((end, at));
    }

    /// The sender acknowledged what lies below `ack`: that had come to it.
    pub(super) fn answered(&mut self, ack: SeqNum, at: Time) {
        if let Some((end, asked)) = self.asked {
            if !ack.is_before(end) {
                self.asked = None;
                least(&mut self.small, at - asked);
                least(&mut self.later, at - asked);
            }
        }
    }

    /// A packet of the receiver with this stamp came by.
    pub(super) fn peer_stamp(&mut self, value: u32, at: Time) {
        let newer = self
            .peer
            .back()
            .is_none_or(|&(last, _)| value.wrapping_sub(last) as i32 > 0);
        if newer {
            if self.peer.len() == REMEMBERED {
                self.peer.pop_front();
            }
            self.peer.push_back((value, at));
        }
    }

    /// A packet of the sender came by that echoes this stamp: the sender had seen the first packet with it. When that came
    /// by.
    pub(super) fn echoed(&mut self, value: u32, at: Time, full: bool) -> Option<Time> {
        let behind = |v: u32| (v.wrapping_sub(value) as i32) < 0;
        let i = self.peer.partition_point(|&(v, _)| behind(v));
        let &(_, seen) = self.peer.get(i).filter(|p| p.0 == value)?;
        let delay = at - seen;
        least(&mut self.small, delay);
        least(&mut self.later, delay);
        if full {
            least(&mut self.full, delay);
        }
        (!delay.is_negative()).then_some(seen)
    }

    /// An acknowledgement came by so long after what it acknowledges.
    pub(super) fn acknowledged(&mut self, after: Duration) {
        least(&mut self.beyond, after);
    }

    /// From the monitor to the sender and back, as a packet of that size takes; 0 as long as it is unknown.
    pub(super) fn delay(&self, full: bool) -> Duration {
        let known = if full { self.full } else { None };
        known.or(self.small).unwrap_or(Duration::ZERO)
    }

    /// The same, if it is known.
    pub(super) const fn known_delay(&self) -> Option<Duration> {
        self.small
    }

    /// From the monitor to the receiver and back.
    pub(super) const fn beyond(&self) -> Option<Duration> {
        self.beyond
    }

    /// Whether nothing is left of the way to the receiver where a packet may be lost: no time is spent on it.
    pub(super) fn is_at_receiver(&self) -> bool {
        match (self.small, self.beyond) {
            (Some(near), Some(far)) => is_beside(far, near),
            _ => false,
        }
    }

    /// Whether nothing lies between the monitor and the sender where packets wait or are lost.
    pub(super) fn is_beside_sender(&self) -> bool {
        self.position() == Position::Sender && self.delay(true) <= NEAR
    }

    /// Where the monitor stood.
    pub(super) fn position(&self) -> Position {
        match (self.small, self.beyond) {
            (Some(near), Some(far)) => {
                let whole = near + far;
                if near * NEXT_TO <= whole {
                    Position::Sender
                } else if far * NEXT_TO <= whole {
                    Position::Receiver
                } else {
                    Position::Midway
                }
            }
            _ => Position::Unknown,
        }
    }
}

/// Whether the monitor stands beside a host from which it is `near` and back, and `far` from the other: nothing is left of the way
/// there where a packet may be lost.
pub(crate) fn is_beside(near: Duration, far: Duration) -> bool {
    !near.is_negative() && near * NOTHING <= far
}

fn least(of: &mut Option<Duration>, delay: Duration) {
    if !delay.is_negative() {
        *of = Some(of.map_or(delay, |d| d.min(delay)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_with_an_acknowledgement_tells_the_delay() {
        let at = |ms: u64| Time::from_nanos(ms * 1_000_000);
        let mut clock = Delays::default();
        clock.peer_syn(at(0), None);
        // The host looked for its neighbour first.
        clock.syn_answered(at(35));
        assert_eq!(clock.delay(false), Duration::from_millis(35));
        clock.asked(SeqNum::new(101), at(100));
        clock.asked(SeqNum::new(201), at(105));
        clock.answered(SeqNum::new(100), at(112));
        assert_eq!(
            clock.delay(false),
            Duration::from_millis(35),
            "not all of it"
        );
        clock.answered(SeqNum::new(201), at(120));
        assert_eq!(clock.delay(false), Duration::from_millis(20));
        clock.answered(SeqNum::new(201), at(121));
        assert_eq!(clock.delay(false), Duration::from_millis(20));
    }
}

//! The two streams of packets in the order in which the sender sent and heard them.

use std::collections::VecDeque;

use rexmit_tcp::SackList;
use rexmit_time::{Duration, Time};

use super::clock::Delays;
use super::ids::Ids;
use super::order::Order;
use super::stamps::Stamps;
use crate::event::Event;

/// Packets that wait to be put into order, at most.
const MOST: usize = 8192;
/// Packets before the first of which comes out: by then the delays are known.
const PRIME: usize = 256;
/// Packets of the sender among which late ones are looked for.
const AHEAD: usize = 64;
/// Acknowledgements that wait among which those are looked for that the sender had not heard.
const MOST_UNHEARD: usize = 256;
/// A delay up to which a monitor stands next to the sender.
pub(super) const NEAR: Duration = Duration::from_micros(200);
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
    /// It sent this, then, and that after it, if anything.
    Sent(Event, Time, Option<Event>),
    /// It heard this, no earlier than that.
    Heard(Ack, Time),
    /// This never came to it.
    NotHeard(Ack, Time),
}

/// A packet of the sender that waits.
#[derive(Clone, Copy, Debug)]
struct Waiting {
    number: u64,
    event: Event,
    /// When an acknowledgement came by that the sender had not heard when it sent this.
    unheard: Option<Time>,
}

impl Waiting {
    /// When it was sent: no later than its stamp says, nor than what the sender had not heard came to it.
    fn sent(&self, clock: &Delays, stamps: &Stamps) -> Time {
        let at = stamps.sent_at(&self.event);
        match self.unheard {
            Some(unheard) => at.min(unheard + clock.delay(true)),
            None => at,
        }
    }
}

/// A packet of the receiver that waits.
#[derive(Clone, Copy, Debug)]
struct Heard {
    number: u64,
    ack: Ack,
    /// The newest time on the monitor's clock when it came by: its own, unless that clock was set back.
    now: Time,
}

/// Memory for packets of the sender and of the receiver.
#[derive(Debug, Default)]
pub(super) struct Recycled {
    sent: VecDeque<Waiting>,
    heard: VecDeque<Heard>,
}

/// Packets of both sides that wait.
#[derive(Debug, Default)]
pub(super) struct Merge {
    sent: VecDeque<Waiting>,
    heard: VecDeque<Heard>,
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
    /// When the sender sent last without having heard what had come by.
    deaf_at: Option<Time>,
    /// The sender's order, where it is another than the monitor's.
    order: Order,
}

impl Merge {
    /// Nothing yet; packets go into `recycled`.
    pub(super) fn within(recycled: Recycled) -> Self {
        Merge {
            sent: recycled.sent,
            heard: recycled.heard,
            ..Merge::default()
        }
    }

    /// Its collections, for `most` packets of a side at most.
    pub(super) fn leave(mut self, most: usize) -> Recycled {
        self.sent.clear();
        self.sent.shrink_to(most);
        self.heard.clear();
        self.heard.shrink_to(most);
        Recycled {
            sent: self.sent,
            heard: self.heard,
        }
    }

    /// How many packets came by so far.
    pub(super) const fn count(&self) -> u64 {
        self.count
    }

    /// The sender's packet came by. Its place is before those that it left before.
    pub(super) fn sent(&mut self, event: &Event, clock: &Delays, ids: &Ids) {
        self.now = self.now.max(event.at);
        let unheard = self.unheard(event);
        let this = Waiting {
            number: self.count,
            event: *event,
            unheard,
        };
        let after = if clock.delay(true) > NEAR {
            let waiting = self.sent.iter().rev().take(AHEAD);
            self.order
                .passed(event, waiting.map(|sent| &sent.event), ids)
        } else {
            0
        };
        self.sent.insert(self.sent.len() - after, this);
        if unheard.is_some() {
            // It left after those before it.
            for before in self.sent.iter_mut().rev().skip(1).take(AHEAD) {
                if before.unheard.is_some_and(|at| Some(at) <= unheard) {
                    break;
                }
                before.unheard = unheard;
            }
        }
        self.count += 1;
    }

    /// When an acknowledgement came by, of those that wait, of what this packet sends again: the sender had not heard it.
    fn unheard(&self, event: &Event) -> Option<Time> {
        if event.timestamps.is_some() || event.payload_len <= 1 || event.flags.syn() {
            return None;
        }
        let above = |heard: &&Heard| event.seq.is_before(heard.ack.event.ack);
        let heard = self.heard.iter().take(MOST_UNHEARD).find(above)?;
        Some(heard.ack.event.at)
    }

    /// The receiver's packet came by.
    pub(super) fn heard(&mut self, ack: Ack) {
        self.now = self.now.max(ack.event.at);
        self.heard.push_back(Heard {
            number: self.count,
            ack,
            now: self.now,
        });
        self.count += 1;
    }

    /// No more will come by.
    pub(super) fn end(&mut self) {
        self.primed = true;
        self.ended = true;
        self.now = Time::MAX;
    }

    /// How many of them wait.
    pub(super) fn waiting(&self) -> usize {
        self.sent.len() + self.heard.len()
    }

    /// The newest time on the monitor's clock.
    pub(super) const fn now(&self) -> Time {
        self.now
    }

    /// When the first SYN of the sender came by of those that wait.
    pub(super) fn next_syn(&self) -> Option<Time> {
        let mut waiting = self.sent.iter().take(AHEAD);
        let syn = waiting.find(|sent| sent.event.flags.syn());
        syn.map(|sent| sent.event.at)
    }

    /// The receiver's packets that came by up to `at` and wait: the sender had not heard them, by what is known of the way to it.
    pub(super) fn unheard_at(&self, at: Time) -> impl Iterator<Item = &Ack> {
        let waiting = self.heard.iter().take(MOST_UNHEARD);
        let waiting = waiting.map(|heard| &heard.ack);
        waiting.take_while(move |ack| ack.event.at <= at)
    }

    /// The sender's packets that wait with IP identifications between the two: they come late.
    pub(super) fn sent_between(
        &self,
        a: Option<u16>,
        b: Option<u16>,
    ) -> impl Iterator<Item = &Event> {
        let (a, b) = (a.unwrap_or(0), b.unwrap_or(0));
        let between = move |id: u16| (1..b.wrapping_sub(a)).contains(&id.wrapping_sub(a));
        let waiting = self.sent.iter().take(AHEAD).map(|sent| &sent.event);
        waiting.filter(move |event| event.ip_id.is_some_and(between))
    }

    /// Packets of the sender that came by later than those that left after them, and whose places are known, since this was
    /// asked last.
    pub(super) fn came_late(&mut self) -> u32 {
        self.order.came_late()
    }

    /// The next one, if it is known which that is.
    pub(super) fn next(&mut self, clock: &Delays, stamps: &Stamps, ids: &Ids) -> Option<Next> {
        if !self.primed {
            if self.count < PRIME as u64 {
                return None;
            }
            self.primed = true;
        }
        if !self.ended && self.sent.len() < AHEAD && self.heard.len() < MOST_UNHEARD {
            let waiting = self.sent.iter().take(2).map(|sent| &sent.event);
            if self.order.may_come_late(waiting, self.now, ids) {
                return None;
            }
        }
        let ack_first = match (self.sent.front(), self.heard.front()) {
            (None, None) => return None,
            (Some(_), None) => false,
            (Some(sent), Some(heard)) => self.ack_first(sent, heard, clock, stamps),
            (None, Some(Heard { ack, .. })) => {
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
            if self.is_unsure(clock) {
                return None;
            }
            let Heard { ack, .. } = self.heard.pop_front()?;
            let mut at = ack.event.at + clock.delay(false);
            if let Some(sent) = self.last_sent {
                at = at.max(sent);
            }
            if self.was_lost(&ack, clock, stamps) {
                return Some(Next::NotHeard(ack, at));
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
            if self.is_unsure(clock) {
                return None;
            }
            let front = self.sent.pop_front()?;
            let event = front.event;
            let at = front.sent(clock, stamps);
            let at = self.last_sent.map_or(at, |last| at.max(last.min(event.at)));
            self.last_sent = Some(at);
            self.order.came_out(&event);
            if self
                .heard
                .front()
                .is_some_and(|heard| self.had_not_heard(&event, &heard.ack))
            {
                self.deaf_at = Some(at);
            }
            if event.flags.ack() {
                self.last_ack = Some(event.ack);
            }
            Some(Next::Sent(
                event,
                at,
                self.sent.front().map(|next| next.event),
            ))
        }
    }

    /// Without stamps, far from the sender, what comes next is known by what comes later: data that are sent again were
    /// sent before the sender had heard that they had come.
    fn is_unsure(&self, clock: &Delays) -> bool {
        let oldest = match (self.sent.front(), self.heard.front()) {
            (Some(sent), Some(heard)) => sent.event.at.min(heard.ack.event.at),
            (Some(sent), None) => sent.event.at,
            (None, Some(heard)) => heard.ack.event.at,
            (None, None) => return false,
        };
        let stamped = self.heard.front().map_or_else(
            || {
                self.sent
                    .front()
                    .is_some_and(|sent| sent.event.timestamps.is_some())
            },
            |heard| heard.ack.event.timestamps.is_some(),
        );
        !stamped
            && !self.ended
            && clock.delay(true) > NEAR
            && self.sent.len() < AHEAD
            && self.heard.len() < MOST_UNHEARD
            && self.now - oldest < HOLD
    }

    /// Whether an acknowledgement was lost on its way to the sender: a round trip after it was due the sender had not heard
    /// it, and what it sent next it sent when it had heard one that came by later.
    fn was_lost(&self, ack: &Ack, clock: &Delays, stamps: &Stamps) -> bool {
        let (Some(deaf_at), Some(beyond), Some(next)) =
            (self.deaf_at, clock.beyond(), self.sent.front())
        else {
            return false;
        };
        let delay = clock.delay(true);
        if ack.event.at + delay * 2 + beyond >= deaf_at {
            return false;
        }
        // All of them that wait may be earlier.
        let since = |at: Time| at + delay >= deaf_at;
        let first = self.heard.partition_point(|heard| !since(heard.now));
        let mut later = self.heard.range(first..);
        let later = later.find(|later| since(later.ack.event.at));
        later.is_some_and(|later| self.ack_first(next, later, clock, stamps))
    }

    /// Whether the sender sent this for certain before it heard `ack`.
    fn had_not_heard(&self, event: &Event, ack: &Ack) -> bool {
        // What is acknowledged is not sent again.
        event.payload_len > 1 && event.seq.is_before(ack.event.ack) && !event.flags.syn()
            || self.echoes_older(event, ack).is_some_and(|ahead| ahead > 0)
    }

    /// By how much the stamp of `ack` is newer than what `event` echoes, where that tells what came first. What is echoed
    /// is the newest stamp at the sender's left edge (RFC 7323 §4.3): a packet that would have moved the echo, and did not,
    /// had not come.
    fn echoes_older(&self, event: &Event, ack: &Ack) -> Option<i32> {
        let (value, _) = ack.event.timestamps?;
        let (_, echo) = event.timestamps?;
        let at_edge = self
            .last_ack
            .is_some_and(|seen| !ack.event.seq.is_after(seen));
        (at_edge && event.flags.ack()).then_some(value.wrapping_sub(echo) as i32)
    }

    /// Whether the sender heard `ack` before it sent `event`.
    fn ack_first(&self, sent: &Waiting, heard: &Heard, clock: &Delays, stamps: &Stamps) -> bool {
        let (ack, event) = (&heard.ack, &sent.event);
        if sent.number < heard.number {
            return false;
        }
        if self.had_not_heard(event, ack) || sent.unheard.is_some_and(|at| at <= ack.event.at) {
            return false;
        }
        if let (Some(ahead), Some((value, _))) =
            (self.echoes_older(event, ack), ack.event.timestamps)
        {
            if ahead < 0 || self.last_stamp.is_none_or(|last| last != value) {
                return true;
            }
        }
        let full = event.payload_len >= 512;
        let mut delay = clock.delay(full);
        if delay <= NEAR {
            // Beside the sender that is the host's own time, and the handshake's answer is not its quickest.
            delay = delay / 2;
        }
        ack.event.at + delay <= sent.sent(clock, stamps)
    }
}

#[cfg(test)]
mod tests {
    use rexmit_wire::SeqNum;

    use super::*;
    use crate::event::Direction;
    use crate::testing;

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    fn packet(ms: u64, direction: Direction, seq: u32, ack: u32, payload_len: u32) -> Event {
        Event {
            seq: SeqNum::new(seq),
            ack: SeqNum::new(ack),
            payload_len,
            ..testing::event(at(ms), direction)
        }
    }

    /// The delay is 10 ms. Data wait 50 ms in a queue before the monitor: what is sent again there was sent before the
    /// sender heard that it had come.
    #[test]
    fn what_waited_in_a_queue_was_sent_before_what_the_sender_had_not_heard() {
        let mut clock = Delays::default();
        clock.peer_syn(at(0), None);
        clock.syn_answered(at(10));
        let (mut merge, stamps) = (Merge::default(), Stamps::default());
        let ids = Ids::default();
        let data = |ms, seq| packet(ms, Direction::Forward, seq, 1, 1000);
        let ack = |ms, ack| Ack {
            event: packet(ms, Direction::Backward, 1, ack, 0),
            blocks: SackList::default(),
        };
        merge.sent(&data(100, 0), &clock, &ids);
        merge.sent(&data(101, 1000), &clock, &ids);
        merge.heard(ack(102, 1000));
        merge.heard(ack(103, 2000));
        merge.sent(&data(150, 2000), &clock, &ids);
        merge.sent(&data(151, 1000), &clock, &ids);
        merge.end();
        let mut order = Vec::new();
        while let Some(next) = merge.next(&clock, &stamps, &ids) {
            order.push(match next {
                Next::Sent(event, sent, _) => (true, event.seq.get(), sent),
                Next::Heard(ack, heard) => (false, ack.event.ack.get(), heard),
                Next::NotHeard(..) => panic!("none was lost"),
            });
        }
        let expected = [
            (true, 0, at(100)),
            (true, 1000, at(101)),
            (false, 1000, at(112)),
            (true, 2000, at(113)),
            (true, 1000, at(113)),
            (false, 2000, at(113)),
        ];
        assert_eq!(order, expected);
    }

    /// 5 ms to the sender and 5 ms to the receiver. An acknowledgement of 2000 came by at 110 ms; the sender sends what it
    /// acknowledges again at `again`, and something new after a further acknowledgement that came by at 400 ms. Packets
    /// bear the time as their stamp.
    fn kinds(again: u64) -> Vec<&'static str> {
        let mut clock = Delays::default();
        clock.peer_syn(at(0), None);
        clock.syn_answered(at(5));
        clock.acknowledged(Duration::from_millis(5));
        let (mut merge, stamps) = (Merge::default(), Stamps::default());
        let ids = Ids::default();
        let ack = |ms, ack| Ack {
            event: Event {
                timestamps: Some((ms as u32, 0)),
                ..packet(ms, Direction::Backward, 1, ack, 0)
            },
            blocks: SackList::default(),
        };
        let data = |ms, seq, echo| Event {
            timestamps: Some((ms as u32, echo)),
            ..packet(ms, Direction::Forward, seq, 1, 1000)
        };
        merge.sent(&data(100, 0, 50), &clock, &ids);
        merge.sent(&data(101, 1000, 50), &clock, &ids);
        merge.heard(ack(110, 2000));
        merge.sent(&data(again, 0, 50), &clock, &ids);
        merge.heard(ack(400, 3000));
        merge.sent(&data(410, 3000, 400), &clock, &ids);
        merge.end();
        let kind = |next| match next {
            Next::Sent(..) => "sent",
            Next::Heard(..) => "heard",
            Next::NotHeard(..) => "lost",
        };
        core::iter::from_fn(|| merge.next(&clock, &stamps, &ids))
            .map(kind)
            .collect()
    }

    #[test]
    fn what_the_sender_had_not_heard_a_round_trip_later_was_lost() {
        let order = |ack| vec!["sent", "sent", "sent", ack, "heard", "sent"];
        assert_eq!(kinds(300), order("lost"));
        assert_eq!(kinds(118), order("heard"), "it had not come yet");
    }
}

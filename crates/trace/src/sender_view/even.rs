//! The monitor's clock as one that goes on evenly, and both directions by one clock.
//!
//! A clock is set while a capture runs (NTP, a virtual machine that was paused): it goes back, or jumps, and the hosts' own clocks,
//! which their stamps tell, do not. What follows is then moved, so that the time across is what the stamps say; without stamps no
//! time at all is known to have passed. Directions that are recorded by clocks apart are moved by what their order leaves
//! ([`crate::connection`] finds by how much). Rows have the monitor's times again.

use std::collections::VecDeque;

use rexmit_tcp::SackList;
use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::stamps::tick_of;
use crate::event::{Direction, Event};
use crate::rows::Retransmission;

/// Queues of a monitor disorder packets by milliseconds; ntpd sets a clock that is off by 128 ms (`CLOCK_MAX`, ntp_proto.h), others
/// one that is off by less. A clock that goes back by less than this has not been set.
const DISORDER: Duration = Duration::from_millis(20);
/// A difference between the monitor's clock and the hosts' that is no packet's wait, at least.
const LEAST: Duration = Duration::from_millis(200);
/// Such a difference is more than this part of the time that the stamps tell: ticks are not quite as long as they should be.
const PART: i64 = 8;
/// Packets of a side that show a step of the clock.
const PROOF: usize = 2;
/// Packets that wait for such a proof at most.
const MOST_HELD: usize = 64;
/// Packets that wait at most where a direction is recorded late.
const MOST_LATE: usize = 1 << 13;

/// A packet, with its SACK blocks.
type WithBlocks = (Event, SackList);

/// The monitor's clock was set.
#[derive(Clone, Copy, Debug)]
struct ClockStep {
    /// The time of the first packet after it.
    from: Time,
    /// So much was added to the monitor's times before it.
    before: Duration,
    /// Stamps tell the time across it.
    known: bool,
}

/// What came of a side.
#[derive(Clone, Copy, Debug)]
struct Side {
    /// Its first and its last stamp, and when they came by.
    first: Option<(u32, Time)>,
    last: Option<(u32, Time)>,
    /// The end of what it sent, and what it acknowledged.
    top: (SeqNum, SeqNum),
}

/// Packets as they come by, on their way to clocks that go on evenly.
#[derive(Debug, Default)]
pub(super) struct Even {
    /// By how much each direction is recorded late.
    late: [Duration; 2],
    /// So much is added to the monitor's times.
    offset: Duration,
    steps: Vec<ClockStep>,
    sides: [Option<Side>; 2],
    /// The newest time, and whose packet had it.
    newest: Option<(Time, usize)>,
    held: VecDeque<WithBlocks>,
    ended: bool,
}

impl Even {
    /// By how much each direction is recorded late.
    pub fn new(late: [Duration; 2]) -> Self {
        Even {
            late,
            ..Even::default()
        }
    }

    fn is_late(&self) -> bool {
        self.late != [Duration::ZERO; 2]
    }

    /// A packet came by: it is given back if nothing speaks against its time, and nothing waits. Otherwise [`Even::next`] gives it.
    #[inline]
    pub fn came(&mut self, packet: WithBlocks) -> Option<WithBlocks> {
        let (event, blocks) = packet;
        if self.is_late() {
            self.put(packet);
            return None;
        }
        let event = self.moved(&event);
        if !self.held.is_empty() || self.is_odd(&event) {
            self.held.push_back(packet);
            return None;
        }
        self.note(event.direction as usize, &event);
        Some((event, blocks))
    }

    /// The next of those that waited.
    pub fn next(&mut self) -> Option<WithBlocks> {
        if self.is_late() {
            return self.next_in_order();
        }
        let &(first, _) = self.held.front()?;
        let moved = self.moved(&first);
        if self.is_odd(&moved) {
            match self.step() {
                Some((across, known)) => {
                    // A time of its own, so that it is known what was before it.
                    let newest = self.newest.map_or(moved.at, |(at, _)| at);
                    let from = (moved.at + across).max(newest + Duration::from_nanos(1));
                    self.steps.push(ClockStep {
                        from,
                        before: self.offset,
                        known,
                    });
                    self.offset = from - first.at;
                }
                None if self.waits() => return None,
                None => {}
            }
        }
        let (event, blocks) = self.held.pop_front()?;
        let event = self.moved(&event);
        self.note(event.direction as usize, &event);
        Some((event, blocks))
    }

    /// A packet with its time on the clock that goes on evenly.
    fn moved(&self, event: &Event) -> Event {
        Event {
            at: event.at + self.offset,
            ..*event
        }
    }

    /// Whether a packet's time is before that of others that came by.
    fn goes_back(&self, event: &Event) -> bool {
        self.newest
            .is_some_and(|(newest, _)| newest - event.at > DISORDER)
    }

    /// No more will come.
    pub fn end(&mut self) {
        self.ended = true;
    }

    fn note(&mut self, of: usize, event: &Event) {
        if self.newest.is_none_or(|(newest, _)| event.at >= newest) {
            self.newest = Some((event.at, of));
        }
        let stamp = stamp_of(event).map(|stamp| (stamp, event.at));
        let side = self.sides[of].get_or_insert(Side {
            first: stamp,
            last: stamp,
            top: (event.range().end, event.ack),
        });
        side.first = side.first.or(stamp);
        side.last = stamp.or(side.last);
        let (end, ack) = side.top;
        side.top = (later(end, event.range().end), later(ack, event.ack));
    }

    /// Whether a packet's time cannot be: it is before that of others that came by, or its sender's stamps deny it.
    #[inline]
    fn is_odd(&self, event: &Event) -> bool {
        let Some((newest, _)) = self.newest else {
            return false;
        };
        let denied = || self.denied(event).is_some_and(|by| by != Duration::ZERO);
        self.goes_back(event) || (event.at - newest > LEAST && denied())
    }

    /// By how much more the monitor's clock went on since the last packet of a side than its own clock; 0 where that is nothing.
    /// None where its clock is not known.
    fn denied(&self, event: &Event) -> Option<Duration> {
        let side = self.sides[event.direction as usize]?;
        let ((first, begun), (last, then)) = (side.first?, side.last?);
        let ticks = |from: u32, to: u32| i64::from(to.wrapping_sub(from) as i32);
        let tick = tick_of((then - begun).as_nanos(), ticks(first, last))?;
        let span = Duration::from_nanos(ticks(last, stamp_of(event)?).saturating_mul(tick));
        let by = (event.at - then) - span;
        let back = self.newest.is_some_and(|(newest, _)| event.at < newest);
        let least = if back { DISORDER } else { LEAST };
        let enough = least.max(Duration::from_nanos(3 * tick)).max(span / PART);
        let is_enough = by.max(-by) >= enough;
        Some(if is_enough { by } else { Duration::ZERO })
    }

    /// Whether a packet says something that its side had not said: a file that holds the same packets once more goes back, too.
    fn is_new(&self, event: &Event) -> bool {
        let side = self.sides[event.direction as usize];
        side.is_none_or(
            |Side {
                 top: (end, ack), ..
             }| {
                let acks = event.flags.ack() && event.ack.is_after(ack);
                event.range().end.is_after(end) || acks
            },
        )
    }

    /// How the monitor's clock was set before the first packet that waits: what is to be added to the times from there on, and
    /// whether stamps tell it. None where it was not, or where that cannot be told yet.
    fn step(&self) -> Option<(Duration, bool)> {
        let (newest, whose) = self.newest?;
        let mut proof = [0; 2];
        let mut back = [0; 2];
        let mut by: Option<[Duration; 2]> = None;
        for (event, _) in &self.held {
            let event = self.moved(event);
            let of = event.direction as usize;
            back[of] += usize::from(self.goes_back(&event));
            if let Some(denied) = self.denied(&event) {
                if denied == Duration::ZERO {
                    return None;
                }
                proof[of] += 1;
                let [least, most] = by.unwrap_or([denied; 2]);
                by = Some([least.min(denied), most.max(denied)]);
            }
        }
        // Waits only add to it.
        let alike = |&[least, most]: &[Duration; 2]| {
            let size = least.max(-least);
            most - least <= size / PART + LEAST / 4
        };
        let told = by.filter(alike).map(|[least, _]| least);
        let (first, _) = self.held.front()?;
        let silence = first.at + self.offset - newest;
        // Of both sides, or of the one whose packets came last.
        let new = self.held.iter().any(|(event, _)| self.is_new(event));
        let set = new && back[whose] > 0 && (self.ended || back[0] + back[1] > PROOF);
        if set {
            let told = told.filter(|by| by.is_negative());
            return Some(told.map_or((-silence, false), |by| (-by, true)));
        }
        let shown = |of: usize| proof[of] >= PROOF || (self.ended && proof[of] > 0);
        let by = told.filter(|_| shown(0) && shown(1))?;
        let at_once = by.is_negative() || silence * PART >= by * (PART - 1);
        at_once.then_some((-by, true))
    }

    /// Whether what waits may yet show how the clock was set.
    fn waits(&self) -> bool {
        if self.ended || self.held.len() >= MOST_HELD {
            return false;
        }
        let denies = |(event, _): &WithBlocks| {
            let event = self.moved(event);
            self.goes_back(&event) || self.denied(&event).is_none_or(|by| by != Duration::ZERO)
        };
        self.held.iter().all(denies)
    }

    /// Puts a packet among those that wait, by its time.
    fn put(&mut self, (mut event, blocks): WithBlocks) {
        let recorded = event.at;
        event.at = recorded - self.late[event.direction as usize];
        let before = |(other, _): &WithBlocks| other.at <= event.at;
        let place = self.held.iter().rposition(before).map_or(0, |at| at + 1);
        self.held.insert(place, (event, blocks));
        if self.newest.is_none_or(|(newest, _)| recorded > newest) {
            self.newest = Some((recorded, event.direction as usize));
        }
    }

    /// The next in order, where a direction is recorded late: none of it can be missing by then.
    fn next_in_order(&mut self) -> Option<WithBlocks> {
        let (newest, _) = self.newest?;
        let late = self.late[0].max(self.late[1]);
        let (first, _) = self.held.front()?;
        let due = self.ended || self.held.len() > MOST_LATE || first.at <= newest - late;
        due.then(|| self.held.pop_front()).flatten()
    }

    /// How often the monitor's clock was set, and by how much at most.
    pub fn steps(&self) -> (u64, Duration) {
        let after = self.steps.iter().skip(1).map(|step| step.before);
        let after = after.chain([self.offset]);
        let sizes = self.steps.iter().zip(after);
        let sizes = sizes.map(|(step, after)| after - step.before);
        let most = sizes.map(|by| by.max(-by)).max();
        (self.steps.len() as u64, most.unwrap_or(Duration::ZERO))
    }

    /// Whether the clock was set between these two, by an amount that nothing tells.
    pub fn is_unknown(&self, from: Time, to: Time) -> bool {
        let across = |step: &ClockStep| from < step.from && step.from <= to;
        self.steps.iter().any(|step| !step.known && across(step))
    }

    /// The monitor's time of a packet.
    fn recorded(&self, at: Time, direction: Direction) -> Time {
        let step = self.steps.iter().find(|step| at < step.from);
        let offset = step.map_or(self.offset, |step| step.before);
        at - offset + self.late[direction as usize]
    }

    /// Gives a row the monitor's times.
    pub fn record(&self, row: &mut Retransmission) {
        if self.steps.is_empty() && !self.is_late() {
            return;
        }
        let (own, peer) = (row.direction, row.direction.reversed());
        row.time = self.recorded(row.time, own);
        row.first_sent = row.first_sent.map(|at| self.recorded(at, own));
        let witness = &mut row.witness;
        witness.timeout_at = witness.timeout_at.map(|at| self.recorded(at, own));
        for at in [
            &mut witness.duplicate_at,
            &mut witness.sacked_at,
            &mut witness.later_at,
            &mut witness.partial_at,
        ] {
            *at = at.map(|at| self.recorded(at, peer));
        }
    }
}

fn later(one: SeqNum, other: SeqNum) -> SeqNum {
    if other.is_after(one) {
        other
    } else {
        one
    }
}

/// The stamp of a packet that tells its sender's clock: a reset may echo another's, and a stack may begin anew after its SYN.
fn stamp_of(event: &Event) -> Option<u32> {
    let tells = !event.flags.rst() && !event.flags.syn();
    event.timestamps.filter(|_| tells).map(|(value, _)| value)
}

#[cfg(test)]
mod tests {

    use super::*;
    use crate::testing;

    /// Data each 50 ms, and what acknowledges them 19 ms later, with the stamps of clocks of 1 ms.
    fn exchange(count: u32, stamps: bool) -> Vec<Event> {
        let event = |us: u64, direction, seq: u32, ack: u32, payload_len| Event {
            seq: SeqNum::new(seq),
            ack: SeqNum::new(ack),
            payload_len,
            timestamps: stamps.then_some(((us / 1_000) as u32, 7)),
            ..testing::event(Time::from_nanos(1_000_000_000_000 + us * 1_000), direction)
        };
        let exchange = |of: u32| {
            let at = u64::from(of) * 50_000;
            [
                event(at, Direction::Backward, of * 100, 1, 100),
                event(at + 19_000, Direction::Forward, 1, of * 100 + 100, 0),
            ]
        };
        (0..count).flat_map(exchange).collect()
    }

    /// What the packets from number `from` on become where the monitor's clock is set by so many milliseconds before.
    fn set(packets: &[Event], from: usize, ms: i64) -> (Even, Vec<Event>) {
        let by = Duration::from_millis(ms);
        let moved = packets.iter().enumerate().map(|(number, event)| Event {
            at: event.at + if number < from { Duration::ZERO } else { by },
            ..*event
        });
        let mut even = Even::new([Duration::ZERO; 2]);
        let mut all = Vec::new();
        let mut take = |even: &mut Even, first: Option<WithBlocks>| {
            all.extend(first);
            while let Some(next) = even.next() {
                all.push(next);
            }
        };
        for event in moved {
            let first = even.came((event, SackList::default()));
            take(&mut even, first);
        }
        even.end();
        take(&mut even, None);
        (even, all.into_iter().map(|(event, _)| event).collect())
    }

    #[test]
    fn a_clock_that_was_set_is_set_right_by_the_stamps_of_the_hosts() {
        let packets = exchange(40, true);
        for ms in [-100_000, -400, -128, 300, 5_000, 100_000] {
            for from in [20, 21, 76] {
                let (even, right) = set(&packets, from, ms);
                assert_eq!(right, packets, "{ms} ms at {from}");
                let (steps, most) = even.steps();
                assert_eq!(
                    (steps, most.max(-most)),
                    (1, Duration::from_millis(ms.abs()))
                );
                let (before, after) = (packets[from - 1].at, packets[from].at);
                assert!(!even.is_unknown(before, after));
                assert_eq!(even.recorded(before, Direction::Forward), before);
                let recorded = even.recorded(after, Direction::Forward);
                assert_eq!(recorded - after, Duration::from_millis(ms));
            }
        }
    }

    #[test]
    fn without_stamps_nothing_tells_the_time_across_a_step_back() {
        let packets = exchange(40, false);
        let (even, right) = set(&packets, 20, -400);
        assert!(right.is_sorted_by_key(|event| event.at));
        assert_eq!(even.steps().0, 1);
        assert!(even.is_unknown(right[19].at, right[20].at));
        assert!(!even.is_unknown(right[18].at, right[19].at));
        assert!(!even.is_unknown(right[20].at, right[21].at));
    }

    #[test]
    fn a_wait_of_packets_is_no_clock_that_was_set() {
        // Those of one side wait for seconds, and what they call for comes later, too; its own clock shows that.
        let mut packets = exchange(40, true);
        for event in &mut packets[40..] {
            let late = Duration::from_secs(3);
            event.at += late;
            if event.direction == Direction::Forward {
                event.timestamps = event.timestamps.map(|(value, echo)| (value + 3_000, echo));
            }
        }
        let (even, right) = set(&packets, 0, 0);
        assert_eq!((even.steps().0, right), (0, packets));
    }

    #[test]
    fn a_packet_that_was_overtaken_is_no_clock_that_was_set() {
        for stamps in [false, true] {
            let mut packets = exchange(40, stamps);
            packets[30].at += Duration::from_millis(-90);
            let (even, right) = set(&packets, 0, 0);
            assert_eq!((even.steps().0, right), (0, packets));
        }
    }

    #[test]
    fn the_same_packets_once_more_are_no_clock_that_was_set() {
        let mut packets = exchange(40, true);
        packets.extend(packets.clone());
        let (even, right) = set(&packets, 0, 0);
        assert_eq!((even.steps().0, right), (0, packets));
    }

    #[test]
    fn a_direction_that_is_late_stands_where_it_was_sent() {
        let packets = exchange(40, false);
        let by = Duration::from_millis(300);
        let mut moved = packets.clone();
        for event in &mut moved {
            event.at += if event.direction == Direction::Backward {
                by
            } else {
                Duration::ZERO
            };
        }
        moved.sort_by_key(|event| event.at);
        let mut even = Even::new([Duration::ZERO, by]);
        let mut right = Vec::new();
        for event in moved {
            right.extend(even.came((event, SackList::default())));
            right.extend(core::iter::from_fn(|| even.next()));
        }
        even.end();
        right.extend(core::iter::from_fn(|| even.next()));
        let right: Vec<_> = right.into_iter().map(|(event, _)| event).collect();
        assert_eq!(right, packets);
        let recorded = even.recorded(packets[4].at, Direction::Backward);
        assert_eq!(recorded - packets[4].at, by);
    }
}

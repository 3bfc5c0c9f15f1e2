//! The order in which packets of the sender left, where they overtook each other before the monitor.
//!
//! Stamps never go back (RFC 7323 §5.4), and a sender that counts the packets of this connection alone numbers them as they
//! leave. A packet that came by late is put where it left, and where one is missing the next ones wait for it as long as
//! packets here come late.

use rexmit_time::{Duration, Time};

use super::ids::Ids;
use crate::event::{packets_of, Event, ETHERNET};

/// Packets by which one may come late, at most.
const FAR: u32 = 64;
/// How late a packet may come, in parts of the most that one came late so far.
const LATER: i64 = 2;

/// What is known of the sender's order.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// The most that a packet came by later than one that had left after it.
    most_late: Duration,
    /// The identification of the packet that came out last, and for how many it stands.
    last: Option<(Option<u16>, u32)>,
    late: u32,
}

impl Order {
    /// Before how many of those that wait, the newest first, this packet left.
    pub(super) fn passed<'e>(
        &mut self,
        event: &Event,
        waiting: impl Iterator<Item = &'e Event>,
        ids: &Ids,
    ) -> usize {
        let mut overtook = None;
        let mut passed = 0;
        for (place, other) in waiting.enumerate() {
            match left_before(event, other, ids) {
                Some(true) => {
                    passed = place + 1;
                    overtook = Some(other);
                }
                // Nothing tells, or they left at once.
                None | Some(false) => break,
            }
        }
        let Some(overtook) = overtook else { return 0 };
        self.most_late = self.most_late.max(event.at - overtook.at);
        self.late += u32::from(event.payload_len > 0 && event.seq.is_before(overtook.seq));
        passed
    }

    /// How many came late since this was asked last.
    pub(super) fn came_late(&mut self) -> u32 {
        core::mem::take(&mut self.late)
    }

    /// Whether a packet that is missing before one of the next may come late only.
    pub(super) fn may_come_late<'e>(
        &self,
        next: impl Iterator<Item = &'e Event>,
        now: Time,
        ids: &Ids,
    ) -> bool {
        if self.most_late == Duration::ZERO || !ids.count_own() {
            return false;
        }
        let mut before = self.last;
        for event in next {
            let missing =
                before.is_some_and(|(id, packets)| ids.between(id, event.ip_id, packets) > 0);
            if missing && now - event.at <= self.most_late * LATER {
                return true;
            }
            before = Some((event.ip_id, packets_of(event.payload_len, ETHERNET)));
        }
        false
    }

    /// This one came out.
    pub(super) fn came_out(&mut self, event: &Event) {
        self.last = Some((event.ip_id, packets_of(event.payload_len, ETHERNET)));
    }
}

/// Whether `a` left before `b`, if that is known.
fn left_before(a: &Event, b: &Event, ids: &Ids) -> Option<bool> {
    if a.flags.syn() || b.flags.syn() || a.flags.rst() || b.flags.rst() {
        return Some(false);
    }
    let stamped = match (a.timestamps, b.timestamps) {
        (Some((a, _)), Some((b, _))) => a.wrapping_sub(b) as i32,
        _ => 0,
    };
    if !ids.count_own() || a.ip_id == Some(0) || b.ip_id == Some(0) {
        return (stamped != 0).then_some(stamped < 0);
    }
    match ids.before(a.ip_id, b.ip_id) {
        // So far apart are numbers of a network card, which counts in other steps for a super-segment.
        Some(true) if ids.between(a.ip_id, b.ip_id, 0) > FAR => Some(stamped < 0),
        // What the stamps refute was numbered otherwise.
        Some(true) => Some(stamped <= 0),
        Some(false) => Some(stamped < 0),
        None => Some(false),
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

    fn packet(ms: u64, segment: u32, id: u16, stamp: Option<u32>) -> Event {
        Event {
            seq: SeqNum::new(segment * 1000),
            ack: SeqNum::new(1),
            payload_len: 1000,
            ip_id: Some(id),
            timestamps: stamp.map(|stamp| (stamp, 0)),
            ..testing::event(at(ms), Direction::Forward)
        }
    }

    fn counting() -> Ids {
        let mut ids = Ids::new(true).sorted();
        (1..10).for_each(|id| ids.learn(Some(id), SeqNum::new(id.into()), 1));
        ids
    }

    /// Before how many of three that wait a packet left.
    fn place(id: u16, stamp: Option<u32>, ids: &Ids) -> usize {
        let waiting = [13, 12, 10].map(|id| packet(20, id, id as u16, stamp.map(|_| id)));
        let late = packet(25, 11, id, stamp);
        Order::default().passed(&late, waiting.iter(), ids)
    }

    #[test]
    fn what_came_late_is_put_where_it_left() {
        assert_eq!(place(11, None, &counting()), 2);
        assert_eq!(place(14, None, &counting()), 0);
        assert_eq!(place(11, Some(11), &counting()), 2);
        // Stamps refute it.
        assert_eq!(place(11, Some(14), &counting()), 0);
        let card = packet(20, 13, 11 + 256, None);
        let (mut order, late) = (Order::default(), packet(25, 14, 11, None));
        assert_eq!(order.passed(&late, [&card].into_iter(), &counting()), 0);
        // Only stamps tell.
        let unknown = Ids::default();
        assert_eq!(place(11, Some(11), &unknown), 2);
        assert_eq!(place(11, None, &unknown), 0);
    }

    #[test]
    fn what_follows_a_missing_one_waits_as_long_as_packets_come_late() {
        let ids = counting();
        let mut order = Order::default();
        order.came_out(&packet(20, 10, 10, None));
        let after = packet(30, 12, 12, None);
        let waits = |order: &Order, ms| order.may_come_late([&after].into_iter(), at(ms), &ids);
        assert!(!waits(&order, 31), "none has come late so far");
        assert_eq!(
            order.passed(
                &packet(25, 8, 8, None),
                [&packet(20, 10, 10, None)].into_iter(),
                &ids
            ),
            1
        );
        assert_eq!((order.came_late(), order.came_late()), (1, 0));
        assert!(waits(&order, 40) && !waits(&order, 41), "5 ms late at most");
        order.came_out(&packet(29, 11, 11, None));
        assert!(!waits(&order, 40), "none is missing");
    }
}

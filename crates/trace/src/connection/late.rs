//! One direction of a connection that the capture records late: acknowledgements stand before the data that they acknowledge.
//!
//! Taps of two fibres are put together by clocks that differ, or by buffers that are emptied in turn; so are interfaces of one file.
//! Where one shift makes every order possible, the direction is moved by it. Else times between the two directions tell nothing.

use rexmit_tcp::Need;
use rexmit_time::{Duration, Time};
use rexmit_wire::{Headers, SeqNum};

use super::{Cold, Common, Connection, BOTH};
use crate::cost::Waits;
use crate::event::{Direction, Event};
use crate::rows::{Evidence, Retransmission, SenderRow};

/// Packets behind their acknowledgements from which on the direction counts as recorded late: one may have been reordered.
const ENOUGH: u32 = 3;

/// Of a direction, what was sent first or acknowledged first, and when.
type First = (SeqNum, Time);

/// Queues of the monitor may disorder packets that are so near each other.
const DISORDER: Duration = Duration::from_millis(1);

/// What came of a direction behind its acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Late {
    /// The highest acknowledgement of what had not come by, and when it came first.
    acked: Option<(SeqNum, Time)>,
    /// Packets that came behind it, in their order, and the longest that one did.
    packets: u32,
    longest: Duration,
}

impl Late {
    /// The other side acknowledges up to `ack`, which has not come by.
    pub fn acked(&mut self, ack: SeqNum, at: Time) {
        if self.acked.is_none_or(|(known, _)| ack.is_after(known)) {
            self.acked = Some((ack, at));
        }
    }

    /// The next packet of the direction came by.
    pub fn came(&mut self, headers: &Headers, at: Time) {
        let Some((ack, then)) = self.acked else {
            return;
        };
        if headers.range().end.is_after(ack) {
            self.acked = None;
        } else {
            self.packets += 1;
            self.longest = self.longest.max(at - then);
        }
    }

    const fn is_late(&self) -> bool {
        self.packets >= ENOUGH
    }
}

/// What says that a direction is recorded late.
#[derive(Debug, Default)]
pub(super) struct Lateness {
    /// What came of each direction behind its acknowledgement.
    pub of: [Late; 2],
    /// A direction's first packet came behind its acknowledgement.
    pub behind: bool,
    /// Packets of an earlier time than the one before.
    back: u32,
    /// By how much each direction is recorded late, once that was looked for.
    pub by: Option<[Duration; 2]>,
}

impl Lateness {
    /// A packet has an earlier time than the one that came by before it, by so much.
    #[cold]
    pub fn goes_back(&mut self, by: Duration) {
        self.back = self.back.saturating_add(u32::from(by > DISORDER));
    }

    /// Whether a direction is recorded late, and by how much at most; the SYN came by so long after its answer.
    pub fn longest(&self, syn: Option<Duration>) -> Option<Duration> {
        let late = self.of.iter().filter(|late| late.is_late());
        let syn = syn.filter(|after| *after > DISORDER);
        late.map(|late| late.longest).chain(syn).max()
    }

    /// Whether no packet came before one of an earlier time.
    pub fn is_plain(&self) -> bool {
        self.back == 0
    }

    /// Whether any order is odd.
    fn is_odd(&self, syn: Option<Duration>) -> bool {
        self.longest(syn).is_some() || self.behind || self.back >= ENOUGH
    }
}

impl Connection {
    /// By how much each direction is recorded late, as far as one shift for all its packets tells. It is looked for once, before the
    /// first sender view is made.
    pub(super) fn late_by(&mut self) -> [Duration; 2] {
        if let Some(late) = self.cold.lateness.by {
            return late;
        }
        let (log, start) = (&self.log, self.start);
        let Cold {
            syns,
            lateness,
            sacks,
            ..
        } = &mut *self.cold;
        let packets = || log.iter(start, sacks).map(|(event, _)| event);
        let backward = if lateness.is_odd(syns.late()) && self.logging {
            shift(packets).unwrap_or(Duration::ZERO)
        } else {
            Duration::ZERO
        };
        let late = [
            (-backward).max(Duration::ZERO),
            backward.max(Duration::ZERO),
        ];
        lateness.by = Some(late);
        if backward != Duration::ZERO {
            syns.shift(backward, packets());
        }
        late
    }

    /// Where a direction is moved, each that sent anything is to have a sender view. Whether one is.
    pub(super) fn view_both_if_moved(&mut self) -> bool {
        let moved = self.late_by() != [Duration::ZERO; 2];
        if moved && self.logging {
            BOTH.into_iter().for_each(|of| self.have_viewed(of));
        }
        moved
    }

    /// Counts a connection of which a direction is recorded late, and whether it was moved.
    pub(super) fn count_late(&mut self, common: &mut Common) {
        let late = self.late_by();
        let by = late[0].max(late[1]);
        if by > Duration::ZERO {
            common.moved = (common.moved.0 + 1, common.moved.1.max(by));
        } else if let Some(longest) = self.cold.lateness.longest(self.cold.syns.late()) {
            common.late = (common.late.0 + 1, common.late.1.max(longest));
        }
    }
}

/// Takes back what only times between the directions say of the retransmissions of a direction.
pub(super) fn doubt(
    of: Direction,
    rows: &mut Vec<Retransmission>,
    sender: &mut SenderRow,
    waits: &mut Waits,
) {
    rows.retain_mut(|row| {
        if row.direction != of || row.evidence.is_told_without_times() {
            return true;
        }
        if !row.shown && row.evidence == Evidence::AlreadyAcked {
            sender.count_again(row, None);
            waits.remove(row.time, row.waited);
            return false;
        }
        sender.count_again(row, Some(Need::Unknown));
        (row.need, row.evidence) = (Need::Unknown, Evidence::None);
        row.need_confidence = 0.0;
        true
    });
}

/// By how much the packets of the backward direction are recorded late, or early, if they are: every acknowledgement and every echo
/// then comes after what it acknowledges or echoes. What leaves as much before that as behind it is taken. None where they are not,
/// or where no shift makes all orders possible.
fn shift<P: Iterator<Item = Event>>(packets: impl Fn() -> P) -> Option<Duration> {
    let mut bounds = Bounds::default();
    for of in BOTH {
        let (mut sent, mut acked, mut stamps, mut echoes) = (vec![], vec![], vec![], vec![]);
        for event in packets().filter(|event| !event.flags.rst()) {
            let stamped = event.timestamps.filter(|_| !event.flags.syn());
            if event.direction == of {
                let end = event.range().end;
                note(&mut sent, end, event.at, !event.range().is_empty());
                let (value, known) = stamped.map_or((0, false), |(value, _)| (value, true));
                note(&mut stamps, SeqNum::new(value), event.at, known);
            } else {
                note(&mut acked, event.ack, event.at, event.flags.ack());
                let (echo, known) = stamped.map_or((0, false), |(_, echo)| (echo, echo != 0));
                note(&mut echoes, SeqNum::new(echo), event.at, known);
            }
        }
        for (causes, effects) in [(&sent, &acked), (&stamps, &echoes)] {
            bounds.add(of, causes, effects);
        }
    }
    let (least, most) = (bounds.least?, bounds.most?);
    let refuted = least > Duration::ZERO || most < Duration::ZERO;
    (refuted && least <= most && bounds.impossible >= ENOUGH).then(|| least + (most - least) / 2)
}

/// Notes a number that is higher than those before.
fn note(firsts: &mut Vec<First>, number: SeqNum, at: Time, counts: bool) {
    let newer = firsts.last().is_none_or(|(last, _)| number.is_after(*last));
    if counts && newer {
        firsts.push((number, at));
    }
}

/// What the orders of packets leave of the shift of the backward direction.
#[derive(Default)]
struct Bounds {
    least: Option<Duration>,
    most: Option<Duration>,
    /// Packets that stand behind what they caused.
    impossible: u32,
}

impl Bounds {
    /// Packets of direction `of`, each before the first of the other direction that shows that it had come.
    fn add(&mut self, of: Direction, causes: &[First], effects: &[First]) {
        let mut effects = effects.iter().peekable();
        for (number, at) in causes {
            while effects
                .next_if(|(shown, _)| shown.is_before(*number))
                .is_some()
            {}
            let Some((_, shown)) = effects.peek() else {
                return;
            };
            let after = *shown - *at;
            self.impossible += u32::from(after.is_negative());
            if of == Direction::Forward {
                self.most = Some(self.most.map_or(after, |most| most.min(after)));
            } else {
                self.least = Some(self.least.map_or(-after, |least| least.max(-after)));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender_view::position_of;
    use crate::testing::{bare, flow, retransmission};

    #[test]
    fn three_packets_behind_their_acknowledgements_make_a_direction_late() {
        let ms = Duration::from_millis;
        let mut lateness = Lateness::default();
        assert_eq!(lateness.longest(Some(ms(1))), None, "a queue's disorder");
        assert_eq!(lateness.longest(Some(ms(7))), Some(ms(7)));
        let headers = bare(flow(1));
        for n in 1..=3 {
            assert_eq!(lateness.longest(None), None);
            lateness.of[0].acked(headers.seq + 9, Time::ZERO);
            lateness.of[0].came(&headers, Time::ZERO + ms(n));
        }
        assert_eq!(lateness.longest(None), Some(ms(3)));
        lateness.goes_back(ms(1));
        assert!(lateness.is_plain());
        lateness.goes_back(ms(2));
        assert!(!lateness.is_plain());
    }

    #[test]
    fn what_only_times_say_is_taken_back_and_counted_so() {
        let told = |evidence, shown| Retransmission {
            evidence,
            shown,
            ..retransmission()
        };
        let mut rows = vec![
            told(Evidence::Timestamp, true),
            told(Evidence::HoleFilled, true),
            told(Evidence::AlreadyAcked, false),
        ];
        let mut sender = SenderRow::default();
        let place = position_of(rows[0].mechanism);
        sender.retransmissions[place] = [3, 0, 0];
        doubt(
            Direction::Forward,
            &mut rows,
            &mut sender,
            &mut Waits::default(),
        );
        assert_eq!(sender.retransmissions[place], [1, 0, 1]);
        let left: Vec<_> = rows
            .iter()
            .map(|row| (row.need, row.need_confidence))
            .collect();
        assert_eq!(left, [(Need::Needed, 1.0), (Need::Unknown, 0.0)]);
    }
}

//! One direction of a connection that the capture records late: acknowledgements stand before the data that they acknowledge.
//!
//! Taps of two fibres are put together by clocks that differ, or by buffers that are emptied in turn. Of such a connection times
//! between the two directions tell nothing.

use rexmit_tcp::Need;
use rexmit_time::{Duration, Time};
use rexmit_wire::{Headers, SeqNum};

use super::Connection;
use crate::event::Direction;
use crate::rows::{Evidence, Retransmission, SenderRow};

/// Packets behind their acknowledgements from which on the direction counts as recorded late: one may have been reordered.
const ENOUGH: u32 = 3;

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

impl Connection {
    /// Whether a direction is recorded late, and by how much at most.
    pub(super) fn recorded_late(&self) -> Option<Duration> {
        let late = self.cold.late.iter().filter(|late| late.is_late());
        late.map(|late| late.longest).max()
    }

    /// Takes back what only times between the directions say of the retransmissions of a direction.
    pub(super) fn doubt(of: Direction, rows: &mut Vec<Retransmission>, sender: &mut SenderRow) {
        rows.retain_mut(|row| {
            let sure = matches!(row.evidence, Evidence::Dsack | Evidence::Timestamp);
            if row.direction != of || sure {
                return true;
            }
            if !row.shown && row.evidence == Evidence::AlreadyAcked {
                sender.count_again(row, None);
                return false;
            }
            sender.count_again(row, Some(Need::Unknown));
            (row.need, row.evidence) = (Need::Unknown, Evidence::None);
            row.need_confidence = 0.0;
            true
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sender_view::position_of;
    use crate::testing::retransmission;

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
        Connection::doubt(Direction::Forward, &mut rows, &mut sender);
        assert_eq!(sender.retransmissions[place], [1, 0, 1]);
        let left: Vec<_> = rows
            .iter()
            .map(|row| (row.need, row.need_confidence))
            .collect();
        assert_eq!(left, [(Need::Needed, 1.0), (Need::Unknown, 0.0)]);
    }
}

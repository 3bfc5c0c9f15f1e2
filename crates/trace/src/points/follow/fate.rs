//! What became of a packet: it arrived, or was lost there.

use rexmit_tcp::Need;

use super::Follow;
use crate::contain::contain;
use crate::points::order::PointSequence;
use crate::points::rows::{Followed, Lost, PacketKind};
use crate::points::way::{PendingPacket, Way};

/// The same where no packet of the connection has ever come by at another point.
const ALONE: i64 = 2_000_000_000;

impl Follow {
    /// Settles the packets at the head of a way whose fate is known; all of them at its end.
    pub(super) fn settle(&mut self, way: u32, all: bool) {
        let Some(mut of) = self.ways[way as usize].take() else {
            return;
        };
        let settled = contain(|| self.settle_some(&mut of, all));
        self.ways[way as usize] = Some(of);
        if let Err(defect) = settled {
            self.fail_way(way, &defect);
        }
    }

    fn settle_some(&mut self, of: &mut Way, all: bool) {
        let (order, line) = self.course(of);
        while let Some(&number) = of.queue.front() {
            let entry = &self.entries[number as usize];
            // A further point may turn out to be on the way as long as the connection is young.
            let young = if entry.kind == PacketKind::Syn {
                self.longest
            } else {
                ALONE
            };
            let known = line.len() == self.points || self.now.saturating_sub(of.begun) > young;
            let whole =
                known && line.len() > 1 && line.iter().all(|&point| entry.sights[point].is_some());
            let patience = if line.len() > 1 || entry.kind == PacketKind::Syn {
                self.longest
            } else {
                self.longest.min(ALONE)
            };
            if !all && !whole && self.now.saturating_sub(entry.first()) <= patience {
                break;
            }
            of.queue.pop_front();
            let entry = self.forget(number);
            if line.len() > 1 && !order.is_empty() {
                self.fate(of, &line, &entry);
            }
        }
    }

    /// What became of a packet.
    fn fate(&mut self, way: &mut Way, line: &PointSequence, entry: &PendingPacket) {
        let seen = |point: usize| entry.sights[point];
        let Some(first) = line.iter().position(|&point| seen(point).is_some()) else {
            return;
        };
        let last = line
            .iter()
            .rposition(|&point| seen(point).is_some())
            .unwrap_or(first);
        let carries = entry.end > entry.start;
        let (begun, ended) = (line[first], line[last]);
        let (Some(start), Some(stop)) = (seen(begun), seen(ended)) else {
            return;
        };
        #[cfg(test)]
        assert_ne!(
            way.flows[begun].map(|flow| flow.src_port),
            self.fault.or(Some(0))
        );
        for pair in line.windows(2) {
            let between = &mut way.between[pair[0]][pair[1]];
            match (seen(pair[0]), seen(pair[1])) {
                (Some(one), Some(other)) => {
                    between.packets += 1;
                    between.took(other.at - one.at);
                }
                (Some(_), None) => between.packets += 1,
                (None, Some(other)) => {
                    if self.note_outside(pair[0], other.at) {
                        continue;
                    }
                    between.unseen += 1;
                }
                (None, None) => {}
            }
        }
        for pair in line[first..=last].windows(2) {
            if seen(pair[1]).is_none() {
                way.between[pair[0]][pair[1]].missed += 1;
            }
        }
        let mut arrived = last + 1 == line.len();
        let mut lost = None;
        let mut unsure = false;
        if let Some(&next) = line.get(last + 1) {
            let between = &mut way.between[ended][next];
            let acked = carries && way.acked >= entry.end;
            let came = line[last + 1..]
                .iter()
                .any(|&point| way.passed[point].covers(entry.start, entry.end));
            if self.is_outside(next, stop.at) {
                unsure = true;
                between.packets -= 1;
            } else if acked && !came {
                // It was acknowledged, and no copy of it is in the capture.
                between.missed += 1;
                arrived = true;
            } else {
                lost = Some(Lost::Between(ended, next));
                between.lost += 1;
                between.data_lost += u64::from(entry.kind == PacketKind::Data);
                between.acks_lost += u64::from(entry.kind == PacketKind::Ack);
            }
        }
        let mut again = false;
        let mut need = None;
        let mut previous = None;
        if carries {
            let highest = way.sent.highest();
            let below = highest.is_some_and(|highest| entry.start < highest);
            again = below;
            let had_come = way.arrived.covers(entry.start, entry.end);
            if below && !unsure {
                need = Some(if had_come {
                    Need::Spurious
                } else {
                    Need::Needed
                });
                previous = way.lost_before(entry.start, entry.end);
                if !way.sent.meets(entry.start, entry.end) {
                    previous = Some(Lost::Before(line[0]));
                }
            }
            way.sent.add(entry.start, entry.end);
            if arrived {
                way.arrived.add(entry.start, entry.end);
            }
            if let Some(place) = lost {
                way.lose(entry.start, entry.end, place);
            }
        }
        if !again && lost.is_none() {
            return;
        }
        let Some((flow, sequence)) = way.flows[begun].zip(way.line) else {
            return;
        };
        self.rows.followed.push(Followed {
            flow,
            points: (begun, ended),
            times: (start.raw, stop.raw),
            aligned: (start.at, stop.at),
            range: sequence.range(entry.start, entry.end),
            kind: entry.kind,
            again,
            need,
            lost,
            previous,
        });
    }

    /// Takes note of a packet that is not in the capture of a point that it must have passed; whether it is so because that
    /// capture did not run.
    fn note_outside(&mut self, point: usize, at: i64) -> bool {
        let (from, to) = self.spans[point];
        self.late[point] |= at < from;
        self.early[point] |= at > to;
        at < from || at > to
    }

    /// Whether the capture of a point did not run then.
    fn is_outside(&self, point: usize, at: i64) -> bool {
        let (from, to) = self.spans[point];
        (self.late[point] && at < from) || (self.early[point] && at > to)
    }
}

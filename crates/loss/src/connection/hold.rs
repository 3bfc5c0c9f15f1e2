//! The tail by holding its candidates until the FIN shows.

use rexmit_time::Time;

use super::flow::{Flow, Positions};
use super::heads::Responses;
use super::judge::Judged;
use super::out::Out;
use super::tail::in_tail;
use super::waiting::Held;
use crate::{Decision, Event, Note, Stalled, Verdict};

impl Flow {
    /// Judges a packet that was never sent before, in `hold`.
    pub(super) fn judge_by_hold(&mut self, p: &Positions, out: &Out) -> Judged {
        let held = Held {
            id: p.id,
            start: p.start,
            end: p.end,
            top: p.top,
            at: p.at,
            fate: None,
        };
        let may_be_tail = self.may_be_tail(&held, out.drops.tail_segments());
        // A bare FIN right behind a tail that was decided without it, and is still being repaired.
        let tail = self.transfers.iter().find(|t| {
            !may_be_tail
                && !held.data()
                && t.fin == Some(p.start)
                && t.completed.is_none()
                && t.settled
                && t.row.dropped_segments > 0
        });
        if let Some(owner) = tail.map(|t| t.row.id) {
            return (Verdict::Drop, Some(owner));
        }
        // Behind others it waits for its turn: this packet may be what lets them go.
        if may_be_tail || !self.waiting.is_empty() {
            self.waiting.packets.push_back(held);
            self.waiting.last_new = p.at;
            return (Verdict::Hold, None);
        }
        (Verdict::Accept, None)
    }

    /// Whether the packet may turn out to belong to a tail: it lies in a head that is not complete, or so close
    /// to the end of a transfer that the last N segments may reach back to it.
    fn may_be_tail(&self, held: &Held, segments: u32) -> bool {
        let head = self
            .responses
            .head_start()
            .filter(|head| self.spoilt_head.is_none_or(|(spoilt, _)| spoilt != *head));
        let mut undecided = self
            .transfers
            .iter()
            .filter(|t| !t.settled && t.completed.is_none());
        if held.data() {
            let bound = self.largest_to_come();
            head.is_some_and(|head| held.end > head)
                || undecided.any(|t| {
                    t.touches_data(held.start, held.end)
                        && in_tail(held.start, t.end, segments, bound)
                })
        } else {
            // A FIN may overtake data, even the head of the response that it closes.
            let overtook = !self.seen.covers(0, held.start);
            let tracked = matches!(self.responses, Responses::Head(_) | Responses::Body { .. });
            undecided.any(|t| t.fin == Some(held.start)) || (tracked && overtook)
        }
    }

    /// Settles the fate of waiting packets as far as it shows by now.
    pub(crate) fn sweep(&mut self, out: &mut Out) {
        for at in 0..self.transfers.len() {
            let t = &self.transfers[at];
            let whole =
                !t.settled && self.seen.highest >= t.end && self.seen.covers(t.start, t.end);
            if whole && (!t.awaits_fin || self.seen.highest > t.end) {
                self.decide(at, out);
            }
        }
        // A head that the FIN cut off never becomes a transfer.
        if let (Some(head), Some(fin)) = (self.responses.head_start(), self.fin) {
            if self.seen.covers(head, fin.position) {
                self.spoilt_head = Some((head, Note::Ended));
            }
        }
        for at in 0..self.waiting.packets.len() {
            let held = self.waiting.packets[at];
            if held.fate.is_none() && !self.may_be_tail(&held, out.drops.tail_segments()) {
                self.waiting.packets[at].fate = Some(Decision::Accept);
            }
        }
        for (id, decision) in self.waiting.settled() {
            out.release(id, decision);
        }
    }

    /// Drops the last N data segments of a transfer that is known to its end, and its bare FIN.
    fn decide(&mut self, at: usize, out: &mut Out) {
        let t = &mut self.transfers[at];
        t.settled = true;
        let (start, end, fin, owner) = (t.start, t.end, t.fin, t.row.id);
        let tail = self
            .log
            .last_first(start, end)
            .take(out.drops.tail_segments() as usize)
            .last();
        let Some(tail) = tail.map(|segment| segment.start) else {
            return;
        };
        // The data first: a FIN that goes with no lost data (because it came early) passes.
        for data in [true, false] {
            for place in 0..self.waiting.packets.len() {
                let held = self.waiting.packets[place];
                let in_tail = if data {
                    held.data() && held.start >= tail && held.start < end
                } else {
                    !held.data()
                        && fin == Some(held.start)
                        && self.transfers[at].row.dropped_segments > 0
                };
                if in_tail && held.fate.is_none() {
                    self.waiting.packets[place].fate = Some(Decision::Drop);
                    self.lose(&held.lost(), owner, out);
                }
            }
        }
    }

    /// Releases everything that waits, because of `note`.
    pub(crate) fn let_go(&mut self, note: Note, out: &mut Out) {
        let head = self.responses.head_start();
        for held in &mut self.waiting.packets {
            held.fate = Some(Decision::Accept);
            if let Some(head) = head.filter(|head| held.data() && held.end > *head) {
                self.spoilt_head = Some((head, note));
            }
        }
        for (id, decision) in self.waiting.settled() {
            out.release(id, decision);
        }
    }

    /// Lets go of everything, since the sender has been silent for too long.
    pub(crate) fn stall(&mut self, now: Time, out: &mut Out) {
        let released = self.waiting.packets.len();
        self.let_go(Note::HoldStalled, out);
        let mut transfer = None;
        for t in self
            .transfers
            .iter_mut()
            .filter(|t| t.completed.is_none() && !t.settled)
        {
            t.settled = true;
            t.row.stalled = true;
            t.row.notes.push(Note::HoldStalled);
            transfer = transfer.or(Some(t.row.id));
        }
        out.counters.stalls += 1;
        out.events.push_back(Event::Stalled(Stalled {
            flow: self.key,
            transfer,
            released,
            at: now,
        }));
    }
}

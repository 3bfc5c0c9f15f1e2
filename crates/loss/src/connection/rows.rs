//! The transfers of a connection, from their heads to their rows.

use std::collections::VecDeque;

use rexmit_time::{Duration, Time};

use super::flow::Flow;
use super::open::{Asked, Open};
use super::out::Out;
use crate::subflow::Repeats;
use crate::{Drops, Event, Note, Transfer};

/// Most transfers of one connection that wait for their retransmissions.
const OPEN_TRANSFERS: usize = 64;

impl Flow {
    pub(crate) fn open(
        &mut self,
        start: u64,
        head: u64,
        body: u64,
        keep_alive: bool,
        now: Time,
        out: &mut Out,
    ) {
        let id = out.next_transfer();
        let row = Transfer {
            id,
            flow: self.key,
            isn: self.isn,
            head_bytes: head,
            body_bytes: body,
            segments: 0,
            dropped_segments: 0,
            dropped_packets: 0,
            fin_on_data: None,
            mss_bytes: 0,
            exact: false,
            stalled: false,
            complete: false,
            t_start: self
                .log
                .first_sent(start, start + head)
                .map_or(now, |(at, _)| at),
            t_drop: None,
            t_retransmit: None,
            t_first_retransmit: None,
            t_fin_retransmit: None,
            t_end: None,
            is_tlp: None,
            retransmissions: 0,
            spurious_retransmissions: 0,
            notes: Vec::new(),
        };
        self.begun += 1;
        let mut open = Open::new(row, self.begun, start, !keep_alive);
        self.own(&open);
        open.row.segments = self.log.last_first(open.start, open.end).count() as u64;
        // Bytes that a pipelined predecessor's tail took with it.
        let lost: Vec<(u64, u64, Time)> = self
            .log
            .last_first(open.start, open.end)
            .filter(|s| s.dropped)
            .map(|s| (s.start, s.start + u64::from(s.len), s.sent))
            .collect();
        for (start, end, sent) in lost {
            open.drop_packet(start, end, true, sent);
            for (start, end) in self.missing.gaps(start, end) {
                open.repaired_before(start, end);
            }
        }
        if let Some((_, note)) = self.spoilt_head.filter(|(head, _)| *head == start) {
            open.settled = true;
            open.row.stalled = note == Note::HoldStalled;
            open.row.notes.push(note);
        }
        if let Some(fin) = self.fin {
            open.attach_fin(fin.position, fin.on_data);
        }
        // Room for what is about to come, so that it does not grow step by step.
        let expected = open.row.size_bytes() / u64::from(self.largest.max(500));
        self.log.expect(expected.min(1_024) as usize + 2);
        self.transfers.reserve_exact(1);
        self.transfers.push_back(open);
        if self.transfers.len() > OPEN_TRANSFERS && out.told.is_none() {
            if let Some(mut oldest) = self.transfers.pop_front() {
                oldest.row.notes.push(Note::TooManyOpen);
                self.give_row(oldest, out);
            }
        }
    }

    /// Looks which transfers are complete.
    pub(crate) fn complete(&mut self, now: Time, out: &mut Out) {
        let mut any = false;
        for t in &mut self.transfers {
            let held = !self.waiting.is_empty() && self.waiting.touches(t.start, t.top());
            any |= t.complete_now(&self.seen, held, now);
        }
        if any {
            self.give_rows(now, out);
        }
    }

    /// Gives the rows of complete transfers that nothing more is awaited of.
    pub(crate) fn give_rows(&mut self, now: Time, out: &mut Out) {
        let mut at = 0;
        while let Some(t) = self.transfers.get(at) {
            let over = lingers_until(t, out.linger).is_some_and(|until| until <= now);
            match if over {
                self.transfers.remove(at)
            } else {
                None
            } {
                Some(open) => self.give_row(open, out),
                None => at += 1,
            }
        }
        self.forget();
    }

    pub(crate) fn give_row(&mut self, open: Open, out: &mut Out) {
        let asked = match &out.drops {
            Drops::Tail { segments, .. } => Asked::Tail(u64::from(*segments)),
            // Which packets a path carries no length tells: what was dropped is what was asked for.
            Drops::Pattern(pattern) if pattern.has_scopes() || out.told.is_some() => {
                Asked::Segments(open.row.dropped_segments)
            }
            Drops::Pattern(pattern) => {
                let pieces = match out.whole {
                    Some(_) => open.row.segments,
                    None => (open.end - open.start).div_ceil(u64::from(self.largest.max(1))),
                };
                Asked::Segments(pattern.first_losses(pieces))
            }
        };
        let row = open.close(&self.log, asked, self.largest);
        out.events.push_back(Event::Finished(Box::new(row)));
    }

    /// Forgets first transmissions that no open transfer needs.
    pub(crate) fn forget(&mut self) {
        if self.transfers.is_empty() {
            self.transfers = VecDeque::new();
            self.retransmitted = Repeats::default();
        }
        let number = self.transfers.iter().map(|t| t.number).min();
        self.counts.forget_before(number.unwrap_or(self.begun + 1));
        let open = self.transfers.iter().map(|t| t.start).min();
        let needed = open.into_iter().chain(self.responses.head_start()).min();
        self.log.forget_below(needed.unwrap_or(self.seen.highest));
    }
}

/// Until when a complete transfer is watched for further retransmissions; `None` while nothing but the end of the
/// connection or of the measurement closes it.
pub(crate) fn lingers_until(open: &Open, linger: Duration) -> Option<Time> {
    open.completed
        .filter(|_| linger < Duration::MAX)
        .map(|completed| completed + linger)
}

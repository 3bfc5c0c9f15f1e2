//! What is lost and what is sent again, told and noted in every transfer that it touches.

use rexmit_tcp::Need;
use rexmit_time::Time;
use rexmit_wire::FlowKey;

use super::flow::{Flow, Positions};
use super::open::{Open, Retransmission};
use super::out::Out;
use crate::{Carried, Dropped, Event, Note, TransferId};

/// A packet that is dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    /// The subflow, where it went on one.
    pub flow: Option<FlowKey>,
    pub start: u64,
    /// Behind the payload.
    pub end: u64,
    /// Behind the FIN.
    pub top: u64,
    pub at: Time,
    /// Some of its bytes were sent before.
    pub retransmission: bool,
    /// It is told of as one that is sent again.
    pub again: bool,
}

/// What is known of a packet's bytes before it is sent.
#[derive(Debug)]
pub(crate) struct Before {
    /// The first transfer that it touches, and that one's number.
    transfer: Option<(TransferId, u32)>,
    /// When the oldest of its bytes was sent first, and on which path.
    first: Option<(Time, u32)>,
    /// Some were dropped.
    was_dropped: bool,
    need: Need,
    highest: bool,
    /// Those that never passed: they were never sent, or every copy was dropped.
    unpassed: Vec<(u64, u64)>,
}

impl Flow {
    /// What is known of the bytes of a packet that is about to be sent.
    pub(super) fn before(&self, p: &Positions) -> Before {
        let mut touched = self.transfers.iter().filter(|t| t.touches(p.start, p.top));
        let first = touched.clone().next();
        let mut unpassed = Vec::new();
        if !self.seen.covers(p.start, p.top) {
            unpassed = self.seen.gaps(p.start, p.top);
        }
        let missing = self.missing.within(p.start, p.top);
        unpassed.extend(missing.map(|(from, to)| (from.max(p.start), to.min(p.top))));
        Before {
            transfer: first.map(|t| (t.row.id, t.number)),
            first: self.log.first_sent(p.start, p.top),
            was_dropped: touched.any(|t| t.lost(p.start, p.top)),
            need: if !unpassed.is_empty() {
                Need::Needed
            } else if self.waiting.touches(p.start, p.top) {
                Need::Unknown
            } else {
                Need::Spurious
            },
            highest: p.top >= self.seen.highest,
            unpassed,
        }
    }

    /// A packet of which some bytes were sent before.
    pub(super) fn note_retransmission(&mut self, p: &Positions) {
        let held = self.waiting.touches(p.start, p.top);
        let fin_again = p.top > p.end && self.seen.covers(p.end, p.top);
        let retransmission = Retransmission {
            start: p.start,
            top: p.top,
            highest: p.top >= self.seen.highest,
            at: p.at,
        };
        for t in self
            .transfers
            .iter_mut()
            .filter(|t| t.touches(p.start, p.top))
        {
            t.row.retransmissions += 1;
            let (start, top) = (p.start.max(t.start), p.top.min(t.top()));
            let spurious = !self.missing.meets(start, top);
            t.row.spurious_retransmissions += u64::from(spurious && !held);
            t.repair(&retransmission);
            if fin_again && t.fin == Some(p.end) {
                t.repair_fin(p.at);
            }
            if held && !t.row.notes.contains(&Note::RetransmittedWhileHeld) {
                t.row.notes.push(Note::RetransmittedWhileHeld);
            }
        }
        self.missing.remove(p.start, p.top);
        if held {
            self.waiting.retransmissions.push(retransmission);
        }
    }

    /// Tells of a packet, and remembers what of it never passed.
    pub(super) fn tell(&mut self, p: &Positions, before: &Before, dropped: bool, out: &mut Out) {
        for (start, end) in before.unpassed.iter().filter(|_| dropped) {
            self.missing.add(*start, *end);
        }
        let (transfer, need) = if out.told.is_some() {
            let holds = |t: &&Open| (t.start..t.end).contains(&p.start);
            let owner = self.transfers.iter().find(holds);
            let again = p.known || p.carrier.is_some_and(|one| one.before.is_some());
            (
                owner.map(|t| (t.row.id, t.number)),
                again.then_some(before.need),
            )
        } else {
            (before.transfer, Some(before.need))
        };
        let Some((transfer, stretch)) = transfer else {
            return;
        };
        let span = self.span(p.start, p.end, p.top);
        let carrier = p.carrier;
        let data = span.relative.saturating_sub(1);
        out.events.push_back(Event::Carried(Box::new(Carried {
            flow: carrier.map_or(self.key, |carrier| carrier.flow),
            transfer,
            stretch,
            path: carrier.map_or(1, |carrier| carrier.path),
            position: self
                .place
                .filter(|_| carrier.is_some())
                .map(|place| place.number),
            data: data..data + u64::from(span.len),
            span: carrier.map_or(span, |carrier| carrier.span),
            first_sent: before.first.map(|(at, _)| at),
            first_path: before.first.map(|(_, path)| path),
            reinjected: p.known && carrier.is_some_and(|one| one.before.is_none()),
            was_dropped: before.was_dropped,
            need,
            highest: carrier.map_or(before.highest, |carrier| carrier.highest),
            dropped,
            at: p.at,
        })));
    }

    /// Notes a drop in every transfer that it touches.
    pub(crate) fn lose(&mut self, lost: &Lost, owner: TransferId, out: &mut Out) {
        let &Lost {
            flow,
            start,
            end,
            top,
            at,
            retransmission,
            again,
        } = lost;
        let segment = start < end && !retransmission;
        if !retransmission {
            self.missing.add(start, top);
        }
        for retransmission in &self.waiting.retransmissions {
            self.missing
                .remove(retransmission.start, retransmission.top);
        }
        for t in self
            .transfers
            .iter_mut()
            .filter(|t| (t.completed.is_none() || retransmission) && t.touches(start, top))
        {
            t.drop_packet(start, top, segment, at);
            for retransmission in self
                .waiting
                .retransmissions
                .iter()
                .filter(|r| r.start < top && start < r.top)
            {
                // Only what this packet and the retransmission share was lost and is there again.
                let shared = Retransmission {
                    start: retransmission.start.max(start),
                    top: retransmission.top.min(top),
                    highest: retransmission.highest,
                    at: retransmission.at,
                };
                t.repair(&shared);
                if t.fin
                    .is_some_and(|fin| shared.start <= fin && fin < shared.top)
                {
                    t.repair_fin(shared.at);
                }
            }
        }
        self.log.mark_dropped(start);
        out.events.push_back(Event::Dropped(Dropped {
            flow: flow.unwrap_or(self.key),
            transfer: owner,
            span: self.span(start, end, top),
            again,
            at,
        }));
    }
}

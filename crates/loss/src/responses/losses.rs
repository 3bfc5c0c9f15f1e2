//! What is lost and what is sent again, told and noted in every transfer that it touches.

use rexmit_tcp::Need;
use rexmit_time::Time;

use super::flow::{Flow, Packet};
use super::open::Retransmission;
use super::out::Out;
use crate::{Dropped, Event, Note, Retransmitted, TransferId};

/// A packet that is dropped.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lost {
    pub start: u64,
    /// Behind the payload.
    pub end: u64,
    /// Behind the FIN.
    pub top: u64,
    pub at: Time,
    /// Some of its bytes were sent before.
    pub retransmission: bool,
}

impl Flow {
    /// A packet of which some bytes were sent before.
    pub(crate) fn note_retransmission(&mut self, p: &Packet, out: &mut Out) {
        let highest = p.top >= self.seen.highest;
        let held = self.waiting.touches(p.start, p.top);
        let fin_again = p.top > p.end && self.seen.covers(p.end, p.top);
        let retransmission = || Retransmission {
            start: p.start,
            top: p.top,
            highest,
            at: p.at,
        };
        let mut transfer = None;
        let (mut was_dropped, mut needed) = (false, false);
        for t in self
            .transfers
            .iter_mut()
            .filter(|t| t.touches(p.start, p.top))
        {
            transfer = transfer.or(Some(t.row.id));
            let (dropped, missing) = t.lost(p.start, p.top);
            was_dropped |= dropped;
            needed |= missing;
            t.row.retransmissions += 1;
            let spurious = t.repair(&retransmission());
            t.row.spurious_retransmissions += u64::from(spurious && !held);
            if fin_again && t.fin == Some(p.end) {
                t.repair_fin(p.at);
            }
            if held && !t.row.notes.contains(&Note::RetransmittedWhileHeld) {
                t.row.notes.push(Note::RetransmittedWhileHeld);
            }
        }
        self.missing.remove(p.start, p.top);
        if held {
            self.waiting.retransmissions.push(retransmission());
        }
        if let Some(transfer) = transfer {
            let need = match (needed, held) {
                (true, _) => Need::Needed,
                (false, true) => Need::Unknown,
                (false, false) => Need::Spurious,
            };
            let first_sent = self.log.first_sent(p.start, p.top);
            let span = self.span(p.start, p.end, p.top);
            let flow = self.key;
            let retransmitted = Retransmitted {
                flow,
                transfer,
                span,
                first_sent,
                was_dropped,
                need,
                highest,
                at: p.at,
            };
            out.events.push_back(Event::Retransmitted(retransmitted));
        }
    }

    /// Notes a drop in every transfer that it touches.
    pub(crate) fn lose(&mut self, lost: &Lost, owner: TransferId, out: &mut Out) {
        let &Lost {
            start,
            end,
            top,
            at,
            retransmission,
        } = lost;
        let segment = start < end && !retransmission;
        self.missing.insert(start, top);
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
        let span = self.span(start, end, top);
        out.events.push_back(Event::Dropped(Dropped {
            flow: self.key,
            transfer: owner,
            span,
            at,
        }));
    }
}

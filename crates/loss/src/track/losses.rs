//! What is lost and what is sent again, told and noted in every transfer that it touches.

use rexmit_tcp::Need;
use rexmit_time::Time;

use super::flow::{Flow, Packet};
use super::open::Resend;
use super::out::Out;
use crate::{Dropped, Event, Note, Resent, TransferId};

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
    pub resend: bool,
}

impl Flow {
    /// A packet of which some bytes were sent before.
    pub(crate) fn note_resend(&mut self, p: &Packet, out: &mut Out) {
        let highest = p.top >= self.seen.highest;
        let held = self.waiting.touches(p.start, p.top);
        let fin_again = p.top > p.end && self.seen.covers(p.end, p.top);
        let resend = || Resend {
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
            t.row.resends += 1;
            let needless = t.repair(&resend());
            t.row.needless_resends += u64::from(needless && !held);
            if fin_again && t.fin == Some(p.end) {
                t.repair_fin(p.at);
            }
            if held && !t.row.notes.contains(&Note::ResentWhileHeld) {
                t.row.notes.push(Note::ResentWhileHeld);
            }
        }
        self.missing.remove(p.start, p.top);
        if held {
            self.waiting.resends.push(resend());
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
            let resent = Resent {
                flow,
                transfer,
                span,
                first_sent,
                was_dropped,
                need,
                highest,
                at: p.at,
            };
            out.events.push_back(Event::Resent(resent));
        }
    }

    /// Notes a drop in every transfer that it touches.
    pub(crate) fn lose(&mut self, lost: &Lost, owner: TransferId, out: &mut Out) {
        let &Lost {
            start,
            end,
            top,
            at,
            resend,
        } = lost;
        let segment = start < end && !resend;
        self.missing.insert(start, top);
        for resend in &self.waiting.resends {
            self.missing.remove(resend.start, resend.top);
        }
        for t in self
            .transfers
            .iter_mut()
            .filter(|t| (t.completed.is_none() || resend) && t.touches(start, top))
        {
            t.drop_packet(start, top, segment, at);
            for resend in self
                .waiting
                .resends
                .iter()
                .filter(|r| r.start < top && start < r.top)
            {
                // Only what this packet and the resend share was lost and is there again.
                let shared = Resend {
                    start: resend.start.max(start),
                    top: resend.top.min(top),
                    highest: resend.highest,
                    at: resend.at,
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

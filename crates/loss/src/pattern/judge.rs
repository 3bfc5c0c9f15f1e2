//! Where a packet stands in its transfer, and what the pattern says of it.

use crate::track::choice::Choice;
use crate::track::flow::{Flow, Packet};
use crate::track::out::Out;
use crate::Verdict;

impl Flow {
    pub(crate) fn judge_by_pattern(&mut self, p: &Packet, resend: bool, out: &mut Out) -> Verdict {
        let transmission = self.transmission(p, resend);
        if resend {
            self.resent.push((p.start, p.top));
        }
        let Choice::Pattern(pattern) = &out.choice else {
            return Verdict::Accept;
        };
        let piece = u64::from(self.largest.max(1));
        let owner = self.transfers.iter().find(|t| {
            if p.start < p.end {
                let within = (t.start..t.end).contains(&p.start);
                let total = (t.end - t.start).div_ceil(piece);
                let position = || (p.start - t.start) / piece + 1;
                within && pattern.drops_data(position(), total, transmission)
            } else {
                t.fin == Some(p.start) && pattern.drops_fin(transmission)
            }
        });
        let Some(owner) = owner.map(|t| t.row.id) else {
            return Verdict::Accept;
        };
        out.counters.dropped += 1;
        self.lose(&p.lost(resend), owner, out);
        Verdict::Drop
    }

    /// The how manieth time the packet's first byte is sent now.
    fn transmission(&self, p: &Packet, resend: bool) -> u32 {
        if !resend {
            return 1;
        }
        let before = self
            .resent
            .iter()
            .filter(|(start, top)| *start <= p.start && p.start < *top)
            .count();
        // A packet may begin with bytes never sent and go on with others; a resend's first byte was sent before.
        before as u32 + 2
    }

    /// What happens to a packet of the client's.
    pub(crate) fn judge_client(
        &mut self,
        pure_ack: bool,
        data: bool,
        out: &mut Out,
    ) -> Option<u64> {
        if data {
            self.client_acks = Some(0);
            return None;
        }
        let count = self.client_acks.as_mut().filter(|_| pure_ack)?;
        *count += 1;
        let Choice::Pattern(pattern) = &out.choice else {
            return None;
        };
        let drops = pattern.drops_ack(*count);
        drops.then_some(*count)
    }
}

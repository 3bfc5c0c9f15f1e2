//! Upstream's scheduler: the subflow that would be done first with what waits on it, for a burst
//! (`mptcp_subflow_get_send`).

use rexmit_time::Time;

use super::Meta;
use crate::settings::MptcpBurst;

impl Meta {
    /// Chooses a subflow for new data, unless one is chosen already (`mptcp_sched_get_send`). Whether there is one.
    pub(super) fn schedule(&mut self, now: Time) -> bool {
        if self.subflows.iter().any(|s| s.scheduled) {
            return true;
        }
        match self.choose(now) {
            Some(index) => {
                self.subflows[index].scheduled = true;
                true
            }
            None => false,
        }
    }

    /// The subflow for new data; sets for how long the connection's timer would run (`mptcp_subflow_get_send`).
    pub(super) fn choose(&mut self, now: Time) -> Option<usize> {
        let mut best: Option<(u64, usize)> = None;
        let mut longest = 0;
        for (index, subflow) in self.subflows.iter_mut().enumerate() {
            if !subflow.is_active() {
                continue;
            }
            longest = longest.max(subflow.pending_ticks(now));
            let Some((cost, rate)) = subflow
                .sender()
                .map(|sender| (sender.buffered(), sender.pacing_rate()))
            else {
                continue;
            };
            if subflow.rate == 0 {
                subflow.rate = rate;
            }
            // The divisor has 32 bits.
            let rate = u64::from(subflow.rate as u32);
            if rate == 0 {
                continue;
            }
            let linger = (u64::from(cost) << 32) / rate;
            if best.is_none_or(|(least, _)| linger < least) {
                best = Some((linger, index));
            }
        }
        self.timer.last_for(longest);
        let (_, index) = best?;
        if !self.subflows[index].has_memory() {
            return None;
        }
        let open = self.data.window_end.saturating_sub(self.data.nxt);
        let burst = u64::from(self.settings.multipath.mptcp_burst_bytes).min(open);
        if burst > 0 {
            let subflow = &mut self.subflows[index];
            let (cost, rate) = subflow.sender().map_or((0, 0), |sender| {
                (u64::from(sender.buffered()), sender.pacing_rate())
            });
            let sum = subflow
                .rate
                .wrapping_mul(cost)
                .wrapping_add(rate.wrapping_mul(burst));
            subflow.rate = sum / (burst + cost);
            self.fragments.burst = burst as i64;
        }
        Some(index)
    }

    /// The same with 6.1's memory of the last choice, which holds for a burst.
    pub(super) fn choose_again(&mut self, now: Time) -> Option<usize> {
        debug_assert_eq!(self.settings.multipath.mptcp_burst, MptcpBurst::Segment);
        if let Some(last) = self.last_chosen {
            let subflow = &mut self.subflows[last];
            if self.fragments.burst > 0 && subflow.has_memory() && subflow.is_active() {
                self.timer.follow(&self.subflows, now);
                return Some(last);
            }
        }
        let chosen = self.choose(now);
        if chosen.is_some() {
            self.last_chosen = chosen.filter(|_| self.data.window_end > self.data.nxt);
        }
        chosen
    }
}

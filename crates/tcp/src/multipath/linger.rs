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
        for index in 0..self.subflows.len() {
            if !self.is_active(index) {
                continue;
            }
            longest = longest.max(self.pending_ticks(now, index));
            let subflow = &mut self.subflows[index];
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
        self.set_interval(longest);
        let (_, index) = best?;
        if !self.has_memory(index) {
            return None;
        }
        let open = self.window_end.saturating_sub(self.nxt);
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
            if self.fragments.burst > 0 && self.has_memory(last) && self.is_active(last) {
                self.set_timeout(now);
                return Some(last);
            }
        }
        let chosen = self.choose(now);
        if chosen.is_some() {
            self.last_chosen = chosen.filter(|_| self.window_end > self.nxt);
        }
        chosen
    }

    /// Data may be handed to it now (`mptcp_subflow_active`).
    pub(super) fn is_active(&mut self, index: usize) -> bool {
        let subflow = &mut self.subflows[index];
        if subflow.stale {
            let heard = subflow.sender().map_or(0, |sender| sender.last_heard());
            if heard == subflow.stale_heard {
                return false;
            }
            subflow.stale = false;
        }
        subflow.is_usable()
    }

    /// `sk_stream_memory_free`
    pub(super) fn has_memory(&self, index: usize) -> bool {
        let subflow = &self.subflows[index];
        subflow
            .sender()
            .is_some_and(|sender| sender.buffered() < subflow.connection.send_buffer())
    }

    /// Ticks until the subflow's timer is due, 0 when it has none (`mptcp_timeout_from_subflow`).
    fn pending_ticks(&self, now: Time, index: usize) -> i64 {
        let subflow = &self.subflows[index];
        if subflow.stale_count > 0 {
            return 0;
        }
        let pending = subflow.sender().and_then(|s| s.pending_ticks(now));
        pending.unwrap_or(0)
    }

    /// `__mptcp_set_timeout`
    fn set_interval(&mut self, ticks: i64) {
        self.interval = if ticks > 0 {
            ticks
        } else {
            self.clock.ticks_in(self.settings.timers.min_rto)
        };
    }

    /// `mptcp_set_timeout`
    pub(super) fn set_timeout(&mut self, now: Time) {
        let each = (0..self.subflows.len()).map(|index| self.pending_ticks(now, index));
        let longest = each.max().unwrap_or(0);
        self.set_interval(longest);
    }
}

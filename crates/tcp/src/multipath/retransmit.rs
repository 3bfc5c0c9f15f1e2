//! The timer of the whole connection (`mptcp_retransmit_timer`, `__mptcp_retrans`), and subflows from which nothing is heard
//! (`mptcp_pm_subflow_chk_stale`).

use rexmit_time::Time;

use super::Meta;
use crate::settings::MptcpTimer;

impl Meta {
    pub(super) fn on_timer(&mut self, now: Time) {
        match self.settings.multipath.mptcp_timer {
            MptcpTimer::None => {}
            MptcpTimer::TwiceLongestTimeout => self.on_timer_of_pieces(now),
            MptcpTimer::PendingTimer => self.send_first_again(now),
        }
    }

    /// Sends the first fragment that is not acknowledged on a subflow that has nothing out.
    fn send_first_again(&mut self, now: Time) {
        self.fragments.acknowledge(self.data.una);
        let idle = self.choose_idle(now);
        let Some(first) = self.fragments.first() else {
            return;
        };
        if let Some(index) = idle {
            let mut copied = 0;
            while copied < first.sent {
                let at = first.start + u64::from(copied);
                let some = self.hand_segment(now, index, at, first.sent - copied);
                if some == 0 {
                    break;
                }
                copied += some;
            }
            if copied > 0 {
                self.counters.timeouts += 1;
                self.push_subflow(now, index);
            }
            self.fragments.sent_again(copied);
        }
        self.timer.start(now);
        if self.fragments.head().is_some() {
            self.push_pending(now);
        }
    }

    /// The first subflow that has nothing out; the others are looked at for how long they have heard nothing
    /// (`mptcp_subflow_get_retrans`).
    fn choose_idle(&mut self, now: Time) -> Option<usize> {
        let mut idle = None;
        for index in 0..self.subflows.len() {
            if !self.subflows[index].is_usable() {
                continue;
            }
            if !self.subflows[index].is_idle() {
                if self.subflows[index].is_silent() {
                    self.give_up_if_stale(now, index);
                }
            } else if idle.is_none() {
                idle = Some(index);
            }
        }
        idle
    }

    /// Nothing was heard for too long, and there is another subflow: all data that are out go to others
    /// (`mptcp_pm_nl_subflow_chk_stale`).
    fn give_up_if_stale(&mut self, now: Time, index: usize) {
        let most = self.settings.multipath.mptcp_stale_after;
        let subflow = &self.subflows[index];
        if subflow.stale || most == 0 || subflow.stale_count <= most {
            return;
        }
        let well = (most - 1).max(1);
        let mut others = (0..self.subflows.len()).filter(|other| *other != index);
        let there =
            others.any(|n| self.subflows[n].is_active() && self.subflows[n].stale_count < well);
        if !there {
            return;
        }
        if !self.subflows[index].is_idle() {
            self.subflows[index].stale = true;
            self.counters.stale += 1;
            let nxt = self.data.nxt;
            self.fragments.give_back(nxt);
        }
        self.push_pending(now);
    }
}

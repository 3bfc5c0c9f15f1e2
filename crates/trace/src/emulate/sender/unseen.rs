//! What an emulated sender's timer did that the monitor did not see, before the next event came.

use rexmit_tcp::recovery::machine;
use rexmit_tcp::recovery::{tlp, Job};
use rexmit_tcp::Mechanism;
use rexmit_time::{Duration, Time};

use super::timing::{LOST_BEFORE, SEES_ALL};
use super::{EmulatedSender, Moment};
use crate::emulate::board::Board;
use crate::emulate::likelihood;

impl EmulatedSender {
    /// What the timer did unseen before an acknowledgement came at `now`.
    pub(super) fn catch_up(&mut self, board: &mut Board, now: Time, slack: Duration) {
        for _ in 0..8 {
            let Some(job) = self.timing.timers.timer.job() else {
                return;
            };
            let span = self.timing.timers.timer.span;
            if now <= self.timing.timers.timer.due() && span >= Duration::ZERO {
                // No window ends before the timer is due: this spares its reckoning for most acknowledgements.
                return;
            }
            let (_, late) = self.timing.window();
            match job {
                Job::Reordering if now > late + slack => {
                    machine::on_reordering_timer(&mut self.at(board, late));
                }
                Job::EarlyRetransmit if now > late + slack => {
                    machine::on_early_retransmit_timer(&mut self.at(board, late));
                }
                Job::Probe if likelihood::is_overdue(now, late, span, slack) => {
                    self.probe_went_unseen(board, late, slack);
                }
                Job::Timeout
                    if slack > SEES_ALL
                        && likelihood::is_overdue(now, late + span / 8, span, slack) =>
                {
                    self.timeout_went_unseen(board, late);
                }
                Job::Timeout if likelihood::is_overdue(now, late, span, slack) => {
                    if !core::mem::replace(&mut self.timing.timers.missed, true) {
                        self.evidence.score -= 4.0;
                        let backed_off = self.episode.timeouts > 0;
                        self.timing.raise_minimum(now, backed_off);
                    }
                    return;
                }
                _ => return,
            }
        }
    }

    /// As [`EmulatedSender::catch_up`] before new data left, which cannot find anything lost.
    pub(super) fn catch_up_for_sending(&mut self, board: &mut Board, moment: &Moment) {
        if self.timing.timers.timer.job() != Some(Job::Probe) {
            return;
        }
        let (_, late) = self.timing.window();
        if likelihood::is_overdue(moment.at, late, self.timing.timers.timer.span, moment.slack) {
            self.probe_went_unseen(board, late, moment.slack);
        }
    }

    /// A timeout was due and nothing was seen: what it sent was lost before it came to the monitor.
    fn timeout_went_unseen(&mut self, board: &mut Board, at: Time) {
        self.evidence.score -= LOST_BEFORE;
        machine::enter_loss_by_timeout(&mut self.at(board, at));
        self.episode.timeouts += 1;
        self.timing.timers.back_off(self.settings);
        self.timing.timers.set_to_timeout(at);
        if !board.is_empty() {
            self.marks.mark_retransmitted(board, 0);
            self.marks.look_at_all();
        }
        self.episode.causes.note(Mechanism::Rto);
    }

    /// A probe was due and none was seen: one was on its way already, or it had nothing to send.
    pub(super) fn probe_went_unseen(&mut self, board: &mut Board, at: Time, slack: Duration) {
        let bare =
            board.tail().is_some_and(|tail| tail.bare) && !self.settings.loss.tlp_probes_bare_fin;
        let rule = self.settings.loss.tlp;
        let probe = tlp::fire(
            rule,
            tlp::Fire {
                probe_out: self.episode.probe.high.is_some(),
                // New data would have been seen.
                new_data: false,
                fits_peer_window: false,
            },
        );
        let sent = probe != tlp::Probe::Nothing && !bare;
        if sent && slack > SEES_ALL {
            self.evidence.score -= LOST_BEFORE;
            self.episode.probe.high = Some(board.nxt);
            self.episode.probe.retransmission = true;
        } else if sent {
            self.evidence.score -= 3.0;
        }
        if tlp::full_timeout_follows(rule, sent) {
            self.timing.timers.timer.clear();
        }
        machine::rearm(&mut self.at(board, at));
    }
}

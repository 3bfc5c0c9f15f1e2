//! Taking a reduction of the window back that proved wrong, as [`recovery::undo`](crate::recovery::undo) decides.

use super::alert::Doubtful;
use super::{Sender, State};
use crate::recovery::reduction::Reduced;
use crate::recovery::undo::{self, Answer, Begin, FirstRetransmission};
use crate::settings::{AckOrder, PartialUndo};

impl Sender {
    /// A reduction begins that may be undone.
    pub(super) fn begin_undo(&mut self) {
        let view = Begin {
            una: self.settings.undo.then_some(self.una),
            retransmissions_out: self.queue.retransmissions_out,
            probe_out: self.episode.probe.high.is_some() && self.episode.probe.retransmission,
        };
        self.episode.undo.begin(self.settings.undo_start, &view);
    }

    /// The timestamp clock at the first retransmission.
    pub(super) fn first_retransmission(&self) -> Option<u32> {
        match self.episode.undo.first {
            FirstRetransmission::At(stamp) => Some(stamp),
            FirstRetransmission::None | FirstRetransmission::Unknown => None,
        }
    }

    fn undo_answer(&self) -> Answer {
        Answer {
            echo: self.peer.echo,
            sack: self.sack,
            before_point: self.una.is_before(self.episode.point),
        }
    }

    /// Whether what arrived was only late.
    pub(super) fn was_only_late(&self) -> bool {
        let cleanup = self.settings.retrans_stamp_cleanup;
        self.episode
            .undo
            .was_only_late(cleanup, &self.undo_answer())
    }

    /// Whether the reduction proved wrong.
    pub(super) fn may_undo(&self) -> bool {
        let cleanup = self.settings.retrans_stamp_cleanup;
        self.episode.undo.may_undo(cleanup, &self.undo_answer())
    }

    /// Takes the reduction back (`tcp_undo_cwnd_reduction`).
    pub(super) fn undo_reduction(&mut self, unmark: bool) {
        if unmark {
            self.queue.unmark_lost();
        }
        self.undo_window(true);
        self.episode.undo.marker = None;
        // What is left is looked at again.
        self.detection.rack.advanced = true;
    }

    /// The window comes back, and the threshold, or the window alone.
    pub(super) fn undo_window(&mut self, threshold_too: bool) {
        let congestion = &mut self.congestion;
        let window = &mut congestion.window;
        let reduced = Reduced {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            prior_ssthresh: self.episode.prior_ssthresh,
            undone_cwnd: congestion.control.undo_cwnd(window),
        };
        (window.cwnd, window.ssthresh) = reduced.undone(self.settings.undo_window, threshold_too);
        self.congestion.usage.stamp = self.tick();
        self.counters.undos += 1;
    }

    /// An acknowledgement in recovery that stops before its end; timestamps may say that what arrived was only late. Whether
    /// nothing more is to be done; else `count_losses` says whether more is to be marked lost (`tcp_try_undo_partial`).
    pub(super) fn undo_partly(&mut self, view: &Doubtful, count_losses: &mut bool) -> bool {
        let rule = self.settings.partial_undo;
        let late = match rule {
            PartialUndo::Window => self.may_undo(),
            PartialUndo::Recovery => self.episode.undo.marker.is_some() && self.was_only_late(),
        };
        if !late {
            let by_duplicates = self.settings.ack_order == AckOrder::RecoveryFirst && !self.sack;
            *count_losses = self.sack_is_far() || by_duplicates;
            return false;
        }
        match rule {
            PartialUndo::Window => {
                self.forget_stamp();
                self.note_reordering_of(self.fack_reach() + view.acked);
                self.undo_window(false);
                *count_losses = false;
            }
            PartialUndo::Recovery => {
                self.note_reordering(view.prior_una);
                if self.queue.retransmissions_out > 0 {
                    return true;
                }
                self.forget_stamp();
                self.undo_reduction(true);
                self.keep_open();
            }
        }
        false
    }

    /// The recovery point is acknowledged: the recovery ends, undone where it was spurious. Whether the state is kept
    /// (`tcp_try_undo_recovery`).
    pub(super) fn end_recovery(&mut self) -> bool {
        if self.may_undo() {
            self.undo_reduction(false);
        } else {
            self.detection.rack.recovered();
        }
        if self.must_wait_beyond_recovery_point() {
            return true;
        }
        self.set_state(State::Open);
        false
    }

    /// Every retransmission was spurious (`tcp_try_undo_dsack`).
    pub(super) fn try_undo_by_dsack(&mut self) -> bool {
        if !self.episode.undo.proved_by_dsack() {
            return false;
        }
        self.detection.rack.undone();
        self.undo_reduction(false);
        true
    }

    /// A timeout proved wrong, or F-RTO says so (`tcp_try_undo_loss`).
    pub(super) fn try_undo_loss(&mut self, by_frto: bool) -> bool {
        if !by_frto && !self.may_undo() {
            return false;
        }
        self.undo_reduction(true);
        if by_frto {
            self.counters.spurious_timeouts += 1;
        }
        self.timing.timeouts = 0;
        if self.settings.retrans_stamp_cleanup && self.must_wait_beyond_recovery_point() {
            return true;
        }
        if by_frto || self.sack {
            self.set_state(State::Open);
        }
        true
    }

    /// Without SACK the state is kept until something beyond the recovery point is acknowledged (RFC 6582 §3.2 step 1;
    /// `tcp_is_non_sack_preventing_reopen`).
    fn must_wait_beyond_recovery_point(&mut self) -> bool {
        if !undo::waits_beyond_point(self.sack, self.una, self.episode.point) {
            return false;
        }
        if self.settings.retrans_stamp_cleanup {
            self.forget_stamp();
        } else {
            self.moderate_window();
        }
        true
    }

    /// Whether a retransmission may still be on its way (`tcp_any_retrans_done`).
    pub(super) fn any_retransmission_out(&self) -> bool {
        self.queue.retransmissions_out > 0
            || self
                .queue
                .head()
                .is_some_and(|head| head.marks.any(super::queue::Marks::EVER_RETRANSMITTED))
    }

    /// The next retransmission starts the clock anew if none is on its way.
    pub(super) fn forget_stamp(&mut self) {
        if !self.any_retransmission_out() {
            self.episode.undo.first = FirstRetransmission::None;
        }
    }
}

//! Taking a reduction of the window back that proved wrong: by D-SACK for every resend (RFC 3708), or by timestamps older
//! than the first resend (Eifel, RFC 3522).

use rexmit_wire::SeqNum;

use super::{Sender, State};
use crate::settings::SenderForm;
use crate::words::Mechanism;

/// What a reduction would need to be taken back.
#[derive(Clone, Copy, Debug)]
pub(super) struct Undo {
    /// The first byte not acknowledged when the reduction began; none when nothing can be undone (`undo_marker`).
    pub marker: Option<SeqNum>,
    /// Resends not yet known to be needless; negative before the first (`undo_retrans`).
    pub resends: i64,
    /// The timestamp clock at the first resend (`retrans_stamp`).
    pub stamp: Option<u32>,
    /// What the first resend of a recovery without RACK is called.
    pub began_by: Mechanism,
}

impl Default for Undo {
    fn default() -> Self {
        Undo {
            marker: None,
            resends: -1,
            stamp: None,
            began_by: Mechanism::FastRetransmit,
        }
    }
}

impl Undo {
    /// A segment was sent again, or was to be: `stamp` is when it was sent last.
    pub fn note_resend(&mut self, stamp: u32, count: u32, sent: bool, form: SenderForm) {
        if form == SenderForm::Linux3 && !sent {
            return;
        }
        if self.stamp.is_none() {
            // A stamp of zero stands for none in the kernel.
            self.stamp = (stamp != 0).then_some(stamp);
        }
        self.resends = self.resends.max(0) + i64::from(count);
    }

    /// A D-SACK proved `count` resends needless that end at `end`.
    pub fn note_needless(&mut self, end: SeqNum, count: u32) {
        if self.resends > 0 && self.marker.is_some_and(|marker| end.is_after(marker)) {
            self.resends = (self.resends - i64::from(count)).max(0);
        }
    }
}

impl Sender {
    /// A reduction begins that may be undone (`tcp_init_undo`).
    pub(super) fn begin_undo(&mut self) {
        self.undo.marker = self.settings.undo.then_some(self.una);
        let mut resends = i64::from(self.queue.resent);
        if self.settings.sender == SenderForm::Linux6 {
            resends += i64::from(self.probe.high.is_some() && self.probe.retransmission);
            if resends == 0 {
                resends = -1;
            }
        }
        self.undo.resends = resends;
    }

    /// Whether the timestamp echoed is older than `stamp` (`tcp_tsopt_ecr_before`).
    pub(super) fn echoes_before(&self, stamp: u32) -> bool {
        self.echo
            .is_some_and(|echo| (echo.wrapping_sub(stamp) as i32) < 0)
    }

    /// Nothing was sent again yet, or what arrived was sent before (`tcp_packet_delayed`).
    pub(super) fn was_only_late(&self) -> bool {
        match self.undo.stamp {
            Some(stamp) => self.echoes_before(stamp),
            // Without SACK the stamp is cleared when everything up to the recovery point is acknowledged.
            None => {
                self.sack
                    || self.una.is_before(self.recovery_point)
                    || self.settings.sender == SenderForm::Linux3
            }
        }
    }

    /// Whether the reduction proved wrong (`tcp_may_undo`).
    pub(super) fn may_undo(&self) -> bool {
        self.undo.marker.is_some() && (self.undo.resends == 0 || self.was_only_late())
    }

    /// Takes the reduction back (`tcp_undo_cwnd_reduction`).
    pub(super) fn undo_reduction(&mut self, unmark: bool) {
        if unmark {
            self.queue.unmark_lost();
        }
        if self.settings.sender == SenderForm::Linux3 {
            self.undo_reduction_linux3(true);
            self.undo.marker = None;
            return;
        }
        if self.prior_ssthresh > 0 {
            self.window.cwnd = self.control.undo_cwnd(&self.window);
            self.window.ssthresh = self.window.ssthresh.max(self.prior_ssthresh);
        }
        self.usage.stamp = self.tick();
        self.undo.marker = None;
        // What is left is looked at again.
        self.rack.advanced = true;
        self.counters.undos += 1;
    }

    /// The recovery point is acknowledged: the recovery ends, undone where it was needless. Whether the state is kept
    /// (`tcp_try_undo_recovery`).
    pub(super) fn end_recovery(&mut self) -> bool {
        if self.may_undo() {
            self.undo_reduction(false);
        } else {
            self.rack.recovered();
        }
        if self.must_wait_beyond_recovery_point() {
            return true;
        }
        self.set_state(State::Open);
        false
    }

    /// Every resend was needless (`tcp_try_undo_dsack`).
    pub(super) fn try_undo_by_dsack(&mut self) -> bool {
        if self.undo.marker.is_none() || self.undo.resends != 0 {
            return false;
        }
        self.rack.undone();
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
        self.timeouts = 0;
        if self.settings.sender == SenderForm::Linux6 && self.must_wait_beyond_recovery_point() {
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
        if self.sack || self.una != self.recovery_point {
            return false;
        }
        match self.settings.sender {
            SenderForm::Linux6 => self.forget_stamp(),
            SenderForm::Linux3 => self.moderate_window(),
        }
        true
    }

    /// Whether a resend may still be on its way (`tcp_any_retrans_done`).
    pub(super) fn any_resend_out(&self) -> bool {
        self.queue.resent > 0
            || self
                .queue
                .head()
                .is_some_and(|head| head.marks.any(super::queue::Marks::EVER_RESENT))
    }

    /// The next resend starts the clock anew if none is on its way.
    pub(super) fn forget_stamp(&mut self) {
        if !self.any_resend_out() {
            self.undo.stamp = None;
        }
    }
}

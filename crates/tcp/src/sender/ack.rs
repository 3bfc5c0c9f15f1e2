//! The order in which an acknowledgement is worked through (`tcp_ack`): the peer's window, what was delivered, what was lost
//! and the timer (`machine`), the congestion window, and then what is sent.

use rexmit_time::Time;
use rexmit_wire::SeqNum;

use super::clean::Delivery;
use super::nagle::Hold;
use super::sack::Tagged;
use super::{Ack, Sender};
use crate::recovery::machine::{self, AckOutcome, AckView, Board as _, Resume};
use crate::settings::{AckOrder, IdleRestart};

/// What is out before an acknowledgement is worked through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    pub view: AckView,
    /// Segments up to the highest SACK, and that SACK; without one, the first byte not acknowledged.
    pub reach: u32,
    pub highest: SeqNum,
}

impl Sender {
    /// Takes in what a segment acknowledges, and sends what that allows (`tcp_ack`, `tcp_data_snd_check`).
    pub fn on_ack(&mut self, now: Time, ack: &Ack<'_>) {
        self.moment.now = now;
        self.peer.echo = ack.echo;
        let accepted = self.take_ack(ack);
        // Of a subflow the connection above first hands out what the acknowledgement allows.
        if accepted && !self.sizes.apart {
            self.push_pending();
        }
    }

    /// Whether the segment is acceptable.
    fn take_ack(&mut self, ack: &Ack<'_>) -> bool {
        let number = ack.segment.ack;
        let before = self.before_ack();
        let prior_una = before.view.prior_una;
        if number.is_before(prior_una) {
            if number.is_before(prior_una - self.peer.largest_window) {
                return false;
            }
            self.take_old_ack(ack, &before);
            return true;
        }
        if number.is_after(self.nxt) {
            return false;
        }
        let mut outcome = AckOutcome::NONE;
        if number.is_after(prior_una) {
            outcome.set(AckOutcome::ADVANCED);
        }
        if ack.segment.space() > 0 {
            outcome.set(AckOutcome::DATA);
        }
        machine::begin_ack(self, outcome);
        let prior_delivered = self.delivered;
        let prior_losses = self.queue.losses;
        self.take_window(ack, &mut outcome);
        self.una = number;
        let mut delivery = Delivery::default();
        let tagged = self.tag_option(ack, &before, &mut delivery);
        outcome.set(tagged.outcome);
        self.delivered += tagged.delivered;
        self.timing.window_probes = 0;
        self.peer.last_ack = self.moment.tick();
        if before.view.prior_out == 0 {
            machine::on_ack_of_nothing(self, &before.view, &mut outcome);
            self.acknowledge_persist();
            return true;
        }
        match self.settings.loss.ack_order {
            AckOrder::RecoveryFirst => {
                let acked = self.clean_recovery_first(&before, &tagged, &mut outcome);
                let view = AckView {
                    acked,
                    ..before.view
                };
                machine::on_ack_recovery_first(self, &view, &mut outcome);
                if self.settings.segments.pacing_rate {
                    self.set_pacing_rate();
                }
            }
            AckOrder::LossesFirst => {
                outcome.set(self.clean(&before, &tagged, &mut delivery));
                let resume = machine::on_ack_losses_first(
                    self,
                    &before.view,
                    &mut outcome,
                    delivery.prior_delivered,
                    self.delivered,
                );
                let delivered = self.delivered - prior_delivered;
                let lost = self.queue.losses.wrapping_sub(prior_losses);
                self.control_window(&before, outcome, delivered, lost);
                self.resume(resume);
            }
        }
        true
    }

    /// An acknowledgement that others have overtaken can still tell of SACKs.
    fn take_old_ack(&mut self, ack: &Ack<'_>, before: &Before) {
        if !self.sack || ack.segment.sack.is_empty() {
            return;
        }
        let mut outcome = self
            .tag_option(ack, before, &mut Delivery::default())
            .outcome;
        let resume = machine::alert(self, &before.view, &mut outcome);
        self.resume(resume);
    }

    /// Notes the SACK option, if there is one.
    fn tag_option(&mut self, ack: &Ack<'_>, before: &Before, delivery: &mut Delivery) -> Tagged {
        let mut tagged = Tagged::new(self.nxt);
        let sack = &ack.segment.sack;
        if self.sack && !sack.is_empty() {
            let (number, prior_una) = (ack.segment.ack, before.view.prior_una);
            self.tag(sack, number, prior_una, &mut tagged, delivery);
        }
        tagged
    }

    /// What the window now allows (`tcp_xmit_recovery`).
    pub(super) fn resume(&mut self, resume: Resume) {
        match resume {
            Resume::Nothing => return,
            Resume::New => {
                self.push_with(Hold::OFF);
                if self.nxt.is_after(self.episode.point) {
                    return;
                }
                self.episode.frto = false;
            }
            Resume::Lost => {}
        }
        self.send_lost();
    }

    /// What is out before an acknowledgement is worked through.
    fn before_ack(&self) -> Before {
        let line = self.line();
        Before {
            view: AckView {
                prior_una: self.una,
                prior_out: self.queue.counts.out,
                prior_sacked: self.queue.counts.sacked,
                prior_in_flight: self.queue.in_flight(),
                acked: 0,
                duplicates: 0,
            },
            reach: line.reach,
            highest: if self.sack {
                line.highest_sack
            } else {
                self.una
            },
        }
    }

    /// The peer's window, from the newest segment (RFC 9293 §3.10.7.4; `tcp_ack_update_window`).
    pub(super) fn take_window(&mut self, ack: &Ack<'_>, outcome: &mut AckOutcome) {
        let seq = ack.segment.seq;
        let newer = seq.is_after(self.peer.window_seq);
        let same = seq == self.peer.window_seq;
        let shut = self.settings.segments.fill_segments && ack.window == 0;
        let larger = ack.window > self.peer.window || shut;
        let acceptable = ack.segment.ack.is_after(self.una) || newer || (same && larger);
        if !acceptable {
            return;
        }
        outcome.set(AckOutcome::WINDOW);
        self.peer.window_seq = seq;
        if self.peer.window != ack.window {
            self.peer.window = ack.window;
            if !self.written.backlog.is_empty()
                && self.settings.congestion.idle_restart == IdleRestart::WhenWritten
            {
                self.restart_after_idle();
            }
            self.note_window(ack.window);
        }
    }

    /// What the peer's window is tells how large segments may be.
    pub(super) fn note_window(&mut self, window: u32) {
        if window > self.peer.largest_window {
            self.peer.largest_window = window;
            self.sizes.bound(window);
        }
    }
}

//! The tail loss probe: what [`recovery::tlp`](crate::recovery::tlp) decides, carried out.

use rexmit_wire::SeqNum;

use super::ack_outcome::AckOutcome;
use super::nagle::Hold;
use super::write::Extent;
use super::{Sender, State};
use crate::recovery::tlp::{self, Answer, Fire, Probe, Schedule, Verdict, Wait};
use crate::recovery::Job;
use crate::settings::Tlp;
use crate::words::Mechanism;

impl Sender {
    /// Sets the timer to a probe if one may be sent later: `advancing` after an acknowledgement that moved the timeout on.
    /// Whether it is set (`tcp_schedule_loss_probe`).
    pub(super) fn schedule_probe(&mut self, advancing: bool) -> bool {
        let (srtt, timeout_left, new_data_can_go) = match self.settings.tlp {
            Tlp::Off => return false,
            Tlp::Draft => {
                let left = self.ticks_span(self.timing.timer.due() - self.tick());
                let room = self.congestion.window.cwnd > self.queue.in_flight();
                (
                    self.timing.rtt.srtt(),
                    left,
                    room && !self.backlog.is_empty(),
                )
            }
            Tlp::Rfc8985 if advancing => (self.timing.rtt.srtt_fraction(), self.timing.rto, false),
            Tlp::Rfc8985 => (self.timing.rtt.srtt_fraction(), self.timeout_left(), false),
        };
        let view = Schedule {
            state: self.episode.state,
            sack: self.sack,
            timer: self.timing.timer.job(),
            new_data_can_go,
            wait: Wait {
                srtt,
                packets_out: self.queue.out,
                min_rto: self.settings.min_rto,
                initial_rto: self.settings.initial_rto,
                timeout_left: Some(timeout_left),
            },
        };
        match tlp::schedule(self.settings.tlp, &view, self.clock.tick()) {
            Some(wait) => {
                self.set_timer(Job::Probe, wait);
                true
            }
            None => false,
        }
    }

    /// The wait before a probe is over (`tcp_send_loss_probe`).
    pub(super) fn send_probe(&mut self) {
        let rule = self.settings.tlp;
        let head = self.backlog.head();
        let probe = tlp::fire(
            rule,
            Fire {
                probe_out: self.episode.probe.high.is_some(),
                new_data: head.is_some(),
                fits_peer_window: head.is_some_and(|head| self.fits_peer_window(&head)),
            },
        );
        let sent = match probe {
            Probe::Nothing => false,
            Probe::NewData => self.send_new_probe(),
            Probe::LastSegment => self.retransmit_last(),
        };
        if sent {
            self.counters.probes += 1;
            if probe == Probe::LastSegment || rule == Tlp::Rfc8985 {
                self.episode.probe.high = Some(self.nxt);
                self.episode.probe.retransmission = probe == Probe::LastSegment;
            }
        }
        if tlp::full_timeout_follows(rule, sent) {
            self.timing.timer.clear();
        }
        self.rearm_timeout();
    }

    /// Whether a new segment went out.
    fn send_new_probe(&mut self) -> bool {
        let out = self.queue.out;
        self.send_new_data(Hold::OFF, Extent::Probe);
        self.queue.out > out
    }

    /// Whether the last segment went out again.
    fn retransmit_last(&mut self) -> bool {
        let Some(mut last) = self.queue.len().checked_sub(1) else {
            return false;
        };
        if self.is_in_host(last) {
            return false;
        }
        let segment = *self.queue.at(last);
        let before = (segment.count() - 1) * self.mss;
        if before > 0 && segment.len() > before {
            self.split(last, before);
            last += 1;
        }
        if self.queue.at(last).len() == 0 && !self.settings.tlp_probes_bare_fin {
            return false;
        }
        self.transmit_again(last, 1, Mechanism::Tlp, true)
    }

    /// An acknowledgement came while a probe may be out (`tcp_process_tlp_ack`).
    pub(super) fn judge_probe(&mut self, ack: SeqNum, outcome: AckOutcome) {
        let answer = Answer {
            ack,
            duplicate: !outcome
                .any(AckOutcome::ADVANCED | AckOutcome::NOT_DUPLICATE | AckOutcome::SACKED),
            dsack: outcome.any(AckOutcome::DSACK),
            dsack_of_probe: outcome.any(AckOutcome::DSACK_PROBE),
        };
        if self.episode.probe.on_ack(self.settings.tlp, &answer) == Verdict::Loss {
            self.begin_reduction();
            self.set_state(State::Cwr);
            self.end_reduction();
            if self.settings.tlp == Tlp::Rfc8985 {
                self.keep_open();
            } else {
                self.set_state(State::Open);
            }
        }
    }
}

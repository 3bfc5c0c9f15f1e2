//! Round-trip times, the timeout, and what sets the timer.

use rexmit_tcp::estimator::Rtt;
use rexmit_tcp::recovery::{rto, syn, tlp, Job};
use rexmit_tcp::settings::{Estimator, RttSamples, Settings, Tlp};
use rexmit_time::{Duration, Time};

use super::causes::{is_early, of_no_cause};
use super::{EmulatedSender, Minimum, Moment};
use crate::emulate::board::{AckReport, Board};
use crate::emulate::timer::Ticks;
use crate::emulate::{likelihood, parameters};
use crate::event::Sent;

/// How long the smallest round-trip time is kept (`tcp_min_rtt_wlen`).
const MIN_RTT_WINDOW: Duration = Duration::from_secs(300);

/// A monitor whose times are surer stands beside the sender and sees all that it sends.
pub(super) const SEES_ALL: Duration = Duration::from_micros(50);

/// What it costs, as a natural logarithm, that a packet was lost before it came to the monitor.
pub(super) const LOST_BEFORE: f64 = 1.5;

/// How likely it is that a SYN-ACK is sent again then because the SYN came again.
const ANSWER: f64 = -7.0;

/// Round-trip times that are measured again once it is known where ticks begin.
const UNSURE: usize = 48;

impl EmulatedSender {
    /// Takes a round-trip time for the timeout, from when a segment left to when it was acknowledged. A sample ends the
    /// back-off.
    pub(super) fn take_sample(&mut self, sent: Time, acked: Time, board: &Board) {
        if self.keeps_unsure() {
            if self.unsure.len() == UNSURE {
                self.unsure.pop_front();
            }
            self.unsure.push_back((sent, acked, board.una, board.nxt));
        }
        let rtt = self.measured(sent, acked);
        self.rtt.sample(rtt, board.una, board.nxt);
        self.sampled = true;
        self.set_rto();
    }

    /// What the stack's clock says of a span.
    fn measured(&self, sent: Time, acked: Time) -> Duration {
        // Times that were estimated may lie the wrong way round.
        let rtt = (acked - sent).max(Duration::ZERO);
        match (self.settings.estimator, self.phase) {
            (Estimator::LinuxMicros, _) => rtt.max(Duration::from_micros(1)),
            (_, Some(phase)) => self.ticks.between(sent, acked.max(sent), phase),
            _ => self.ticks.down(rtt + self.ticks.tick() / 2),
        }
    }

    /// The timeout without back-off.
    pub(super) fn set_rto(&mut self) {
        self.rto = self.ticks.up(self.rtt.rto() + self.bias);
    }

    /// Where ticks begin, or how long they are, may still become known.
    fn keeps_unsure(&self) -> bool {
        self.settings.estimator != Estimator::LinuxMicros
            && (!self.rate_known || (self.phase.is_none() && self.phased))
    }

    /// A timer fired at `at`: where ticks begin is known.
    fn learn_phase(&mut self, at: Time, slack: Duration) {
        if self.phase.is_some() || !self.phased || slack * 4 > self.ticks.tick() {
            return;
        }
        self.phase = Some(self.ticks.phase(at));
        self.measure_again(self.settings);
        if !self.keeps_unsure() {
            self.unsure.clear();
        }
    }

    /// The stack was built with so many ticks a second.
    pub fn learn_ticks(&mut self, hz: u32) {
        if self.settings.estimator == Estimator::LinuxMicros
            || core::mem::replace(&mut self.rate_known, true)
        {
            return;
        }
        if hz != self.settings.hz {
            self.ticks = Ticks::with_rate(self.settings, hz);
            self.phased = self.ticks.are_coarse();
            self.phase = None;
            let mut settings = self.settings.clone();
            settings.hz = hz;
            self.measure_again(&settings);
            if self.timeouts == 0 {
                self.set_rto();
            }
        }
        if !self.keeps_unsure() {
            self.unsure.clear();
        }
    }

    /// What was measured before is measured again by what is now known of the ticks.
    fn measure_again(&mut self, settings: &Settings) {
        if self.unsure.len() == UNSURE || self.sampled {
            // The first of them were forgotten: they count for little by now.
            self.rtt = Rtt::new(settings);
            self.rtt.no_sample_after_handshake();
            if let Minimum::Other(least) = self.minimum {
                self.rtt.set_minimum(least);
            }
        }
        for index in 0..self.unsure.len() {
            let (sent, acked, una, nxt) = self.unsure[index];
            self.rtt.sample(self.measured(sent, acked), una, nxt);
        }
    }

    /// The timeout ran out at `at`: what it proves of the constants, within a sixteenth of the minimum.
    pub(super) fn learn_from_timeout(&mut self, at: Time, slack: Duration) {
        self.learn_phase(at, slack);
        let (soon, late) = self.timer.window(&self.ticks);
        let mut off = Duration::ZERO;
        if at > late {
            off = at - late;
        } else if at < soon {
            off = at - soon;
        } else if self.phased && at > self.timer.due() {
            off = at - self.timer.due();
        }
        if off == Duration::ZERO {
            return;
        }
        if self.timeouts == 0 {
            let most = (self.settings.min_rto + self.settings.rto_slop) / 16;
            self.bias = (self.bias + off).min(most).max(-most);
        }
        // What is doubled is what ran out.
        let most = self.rto / 16 + self.ticks.tick();
        self.rto = self.ticks.up(self.rto + off.min(most).max(-most));
    }

    /// Doubles the timeout, but for what is added last. What was learned of it may have made it less than that.
    pub(super) fn back_off(&mut self) {
        let growth = rto::BackOff {
            slop: self.settings.rto_slop,
            max: self.settings.max_rto,
        };
        self.rto = growth.after(self.rto);
    }

    /// Takes a round-trip time for the smallest.
    pub(super) fn take_path(&mut self, now: Time, rtt: Duration) {
        match self.min_rtt {
            Some((least, at)) if least < rtt && now - at <= MIN_RTT_WINDOW => {}
            _ => self.min_rtt = Some((rtt, now)),
        }
    }

    /// The sample of stacks that time ticks: the stamp first, else one segment a round trip, else what was sent once.
    pub(super) fn sample_linux3(&mut self, board: &Board, report: &AckReport) {
        let timed = self.timed.filter(|(seq, _)| board.una.is_after(*seq));
        if timed.is_some() {
            self.timed = None;
        }
        let once = self.settings.rtt_samples == RttSamples::OncePerRoundTrip;
        let retransmitted = report.acked.iter().any(|piece| piece.retransmissions > 0);
        let sent = match (report.echo, report.echo_sent) {
            (Some(_), Some(sent)) => Some(sent),
            (Some(_), None) => None,
            _ if once => timed.map(|(_, sent)| sent),
            _ if retransmitted => None,
            _ => report.acked.first().map(|piece| piece.sent),
        };
        if let Some(sent) = sent {
            self.take_sample(sent, report.at, board);
        }
    }

    /// Sets the timer to the timeout, in whole ticks.
    pub(super) fn rearm(&mut self, board: &Board, now: Time) {
        let Some(head) = board.head() else {
            self.timer.clear();
            return;
        };
        let view = rto::Rearm {
            packets_out: board.out,
            timer: self.timer.job(),
            rto: self.rto,
            head_age: now - head.sent,
        };
        let span = match rto::rearm(self.settings.sender, &view) {
            None => return self.timer.clear(),
            Some(full) if full == self.rto => full,
            Some(left) if self.newer() => self.ticks.up(left),
            // 3.10 counts the head's age in ticks, and where they begin is not seen.
            Some(left) => self.ticks.near(left),
        };
        self.timer
            .set(now, Job::Timeout, span.min(self.settings.max_rto));
    }

    /// Sets the timer to a probe if one may be sent before or instead of the timeout. Whether it is. Whether new data could
    /// go is not seen: if they can, they are about to.
    pub(super) fn schedule_probe(&mut self, board: &Board, now: Time, advancing: bool) -> bool {
        let (srtt, left) = match self.settings.tlp {
            Tlp::Off => return false,
            Tlp::Draft => {
                let left = self.timer.due() - now;
                // In which part of its tick the timer was set is not seen.
                let whole = (left > Duration::ZERO).then(|| self.ticks.near(left));
                (self.rtt.srtt(), whole)
            }
            Tlp::Rfc8985 => {
                let left = match board.head() {
                    Some(head) if !advancing => self.rto - (now - head.sent),
                    _ => self.rto,
                };
                (self.rtt.srtt_fraction(), Some(left))
            }
        };
        let view = tlp::Schedule {
            state: self.state,
            sack: board.sack,
            timer: self.timer.job(),
            new_data_can_go: false,
            wait: tlp::Wait {
                srtt,
                packets_out: board.out,
                min_rto: self.least(),
                initial_rto: self.settings.initial_rto,
                timeout_left: left,
            },
        };
        let wait = tlp::schedule(self.settings.tlp, &view, self.ticks.length());
        if let Some(wait) = wait {
            self.timer.set(now, Job::Probe, self.ticks.up(wait));
        }
        wait.is_some()
    }

    /// What the timer did unseen before an acknowledgement came at `now`.
    pub(super) fn catch_up(&mut self, board: &mut Board, now: Time, slack: Duration) {
        for _ in 0..8 {
            let Some(job) = self.timer.job() else { return };
            let (_, late) = self.timer.window(&self.ticks);
            let span = self.timer.span;
            match job {
                Job::Reordering if now > late + slack => {
                    self.on_reordering_timer(board, late);
                }
                Job::EarlyRetransmit if now > late + slack => {
                    self.on_early_retransmit_timer(board, late);
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
                    if !core::mem::replace(&mut self.missed, true) {
                        self.score -= 4.0;
                        self.raise_minimum(now);
                    }
                    return;
                }
                _ => return,
            }
        }
    }

    /// As [`EmulatedSender::catch_up`] before new data left, which cannot find anything lost.
    pub(super) fn catch_up_for_sending(&mut self, board: &Board, moment: &Moment) {
        let (_, late) = self.timer.window(&self.ticks);
        if self.timer.job() == Some(Job::Probe)
            && likelihood::is_overdue(moment.at, late, self.timer.span, moment.slack)
        {
            self.probe_went_unseen(board, late, moment.slack);
        }
    }

    /// A timeout was due and nothing was seen: what it sent was lost before it came to the monitor.
    fn timeout_went_unseen(&mut self, board: &mut Board, at: Time) {
        self.score -= LOST_BEFORE;
        self.enter_loss(board, at);
        self.timeouts += 1;
        self.back_off();
        self.timer.set(at, Job::Timeout, self.rto);
        if !board.is_empty() {
            self.mark_retransmitted(board, 0);
        }
        self.note_retransmission(rexmit_tcp::Mechanism::Rto);
    }

    /// A probe was due and none was seen: one was on its way already, or it had nothing to send.
    pub(super) fn probe_went_unseen(&mut self, board: &Board, at: Time, slack: Duration) {
        let bare = board.tail().is_some_and(|tail| tail.bare) && !self.settings.tlp_probes_bare_fin;
        let rule = self.settings.tlp;
        let probe = tlp::fire(
            rule,
            tlp::Fire {
                probe_out: self.probe.is_some(),
                // New data would have been seen.
                new_data: false,
                fits_peer_window: false,
            },
        );
        let sent = probe != tlp::Probe::Nothing && !bare;
        if sent && slack > SEES_ALL {
            self.score -= LOST_BEFORE;
            self.probe = Some(board.nxt);
            self.probe_retransmitted = true;
        } else if sent {
            self.score -= 3.0;
        }
        if tlp::full_timeout_follows(rule, sent) {
            self.timer.clear();
        }
        self.rearm(board, at);
    }
}

/// A SYN, or SYN-ACK, that was sent again.
#[derive(Clone, Copy, Debug)]
pub struct SynAgain {
    pub at: Time,
    pub slack: Duration,
    /// How often it had been sent before.
    pub count: u32,
    pub client: bool,
    /// When the peer's SYN came last, and how often.
    pub asked: Option<(Time, u32)>,
    /// No timer of any stack can have run out.
    pub early: bool,
}

impl EmulatedSender {
    /// A SYN, or SYN-ACK, was sent.
    pub fn on_syn(&mut self, at: Time) {
        self.timer.set(at, Job::Timeout, self.rto);
    }

    /// Whether the timer of the SYN cannot have run out when it was sent again.
    pub fn is_before_syn_timer(&self, sent: &Sent) -> bool {
        let (soon, _) = self.ticks.fires(self.timer.span);
        is_early(sent.at, self.timer.armed, soon, sent.slack)
    }

    /// It was sent again.
    pub fn on_syn_again(&mut self, again: &SynAgain) {
        let SynAgain {
            at,
            slack,
            count,
            client,
            asked,
            early,
        } = *again;
        let span = self.timer.span;
        let window = self.timer.window(&self.ticks);
        let fits = likelihood::of_timer(at, window, span, slack);
        let mut known = fits.weight;
        if client {
            self.score += fits.weight;
            self.fits(fits.fit);
        } else {
            // It may be the answer to a SYN that came again.
            self.score += likelihood::either(fits.weight, ANSWER);
            let answer = match asked {
                // It came once, which the first SYN-ACK answered.
                Some((_, 1)) => f64::NEG_INFINITY,
                Some((came, count)) if count > 1 && at + slack >= came => {
                    likelihood::of_ack(at - came, slack, None)
                        .weight
                        .max(ANSWER)
                }
                _ => ANSWER,
            };
            known = likelihood::either(known, answer);
        }
        let waited = at - self.timer.armed;
        // Elsewhere two may come by together that left apart.
        let none = if early && slack <= SEES_ALL {
            of_no_cause(waited)
        } else {
            f64::NEG_INFINITY
        };
        let share = 1.0 / (1.0 + (none - known).exp());
        let both = [
            (rexmit_tcp::Mechanism::Rto, share),
            (rexmit_tcp::Mechanism::Unknown, 1.0 - share),
        ];
        let (first, next) = if share >= 0.5 {
            (both[0], both[1])
        } else {
            (both[1], both[0])
        };
        self.opinions.push_back(super::Opinion {
            mechanism: first.0,
            share: first.1,
            next: Some(next),
            timer: (share >= 0.5).then_some(span),
        });
        let next = syn::next_timeout(
            !client,
            count,
            self.settings.syn_linear_timeouts,
            span,
            self.settings.max_rto,
        );
        self.timer.set(at, Job::Timeout, next);
    }
}

impl EmulatedSender {
    /// How much longer its timeouts proved to be than the page says.
    pub fn bias(&self) -> Duration {
        self.bias
    }

    /// Between what that may lie: a tick once a timeout has shown it.
    pub fn bias_between(&self) -> (Duration, Duration) {
        let off = if self.loss_at.is_some() {
            self.ticks.tick()
        } else {
            parameters::unproved(self.settings.min_rto + self.settings.rto_slop)
        };
        (self.bias - off, self.bias + off)
    }
}

//! The timer of a SYN or SYN-ACK ([`recovery::syn`](rexmit_tcp::recovery::syn)).

use rexmit_tcp::recovery::{syn, Job};
use rexmit_tcp::Mechanism;
use rexmit_time::{Duration, Time};

use super::causes::of_no_cause;
use super::timing::SEES_ALL;
use super::{EmulatedSender, Opinion};
use crate::emulate::likelihood;

/// How likely it is that a SYN-ACK is sent again then because the SYN came again.
const ANSWER: f64 = -7.0;

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
        self.timing.timers.set_to_timeout(at);
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
        let span = self.timing.timers.timer.span;
        let window = self.timing.window();
        let fits = likelihood::of_timer(at, window, span, slack);
        let mut known = fits.weight;
        if client {
            self.evidence.score += fits.weight;
            self.evidence.fits(fits.fit);
        } else {
            // It may be the answer to a SYN that came again.
            self.evidence.score += likelihood::either(fits.weight, ANSWER);
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
        let waited = at - self.timing.timers.timer.armed;
        // Elsewhere two may come by together that left apart.
        let none = if early && slack <= SEES_ALL {
            of_no_cause(waited)
        } else {
            f64::NEG_INFINITY
        };
        let share = 1.0 / (1.0 + (none - known).exp());
        let both = [(Mechanism::Rto, share), (Mechanism::Unknown, 1.0 - share)];
        let (first, next) = if share >= 0.5 {
            (both[0], both[1])
        } else {
            (both[1], both[0])
        };
        self.evidence.opinions.push_back(Opinion {
            mechanism: first.0,
            share: first.1,
            next: Some(next),
            timer: (share >= 0.5).then_some(span),
        });
        let next = syn::next_timeout(
            !client,
            count,
            self.settings.timers.syn_linear_timeouts,
            span,
            self.settings.timers.max_rto,
        );
        self.timing.timers.timer.set(at, Job::Timeout, next);
    }
}

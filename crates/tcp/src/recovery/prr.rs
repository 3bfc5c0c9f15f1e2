//! Proportional rate reduction (RFC 6937 and its revision; `tcp_cwnd_reduction`).

use crate::settings::Recovery;

/// What was delivered and sent since the reduction began.
#[derive(Clone, Copy, Debug, Default)]
pub struct Prr {
    /// Segments delivered (`prr_delivered`).
    pub delivered: u32,
    /// Segments sent (`prr_out`).
    pub sent: u32,
}

/// What an acknowledgement tells the reduction.
#[derive(Clone, Copy, Debug)]
pub struct PrrInput {
    /// Segments newly delivered.
    pub delivered: u32,
    /// Losses newly found.
    pub lost: u32,
    /// The first byte not acknowledged moved.
    pub advanced: bool,
    /// Packets in flight.
    pub in_flight: u32,
    /// The threshold: where the window is to end.
    pub ssthresh: u32,
    /// The window before the reduction.
    pub prior_cwnd: u32,
    /// A recovery begins: one segment may go in any case (before 4.x; later, as long as none was sent).
    pub begins: bool,
}

impl Prr {
    /// Counts the step and returns the window. `form` is the rule's generation: 3.2 to about 5.10, or 6.x.
    pub fn step(&mut self, form: Recovery, step: PrrInput) -> u32 {
        self.delivered += step.delivered;
        let (delivered, sent) = (i64::from(self.delivered), i64::from(self.sent));
        let room = i64::from(step.ssthresh) - i64::from(step.in_flight);
        let allowed = if room < 0 {
            // Spread over the round trip: ssthresh / prior_cwnd of what is delivered.
            let share = u64::from(step.ssthresh) * u64::from(self.delivered);
            share.div_ceil(u64::from(step.prior_cwnd.max(1))) as i64 - sent
        } else {
            let conserved = (delivered - sent).max(i64::from(step.delivered));
            let extra = match form {
                // Conservative, and slow start when a round makes progress.
                Recovery::PrrConservative => i64::from(step.advanced && step.lost == 0),
                _ => 1,
            };
            room.min(conserved + extra)
        };
        let least = match form {
            Recovery::PrrConservative => i64::from(self.sent == 0),
            _ => i64::from(step.begins),
        };
        (i64::from(step.in_flight) + allowed.max(least)).max(0) as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STEP: PrrInput = PrrInput {
        delivered: 1,
        lost: 0,
        advanced: false,
        in_flight: 9,
        ssthresh: 7,
        prior_cwnd: 10,
        begins: false,
    };

    #[test]
    fn above_the_threshold_the_window_falls_in_proportion() {
        let mut prr = Prr::default();
        let mut in_flight = 9;
        for _ in 0..10 {
            let step = PrrInput { in_flight, ..STEP };
            let cwnd = prr.step(Recovery::PrrConservative, step);
            let sent = cwnd - in_flight;
            prr.sent += sent;
            in_flight = cwnd - 1;
        }
        assert_eq!(prr.sent, 7);
    }

    #[test]
    fn below_it_what_is_delivered_is_sent_and_one_more_when_nothing_is_newly_lost() {
        let below = PrrInput {
            in_flight: 0,
            ..STEP
        };
        let mut prr = Prr::default();
        assert_eq!(prr.step(Recovery::PrrConservative, below), 1);
        prr.sent = 1;
        let advanced = PrrInput {
            advanced: true,
            ..below
        };
        assert_eq!(prr.step(Recovery::PrrConservative, advanced), 2);
        let lossy = PrrInput {
            lost: 1,
            ..advanced
        };
        prr.sent += 2;
        assert_eq!(prr.step(Recovery::PrrConservative, lossy), 1);
        let mut first = Prr::default();
        assert_eq!(first.step(Recovery::Prr, below), 2);
    }
}

//! The congestion window of a sender, what governs it, and how much of it is used.

use rexmit_wire::{SeqNum, SeqRange};

use crate::congestion::{Control, Siblings, Window};
use crate::recovery::prr::{Prr, PrrInput};
use crate::recovery::rate_halving::Halving;
use crate::recovery::reduction::{self, Reduced};
use crate::settings::{Recovery, UndoWindow};

/// The congestion window and what goes with it.
#[derive(Clone, Debug)]
pub(super) struct Congestion {
    pub control: Control,
    pub window: Window,
    /// The subflows of the connection, for controls that couple them; none of plain TCP.
    pub siblings: Siblings,
    pub usage: Usage,
    /// The threshold before the reduction, 0 where it must not come back (`prior_ssthresh`).
    pub prior_ssthresh: u32,
    pub prr: Prr,
    /// The next new data tell the peer that the window was reduced (`TCP_ECN_QUEUE_CWR`).
    pub tells_reduction: bool,
    /// Bytes a second (`sk_pacing_rate`).
    pub pacing_rate: u64,
}

impl Congestion {
    /// A loss brings the threshold down.
    pub fn reduce(&mut self) {
        self.window.ssthresh = self.control.ssthresh(&self.window, &self.siblings);
    }

    /// The control hears of the loss that brought the threshold down.
    pub fn tell_loss(&mut self) {
        self.control.tell_loss(&mut self.window);
    }

    /// The window comes back, and the threshold, or the window alone. A window that was made of a threshold without bound
    /// is `most` segments, more than any peer takes.
    pub fn undo(&mut self, rule: UndoWindow, threshold_too: bool, most: u32) {
        let window = &mut self.window;
        let reduced = Reduced {
            cwnd: window.cwnd,
            ssthresh: window.ssthresh,
            prior_ssthresh: self.prior_ssthresh,
            undone_cwnd: match self.prior_ssthresh {
                0 => window.cwnd,
                _ => self.control.undo_cwnd(window),
            },
        };
        let (cwnd, ssthresh) = reduced.undone(rule, threshold_too);
        // tcp_ecn_withdraw_cwr
        self.tells_reduction &= ssthresh <= window.ssthresh;
        (window.cwnd, window.ssthresh) = (cwnd.min(most), ssthresh);
    }

    /// The threshold, or three quarters of the window if that is more and none is being reduced (`tcp_current_ssthresh`).
    pub fn threshold(&self, reducing: bool) -> u32 {
        let Window { cwnd, ssthresh, .. } = self.window;
        match reducing {
            true => ssthresh,
            false => ssthresh.max((cwnd >> 1) + (cwnd >> 2)),
        }
    }

    /// The threshold is kept as it is in force, before the window shrinks from disuse.
    pub fn keep_threshold(&mut self, reducing: bool) {
        self.window.ssthresh = self.threshold(reducing);
    }

    /// `tcp_init_cwnd_reduction`
    pub fn begin_reduction(&mut self) {
        self.window.cwnd_cnt = 0;
        self.window.prior_cwnd = self.window.cwnd;
        self.prr = Prr::default();
        self.tells_reduction = true;
        self.reduce();
    }

    /// Segments were delivered in a reduction (`tcp_cwnd_reduction`).
    pub fn reduce_for(
        &mut self,
        rule: Recovery,
        delivered: u32,
        lost: u32,
        advanced: bool,
        in_flight: u32,
    ) {
        if delivered > 0 && self.window.prior_cwnd > 0 {
            self.step(rule, delivered, lost, advanced, in_flight, false);
        }
    }

    /// The next step of a reduction. `begins`: the first of a recovery, by which before 4.x a segment may go in any case.
    pub fn step(
        &mut self,
        rule: Recovery,
        delivered: u32,
        lost: u32,
        advanced: bool,
        in_flight: u32,
        begins: bool,
    ) {
        let window = &mut self.window;
        let step = PrrInput {
            delivered,
            lost,
            advanced,
            in_flight,
            ssthresh: window.ssthresh,
            prior_cwnd: window.prior_cwnd,
            begins,
        };
        let before = Halving {
            cwnd: window.cwnd,
            acknowledgements: window.cwnd_cnt,
        };
        let after = reduction::step(rule, &mut self.prr, before, step);
        window.cwnd = after.cwnd;
        window.cwnd_cnt = after.acknowledgements;
    }

    /// A reduction that was not undone ends, at `tick`: the window ends at the threshold (`tcp_end_cwnd_reduction`).
    pub fn end_reduction(&mut self, rule: Recovery, tick: i64) {
        let window = &mut self.window;
        if window.ssthresh < Window::INFINITE && !self.control.governs() {
            window.cwnd = reduction::end(rule, window.cwnd, window.ssthresh);
            self.usage.stamp = tick;
        }
    }

    /// The data begin at `una`.
    pub fn begin_usage(&mut self, una: SeqNum, tick: i64) {
        self.usage = Usage::new(una, tick);
    }

    /// The window is full, with a little room for bursts of `segments` (`tcp_is_cwnd_limited`, 3.10).
    pub fn is_nearly_full(&self, in_flight: u32, segments: u32) -> bool {
        let cwnd = self.window.cwnd;
        let left = cwnd.saturating_sub(in_flight);
        let bursts = segments > 1 && left * 3 < cwnd && left < segments;
        in_flight >= cwnd || bursts || left <= 3
    }

    /// The window held the sender back (`tcp_is_cwnd_limited`, 6.x).
    pub fn is_limited(&self) -> bool {
        self.usage.limited
            || (self.window.in_slow_start() && self.window.cwnd < 2 * self.usage.most_out)
    }

    /// `out` packets are out, of `range`, and the window is full where `limited` says so: of each window of data the most counts.
    pub fn note_out(&mut self, out: u32, limited: bool, range: SeqRange) {
        let usage = &mut self.usage;
        if !range.start.is_before(usage.until)
            || limited
            || (!usage.limited && out > usage.most_out)
        {
            usage.limited = limited;
            usage.most_out = out;
            usage.until = range.end;
        }
    }

    /// Twice the window a round-trip time in slow start, 1.2 times after; `srtt` is in eighths of a microsecond
    /// (`tcp_update_pacing_rate`).
    pub fn pace(&mut self, mss: u32, out: u32, srtt: u64) {
        let percent = if self.window.cwnd < self.window.ssthresh / 2 {
            200
        } else {
            120
        };
        let segments = u64::from(self.window.cwnd.max(out));
        let rate = u64::from(mss) * (10_000 << 3) * percent * segments;
        self.pacing_rate = match srtt {
            0 => rate,
            srtt => rate / srtt,
        };
    }
}

/// How much of the window is used.
#[derive(Clone, Copy, Debug)]
pub(super) struct Usage {
    /// The window was full in this window of data.
    limited: bool,
    /// The most packets out in this window of data.
    most_out: u32,
    /// The window of data ends here.
    until: SeqNum,
    /// The most packets out since the window was last full (`snd_cwnd_used`).
    pub used: u32,
    /// The tick at which the window was last full or changed (`snd_cwnd_stamp`).
    pub stamp: i64,
}

impl Usage {
    pub fn new(nxt: SeqNum, tick: i64) -> Self {
        Usage {
            limited: false,
            most_out: 0,
            until: nxt,
            used: 0,
            stamp: tick,
        }
    }
    /// The window was full at `tick`, or changed.
    pub fn full_at(&mut self, tick: i64) {
        self.used = 0;
        self.stamp = tick;
    }
}

#[cfg(test)]
mod tests {
    use rexmit_time::Time;

    use super::*;
    use crate::clock::{Clock, Wheel};
    use crate::congestion::Context;
    use crate::settings::Settings;

    fn congestion(cwnd: u32, ssthresh: u32) -> Congestion {
        let first = SeqNum::new(0);
        let clock = Clock::linux(250, Wheel::Exact);
        let context = Context {
            now: Time::from_nanos(0),
            clock: &clock,
            una: first,
            nxt: first,
            open: true,
            pacing_rate: 0,
        };
        let mut window = Window::new(cwnd);
        window.ssthresh = ssthresh;
        Congestion {
            control: Control::new(&Settings::default(), &context),
            window,
            siblings: Siblings::default(),
            usage: Usage::new(first, 0),
            prior_ssthresh: 0,
            prr: Prr::default(),
            tells_reduction: false,
            pacing_rate: 0,
        }
    }

    #[test]
    fn a_reduction_halves_the_threshold_and_the_window_ends_there() {
        let mut one = congestion(20, Window::INFINITE);
        one.begin_reduction();
        assert_eq!((one.window.cwnd, one.threshold(true)), (20, 10));
        assert_eq!(one.threshold(false), 15);
        one.end_reduction(Recovery::Prr, 7);
        assert_eq!((one.window.cwnd, one.usage.stamp), (10, 7));
    }

    #[test]
    fn a_window_is_used_when_it_is_nearly_full_or_half_used_in_slow_start() {
        let mut one = congestion(10, Window::INFINITE);
        assert!(one.is_nearly_full(7, 1) && !one.is_nearly_full(6, 1));
        let range = SeqRange::new(SeqNum::new(0), 1);
        one.note_out(5, false, range);
        assert!(!one.is_limited());
        one.note_out(6, false, range);
        assert!(one.is_limited());
    }

    #[test]
    fn packets_are_paced_at_twice_the_window_in_slow_start() {
        let mut one = congestion(10, Window::INFINITE);
        // 100 ms, in eighths of a microsecond.
        one.pace(1000, 4, 800_000);
        assert_eq!(one.pacing_rate, 200_000);
        one.window.ssthresh = 10;
        one.pace(1000, 4, 800_000);
        assert_eq!(one.pacing_rate, 120_000);
    }
}

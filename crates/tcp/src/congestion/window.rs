//! The congestion window and the steps that every control shares.

use rexmit_time::Duration;

use crate::settings::InitialWindow;

/// The congestion window, in segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// The window (`snd_cwnd`).
    pub cwnd: u32,
    /// The slow start threshold (`snd_ssthresh`).
    pub ssthresh: u32,
    /// Acknowledged segments that have not yet made the window grow (`snd_cwnd_cnt`).
    pub cwnd_cnt: u32,
    /// The window never grows beyond this (`snd_cwnd_clamp`).
    pub clamp: u32,
    /// The window before the latest reduction (`prior_cwnd`); the sender sets it when it reduces.
    pub prior_cwnd: u32,
}

impl Window {
    /// The threshold before any loss (`TCP_INFINITE_SSTHRESH`).
    pub const INFINITE: u32 = 0x7fff_ffff;

    /// A first window.
    #[must_use]
    pub const fn new(cwnd: u32) -> Self {
        Window {
            cwnd,
            ssthresh: Self::INFINITE,
            cwnd_cnt: 0,
            clamp: u32::MAX,
            prior_cwnd: 0,
        }
    }

    /// The first window's size for segments of `mss` bytes on a path of `srtt`, which the handshake may have shown.
    #[must_use]
    pub fn initial(window: InitialWindow, mss: u32, srtt: Option<Duration>) -> u32 {
        match window {
            InitialWindow::Segments(segments) => segments,
            // RFC 3390 §1, equation 1.
            InitialWindow::Rfc3390 => match mss {
                0..=1095 => 4,
                1096..=2190 => 3,
                _ => 2,
            },
            InitialWindow::Linux24 => {
                let short = srtt.is_some_and(|srtt| srtt <= Duration::from_millis(20));
                match mss {
                    0..=1095 if short => 4,
                    1096..=1460 if short => 3,
                    _ => 2,
                }
            }
        }
    }

    /// Whether the window is below the threshold (`tcp_in_slow_start`, since 4.0).
    #[must_use]
    pub const fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Grows by `acked` up to the threshold and returns what is left of `acked` (`tcp_slow_start`, since 3.18).
    pub fn slow_start(&mut self, acked: u32) -> u32 {
        let cwnd = self.cwnd.saturating_add(acked).min(self.ssthresh);
        let left = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd.min(self.clamp);
        left
    }

    /// Grows by a segment, whatever the acknowledgement acknowledged (`tcp_slow_start` before 3.13, `reno_cong_avoid` of
    /// 2.4). Credit of a whole window, left from growth by [`Window::grow_by_ack`], counts as well.
    pub fn slow_start_by_ack(&mut self) {
        let credit = self.cwnd_cnt + self.cwnd;
        let grown = credit / self.cwnd.max(1);
        self.cwnd_cnt = credit % self.cwnd.max(1);
        self.cwnd = (self.cwnd + grown).min(self.clamp);
    }

    /// Grows by a segment at the acknowledgement after `acks` (`tcp_cong_avoid_ai` before 3.18).
    pub fn grow_by_ack(&mut self, acks: u32) {
        if self.cwnd_cnt >= acks {
            self.cwnd = (self.cwnd + 1).min(self.clamp);
            self.cwnd_cnt = 0;
        } else {
            self.cwnd_cnt += 1;
        }
    }

    /// Grows by a segment each `per_segment` acknowledged (`tcp_cong_avoid_ai`, since 4.0).
    pub fn grow(&mut self, per_segment: u32, acked: u32) {
        let per_segment = per_segment.max(1);
        // Credit from a time when growth was slower counts once.
        if self.cwnd_cnt >= per_segment {
            self.cwnd_cnt = 0;
            self.cwnd += 1;
        }
        self.cwnd_cnt += acked;
        self.cwnd += self.cwnd_cnt / per_segment;
        self.cwnd_cnt %= per_segment;
        self.cwnd = self.cwnd.min(self.clamp);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_windows_are_those_of_the_rfc_and_of_2_4() {
        let rfc = |mss| Window::initial(InitialWindow::Rfc3390, mss, None);
        assert_eq!(
            [rfc(536), rfc(1095), rfc(1096), rfc(2190), rfc(2191)],
            [4, 4, 3, 3, 2]
        );
        let linux = |mss, millis: Option<i64>| {
            Window::initial(
                InitialWindow::Linux24,
                mss,
                millis.map(Duration::from_millis),
            )
        };
        assert_eq!(linux(1448, None), 2);
        assert_eq!(linux(1448, Some(20)), 3);
        assert_eq!(linux(1000, Some(20)), 4);
        assert_eq!(linux(1448, Some(21)), 2);
        assert_eq!(linux(8948, Some(1)), 2);
    }

    #[test]
    fn slow_start_ends_at_the_threshold_and_hands_on_what_is_left() {
        let mut window = Window::new(10);
        window.ssthresh = 12;
        assert_eq!(window.slow_start(5), 3);
        assert_eq!((window.cwnd, window.in_slow_start()), (12, false));
    }

    #[test]
    fn credit_from_slower_growth_counts_once() {
        let mut window = Window::new(10);
        window.grow(100, 60);
        assert_eq!((window.cwnd, window.cwnd_cnt), (10, 60));
        window.grow(20, 1);
        assert_eq!((window.cwnd, window.cwnd_cnt), (11, 1));
        window.grow(20, 41);
        assert_eq!((window.cwnd, window.cwnd_cnt), (13, 2));
    }

    #[test]
    fn by_acknowledgements_growth_takes_one_more_than_the_count() {
        let mut window = Window::new(10);
        for _ in 0..10 {
            window.grow_by_ack(10);
        }
        assert_eq!(window.cwnd, 10);
        window.grow_by_ack(10);
        assert_eq!((window.cwnd, window.cwnd_cnt), (11, 0));
        // A window's worth of credit makes a step of slow start two.
        window.cwnd_cnt = 11;
        window.slow_start_by_ack();
        assert_eq!((window.cwnd, window.cwnd_cnt), (13, 0));
    }

    #[test]
    fn no_growth_passes_the_clamp() {
        let mut window = Window::new(10);
        window.clamp = 11;
        window.slow_start(5);
        assert_eq!(window.cwnd, 11);
        window.grow(1, 5);
        window.slow_start_by_ack();
        window.grow_by_ack(0);
        assert_eq!(window.cwnd, 11);
    }
}

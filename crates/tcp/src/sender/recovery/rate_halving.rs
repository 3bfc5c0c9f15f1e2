//! Rate halving (`tcp_cwnd_down`, Linux 2.4 to 3.1): one segment less each second acknowledgement.

use super::super::Sender;

impl Sender {
    /// The window after one more acknowledgement.
    pub(in super::super) fn halve_rate(&mut self, in_flight: u32) -> u32 {
        let window = &mut self.window;
        let acknowledgements = window.cwnd_cnt + 1;
        window.cwnd_cnt = acknowledgements & 1;
        let fewer = acknowledgements >> 1;
        let mut cwnd = window.cwnd;
        if cwnd > window.ssthresh / 2 {
            cwnd -= fewer.min(cwnd);
        }
        cwnd.min(in_flight + 1).max(1)
    }
}

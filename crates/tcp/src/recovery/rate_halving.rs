//! Rate halving (`tcp_cwnd_down`, Linux 2.4 to 3.1): one segment less each second acknowledgement.

/// The window while it is halved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Halving {
    /// The congestion window.
    pub cwnd: u32,
    /// Acknowledgements since it last changed (`snd_cwnd_cnt`).
    pub acknowledgements: u32,
}

/// The window after one more acknowledgement.
#[must_use]
pub fn step(before: Halving, ssthresh: u32, in_flight: u32) -> Halving {
    let acknowledgements = before.acknowledgements + 1;
    let fewer = acknowledgements >> 1;
    let mut cwnd = before.cwnd;
    if cwnd > ssthresh / 2 {
        cwnd -= fewer.min(cwnd);
    }
    Halving {
        cwnd: cwnd.min(in_flight + 1).max(1),
        acknowledgements: acknowledgements & 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_second_acknowledgement_takes_a_segment_down_to_half_the_threshold() {
        let mut window = Halving {
            cwnd: 10,
            acknowledgements: 0,
        };
        let mut seen = Vec::new();
        for _ in 0..8 {
            window = step(window, 16, 20);
            seen.push(window.cwnd);
        }
        assert_eq!(seen, [10, 9, 9, 8, 8, 8, 8, 8]);
        assert_eq!(step(window, 16, 3).cwnd, 4);
    }
}

//! Whether a sender paces: what acknowledgements let go then leaves later, a packet at a time (`tcp_pacing_check`, BBR,
//! fq).

use rexmit_time::Duration;

use super::TOGETHER;

/// Of how many packets with new data the share that leaves late is taken.
const OF: f64 = 32.0;

/// A longer wait is for data, or for a timer.
const LONGEST: Duration = Duration::from_millis(50);

/// How a sender lets go what acknowledgements allow.
#[derive(Clone, Copy, Debug, Default)]
pub struct Pace {
    /// The share of new data, sent while others were in flight, that left long after any acknowledgement.
    late: f64,
    /// How long after it on average, ms.
    wait: f64,
    /// Retransmissions that left at once, and that left as late as new data does.
    retransmissions: [u32; 2],
}

/// What is to be expected of a packet that an acknowledgement let go.
#[derive(Clone, Copy, Debug)]
pub struct Late {
    /// How likely it is that it leaves late.
    pub share: f64,
    /// How late on average, ms.
    pub wait: f64,
}

fn ms(span: Duration) -> f64 {
    span.as_nanos() as f64 / 1e6
}

impl Pace {
    /// New data left `gap` after what may have let them go; others were in flight.
    pub fn sent(&mut self, gap: Duration, slack: Duration) {
        if gap > LONGEST {
            return;
        }
        let late = gap > TOGETHER + slack;
        self.late += (f64::from(u8::from(late)) - self.late) / OF;
        if late {
            let wait = ms(gap);
            self.wait += if self.wait == 0.0 {
                wait
            } else {
                (wait - self.wait) / OF
            };
        }
    }

    /// A retransmission left `gap` after what may have let it go.
    pub fn retransmitted(&mut self, gap: Duration, slack: Duration) {
        let late = gap > TOGETHER + slack;
        if !late || ms(gap) < 4.0 * self.wait {
            self.retransmissions[usize::from(late)] += 1;
        }
    }

    /// What is to be expected of the next retransmission; none of a sender that has sent nothing late. What retransmissions
    /// did counts for more than what new data did, which may have waited for their program.
    pub fn expected(&self) -> Option<Late> {
        let [at_once, late] = self.retransmissions.map(f64::from);
        (self.wait > 0.0).then(|| Late {
            share: (late + self.late / 2.0) / (at_once + late + 2.0),
            wait: self.wait,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT_ONCE: Duration = Duration::from_micros(20);
    const LATER: Duration = Duration::from_micros(1_500);

    fn after(gaps: &[Duration], retransmissions: &[Duration]) -> Option<f64> {
        let mut pace = Pace::default();
        gaps.iter().for_each(|gap| pace.sent(*gap, Duration::ZERO));
        retransmissions
            .iter()
            .for_each(|gap| pace.retransmitted(*gap, Duration::ZERO));
        pace.expected().map(|late| late.share)
    }

    #[test]
    fn a_paced_sender_is_expected_to_retransmission_late() {
        assert!(after(&[AT_ONCE; 50], &[AT_ONCE; 5]).is_none());
        let paced = after(&[LATER; 50], &[LATER, LATER, AT_ONCE, LATER]).unwrap();
        assert!(paced > 0.5, "{paced}");
        // Its program writes a little at a time; what is lost leaves at once.
        let slow = after(&[LATER; 50], &[AT_ONCE; 20]).unwrap();
        assert!(slow < 0.03, "{slow}");
    }
}

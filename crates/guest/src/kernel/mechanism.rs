//! Which mechanism made a retransmission, by the kernel's own counters.
//!
//! The kernel counts each retransmission where it makes it: a probe in `tcp_send_loss_probe`, a timeout in
//! `tcp_retransmit_timer`, every other one in `tcp_xmit_retransmit_queue`, there apart for state Loss and the rest.
//! By the time a filter sees the packet the count is up, so every packet can be matched with one count. Packets of
//! one burst are seen after all of the burst's counts; the ledger hands each of them one.
//!
//! Before Linux 5.0 `TCPTimeouts` counts a timeout only where it is the first, in state Open; in another state it has
//! another counter, and repeated ones have none. A retransmission for which nothing but `RetransSegs` is up is one of those.

use rexmit_tcp::Mechanism;

use super::counters::Counters;
use crate::interfaces::Series;

/// What is known of the connection when its retransmission is seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// SACK was negotiated.
    pub sack: bool,
    /// RACK finds losses (`tcp_recovery` bit 0x1).
    pub rack: bool,
}

/// Matches retransmissions with counts; one for each namespace with one transfer at a time.
pub struct Ledger {
    seen: Counters,
    open: Counters,
    recovering: bool,
    every_timeout_counts: bool,
}

/// Since when `TCPTimeouts` counts every timeout.
const EVERY_TIMEOUT: Series = (5, 0);

impl Ledger {
    /// A ledger that starts at `now`, of a kernel of this `series`.
    #[must_use]
    pub fn new(now: Counters, series: Series) -> Self {
        Self {
            seen: now,
            open: Counters::default(),
            recovering: false,
            every_timeout_counts: series >= EVERY_TIMEOUT,
        }
    }

    /// The mechanism of the next retransmission, given the counters after it was made and whether it `holds_highest`, the
    /// highest sequence number sent.
    ///
    /// A probe sends the last segment of the queue again, or new data; only in the second case is its count still open when
    /// something else is retransmitted, and then it is void.
    pub fn next(
        &mut self,
        now: Counters,
        connection: Connection,
        holds_highest: bool,
    ) -> Mechanism {
        let (open, seen) = (&mut self.open, &self.seen);
        open.timeouts += now.timeouts - seen.timeouts;
        open.loss_probes += now.loss_probes - seen.loss_probes;
        open.fast_retrans += now.fast_retrans - seen.fast_retrans;
        open.slow_start_retrans += now.slow_start_retrans - seen.slow_start_retrans;
        open.forward_retrans += now.forward_retrans - seen.forward_retrans;
        if !self.every_timeout_counts {
            open.timeouts += now.timeouts_in_recovery - seen.timeouts_in_recovery;
            open.retrans_segs += now.retrans_segs - seen.retrans_segs;
        }
        let entered = now.recoveries > seen.recoveries;
        self.seen = now;

        let take = |count: &mut u64| {
            let some = *count > 0;
            *count -= u64::from(some);
            some
        };
        let mechanism = if take(&mut open.timeouts) {
            Mechanism::Rto
        } else if take(&mut open.slow_start_retrans) {
            Mechanism::RtoRecovery
        } else if take(&mut open.fast_retrans) {
            let first = entered || !self.recovering;
            match connection {
                Connection {
                    sack: true,
                    rack: true,
                } => Mechanism::Rack,
                Connection {
                    sack: true,
                    rack: false,
                } if !first => Mechanism::SackRecovery,
                _ => Mechanism::FastRetransmit,
            }
        } else if take(&mut open.forward_retrans) {
            Mechanism::SackRecovery
        } else if holds_highest && take(&mut open.loss_probes) {
            Mechanism::Tlp
        } else if open.retrans_segs > 0 {
            Mechanism::Rto
        } else {
            Mechanism::Unknown
        };
        open.loss_probes = 0;
        if mechanism != Mechanism::Tlp {
            // A probe is in it on some of these kernels only.
            take(&mut open.retrans_segs);
        }
        self.recovering = matches!(
            mechanism,
            Mechanism::Rack | Mechanism::SackRecovery | Mechanism::FastRetransmit
        );
        mechanism
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RACK: Connection = Connection {
        sack: true,
        rack: true,
    };
    const NEW: Series = (6, 1);
    const RFC6675: Connection = Connection {
        sack: true,
        rack: false,
    };

    #[test]
    fn a_probe_and_the_burst_that_follows() {
        let mut ledger = Ledger::new(
            Counters {
                loss_probes: 5,
                ..Counters::default()
            },
            NEW,
        );
        let mut now = Counters {
            loss_probes: 6,
            ..Counters::default()
        };
        assert_eq!(ledger.next(now, RACK, true), Mechanism::Tlp);
        now.recoveries = 1;
        now.fast_retrans = 3;
        for _ in 0..3 {
            assert_eq!(ledger.next(now, RACK, true), Mechanism::Rack);
        }
        assert_eq!(ledger.next(now, RACK, true), Mechanism::Unknown);
    }

    #[test]
    fn a_timeout_and_the_slow_start_after_it() {
        let mut ledger = Ledger::new(Counters::default(), NEW);
        let mut now = Counters {
            timeouts: 1,
            ..Counters::default()
        };
        assert_eq!(ledger.next(now, RACK, true), Mechanism::Rto);
        now.slow_start_retrans = 2;
        assert_eq!(ledger.next(now, RACK, true), Mechanism::RtoRecovery);
        assert_eq!(ledger.next(now, RACK, true), Mechanism::RtoRecovery);
    }

    #[test]
    fn without_rack_the_first_of_a_recovery_is_the_fast_retransmit() {
        let mut ledger = Ledger::new(Counters::default(), NEW);
        let now = Counters {
            recoveries: 1,
            fast_retrans: 2,
            ..Counters::default()
        };
        assert_eq!(ledger.next(now, RFC6675, true), Mechanism::FastRetransmit);
        assert_eq!(ledger.next(now, RFC6675, true), Mechanism::SackRecovery);
    }

    #[test]
    fn a_probe_with_new_data_leaves_nothing_for_later_retransmissions() {
        let mut ledger = Ledger::new(Counters::default(), NEW);
        let mut now = Counters {
            loss_probes: 1,
            ..Counters::default()
        };
        now.timeouts = 1;
        assert_eq!(ledger.next(now, RACK, true), Mechanism::Rto);
        assert_eq!(ledger.next(now, RACK, true), Mechanism::Unknown);
        now.loss_probes = 2;
        assert_eq!(ledger.next(now, RACK, false), Mechanism::Unknown);
    }

    /// As Linux 3.10 counts (`tcp_retransmit_timer`).
    #[test]
    fn before_5_0_a_timeout_may_be_told_by_retrans_segs_alone() {
        let mut ledger = Ledger::new(Counters::default(), (3, 10));
        let mut now = Counters {
            timeouts_in_recovery: 1,
            retrans_segs: 1,
            ..Counters::default()
        };
        assert_eq!(
            ledger.next(now, RFC6675, true),
            Mechanism::Rto,
            "in Disorder"
        );
        now.retrans_segs += 1;
        assert_eq!(ledger.next(now, RFC6675, true), Mechanism::Rto, "repeated");
        now.loss_probes += 1;
        assert_eq!(
            ledger.next(now, RFC6675, true),
            Mechanism::Tlp,
            "not in RetransSegs"
        );
        now.fast_retrans += 1;
        now.forward_retrans += 1;
        now.recoveries += 1;
        now.retrans_segs += 2;
        let both = [(); 2].map(|()| ledger.next(now, RFC6675, false));
        assert_eq!(both, [Mechanism::FastRetransmit, Mechanism::SackRecovery]);
        assert_eq!(ledger.next(now, RFC6675, true), Mechanism::Unknown);
    }

    #[test]
    fn since_5_0_a_failed_recovery_is_no_second_timeout() {
        let mut ledger = Ledger::new(Counters::default(), NEW);
        let now = Counters {
            timeouts: 1,
            timeouts_in_recovery: 1,
            retrans_segs: 5,
            ..Counters::default()
        };
        assert_eq!(ledger.next(now, RFC6675, true), Mechanism::Rto);
        assert_eq!(ledger.next(now, RFC6675, true), Mechanism::Unknown);
    }
}

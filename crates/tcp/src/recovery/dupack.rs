//! Loss by counting duplicate acknowledgements and SACKed segments (RFC 5681 §3.2, RFC 6582, RFC 6675 §4).

use rexmit_wire::SeqNum;

use super::CaState;

/// Whether more segments were SACKed, or duplicates came, than reordering explains (`tcp_dupack_heuristics`).
#[must_use]
pub const fn says_lost(sacked_out: u32, threshold: u32) -> bool {
    sacked_out + 1 > threshold
}

/// Whether the highest SACK is further above than reordering explains (RFC 6675 §4 IsLost; `tcp_force_fast_retransmit`).
#[must_use]
pub fn sack_is_far(una: SeqNum, highest_sack: SeqNum, threshold: u32, mss: u32) -> bool {
    highest_sack.is_after(una + threshold * mss)
}

/// The same in 3.10, where `reach` counts segments up to the highest SACK ([`fack::reach`](super::fack::reach)).
#[must_use]
pub const fn reach_is_far(reach: u32, threshold: u32) -> bool {
    reach > threshold
}

/// Whether the head is lost without SACK: at the third duplicate, and in recovery whenever an acknowledgement stops before
/// its end (NewReno, RFC 6582 §3.2; `tcp_newreno_mark_lost`).
#[must_use]
pub fn head_is_lost(state: CaState, duplicates: u32, threshold: u32, advanced: bool) -> bool {
    let third = state < CaState::Recovery && duplicates >= threshold;
    let partial = state == CaState::Recovery && advanced;
    third || partial
}

/// What decides whether a recovery begins, in 3.10.
#[derive(Clone, Copy, Debug)]
pub struct Count {
    /// Segments sent and not acknowledged.
    pub packets_out: u32,
    /// Segments SACKed; without SACK, duplicate acknowledgements.
    pub sacked_out: u32,
    /// Segments deemed lost.
    pub lost_out: u32,
    /// Duplicates that make a loss, reordering counted (`tp->reordering`).
    pub threshold: u32,
    /// The same as it is set (`tcp_reordering`).
    pub least_threshold: u32,
    /// With FACK on, the segments up to the highest SACK (`fackets_out`).
    pub fack: Option<u32>,
    /// The head was last sent more than a timeout ago (`tcp_head_timedout`).
    pub head_timed_out: bool,
    /// New data could be sent now; false where that cannot be seen.
    pub new_data_can_go: bool,
}

/// Why a recovery begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Something is lost already.
    Lost,
    /// Duplicates.
    Duplicates,
    /// The highest SACK is far above, or the head timed out; both with FACK.
    Fack,
    /// Few segments are out, half of them arrived, and nothing more can be sent.
    FewOut,
}

/// Why a recovery should begin, if it should (`tcp_time_to_recover`, 3.10; early retransmit is asked for next).
#[must_use]
pub fn reason(view: &Count) -> Option<Reason> {
    if view.lost_out > 0 {
        return Some(Reason::Lost);
    }
    if says_lost(view.sacked_out, view.threshold) {
        return Some(Reason::Duplicates);
    }
    if view
        .fack
        .is_some_and(|reach| reach_is_far(reach, view.threshold) || view.head_timed_out)
    {
        return Some(Reason::Fack);
    }
    let enough = (view.packets_out / 2).max(view.least_threshold);
    let few = view.packets_out <= view.threshold && view.sacked_out >= enough;
    (few && !view.new_data_can_go).then_some(Reason::FewOut)
}

/// What counting marks lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Marks {
    /// Nothing.
    Nothing,
    /// The head.
    Head,
    /// With FACK, so many segments from the head on.
    First(u32),
    /// From the head on as long as no more than so many SACKed ones lie below.
    BelowSacked(u32),
}

/// What counting marks lost, when a recovery `begins` or goes on (`tcp_update_scoreboard`; 6.x calls it without RACK and
/// with SACK only). `fack` is as in [`Count`].
#[must_use]
pub fn marks(
    sack: bool,
    fack: Option<u32>,
    sacked_out: u32,
    threshold: u32,
    begins: bool,
) -> Marks {
    if !sack {
        return Marks::Head;
    }
    if let Some(reach) = fack {
        return Marks::First(reach.saturating_sub(threshold).max(1));
    }
    match sacked_out.checked_sub(threshold) {
        Some(most) => Marks::BelowSacked(most),
        None if begins => Marks::Head,
        None => Marks::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COUNT: Count = Count {
        packets_out: 10,
        sacked_out: 0,
        lost_out: 0,
        threshold: 3,
        least_threshold: 3,
        fack: None,
        head_timed_out: false,
        new_data_can_go: false,
    };

    #[test]
    fn three_duplicates_make_a_loss() {
        let with = |sacked_out| {
            reason(&Count {
                sacked_out,
                ..COUNT
            })
        };
        assert_eq!(with(2), None);
        assert_eq!(with(3), Some(Reason::Duplicates));
    }

    #[test]
    fn fack_counts_the_holes_and_looks_at_the_clock() {
        let with = |reach, head_timed_out| {
            reason(&Count {
                sacked_out: 1,
                fack: Some(reach),
                head_timed_out,
                ..COUNT
            })
        };
        assert_eq!(with(3, false), None);
        assert_eq!(with(4, false), Some(Reason::Fack));
        assert_eq!(with(2, true), Some(Reason::Fack));
        let off = Count {
            head_timed_out: true,
            ..COUNT
        };
        assert_eq!(reason(&off), None);
    }

    #[test]
    fn with_few_out_the_threshold_that_reordering_raised_does_not_count() {
        let view = Count {
            packets_out: 5,
            sacked_out: 3,
            threshold: 8,
            ..COUNT
        };
        assert_eq!(reason(&view), Some(Reason::FewOut));
        let more = Count {
            new_data_can_go: true,
            ..view
        };
        assert_eq!(reason(&more), None);
        let many = Count {
            packets_out: 9,
            ..view
        };
        assert_eq!(reason(&many), None);
    }

    #[test]
    fn what_is_marked_depends_on_what_can_be_counted() {
        assert_eq!(marks(false, None, 5, 3, false), Marks::Head);
        assert_eq!(marks(true, Some(9), 2, 3, false), Marks::First(6));
        assert_eq!(marks(true, Some(2), 1, 3, true), Marks::First(1));
        assert_eq!(marks(true, None, 5, 3, false), Marks::BelowSacked(2));
        assert_eq!(marks(true, None, 1, 3, true), Marks::Head);
        assert_eq!(marks(true, None, 1, 3, false), Marks::Nothing);
    }

    #[test]
    fn without_sack_the_third_duplicate_and_each_partial_acknowledgement_mark_the_head() {
        assert!(head_is_lost(CaState::Disorder, 3, 3, false));
        assert!(!head_is_lost(CaState::Disorder, 2, 3, true));
        assert!(head_is_lost(CaState::Recovery, 0, 3, true));
        assert!(!head_is_lost(CaState::Recovery, 9, 3, false));
        assert!(!head_is_lost(CaState::Loss, 9, 3, true));
    }

    #[test]
    fn a_sack_beyond_the_threshold_is_far() {
        let una = SeqNum::new(u32::MAX - 100);
        assert!(!sack_is_far(una, una + 3_000, 3, 1_000));
        assert!(sack_is_far(una, una + 3_001, 3, 1_000));
        assert!(!reach_is_far(3, 3) && reach_is_far(4, 3));
    }
}

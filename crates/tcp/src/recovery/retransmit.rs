//! The walk over the scoreboard for what is to be sent again (`tcp_xmit_retransmit_queue`): first what is lost, and where the
//! stack does so, then what is not SACKed below the highest SACK (RFC 6675 §4 NextSeg rules 1 and 3).

use super::CaState;

/// How far the walk has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It looks for what is lost.
    Lost {
        /// All of that has been sent again.
        all_sent: bool,
    },
    /// It goes forward over what is not lost.
    Forward {
        /// The segment begins below the highest SACK.
        below_highest_sack: bool,
    },
}

/// A segment that the walk looks at.
#[derive(Clone, Copy, Debug)]
pub struct View {
    /// Segments that the congestion window has room for.
    pub room: u32,
    /// How far the walk has come.
    pub phase: Phase,
    /// It is deemed lost.
    pub lost: bool,
    /// It was SACKed.
    pub sacked: bool,
    /// A retransmission of it is on its way.
    pub retransmission_out: bool,
}

/// What the walk does at a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WalkStep {
    /// It ends; the next walk begins here.
    Stop,
    /// It goes on.
    Pass,
    /// It goes on, and what goes forward may come back to the first of these.
    PassHole,
    /// It sends the segment again.
    Send,
    /// All that is lost was sent: it goes forward if it may, else it ends.
    GoForward,
}

/// What the walk does at a segment.
#[must_use]
pub const fn step(view: &View) -> WalkStep {
    if view.room == 0 {
        return WalkStep::Stop;
    }
    let left = view.sacked || view.retransmission_out;
    match view.phase {
        Phase::Lost { all_sent: true } => WalkStep::GoForward,
        Phase::Lost { .. } if !view.lost && left => WalkStep::Pass,
        Phase::Lost { .. } if !view.lost => WalkStep::PassHole,
        Phase::Forward {
            below_highest_sack: false,
        } => WalkStep::Stop,
        _ if left => WalkStep::Pass,
        _ => WalkStep::Send,
    }
}

/// What decides whether the walk goes forward.
#[derive(Clone, Copy, Debug)]
pub struct Forward {
    /// The stack does so (`forward_retransmit`).
    pub on: bool,
    /// The state.
    pub state: CaState,
    /// SACK was negotiated.
    pub sack: bool,
    /// New data could be sent instead; false where that cannot be seen.
    pub new_data_can_go: bool,
}

/// Whether the walk goes forward over what is not lost (RFC 6675 §4 NextSeg rule 3; `tcp_can_forward_retransmit`).
#[must_use]
pub fn may_go_forward(view: &Forward) -> bool {
    view.on && view.state == CaState::Recovery && view.sack && !view.new_data_can_go
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOST: View = View {
        room: 1,
        phase: Phase::Lost { all_sent: false },
        lost: true,
        sacked: false,
        retransmission_out: false,
    };

    #[test]
    fn what_is_lost_is_sent_once_and_as_far_as_the_window_allows() {
        assert_eq!(step(&LOST), WalkStep::Send);
        let out = View {
            retransmission_out: true,
            ..LOST
        };
        assert_eq!(step(&out), WalkStep::Pass);
        assert_eq!(step(&View { room: 0, ..LOST }), WalkStep::Stop);
    }

    #[test]
    fn what_is_not_lost_is_passed_and_a_hole_is_remembered() {
        let whole = View {
            lost: false,
            ..LOST
        };
        assert_eq!(step(&whole), WalkStep::PassHole);
        let sacked = View {
            sacked: true,
            ..whole
        };
        assert_eq!(step(&sacked), WalkStep::Pass);
    }

    #[test]
    fn after_the_lost_the_walk_goes_forward_up_to_the_highest_sack() {
        let all_sent = View {
            phase: Phase::Lost { all_sent: true },
            ..LOST
        };
        assert_eq!(step(&all_sent), WalkStep::GoForward);
        let forward = |below_highest_sack| {
            step(&View {
                phase: Phase::Forward { below_highest_sack },
                lost: false,
                ..LOST
            })
        };
        assert_eq!(forward(true), WalkStep::Send);
        assert_eq!(forward(false), WalkStep::Stop);
    }

    #[test]
    fn only_a_recovery_with_sack_goes_forward_and_new_data_come_first() {
        let view = Forward {
            on: true,
            state: CaState::Recovery,
            sack: true,
            new_data_can_go: false,
        };
        assert!(may_go_forward(&view));
        let loss = Forward {
            state: CaState::Loss,
            ..view
        };
        assert!(!may_go_forward(&loss));
        let new = Forward {
            new_data_can_go: true,
            ..view
        };
        assert!(!may_go_forward(&new));
        assert!(!may_go_forward(&Forward { on: false, ..view }));
    }
}

//! The state of a sender and what goes with it, from when something is in doubt until nothing is.

use rexmit_wire::SeqNum;

use crate::recovery::prr::Prr;
use crate::recovery::undo::Undo;
use crate::recovery::{tlp, State};

/// An episode of loss, or the peace between two.
#[derive(Clone, Debug)]
pub(super) struct Episode {
    pub state: State,
    /// What had been sent when the state began (`high_seq`).
    pub point: SeqNum,
    /// The threshold before the reduction, 0 where it must not come back (`prior_ssthresh`).
    pub prior_ssthresh: u32,
    pub prr: Prr,
    pub undo: Undo,
    /// The tail loss probe.
    pub probe: tlp::Episode,
    /// F-RTO's test runs.
    pub frto: bool,
}

impl Episode {
    /// Nothing is in doubt; the first byte has the number `first`.
    pub fn new(first: SeqNum) -> Self {
        Episode {
            state: State::Open,
            point: first,
            prior_ssthresh: 0,
            prr: Prr::default(),
            undo: Undo::default(),
            probe: tlp::Episode::default(),
            frto: false,
        }
    }
}

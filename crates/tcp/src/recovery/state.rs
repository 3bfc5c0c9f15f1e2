//! The states of a sender, and what its timer is set for.

/// The states of Linux's sender (`icsk_ca_state`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaState {
    /// Nothing is doubtful.
    Open,
    /// SACKs or duplicate acknowledgements came, no loss is proven.
    Disorder,
    /// The window is being reduced without a loss to repair.
    Cwr,
    /// Losses are repaired by fast retransmission.
    Recovery,
    /// A timeout fired.
    Loss,
}

impl CaState {
    /// The state where nothing is repaired: Disorder while something is SACKed or lost (`left_out`), or a retransmission
    /// may be on its way (`tcp_try_keep_open`).
    #[must_use]
    pub const fn at_peace(left_out: u32, any_retransmission_out: bool) -> CaState {
        if left_out > 0 || any_retransmission_out {
            CaState::Disorder
        } else {
            CaState::Open
        }
    }
}

/// What the one timer of a sender is set for (`icsk_pending`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Job {
    /// The retransmission timeout.
    Timeout,
    /// The tail loss probe.
    Probe,
    /// The end of RACK's reordering window.
    Reordering,
    /// The early retransmit.
    EarlyRetransmit,
    /// A window probe.
    Persist,
}

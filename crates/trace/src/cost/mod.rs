//! What loss detection cost: waiting, the equations of UNC 2007, section IV-D, and the Best Case of section V-A.

mod best_case;
mod equations;
mod waiting;

pub use best_case::BestCase;
pub use equations::{
    fast_retransmit_avoided, fast_retransmit_for_timeout, half_flight, timeout_avoided,
};
pub(crate) use waiting::Silence;
pub use waiting::{count_once, Waited, Waits};

use rexmit_tcp::Mechanism;
use rexmit_time::Duration;

/// What found a loss, as UNC 2007 divides it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Finder {
    /// A retransmission timeout.
    Timeout,
    /// Acknowledgements: fast retransmit in all its forms, by SACKs and by RACK too.
    Acknowledgements,
    /// A tail loss probe, which UNC 2007 does not know: it costs a packet and no rate.
    Probe,
}

impl Finder {
    /// What `mechanism` finds losses by; none of a retransmission that only follows another, or that is not explained.
    #[must_use]
    pub const fn of(mechanism: Mechanism) -> Option<Self> {
        match mechanism {
            Mechanism::Rto => Some(Finder::Timeout),
            Mechanism::FastRetransmit
            | Mechanism::SackRecovery
            | Mechanism::Fack
            | Mechanism::EarlyRetransmit
            | Mechanism::Rack => Some(Finder::Acknowledgements),
            Mechanism::Tlp => Some(Finder::Probe),
            Mechanism::RtoRecovery | Mechanism::MptcpReinject | Mechanism::Unknown => None,
        }
    }
}

/// So many times a length of time.
#[must_use]
pub fn times(factor: f64, length: Duration) -> Duration {
    Duration::from_nanos((factor * length.as_nanos() as f64) as i64)
}

//! What BBR knows of a connection, and what it governs of it.

use rexmit_time::Time;

use crate::congestion::Window;
use crate::recovery::CaState;

/// What BBR knows of the connection at an event.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// The time of the event.
    pub now: Time,
    /// The tick, and ticks a second.
    pub tick: i64,
    /// Ticks a second.
    pub hz: i64,
    /// The state of recovery.
    pub state: CaState,
    /// Segments in flight.
    pub in_flight: u32,
    /// Segments delivered so far.
    pub delivered: u32,
    /// Losses found so far.
    pub lost: u32,
    /// Bytes of a full segment (`mss_cache`).
    pub mss: u32,
    /// The smoothed round-trip time in eighths of a microsecond, 0 before a sample.
    pub srtt_us8: u64,
    /// The smallest round-trip time of late in microseconds, the largest number before a sample.
    pub min_rtt_us: u32,
    /// When the next packet may leave (`tcp_wstamp_ns`).
    pub departs: Time,
}

/// What BBR governs of the connection.
#[derive(Debug)]
pub struct Governed<'a> {
    /// The window.
    pub window: &'a mut Window,
    /// Bytes a second at which packets leave.
    pub pacing_rate: &'a mut u64,
}

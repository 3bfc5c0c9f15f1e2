//! What the peer's segments have told.

use rexmit_wire::SeqNum;

/// What the peer's segments have told.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerState {
    /// Its receive window in bytes (`snd_wnd`).
    pub window: u32,
    /// The largest it was (`max_window`).
    pub largest_window: u32,
    /// The segment that set it (`snd_wl1`).
    pub window_seq: SeqNum,
    /// The timestamp that the last segment echoed, in our clock.
    pub echo: Option<u32>,
    /// Segments that it reported to have come twice (`dsack_dups`).
    pub dsacks: u32,
    /// The tick of the last acknowledgement (`rcv_tstamp`).
    pub last_ack: i64,
}

impl PeerState {
    /// Nothing is told yet, at `tick`.
    pub fn new(tick: i64) -> Self {
        PeerState {
            window: 0,
            largest_window: 0,
            window_seq: SeqNum::default(),
            echo: None,
            dsacks: 0,
            last_ack: tick,
        }
    }
}

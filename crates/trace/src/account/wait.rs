//! What a sender sends next, and how it waited before it did.

use rexmit_time::Time;
use rexmit_wire::SeqNum;

use super::owner::Owner;

/// A packet of new data.
#[derive(Clone, Copy, Debug)]
pub(super) struct New {
    pub at: Time,
    pub len: u32,
    pub end: SeqNum,
    /// The newest stamp of its peer that the sender had seen.
    pub echo: Option<u32>,
    /// It begins a turn.
    pub turn: bool,
}

/// The time between two packets of new data of one sender, as it had it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// What was in flight while it waited, and what the receiver offered; none if the scale of windows is not known, unless
    /// that was nothing.
    pub flight: i64,
    pub window: Option<u32>,
    /// The largest window that was offered.
    pub largest_window: u32,
    /// What was in flight when it sent again.
    pub left: i64,
    /// What it sent filled up what the window was when it sent.
    pub fills: bool,
    /// It sent as soon as it heard an acknowledgement, which it may have waited for.
    pub clocked: bool,
    /// It took longer than a round trip.
    pub delayed: bool,
    /// It heard nothing for as long as a tail loss probe waits (RFC 8985 §7.2), and what it had sent last was full: its data waited
    /// for the congestion window, and one packet of them is the probe.
    pub probes: bool,
    /// It went on at once.
    pub together: bool,
    /// It went on within a round trip of when this let it send: a sender that paces spreads over a round trip what it may send.
    pub paced: Option<Owner>,
    /// What it sent first when it went on did not come by.
    pub gap: bool,
    /// Payload of the packets before and after the wait, and of a full one.
    pub lens: [u32; 2],
    pub mss: u32,
    /// Packets queue on the way, or their acknowledgements do on the way back.
    pub queued: bool,
    pub back: bool,
    /// What passes beside the sender was put together before acknowledgements that had come by: it queued in its host.
    pub own_queue: bool,
    /// Whether packets queue on the way can be seen from where the monitor stands.
    pub shows_queues: bool,
    /// It is no longer known to have lost anything, or all of it was repaired.
    pub repaired: bool,
    /// It lost something, and its flight has not been as large since; or its packets arrive out of order.
    pub after_loss: bool,
    /// Its flight still grows from round trip to round trip.
    pub grows: bool,
    /// Its flight has not grown for some round trips.
    pub steady: bool,
    /// Something of it was lost before.
    pub lost: bool,
    /// All of it was seen, from its SYN on.
    pub whole: bool,
}

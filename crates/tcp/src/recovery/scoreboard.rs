//! What the deciders ask of a scoreboard: segments sent and not acknowledged, by place, the oldest first.

use rexmit_time::Time;
use rexmit_wire::SeqNum;

/// A segment on the scoreboard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Segment {
    /// After its last byte.
    pub end: SeqNum,
    /// When it was sent last.
    pub sent: Time,
    /// It was SACKed.
    pub sacked: bool,
    /// It is deemed lost.
    pub lost: bool,
    /// A retransmission of it is on its way.
    pub retransmission_out: bool,
}

/// A scoreboard.
pub trait Scoreboard {
    /// The place of the segment to look at first, of all that may be lost the one sent first.
    fn first_sent(&self) -> Option<usize>;

    /// The place of the segment to look at after that at `place`.
    fn next_sent(&self, place: usize) -> Option<usize>;

    /// Whether all that are looked at after the segment at `place` were sent after it. A scoreboard that is not kept in the
    /// order of sending knows that of some only.
    fn rest_was_sent_later(&self, place: usize) -> bool;

    /// The segment at `place`.
    fn segment(&self, place: usize) -> Segment;

    /// Marks the segment at `place` lost, or its retransmission if that is on its way.
    fn mark_lost(&mut self, place: usize);
}

//! What an acknowledgement tells of the scoreboard.

use rexmit_time::{Duration, Time};
use rexmit_wire::{SeqNum, SeqRange};

use super::Piece;

/// What an acknowledgement told.
#[derive(Debug, Default)]
pub struct AckReport {
    pub at: Time,
    pub slack: Duration,
    pub prior_una: SeqNum,
    /// The highest SACK before it.
    pub prior_highest: SeqNum,
    pub prior_sacked: u32,
    pub prior_out: u32,
    pub advanced: bool,
    /// It acknowledges less than another before it.
    pub old: bool,
    /// It carries data, or changes the window.
    pub other_use: bool,
    pub dsack: Option<SeqRange>,
    /// Packets that were reported to have come twice before, and packets sent again so far.
    pub prior_reported: u32,
    pub retransmitted: u32,
    /// Packets that had been delivered when the latest of those left that it says were delivered, 0 if there is none, and
    /// what has been delivered by now (`struct rate_sample`).
    pub prior_delivered: u32,
    pub delivered: u32,
    /// Packets that it says were delivered (`tcp_newly_delivered`).
    pub newly_delivered: u32,
    pub echo: Option<u32>,
    /// When the stamp that it echoes left first.
    pub echo_sent: Option<Time>,
    /// Pieces taken off.
    pub acked: Vec<Piece>,
    /// Pieces that it SACKs, by index.
    pub sacked: Vec<usize>,
}

impl AckReport {
    /// Empties it; it keeps a capacity of `most` pieces at most.
    pub fn clear(&mut self, most: usize) {
        *self = AckReport {
            acked: core::mem::take(&mut self.acked),
            sacked: core::mem::take(&mut self.sacked),
            ..AckReport::default()
        };
        self.acked.clear();
        self.acked.shrink_to(most);
        self.sacked.clear();
        self.sacked.shrink_to(most);
    }
}

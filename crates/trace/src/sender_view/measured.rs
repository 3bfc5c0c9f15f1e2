//! What is measured of the sender besides its retransmissions.

use rexmit_time::Time;

use super::rtt::Rtts;
use crate::cost::{BestCase, Silence, Waits};
use crate::measures::{window, Extent};
use crate::rows::SenderRow;

/// What is measured.
#[derive(Debug, Default)]
pub(super) struct Measured {
    pub row: SenderRow,
    pub rtts: Rtts,
    /// Since when the sender could have sent and has not, and what it waited before.
    pub silence: Silence,
    pub waits: Waits,
    pub best_case: BestCase,
    /// When the receiver's window was full.
    full: window::Full,
    /// When data were sent.
    pub data_sent: Extent,
    /// Payload of the largest packet that was acknowledged.
    pub acked_size: u32,
}

impl Measured {
    /// So many bytes are in flight at `at`, some of them `new`, of `window` that the receiver offers.
    pub fn note_flight(&mut self, at: Time, flight: i64, window: u32, mss: u32, new: bool) {
        self.full.note(at, flight, window, mss, new);
    }

    /// Gives what was counted to the row of the connection; `agreed`: the scale of windows is known.
    pub fn give(&mut self, row: &mut SenderRow, agreed: bool) {
        let own = &self.row;
        row.unique_bytes = own.unique_bytes;
        row.retransmissions = own.retransmissions;
        row.reordered = own.reordered;
        row.network_duplicates = own.network_duplicates;
        row.capture_duplicates = own.capture_duplicates;
        row.capture_losses = own.capture_losses;
        row.probes = own.probes;
        row.rtt = self.rtts.summary();
        row.measures.rtt = self.rtts.percentiles();
        row.measures.window_probes = own.measures.window_probes;
        row.measures.bytes_retransmitted = own.measures.bytes_retransmitted;
        row.measures.window_full = agreed.then(|| self.full.length());
        row.measures.data = self.data_sent.length();
        let best_case = core::mem::take(&mut self.best_case);
        row.best_case = row
            .rtt
            .map(|(_, average, largest, _)| best_case.finish(average, largest));
    }
}

#[cfg(test)]
mod tests {
    use rexmit_time::Duration;

    use super::*;

    #[test]
    fn what_was_counted_is_given_and_nothing_of_the_window_without_its_scale() {
        let mut measured = Measured::default();
        measured.row.reordered = 3;
        measured.row.measures.bytes_retransmitted = 9;
        measured.rtts.sample(Duration::from_millis(20));
        let mut row = SenderRow {
            probes: 5,
            ..SenderRow::default()
        };
        measured.give(&mut row, false);
        assert_eq!((row.reordered, row.probes), (3, 0));
        assert_eq!(row.measures.bytes_retransmitted, 9);
        assert!(row.rtt.is_some() && row.best_case.is_some());
        assert!(row.measures.window_full.is_none());
    }
}

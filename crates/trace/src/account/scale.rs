//! By how much windows are scaled where no SYN tells it.

use rexmit_wire::SeqNum;

/// So many windows of different sizes that were filled up tell by how much windows are scaled.
const FILLED: u8 = 4;

/// How windows are scaled if no SYN tells it: by no less than what was sent beyond an acknowledgement shows, and by no more if
/// windows are filled up then, of whatever size.
#[derive(Debug, Default)]
pub(super) struct Scale {
    /// What came by last: an acknowledgement and the window as it stands there.
    pub newest: Option<(SeqNum, u32)>,
    shift: u8,
    /// How many windows were filled up, and the last of them.
    filled: u8,
    last: u32,
}

impl Scale {
    /// Data up to `end` are sent.
    pub fn sent(&mut self, end: SeqNum) {
        let Some((ack, window)) = self.newest.filter(|(_, window)| *window > 0) else {
            return;
        };
        let flight = i64::from(end.offset_from(ack));
        while self.shift < 14 && flight > self.at_least(window).into() {
            self.shift += 1;
            self.filled = 0;
        }
    }

    /// A window that was offered, if the scale is known.
    pub fn scaled(&self, window: u32) -> Option<u32> {
        (self.filled >= FILLED).then(|| self.at_least(window))
    }

    pub fn at_least(&self, window: u32) -> u32 {
        window.saturating_mul(1 << self.shift)
    }

    /// Its sender went on when the window moved that left no room for a segment of `mss` beyond `flight`.
    pub fn held_up(&mut self, window: u32, flight: i64, mss: u32) {
        let left = i64::from(self.at_least(window)) - flight;
        if window != self.last && (0..i64::from(mss)).contains(&left) {
            self.filled = self.filled.saturating_add(1);
            self.last = window;
        }
    }
}

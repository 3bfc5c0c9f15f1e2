//! What was sent again.

/// What was sent again, a packet each.
#[derive(Debug, Default)]
pub(crate) struct Repeats(Vec<(u64, u64)>);

impl Repeats {
    /// A packet with bytes `start..end` is sent, of which the first was sent before.
    pub fn add(&mut self, start: u64, end: u64) {
        self.0.push((start, end));
    }

    /// The how manieth time the byte at `at` goes now, which was sent before.
    pub fn transmission(&self, at: u64) -> u32 {
        let before = self
            .0
            .iter()
            .filter(|(start, end)| *start <= at && at < *end);
        before.count() as u32 + 2
    }
}

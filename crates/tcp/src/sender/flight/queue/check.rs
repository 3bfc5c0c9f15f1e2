//! Counting afresh, for tests.

use super::sent::Marks;
use super::Queue;

impl Queue {
    /// Counts everything afresh and compares; for tests.
    pub fn check(&self, sack: bool) -> Result<(), String> {
        let mut out = 0;
        let (mut sacked, mut lost, mut retransmissions_out) = (0, 0, 0);
        for segment in &self.segments {
            out += segment.count();
            sacked += u32::from(segment.is_sacked()) * segment.count();
            lost += u32::from(segment.is_lost()) * segment.count();
            retransmissions_out += u32::from(segment.has_retransmission_out()) * segment.count();
            if segment.is_sacked() && segment.is_lost() {
                return Err(format!("{segment:?} is SACKed and lost"));
            }
        }
        let counted = (out, if sack { sacked } else { self.counts.sacked }, lost);
        let kept = (self.counts.out, self.counts.sacked, self.counts.lost);
        if counted != kept {
            return Err(format!("counted {counted:?}, kept {kept:?}"));
        }
        // As in the kernel, a retransmission that an undo left in flight is counted twice when a timeout sends it once more.
        if self.counts.retransmissions < retransmissions_out {
            return Err(format!(
                "{retransmissions_out} retransmissions in flight, kept {}",
                self.counts.retransmissions
            ));
        }
        if self.counts.out + self.counts.retransmissions < self.counts.sacked + self.counts.lost {
            return Err(format!("fewer than none in flight: {kept:?}"));
        }
        let mut listed = 0;
        let mut next = self.oldest();
        let mut last = 0;
        while let Some(index) = next {
            listed += 1;
            if self.segments[index].at < last {
                return Err("the list by time of sending is not in order".to_owned());
            }
            last = self.segments[index].at;
            next = self.next_sent(index);
        }
        let marked = self
            .segments
            .iter()
            .filter(|segment| segment.marks.any(Marks::LISTED));
        if marked.count() != listed {
            return Err("the list by time of sending has lost segments".to_owned());
        }
        Ok(())
    }
}

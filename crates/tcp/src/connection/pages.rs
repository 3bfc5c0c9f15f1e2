//! The pages that a program's writes are copied to, and those in which a segment's bytes lie.

use rexmit_wire::SeqNum;

/// Bytes of such a page (`skb_page_frag_refill`).
pub(crate) const WRITE_PAGE_BYTES: u32 = 32_768;

/// Where the first page begins; nowhere while what is written are pages of a file.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Pages {
    from: Option<SeqNum>,
}

impl Pages {
    /// Writes fill a page from its beginning, with the byte `seq`.
    pub fn begin(&mut self, seq: SeqNum) {
        self.from = Some(seq);
    }

    /// What is written now are pages of a file.
    pub fn leave(&mut self) {
        self.from = None;
    }

    /// Pieces of pages that `len` bytes from `seq` on lie in; 0 of a file.
    pub fn count(&self, seq: SeqNum, len: u32) -> u32 {
        let Some(from) = self.from.filter(|_| len > 0) else {
            return 0;
        };
        let first = seq.offset_from(from).max(0) as u32;
        (first + len - 1) / WRITE_PAGE_BYTES - first / WRITE_PAGE_BYTES + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_lie_in_the_pages_that_they_touch() {
        let first = SeqNum::new(u32::MAX - 99);
        let mut pages = Pages::default();
        assert_eq!(pages.count(first, 1), 0, "a file");
        pages.begin(first);
        let end = first + WRITE_PAGE_BYTES;
        let of = [
            (first, 0),
            (first, WRITE_PAGE_BYTES),
            (first + 1, WRITE_PAGE_BYTES),
            (end, 1),
        ];
        assert_eq!(of.map(|(seq, len)| pages.count(seq, len)), [0, 1, 2, 1]);
        pages.leave();
        assert_eq!(pages.count(end, 1), 0);
    }
}

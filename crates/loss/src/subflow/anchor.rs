//! Positions in a stream, which count on where sequence numbers wrap.

use rexmit_wire::SeqNum;

/// A sequence number whose position is known.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Anchor {
    pub position: u64,
    pub seq: SeqNum,
}

impl Anchor {
    /// The position of `seq`, which is less than half the numbers away; `None` where it would be below 0.
    pub fn position(&self, seq: SeqNum) -> Option<u64> {
        let offset = i64::from(seq.offset_from(self.seq));
        self.position.checked_add_signed(offset)
    }

    /// The sequence number of `position`.
    pub fn seq(&self, position: u64) -> SeqNum {
        // Wraps as sequence numbers do.
        self.seq + (position.wrapping_sub(self.position) as u32)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_on_where_numbers_wrap() {
        let anchor = Anchor {
            position: 100,
            seq: SeqNum::new(u32::MAX),
        };
        assert_eq!(anchor.position(SeqNum::new(9)), Some(110));
        assert_eq!(anchor.position(SeqNum::new(u32::MAX - 100)), Some(0));
        assert_eq!(anchor.position(SeqNum::new(u32::MAX - 101)), None);
        for position in [0, 99, 100, 110, 1 << 33] {
            let seq = anchor.seq(position);
            let back = i64::from(seq.offset_from(anchor.seq));
            assert_eq!(
                (100 + back) as u32,
                position as u32,
                "{position} has {seq:?}"
            );
        }
    }
}

//! Numbers of the data sequence as places on a line.

use rexmit_wire::mptcp::DataNumber;

use crate::window::MOST_STRAYS;

/// A number further than this from the highest is none of the connection's: twice the largest window there is.
const FAR: u64 = 1 << 31;

/// The data of one direction: the place of each number of it, of those that only have a low half, too.
///
/// Places are the differences from a first number, so that wrapping matters as little as where the capture begins.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Numbering {
    known: Option<Known>,
    /// Numbers in a row that are none of the connection's.
    strays: u8,
}

#[derive(Clone, Copy, Debug)]
struct Known {
    origin: u64,
    highest: u64,
    /// Only lower halves of numbers were seen: the upper one is made up.
    low: bool,
}

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Placed {
    /// At this place.
    At(i64),
    /// At this place of a new line: those before are of another.
    Anew(i64),
    /// None of the connection's.
    Far,
}

impl Numbering {
    /// The first byte of data has the number after this one.
    pub(super) fn begin(&mut self, idsn: u64) {
        if self.known.is_none() {
            let first = idsn.wrapping_add(1);
            self.known = Some(Known {
                origin: first,
                highest: first,
                low: false,
            });
        }
    }

    /// The place of a number.
    pub(super) fn place(&mut self, number: DataNumber) -> Placed {
        let (full, low) = match (number, &self.known) {
            (DataNumber::Full(full), _) => (full, false),
            (low, Some(known)) => (low.near(known.highest), known.low),
            (DataNumber::Low(low), None) => (1 << 32 | u64::from(low), true),
        };
        let Some(known) = &mut self.known else {
            return self.anew(full, low);
        };
        let ahead = full.wrapping_sub(known.highest) as i64;
        if ahead.unsigned_abs() > FAR {
            self.strays = self.strays.saturating_add(1);
            // So many in a row: the capture missed gigabytes of it.
            let moved = self.strays > MOST_STRAYS;
            return if moved || (known.low && !low) {
                self.anew(full, low)
            } else {
                Placed::Far
            };
        }
        self.strays = 0;
        if ahead > 0 {
            known.highest = full;
        }
        Placed::At(full.wrapping_sub(known.origin) as i64)
    }

    fn anew(&mut self, first: u64, low: bool) -> Placed {
        self.strays = 0;
        self.known = Some(Known {
            origin: first,
            highest: first,
            low,
        });
        Placed::Anew(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_from_the_first_number_across_wraps() {
        for idsn in [0, u64::MAX, u64::MAX - 700, 0xffff_fff0] {
            let mut numbering = Numbering::default();
            numbering.begin(idsn);
            let first = idsn.wrapping_add(1);
            for at in (0..10_000_i64).step_by(500) {
                let number = first.wrapping_add_signed(at);
                assert_eq!(numbering.place(DataNumber::Full(number)), Placed::At(at));
                let low = DataNumber::Low(number as u32);
                assert_eq!(numbering.place(low), Placed::At(at));
            }
        }
    }

    #[test]
    fn a_made_up_half_gives_way_to_a_whole_number() {
        let mut numbering = Numbering::default();
        assert_eq!(numbering.place(DataNumber::Low(7)), Placed::Anew(0));
        assert_eq!(numbering.place(DataNumber::Low(9)), Placed::At(2));
        let whole = DataNumber::Full(0x1234_0000_0009);
        assert_eq!(numbering.place(whole), Placed::Anew(0));
        assert_eq!(numbering.place(DataNumber::Low(7)), Placed::At(-2));
        assert_eq!(numbering.place(DataNumber::Full(5)), Placed::Far);
    }

    #[test]
    fn a_connection_that_has_moved_is_followed() {
        let mut numbering = Numbering::default();
        numbering.begin(0);
        let far = |at: u64| DataNumber::Full((1 << 40) + at);
        for at in 0..3 * u64::from(MOST_STRAYS) {
            assert_eq!(numbering.place(far(at)), Placed::Far);
            // It has not moved as long as its own numbers come.
            if at % u64::from(MOST_STRAYS) == 7 {
                assert_eq!(numbering.place(DataNumber::Full(8)), Placed::At(7));
            }
        }
        for at in 0..u64::from(MOST_STRAYS) {
            assert_eq!(numbering.place(far(at)), Placed::Far);
        }
        assert_eq!(numbering.place(far(100)), Placed::Anew(0));
        assert_eq!(numbering.place(far(90)), Placed::At(-10));
    }
}

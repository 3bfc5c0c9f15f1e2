//! The interfaces that a capture names.

use rexmit_time::Time;

use crate::link::LinkType;

/// An interface that a capture declares; formats without such have one without a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Its name, empty when the capture gives none.
    pub name: String,
    /// What the first byte of its packets begins.
    pub link: LinkType,
    /// Bytes captured of a packet at most; 0 for all.
    pub snap: u32,
    unit: Unit,
    offset_s: i64,
}

/// The unit of time stamps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Unit {
    /// So many nanoseconds each.
    Nanos(u64),
    /// So many in a second, which is more than 10⁹ or not a power of ten.
    PerSecond(u128),
    /// Finer or coarser than any clock.
    Absurd,
}

impl Interface {
    /// Bytes of a name that are kept.
    const MOST_NAME: usize = 256;

    pub(super) fn unnamed(link: LinkType) -> Self {
        Self::new("", link.0, 0, 9, 0)
    }

    /// `tsresol` and `offset_s` as in the options of pcapng (§4.2): the resolution is a power of ten, or of
    /// two when its top bit is set.
    pub(super) fn new(name: &str, link: u16, snap: u32, tsresol: u8, offset_s: i64) -> Self {
        let mut end = name.len().min(Self::MOST_NAME);
        while !name.is_char_boundary(end) {
            end -= 1;
        }
        let exponent = u32::from(tsresol & 0x7f);
        let unit = match (tsresol & 0x80 == 0, exponent) {
            (true, 0..=9) => Unit::Nanos(10_u64.pow(9 - exponent)),
            (true, _) => 10_u128
                .checked_pow(exponent)
                .map_or(Unit::Absurd, Unit::PerSecond),
            (false, _) => 2_u128
                .checked_pow(exponent)
                .map_or(Unit::Absurd, Unit::PerSecond),
        };
        Interface {
            name: name[..end].to_owned(),
            link: LinkType(link),
            snap,
            unit,
            offset_s,
        }
    }

    /// The last time that there is, in the year 2262: tables and Python keep nanoseconds in 64 bits with a sign. What is
    /// added to a time when it is read or rounded fits behind it.
    const LAST: u64 = i64::MAX as u64 - 1_000_000_000;

    /// A time stamp in nanoseconds, rounded down; none when it does not fit.
    #[inline]
    pub(super) fn time(&self, ticks: u64) -> Option<Time> {
        self.nanos(ticks)
            .filter(|&nanos| nanos <= Self::LAST)
            .map(Time::from_nanos)
    }

    #[inline]
    fn nanos(&self, ticks: u64) -> Option<u64> {
        if let (Unit::Nanos(nanos), 0) = (self.unit, self.offset_s) {
            return ticks.checked_mul(nanos);
        }
        let nanos = match self.unit {
            Unit::Nanos(nanos) => u128::from(ticks) * u128::from(nanos),
            Unit::PerSecond(units) => u128::from(ticks) * 1_000_000_000 / units,
            Unit::Absurd => return None,
        };
        let nanos = i128::try_from(nanos).ok()? + i128::from(self.offset_s) * 1_000_000_000;
        u64::try_from(nanos).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nanos(ticks: u64, tsresol: u8, offset_s: i64) -> Option<u64> {
        let interface = Interface::new("", 101, 0, tsresol, offset_s);
        interface.time(ticks).map(Time::as_nanos)
    }

    #[test]
    fn time_stamps_of_every_resolution_become_nanoseconds() {
        assert_eq!(nanos(7, 9, 0), Some(7));
        assert_eq!(nanos(7, 6, 0), Some(7_000));
        assert_eq!(nanos(7, 0, 2), Some(9_000_000_000));
        assert_eq!(nanos(7_999, 12, 0), Some(7));
        assert_eq!(
            nanos(3, 0x81, 0),
            Some(1_500_000_000),
            "units of half a second"
        );
        assert_eq!(nanos(0, 6, -1), None);
        assert_eq!(nanos(1, 127, 0), None);
        let last = i64::MAX as u64 - 1_000_000_000;
        assert_eq!(nanos(last, 9, 0), Some(last));
        assert_eq!(nanos(last + 1, 9, 0), None);
        assert_eq!(nanos(u64::MAX, 9, 0), None);
        assert_eq!(nanos(0, 6, 1 << 34), None);
        assert_eq!(nanos(u64::MAX, 0, 0), None);
        assert_eq!(nanos(u64::MAX, 0, i64::MIN), None);
    }

    #[test]
    fn long_names_are_cut_at_a_character() {
        let interface = Interface::new(&"ü".repeat(200), 1, 0, 6, 0);
        assert_eq!(interface.name, "ü".repeat(128));
        let interface = Interface::new(&format!("x{}", "ü".repeat(200)), 1, 0, 6, 0);
        assert_eq!(interface.name.len(), 255);
    }
}

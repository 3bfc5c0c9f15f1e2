//! Sentences on a capture that its reader must know before the rows are trusted.

use rexmit_time::Duration;
use rexmit_wire::capture::Misdated;

/// The warning for a capture that ends in the middle of a packet: where the last whole one ends, in bytes.
#[must_use]
pub fn cut(offset: u64) -> String {
    format!("the capture ends in the middle of a packet, at byte {offset}")
}

/// The warning for packets whose time stamps are out of range.
#[must_use]
pub fn undated(packets: u64) -> String {
    format!(
        "{} no possible time stamp, and that of the packet before was taken",
        of(packets, "packet has", "packets have")
    )
}

/// The warning for packets whose time stamps their neighbours refute.
#[must_use]
pub fn misdated(found: Misdated) -> String {
    let by = in_words(found.farthest);
    let one = format!("1 packet has a wrong time stamp, {by} away from");
    let several = format!(
        "{} packets have wrong time stamps, up to {by} away from",
        found.packets
    );
    format!(
        "{} those of the packets before and after: the time of the packet before was taken",
        if found.packets == 1 { one } else { several }
    )
}

/// A number of things.
pub(super) fn of(count: u64, one: &str, several: &str) -> String {
    format!("{count} {}", if count == 1 { one } else { several })
}

/// Units of time, how many nanoseconds they have, and from how many of them on they are used.
const UNITS: [(i64, i64, &str); 6] = [
    (86_400_000_000_000, 2, "days"),
    (3_600_000_000_000, 2, "h"),
    (60_000_000_000, 2, "min"),
    (1_000_000_000, 1, "s"),
    (1_000_000, 1, "ms"),
    (1_000, 1, "µs"),
];

/// A span of time in the unit in which it is a small number.
pub(super) fn in_words(span: Duration) -> String {
    let nanos = span.as_nanos();
    for (unit, from, name) in UNITS {
        if nanos >= unit * from {
            let number = nanos as f64 / unit as f64;
            let tenths = (number * 10.0).round();
            let digits = usize::from(number < 100.0 && tenths % 10.0 != 0.0);
            return format!("{number:.digits$} {name}");
        }
    }
    format!("{nanos} ns")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_small_numbers_of_a_unit() {
        let words = |nanos| in_words(Duration::from_nanos(nanos));
        assert_eq!(words(3_000), "3 µs");
        assert_eq!(words(44_602_753_000), "44.6 s");
        assert_eq!(words(1_500_000), "1.5 ms");
        assert_eq!(words(999), "999 ns");
        assert_eq!(words(250_400_000), "250 ms");
        assert_eq!(words(90_000_000_000), "90 s");
        assert_eq!(words(17_999_990_000_000), "5 h");
        assert_eq!(words(14 * 86_400_000_000_000), "14 days");
    }

    #[test]
    fn one_packet_is_not_several() {
        let found = |packets| Misdated {
            packets,
            farthest: Duration::from_secs(18_000),
        };
        let told = misdated(found(1));
        assert!(told.starts_with("1 packet has a wrong time stamp, 5 h away"));
        let told = misdated(found(3));
        assert!(told.starts_with("3 packets have wrong time stamps, up to 5 h"));
        assert!(undated(1).starts_with("1 packet has no"));
        assert!(undated(2).starts_with("2 packets have no"));
    }
}

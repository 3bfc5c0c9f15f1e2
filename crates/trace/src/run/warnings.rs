//! Sentences on a capture that its reader must know before the rows are trusted.

use rexmit_time::Duration;
use rexmit_wire::capture::Misdated;

use super::summary::Summary;

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
        plural(packets, "packet has", "packets have")
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

/// The warnings for what was counted.
pub(super) fn counted(summary: &Summary) -> Vec<String> {
    let counters = &summary.counters;
    let mut warnings = Vec::new();
    if summary.steps_back > 0 {
        let by = in_words(summary.longest_step_back);
        let how = match summary.steps_back {
            1 => format!("once, by {by}"),
            2 => format!("twice, by {by} at most"),
            steps => format!("{steps} times, by {by} at most"),
        };
        warnings.push(format!(
            "the capture's clock steps back {how}: times around there may be wrong"
        ));
    }
    if counters.evicted > 0 {
        warnings.push(format!(
            "{} ended early to make room for others, {} of them with hardly more than a first packet: what came \
             of them later counts as further connections, begun before the capture",
            plural(counters.evicted, "connection was", "connections were"),
            counters.evicted_openings
        ));
    }
    if counters.strays > 0 {
        warnings.push(format!(
            "{} nothing of the connection whose addresses and ports they bear: left out",
            plural(counters.strays, "packet fits", "packets fit")
        ));
    }
    if counters.stray_blocks > 0 {
        warnings.push(format!(
            "{} numbers that their connections are nowhere near: left out; a device that changes sequence numbers may \
             leave those in blocks as they are",
            plural(counters.stray_blocks, "SACK block has", "SACK blocks have")
        ));
    }
    if counters.set > 0 {
        warnings.push(format!(
            "within {} the capture's clock was set, by {} at most: what passed meanwhile is told by the hosts' time stamps, or is \
             not known",
            plural(counters.set, "connection", "connections"),
            in_words(counters.farthest_set)
        ));
    }
    if counters.moved > 0 {
        warnings.push(format!(
            "of {} one direction is recorded late, by {} at most: it was moved, so that acknowledgements stand behind the data \
             that they acknowledge; round-trip times are right, their parts on either side of the capture are not known",
            plural(counters.moved, "connection", "connections"),
            in_words(counters.farthest_moved)
        ));
    }
    if counters.late > 0 {
        warnings.push(format!(
            "of {} one direction is recorded late, by up to {}: acknowledgements stand before the data that they acknowledge, \
             and times do not tell which retransmissions were needed",
            plural(counters.late, "connection", "connections"),
            in_words(counters.latest)
        ));
    }
    warnings
}

/// A number of things.
fn plural(count: u64, one: &str, several: &str) -> String {
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
fn in_words(span: Duration) -> String {
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

    #[test]
    fn one_of_something_is_not_several() {
        let mut summary = Summary {
            steps_back: 1,
            longest_step_back: Duration::from_nanos(3_000),
            ..Summary::default()
        };
        summary.counters.strays = 1;
        summary.counters.evicted = 1;
        let told = counted(&summary).join("\n");
        assert!(told.contains("steps back once, by 3 µs: times"), "{told}");
        assert!(told.contains("1 connection was ended early"), "{told}");
        assert!(told.contains("1 packet fits nothing"), "{told}");
    }
}

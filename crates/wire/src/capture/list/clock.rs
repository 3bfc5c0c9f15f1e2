//! The times of a list.

use rexmit_time::Time;

const SECOND: u64 = 1_000_000_000;
const DAY: u64 = 86_400 * SECOND;
/// What captures cannot hold: 32 bits of seconds.
const END: u64 = SECOND << 32;

/// A time as printed, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Stamp {
    /// Since midnight.
    OfDay(u64),
    /// Since 1970.
    Epoch(u64),
    /// Since the first packet, or since the one before.
    Span(u64),
}

impl Stamp {
    const fn nanos(self) -> u64 {
        match self {
            Stamp::OfDay(nanos) | Stamp::Epoch(nanos) | Stamp::Span(nanos) => nanos,
        }
    }
}

/// What a list's times count from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Origin {
    Midnight,
    Epoch,
    First,
    Before,
    /// There are none.
    None,
}

/// Turns the times of a list into those of a capture.
#[derive(Debug)]
pub(super) struct ListClock {
    origin: Origin,
    /// Of times of day, the midnight before; of others what they are added to.
    base: u64,
    before: u64,
    /// All times so far are whole seconds.
    is_coarse: bool,
}

impl ListClock {
    /// The clock of a list that begins with these times.
    pub fn of(stamps: &[Stamp]) -> Self {
        // Of spans since the packet before, each second one is smaller than the one before it.
        let falls = stamps
            .windows(2)
            .filter(|pair| pair[1].nanos() < pair[0].nanos())
            .count();
        let span = if falls * 4 > stamps.len() {
            Origin::Before
        } else {
            Origin::First
        };
        let origin = match stamps.first() {
            None => Origin::None,
            Some(Stamp::Epoch(_)) => Origin::Epoch,
            Some(Stamp::OfDay(0) | Stamp::Span(_)) => span,
            Some(Stamp::OfDay(_)) => Origin::Midnight,
        };
        ListClock {
            origin,
            // A time may lie before the first one.
            base: if origin == Origin::Epoch { 0 } else { DAY },
            before: 0,
            is_coarse: true,
        }
    }

    /// When the next packet passed; none if its time counts from something else than those before, or fits into no capture.
    pub fn time(&mut self, stamp: Option<Stamp>) -> Option<Time> {
        const APART: u64 = 1_000;
        let before = self.before.max(self.base);
        let time = match (self.origin, stamp) {
            (Origin::Midnight, Some(Stamp::OfDay(nanos))) => self.of_day(nanos),
            (Origin::Epoch, Some(Stamp::Epoch(nanos))) => nanos,
            (Origin::First, Some(Stamp::OfDay(nanos) | Stamp::Span(nanos))) => self.base + nanos,
            (Origin::Before, Some(Stamp::OfDay(nanos) | Stamp::Span(nanos))) => before + nanos,
            (Origin::None, None) => before + APART,
            // One line without among others with a time.
            (_, None) => before,
            (_, Some(_)) => return None,
        };
        if time >= END {
            return None;
        }
        let nanos = stamp.map(Stamp::nanos);
        self.is_coarse &= nanos.is_none_or(|nanos| nanos % SECOND == 0);
        self.before = time;
        Some(Time::from_nanos(time))
    }

    /// A time of day: it is the one next to the time before.
    fn of_day(&mut self, nanos: u64) -> u64 {
        let mut time = self.base + nanos;
        if self.before > 0 {
            if time + DAY / 2 < self.before {
                self.base += DAY;
                time += DAY;
            } else if time > self.before + DAY / 2 && self.base > DAY {
                // One from before midnight among those after it.
                time -= DAY;
            }
        }
        time
    }

    /// What is to be known of the times.
    pub fn in_words(&self) -> Option<&'static str> {
        match self.origin {
            Origin::None => Some("it has no times: its packets are put 1 µs apart, and no duration means anything"),
            _ if self.is_coarse => Some("its times are whole seconds, and no duration is more exact than that"),
            Origin::Midnight => Some("its times have no date, and their days count from 1970-01-02"),
            Origin::First => Some(
                "its times are read as since its first packet, which is put at 1970-01-02; those of tcpdump -ttt and \
                 tshark -t d, which are since the packet before, look the same as long as they only grow",
            ),
            Origin::Before => Some(
                "its times are read as since the packet before, the first of which is put at 1970-01-02",
            ),
            Origin::Epoch => None,
        }
    }
}

/// Whether a word is a time: of day, or seconds with a fraction.
pub(super) fn is_time(word: &str) -> bool {
    time(word).is_some()
}

/// Whether a word is a date.
pub(super) fn is_date(word: &str) -> bool {
    date(word).is_some()
}

/// The time at the begin of a line, behind a number if there is one, and what follows it.
pub(super) fn split(text: &str) -> (Option<Stamp>, &str) {
    let mut rest = text;
    for _ in 0..2 {
        let (word, after) = first_word(rest);
        if let Some(stamp) = time(word) {
            return (Some(stamp), after);
        }
        if let Some(day) = date(word) {
            let (word, after) = first_word(after);
            if let Some(stamp) = dated(day, word) {
                return (Some(stamp), after);
            }
        }
        if !super::line::is_number(word) {
            break;
        }
        rest = after;
    }
    (None, text)
}

/// A time in a field of its own.
pub(super) fn field(text: &str) -> Option<Stamp> {
    match split(text) {
        (stamp, rest) if rest.trim().is_empty() => stamp,
        _ => None,
    }
}

fn first_word(text: &str) -> (&str, &str) {
    let text = text.trim_start();
    text.split_once(char::is_whitespace).unwrap_or((text, ""))
}

fn time(word: &str) -> Option<Stamp> {
    /// 1973, in seconds: smaller numbers count from somewhere else.
    const EARLIEST: u64 = 100_000_000;
    if let Some(nanos) = of_day(word) {
        return Some(Stamp::OfDay(nanos));
    }
    let (whole, fraction) = word.split_once(['.', ','])?;
    let nanos = seconds(whole)?
        .checked_mul(SECOND)?
        .checked_add(nanos(fraction)?)?;
    Some(if nanos < EARLIEST * SECOND {
        Stamp::Span(nanos)
    } else {
        Stamp::Epoch(nanos)
    })
}

fn of_day(word: &str) -> Option<u64> {
    let mut parts = word.splitn(3, ':');
    let (hour, minute, rest) = (parts.next()?, parts.next()?, parts.next()?);
    let (second, fraction) = rest.split_once(['.', ',']).unwrap_or((rest, "0"));
    let two = |text: &str| (text.len() == 2).then(|| seconds(text)).flatten();
    let (hour, minute, second) = (two(hour)?, two(minute)?, two(second)?);
    let is_one = hour < 24 && minute < 60 && second <= 60;
    let seconds = hour * 3600 + minute * 60 + second;
    Some(seconds * SECOND + nanos(fraction)?).filter(|_| is_one)
}

/// Days since 1970.
fn date(word: &str) -> Option<u64> {
    let mut parts = word.splitn(3, ['-', '/']);
    let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
    if (year.len(), month.len(), day.len()) != (4, 2, 2) {
        return None;
    }
    let (year, month, day) = (seconds(year)?, seconds(month)?, seconds(day)?);
    if year < 1970 || !(1..=12).contains(&month) || !(1..=31).contains(&day) {
        return None;
    }
    // Years begin in March: what a leap day moves is behind it (H. Hinnant, days_from_civil).
    let year = year - u64::from(month <= 2);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    let days = year * 365 + year / 4 - year / 100 + year / 400 + of_year;
    days.checked_sub(719_468)
}

fn dated(day: u64, word: &str) -> Option<Stamp> {
    let nanos = of_day(word.trim_end_matches('Z'))?;
    Some(Stamp::Epoch(day.checked_mul(DAY)?.checked_add(nanos)?))
}

fn seconds(text: &str) -> Option<u64> {
    super::line::is_number(text)
        .then(|| text.parse().ok())
        .flatten()
}

/// Nanoseconds of a fraction; what is finer is cut off.
fn nanos(fraction: &str) -> Option<u64> {
    let digits = seconds(fraction.get(..fraction.len().min(9))?)?;
    if !super::line::is_number(fraction) {
        return None;
    }
    let missing = 9_usize.saturating_sub(fraction.len()) as u32;
    Some(digits * 10_u64.pow(missing))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_form_of_a_time_is_read() {
        let day = 1_276_992_000 * SECOND;
        let at = (17 * 3600 + 6 * 60 + 27) * SECOND + 269_305_000;
        let of = |text| split(text).0;
        assert_eq!(of("17:06:27.269305 IP"), Some(Stamp::OfDay(at)));
        assert_eq!(
            of("2010-06-20 17:06:27.269305 IP"),
            Some(Stamp::Epoch(day + at))
        );
        assert_eq!(
            of("   12  2010-06-20 17:06:27.269305000"),
            Some(Stamp::Epoch(day + at))
        );
        assert_eq!(of("1276992000.5 IP"), Some(Stamp::Epoch(day + SECOND / 2)));
        assert_eq!(
            of("    3 0.206000000 10.0.0.1"),
            Some(Stamp::Span(206_000_000))
        );
        assert_eq!(of("IP 10.0.0.1"), None);
        assert_eq!(
            of("2000-02-29 00:00:00 IP"),
            Some(Stamp::Epoch(951_782_400 * SECOND))
        );
        assert_eq!(
            of("2000-03-01 00:00:00 IP"),
            Some(Stamp::Epoch(951_868_800 * SECOND))
        );
    }

    #[test]
    fn a_day_ends_at_midnight() {
        let mut clock = ListClock::of(&[Stamp::OfDay(DAY - 1)]);
        let mut at = |nanos| clock.time(Some(Stamp::OfDay(nanos))).unwrap().as_nanos();
        let last = at(DAY - 2);
        assert_eq!(at(3) - last, 5);
        assert_eq!(at(DAY - 1) - last, 1, "one that is late");
        assert_eq!(at(4) - last, 6);
    }

    #[test]
    fn spans_that_fall_count_from_the_packet_before() {
        let spans = |each: &[u64]| each.iter().map(|&it| Stamp::Span(it)).collect::<Vec<_>>();
        assert_eq!(ListClock::of(&spans(&[0, 5, 7, 30])).origin, Origin::First);
        assert_eq!(
            ListClock::of(&spans(&[0, 5, 2, 30, 1])).origin,
            Origin::Before
        );
        assert_eq!(
            ListClock::of(&[Stamp::OfDay(0), Stamp::OfDay(7)]).origin,
            Origin::First
        );
        let mut clock = ListClock::of(&spans(&[0, 5, 2, 30, 1]));
        let mut at = |nanos| clock.time(Some(Stamp::Span(nanos))).unwrap().as_nanos();
        assert_eq!([at(0), at(5), at(2)].map(|it| it - DAY), [0, 5, 7]);
    }
}

//! How a sender's flight changes from round trip to round trip.

use std::collections::VecDeque;

use rexmit_time::Time;
use rexmit_wire::SeqNum;

use super::owner::Owner;
use super::timeline::Cover;

/// Round trips in which a flight does not grow by an eighth end its first growth: one may be short of data.
const STILL: u8 = 2;

/// In so many round trips, or twice as many, the flight of a sender that something else than its congestion window bounds grows by
/// less than a segment, or two. CUBIC's grows by less in some, near where the last loss was (RFC 9438 §4.2).
const STEADY: usize = 4;
/// Stretches without growth that are remembered.
const MOST: usize = 1 << 8;

/// So many duplicate acknowledgements in a row are of packets that arrived out of order, if of none that was lost.
const DUPLICATES: u8 = 2;
/// Packets that arrived out of order hold a window back in this round trip and the next: it does not grow in Linux's *Disorder*.
const DISORDER: u8 = 2;

/// The flights of round trips.
#[derive(Debug, Default)]
pub(super) struct Rounds {
    /// This round trip ends when this is acknowledged.
    end: Option<SeqNum>,
    /// The largest flight of this one and of those before.
    most: i64,
    before: i64,
    still: u8,
    /// The flight at the last loss.
    lost: Option<i64>,
    /// The largest flight of this round trip and of the last, of which nothing was known to be missing.
    full: [i64; 2],
    /// Duplicate acknowledgements in a row.
    duplicates: u8,
    /// Round trips for which packets out of order hold the window back.
    disorder: u8,
    /// The sender had nothing more to send in this one.
    short: bool,
    /// The largest flights of the newest round trips since the last loss, and when each ended.
    newest: VecDeque<(Time, i64)>,
    /// Whether it no longer grows, and of each time when it was found out from when on.
    steady: bool,
    flat: Vec<Cover>,
    /// The largest flight of the first round trip.
    first: i64,
    /// Something was lost before.
    ever: bool,
}

impl Rounds {
    /// So much is in flight, from `una` to `nxt`; what holds a flight that does not grow is `other` than the congestion window.
    pub fn note(&mut self, at: Time, [una, nxt]: [SeqNum; 2], segment: u32, other: Owner) {
        let flight = i64::from(nxt.offset_from(una).max(0));
        // As large as it was: if it does not grow, the window is not what holds it.
        if self.lost.is_some_and(|lost| flight >= lost) {
            self.lost = None;
        }
        match self.end {
            Some(end) if una.is_before(end) => {}
            Some(_) => {
                if self.most * 8 >= self.before * 9 {
                    self.still = 0;
                } else if !self.short {
                    self.still = self.still.saturating_add(1);
                }
                self.ends(at, segment, other);
                self.short = false;
                self.before = self.before.max(self.most);
                self.most = 0;
                self.full = [0, self.full[0]];
                self.disorder = self.disorder.saturating_sub(1);
                self.end = Some(nxt);
            }
            None => self.end = Some(nxt),
        }
        self.most = self.most.max(flight);
        if self.duplicates == 0 {
            self.full[0] = self.full[0].max(flight);
        }
    }

    /// A round trip ends.
    fn ends(&mut self, at: Time, segment: u32, other: Owner) {
        if self.first == 0 {
            self.first = self.most;
        }
        if self.short {
            return;
        }
        self.newest.push_front((at, self.most));
        self.newest.truncate(STEADY * 2 + 1);
        let still = |times: usize| {
            let (since, before) = *self.newest.get(STEADY * times)?;
            let grown = self.most - before;
            (grown < i64::from(segment) * times as i64).then_some(since)
        };
        let since = still(1).or_else(|| still(2));
        if let Some(since) = since.filter(|_| !self.steady && self.flat.len() < MOST) {
            let since = self.flat.last().map_or(since, |last| last.1.max(since));
            self.flat.push((since, at, other));
        }
        self.steady = since.is_some();
    }

    /// Its sender was idle for a timeout: the congestion window is small again, and grows as at first (RFC 5681 §4.1,
    /// `tcp_cwnd_restart`).
    pub fn restarts(&mut self) {
        (self.end, self.most, self.before, self.still) = (None, 0, 0, 0);
        (self.first, self.full) = (0, [0; 2]);
        self.newest.clear();
        self.steady = false;
    }

    /// All arrived that was to be sent: of what a window had room for, the flight of this round trip says nothing.
    pub fn runs_short(&mut self) {
        self.short = true;
    }

    /// Something of a flight was lost. One that its window does not hold grows until that is known, and says nothing of its window.
    pub fn loses(&mut self, flight: i64) {
        let full = self.full[0].max(self.full[1]);
        let flight = if full > 0 { flight.min(full) } else { flight };
        self.lost = Some(self.lost.map_or(flight, |lost| lost.max(flight)));
        self.still = STILL;
        self.ever = true;
        self.newest.clear();
        self.steady = false;
    }

    /// An acknowledgement comes by, a `duplicate` or another.
    pub fn hears(&mut self, duplicate: bool) {
        self.duplicates = if duplicate {
            self.duplicates.saturating_add(1)
        } else {
            0
        };
        if self.duplicates >= DUPLICATES {
            self.disorder = DISORDER;
        }
    }

    /// The flight is smaller than at the last loss, or packets arrive out of order.
    pub fn is_after_loss(&self) -> bool {
        self.lost.is_some() || self.disorder > 0
    }

    /// Something was lost, if it has all arrived since, too.
    pub fn has_lost(&self) -> bool {
        self.ever
    }

    /// It no longer grows: a congestion window does, by a segment in each round trip (RFC 5681 §3.1).
    pub fn is_steady(&self) -> bool {
        self.steady
    }

    /// Where it had stopped to grow before that was known, and whose that is.
    pub fn flat(&self) -> &[Cover] {
        &self.flat
    }

    /// It has been twice as large as at first.
    pub fn has_doubled(&self) -> bool {
        self.before.max(self.most) >= self.first * 2
    }

    /// It still grows as it does at first.
    pub fn grows(&self) -> bool {
        self.still < STILL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SEGMENT: u32 = 1_000;

    /// A round trip of 50 ms with so much in flight.
    fn round(rounds: &mut Rounds, number: u64, flight: u32) {
        let una = SeqNum::new(number as u32 * 1_000_000);
        let at = Time::from_nanos(number * 50_000_000);
        rounds.note(at, [una, una + flight], SEGMENT, Owner::Sender);
    }

    #[test]
    fn a_flight_as_large_as_before_a_loss_is_not_held_by_it() {
        let mut rounds = Rounds::default();
        let note = |rounds: &mut Rounds, flight| {
            let flight = [SeqNum::new(0), SeqNum::new(flight)];
            rounds.note(Time::ZERO, flight, SEGMENT, Owner::Sender);
            rounds.is_after_loss()
        };
        assert!(!note(&mut rounds, 16_000));
        rounds.loses(16_000);
        assert!(note(&mut rounds, 15_999));
        assert!(!note(&mut rounds, 16_000));
        assert!(rounds.has_lost());
    }

    #[test]
    fn a_flight_that_grows_after_a_loss_until_that_is_known_was_no_larger() {
        let mut rounds = Rounds::default();
        round(&mut rounds, 1, 16_000);
        rounds.hears(true);
        round(&mut rounds, 1, 24_000);
        rounds.loses(24_000);
        rounds.hears(false);
        round(&mut rounds, 2, 16_000);
        assert!(!rounds.is_after_loss());
    }

    #[test]
    fn a_flight_that_stops_growing_had_done_so_before_it_is_known() {
        let mut rounds = Rounds::default();
        let sizes = [10, 20, 40, 40, 40, 40, 40, 40];
        for (number, size) in (1u64..).zip(sizes) {
            round(&mut rounds, number, size * SEGMENT);
        }
        assert!(rounds.is_steady());
        // The third round trip ends when the fourth begins, and the fourth after it does with the eighth.
        let at = |number: u64| Time::from_nanos(number * 50_000_000);
        assert_eq!(rounds.flat(), [(at(4), at(8), Owner::Sender)]);
        // Half a segment in each is a congestion window's.
        let mut rounds = Rounds::default();
        for number in 0..20u64 {
            round(
                &mut rounds,
                number + 1,
                40_000 + number as u32 * SEGMENT / 2,
            );
            assert!(!rounds.is_steady());
        }
        // A quarter is less.
        let mut rounds = Rounds::default();
        for number in 0..20u64 {
            round(
                &mut rounds,
                number + 1,
                40_000 + number as u32 / 8 * SEGMENT,
            );
        }
        assert!(rounds.is_steady());
    }
}

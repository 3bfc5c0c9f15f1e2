//! How a sender's flight changes from round trip to round trip.

use rexmit_wire::SeqNum;

/// Round trips in which a flight does not grow by an eighth end its first growth: one may be short of data.
const STILL: u8 = 2;

/// Round trips with no larger flight, of a sender that something else than its congestion window bounds. CUBIC's grows by less than
/// a segment in some, near where the last loss was (RFC 9438 §4.2).
const STEADY: u8 = 4;

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
    /// The largest flight since the last loss, and in how many round trips in a row it has not grown by a segment.
    level: i64,
    same: u8,
    /// Something was lost before.
    ever: bool,
}

impl Rounds {
    /// So much is in flight, from `una` to `nxt`.
    pub fn note(&mut self, flight: i64, una: SeqNum, nxt: SeqNum, segment: u32) {
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
                if self.most >= self.level + i64::from(segment) {
                    self.level = self.most;
                    self.same = 0;
                } else if !self.short {
                    self.same = self.same.saturating_add(1);
                }
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
        (self.level, self.same) = (0, 0);
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
        self.same >= STEADY
    }

    /// It still grows as it does at first.
    pub fn grows(&self) -> bool {
        self.still < STILL
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flight_as_large_as_before_a_loss_is_not_held_by_it() {
        let mut rounds = Rounds::default();
        let note = |rounds: &mut Rounds, flight| {
            rounds.note(flight, SeqNum::new(0), SeqNum::new(16_000), 1_448);
            rounds.is_after_loss()
        };
        assert!(!note(&mut rounds, 16_000));
        rounds.loses(16_000);
        assert!(note(&mut rounds, 15_999));
        assert!(!note(&mut rounds, 16_000));
        assert!(rounds.has_lost());
    }
}

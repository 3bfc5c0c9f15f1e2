//! The one window of sequence numbers: which numbers a connection takes for its own.
//!
//! Numbers of 32 bits have an order only among those that lie within 2³¹ of each other ([`SeqNum`]). What is kept of a
//! connection is in that order: scoreboards, queues, pieces. So each packet passes a door before anything is kept of it
//! (`connection/belongs.rs`), and these rules hold:
//!
//! - A direction *holds* the numbers from [`HELD`] below the next one to be sent up to that one. What lies further below has
//!   arrived, whether its acknowledgement came by or not: no receiver offers a window of 1 GiB (RFC 7323 §2.3). So what is
//!   held moves along with the highest number sent, and a transfer may go through all numbers any number of times.
//! - A number less than [`WINDOW`] from the next one is *near*. Near numbers above it are a *gap*: the capture missed what lies
//!   between. A packet belongs to a connection if its own number, and what it acknowledges, are near those of their
//!   directions. SACK blocks that are not near are left out of it, and counted: devices that change sequence numbers
//!   often forget those in blocks.
//! - Any other packet is left out, and counted as a stray. After several in a row the connection itself has moved, because the
//!   capture missed gigabytes of it, or its addresses are another's: a new connection begins there, in the middle. A packet
//!   of either side that fits tells that it has not moved.
//! - Resets are let in whatever their numbers are, as they answer packets that have no connection. Nothing is kept of those.
//!
//! Whoever is told of near numbers alone, and holds no more than [`HELD`], compares numbers that are less than 2³¹ apart.
//! Where numbers come in another order than at the door, or of more than one source, the same window is applied again.

use rexmit_wire::SeqNum;

/// A number that far from the next one to be sent belongs to no window.
pub(crate) const WINDOW: u32 = 1 << 30;

/// How many numbers below the next one are held. With a packet of any length, which is shorter than the difference, they lie
/// within 2³¹ of all that is near.
pub(crate) const HELD: u32 = WINDOW - (1 << 25);

/// Packets in a row that may fit nothing; one more, and what they belong to is another connection.
pub(crate) const MOST_STRAYS: u8 = 8;

/// Whether a number is one of a direction whose next number is `next`.
#[inline]
pub(crate) const fn is_near(seq: SeqNum, next: SeqNum) -> bool {
    seq.offset_from(next).unsigned_abs() < WINDOW
}

/// The same for places on a line.
pub(crate) const fn is_place_near(place: i64, next: i64) -> bool {
    place.abs_diff(next) < WINDOW as u64
}

/// Whether numbers from `first` to `next` are more than are held.
#[inline]
pub(crate) const fn is_too_much(first: SeqNum, next: SeqNum) -> bool {
    next.offset_from(first) > HELD as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A packet is at most so long, SYN and FIN counted.
    const LONGEST: u32 = (1 << 24) + 2;

    #[test]
    fn what_is_near_has_an_order_with_all_that_is_held() {
        for next in [0, 5, 1 << 30, 1 << 31, u32::MAX - 1].map(SeqNum::new) {
            let held = [next - HELD, next - HELD / 2, next];
            let lowest = next - (WINDOW - 1);
            let highest = next + (WINDOW - 1) + LONGEST;
            assert!(is_near(lowest, next) && is_near(highest - LONGEST, next));
            assert!(!is_near(next - WINDOW, next) && !is_near(next + WINDOW, next));
            for place in held {
                assert!(place.is_after(lowest) && place.is_before(highest));
            }
            assert!(!is_too_much(next - HELD, next) && is_too_much(next - HELD - 1, next));
        }
    }
}

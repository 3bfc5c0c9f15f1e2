//! A stream without an end: rows come out in bounded time, and what hosts taught makes room.

use rexmit_time::{Duration, Time};

/// How soon rows of an unbounded stream are wanted, by the capture's clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Promptly {
    /// A stretch lasts so long at most: then connections that are over end, and rows come out.
    pub stretch: Duration,
    /// A retransmission waits about so long at most for what other connections of its host show.
    pub wait: Duration,
}

/// A span of the capture's clock that begins anew whenever it is over.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Span {
    /// None: it never ends.
    lasts: Option<Duration>,
    began: Option<Time>,
}

impl Span {
    /// A span that begins at the first time that it is asked about.
    pub const fn new(lasts: Option<Duration>) -> Self {
        Span { lasts, began: None }
    }

    /// Whether it is over at this time; then the next one has begun. A clock that was set back begins it anew.
    #[inline]
    pub fn is_over(&mut self, now: Time) -> bool {
        let Some(lasts) = self.lasts else {
            return false;
        };
        let began = *self.began.get_or_insert(now);
        if now < began {
            self.began = Some(now);
        }
        let over = now >= began && now.since(began) >= lasts;
        if over {
            self.began = Some(now);
        }
        over
    }

    /// It begins anew.
    pub fn begin(&mut self, now: Time) {
        self.began = Some(now);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_ends_and_begins_anew() {
        let at = |seconds: i64| Time::ZERO + Duration::from_secs(seconds);
        let mut span = Span::new(Some(Duration::from_secs(10)));
        assert!(!span.is_over(at(100)));
        assert!(!span.is_over(at(109)));
        assert!(span.is_over(at(110)));
        assert!(!span.is_over(at(119)));
        // The clock is set back.
        assert!(!span.is_over(at(50)));
        assert!(span.is_over(at(60)));
        span.begin(at(65));
        assert!(!span.is_over(at(74)));
        assert!(!Span::new(None).is_over(at(1_000_000)));
    }
}

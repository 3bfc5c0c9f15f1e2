//! The event queue: what happens next.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rexmit_time::Time;

/// Events in the order of time, those of the same time in the order of the events themselves.
///
/// That order is total: it does not depend on when an event was put in, so a simulation is the same however its parts
/// arm their timers. Two equal events at the same time are one thing told twice.
#[derive(Debug)]
pub struct Queue<E> {
    heap: BinaryHeap<Reverse<(Time, E)>>,
    now: Time,
}

impl<E: Ord + Copy> Queue<E> {
    /// An empty queue at time `now`.
    #[must_use]
    pub fn new(now: Time) -> Self {
        Self {
            heap: BinaryHeap::new(),
            now,
        }
    }

    /// The time of the last event taken.
    #[must_use]
    pub fn now(&self) -> Time {
        self.now
    }

    /// Puts an event in.
    ///
    /// # Panics
    /// When `time` lies before the last event taken: a simulation whose time goes back is worth nothing.
    #[inline]
    pub fn push(&mut self, time: Time, event: E) {
        assert!(
            time >= self.now,
            "an event at {time} when it is {}",
            self.now
        );
        self.heap.push(Reverse((time, event)));
    }

    /// Lets time go by in which nothing happens, up to `until`.
    pub fn wait_until(&mut self, until: Time) {
        debug_assert!(self.next_time().is_none_or(|next| next > until));
        self.now = self.now.max(until);
    }

    /// When the next event happens.
    #[must_use]
    pub fn next_time(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((time, _))| *time)
    }

    /// Takes the next event.
    #[inline]
    pub fn pop(&mut self) -> Option<(Time, E)> {
        let Reverse((time, event)) = self.heap.pop()?;
        debug_assert!(time >= self.now);
        self.now = time;
        Some((time, event))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn comes_out_in_one_order_however_it_went_in(mut events in proptest::collection::vec((0u64..20, 0u32..5), 0..60)) {
            let take_all = |events: &[(u64, u32)]| {
                let mut queue = Queue::new(Time::ZERO);
                for &(time, event) in events {
                    queue.push(Time::from_nanos(time), event);
                }
                std::iter::from_fn(move || queue.pop()).map(|(t, e)| (t.as_nanos(), e)).collect::<Vec<_>>()
            };
            let one = take_all(&events);
            events.reverse();
            prop_assert_eq!(&one, &take_all(&events));
            events.sort_unstable();
            prop_assert_eq!(one, events);
        }
    }

    #[test]
    #[should_panic(expected = "an event at 0.000000004 when it is 0.000000005")]
    fn time_never_goes_back() {
        let mut queue = Queue::new(Time::ZERO);
        queue.push(Time::from_nanos(5), 1);
        queue.pop();
        queue.push(Time::from_nanos(4), 1);
    }
}

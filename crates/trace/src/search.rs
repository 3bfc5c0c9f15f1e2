//! Binary search from where the place is likely to be.

use std::collections::VecDeque;

/// As [`VecDeque::partition_point`]: how many items at the front are `before`, which all those that are stand there. Looks near
/// `guess` first, so that a guess that is off by `d` costs `log d` looks, wherever it lies.
#[inline]
pub(crate) fn partition_near<T>(
    items: &VecDeque<T>,
    guess: usize,
    before: impl Fn(&T) -> bool,
) -> usize {
    let is_before = |place: usize| items.get(place).is_some_and(&before);
    // All below `low` are before, and none from `high` on.
    let guess = guess.min(items.len());
    let (mut low, mut high, mut step) = (guess, guess, 1);
    if is_before(guess) {
        low = guess + 1;
        high = loop {
            let probe = (low + step).min(items.len());
            if !is_before(probe) {
                break probe;
            }
            low = probe + 1;
            step *= 2;
        };
    } else {
        while low > 0 {
            let probe = low.saturating_sub(step);
            if is_before(probe) {
                low = probe + 1;
                break;
            }
            (low, high) = (probe, probe);
            step *= 2;
        }
    }
    while low < high {
        let middle = low + (high - low) / 2;
        if is_before(middle) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    low
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finds_what_a_binary_search_finds_whatever_the_guess() {
        for len in 0..12 {
            // With a front that is not the first of the ring.
            let mut items: VecDeque<usize> = (0..=len).collect();
            items.pop_front();
            items.push_back(len + 1);
            items.pop_back();
            for limit in 0..len + 3 {
                let expected = items.partition_point(|item| *item < limit);
                for guess in 0..len + 3 {
                    let found = partition_near(&items, guess, |item| *item < limit);
                    assert_eq!(found, expected, "{len} {limit} {guess}");
                }
            }
        }
    }

    #[test]
    fn looks_few_times_near_the_guess() {
        let items: VecDeque<u32> = (0..100_000).collect();
        let looks = core::cell::Cell::new(0);
        for guess in [50_000, 49_990, 50_010] {
            looks.set(0);
            let found = partition_near(&items, guess, |item| {
                looks.set(looks.get() + 1);
                *item < 50_000
            });
            assert_eq!(found, 50_000);
            assert!(looks.get() <= 9, "{} looks from {guess}", looks.get());
        }
    }
}

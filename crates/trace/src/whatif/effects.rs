//! What settings do otherwise in one wait, worked out once for those that cannot differ in it.

use rexmit_time::Duration;

use super::outcome::Tally;

/// Slots, a power of two: those that a grid fills of one wait.
const SLOTS: usize = 256;

/// What the effect of a setting on a wait depends on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Key {
    /// The timer.
    pub ticks: i64,
    /// What a probe waits for at least.
    pub least: Duration,
    pub detector: usize,
}

/// Effects by what they depend on. One that finds its slot taken takes it over.
#[derive(Debug, Default)]
pub(super) struct Effects {
    /// The number of the wait in which the slot was filled, the key, and the effect; none if there is no effect.
    slots: Vec<(u64, Key, Option<Tally>)>,
    wait: u64,
}

impl Effects {
    /// Begins with another wait.
    pub fn clear(&mut self) {
        self.wait += 1;
    }

    /// The effect of `key`, which `make` works out if it is not known.
    #[inline]
    pub fn get_or(&mut self, key: Key, make: impl FnOnce() -> Tally) -> Option<&Tally> {
        if self.slots.is_empty() {
            self.slots = vec![(0, key, None); SLOTS];
        }
        let slot = (key.ticks as usize).wrapping_add(key.detector * 37) % SLOTS;
        let (wait, known, effect) = &mut self.slots[slot];
        if *wait != self.wait || *known != key {
            let made = make();
            *effect = (made != Tally::default()).then_some(made);
            (*wait, *known) = (self.wait, key);
        }
        effect.as_ref()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effect_is_worked_out_once_a_wait_and_key() {
        let key = |ticks, detector| Key {
            ticks,
            least: Duration::ZERO,
            detector,
        };
        let made = |nanos| Tally {
            waited: Duration::from_nanos(nanos),
            ..Tally::default()
        };
        let mut effects = Effects::default();
        effects.clear();
        let known = |effect: Option<&Tally>| effect.map(|tally| tally.waited.as_nanos());
        assert_eq!(known(effects.get_or(key(5, 0), || made(7))), Some(7));
        assert_eq!(known(effects.get_or(key(5, 0), || made(8))), Some(7));
        assert_eq!(known(effects.get_or(key(5, 1), || made(9))), Some(9));
        // The same slot.
        assert_eq!(known(effects.get_or(key(5 + 256, 0), || made(1))), Some(1));
        assert_eq!(known(effects.get_or(key(5, 0), || made(2))), Some(2));
        effects.clear();
        assert_eq!(known(effects.get_or(key(5, 0), || made(0))), None);
    }
}

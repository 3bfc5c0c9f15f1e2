//! Emulations that need not run: of stacks that the sender's SYN refutes, until none of the others explains it, and of those
//! that explain it so much worse than another that nothing they say counts any more.
//!
//! A stack that the SYN refutes is that of a host which imitates another, or of a proxy. Its emulation begins with the first
//! retransmission that the likeliest of the others does not explain, and is told then all that was told before.

use rexmit_tcp::Mechanism;
use rexmit_time::Time;

use super::detection_mode::DetectionMode;
use super::{Judges, Recycled};
use crate::event::SenderEvent;

/// Events that are remembered. A sender that was explained for so long is no other's.
pub(super) const MOST_TOLD: usize = 1 << 12;

/// An emulation is given up when it explains all that was seen so much worse than the best of its detection mode, as a natural
/// logarithm. It weighs nothing long before: e^-37 of a double is lost when it is added to it. A retransmission costs 16 at
/// most, so that many would have to be explained by it alone for it to count again.
const HOPELESS: f64 = 256.0;

/// Retransmissions between two looks for those.
const LOOKS: u32 = 64;

/// What emulations were told.
#[derive(Clone, Copy, Debug)]
pub(super) enum Input {
    Event(SenderEvent),
    /// The peer's SYN came.
    Asked(Time),
}

impl Judges {
    /// Remembers what the emulations are told, for those that do not run.
    pub(super) fn remember(&mut self, told: Input) {
        if !self.waits {
            return;
        }
        if self.told.len() == MOST_TOLD {
            self.waits = false;
            self.told.clear();
            return;
        }
        self.told.push(told);
    }

    /// A retransmission was weighed: whether the emulations that wait are to begin, and which of those that run are to end.
    pub(super) fn look_again(&mut self, number: u32) {
        if self.waits && !self.is_explained() {
            self.begin_all();
        }
        if number % LOOKS == LOOKS - 1 {
            self.end_hopeless();
        }
    }

    /// Whether the likeliest of the emulations explains every retransmission, and has a name for the last one.
    fn is_explained(&self) -> bool {
        self.best().is_some_and(|best| {
            let last = best.evidence.opinions.back();
            best.evidence.explained.1 == 0
                && last.is_none_or(|last| last.mechanism != Mechanism::Unknown)
        })
    }

    /// Runs all emulations from the beginning.
    fn begin_all(&mut self) {
        let all = Judges::of_all(&self.facts, self.chosen, Recycled::default());
        let before = core::mem::replace(self, all);
        for told in &before.told {
            match told {
                Input::Event(event) => self.event(event),
                Input::Asked(at) => self.asked(*at),
            }
        }
        self.forget_before(before.first);
    }

    fn end_hopeless(&mut self) {
        let best = self.best_by_mode();
        let mut place = 0;
        while let Some(sender) = self.senders.get(place) {
            let best = best[DetectionMode::of(sender.profile) as usize];
            if best - sender.evidence.score > HOPELESS {
                self.spare.push(self.senders.remove(place).leave());
            } else {
                place += 1;
            }
        }
    }
}

//! Retransmissions on their way to their rows: told to the emulations, settled, named.

use std::collections::VecDeque;

use rexmit_tcp::Need;

use super::held::Held;
use super::open::{no_verdict, Episode, Unsettled, Waiting};
use crate::emulate::{Explanation, Judges};
use crate::event::SenderEvent;
use crate::necessary::Witness;
use crate::rows::{Evidence, Retransmission};
use crate::whatif::Replay;

/// The emulations, and what waits for them.
#[derive(Debug)]
pub(super) struct Verdicts {
    /// Events that the emulations have not been told yet.
    pub held: Held,
    pub judges: Judges,
    pub replay: Option<Replay>,
    /// The number of the next retransmission.
    next_number: u32,
    /// Retransmissions of which more may be learned.
    pub waiting: Waiting,
    /// Those that wait for their mechanism, oldest first.
    pub unnamed: VecDeque<(Unsettled, Need, Evidence)>,
    pub episode: Episode,
    /// Rows that are done.
    pub ready: Vec<Retransmission>,
}

/// The collections of [`Verdicts`], empty.
#[derive(Debug, Default)]
pub(super) struct Empty {
    pub held: VecDeque<SenderEvent>,
    pub open: VecDeque<Unsettled>,
    pub unnamed: VecDeque<(Unsettled, Need, Evidence)>,
    pub rows: Vec<Retransmission>,
    pub ready: Vec<Retransmission>,
}

impl Verdicts {
    pub fn new(judges: Judges, replay: Option<Replay>, empty: Empty) -> Self {
        Verdicts {
            held: Held::within(empty.held),
            judges,
            replay,
            next_number: 0,
            waiting: Waiting::within(empty.open),
            unnamed: empty.unnamed,
            episode: Episode::within(empty.rows),
            ready: empty.ready,
        }
    }

    /// The number of a new retransmission.
    pub fn number(&mut self) -> u32 {
        self.next_number += 1;
        self.next_number - 1
    }

    /// Hands an event on to the emulations, by and by.
    pub fn tell(&mut self, event: &SenderEvent) {
        self.held.push(*event);
        while let Some(event) = self.held.due() {
            self.judge(&event);
        }
    }

    /// Hands on what is left.
    pub fn tell_all(&mut self) {
        while let Some(event) = self.held.pop() {
            self.judge(&event);
        }
    }

    fn judge(&mut self, event: &SenderEvent) {
        self.judges.event(event);
        if let Some(replay) = &mut self.replay {
            if replay.asks_for_sender() {
                name_sender(replay, &self.judges);
            }
            replay.event(event);
        }
    }

    /// What is known of a retransmission now.
    pub fn explain(&self, open: &Unsettled, witness: &Witness) -> Explanation {
        let verdict = self.judges.verdict(open.number, witness);
        verdict.unwrap_or_else(|| no_verdict(open.episode, witness))
    }

    /// The replay is over, if there is one; the sender's stack is known as well as it ever will be.
    pub fn end_replay(&mut self) -> Option<Replay> {
        let mut replay = self.replay.take()?;
        name_sender(&mut replay, &self.judges);
        Some(replay)
    }
}

/// Tells a replay what the sender's stack is like.
fn name_sender(replay: &mut Replay, judges: &Judges) {
    if let Some(settings) = judges.settings() {
        replay.sender_is(&settings, &judges.identity().parameters);
    }
}

#[cfg(test)]
mod tests {
    use rexmit_tcp::Mechanism;
    use rexmit_time::Time;

    use super::*;
    use crate::facts::SenderFacts;

    #[test]
    fn what_the_emulations_do_not_know_is_unknown() {
        let judges = Judges::new(&SenderFacts::default());
        let mut verdicts = Verdicts::new(judges, None, Empty::default());
        assert_eq!([verdicts.number(), verdicts.number()], [0, 1]);
        let open = Unsettled {
            number: 0,
            at: Time::ZERO,
            start: 0,
            end: 1,
            length: 1,
            shown: true,
            first_sent: None,
            witness: Witness::default(),
            waited: Default::default(),
            copy: 1,
            high: 1,
            recovered: None,
            flight: (1, 1),
            moving: None,
            episode: 7,
        };
        let verdict = verdicts.explain(&open, &open.witness);
        assert_eq!(verdict.judged.mechanism, Mechanism::Unknown);
        assert_eq!(verdict.episode, 7);
        assert!(verdicts.end_replay().is_none());
    }
}

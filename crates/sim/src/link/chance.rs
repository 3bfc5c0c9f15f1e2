//! Loss by chance.

use rexmit_plan::LossBursts;
use rexmit_time::{Stream, Time};

use super::spell::{Spell, Spells};

/// How packets are lost by chance.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Loss {
    /// Not at all.
    #[default]
    None,
    /// Each with this probability.
    Random(f64),
    /// In bursts of packets, however long they take (`loss_gilb_ell`).
    Bursts(LossBursts),
    /// All that come at certain times; netem cannot.
    Fades(Spells),
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct State {
    bad: bool,
    fade: Spell,
}

impl State {
    /// As a link is that has carried packets for long.
    pub fn settled(loss: &Loss, stream: &mut Stream) -> Self {
        let bad = match loss {
            Loss::Bursts(bursts) => {
                stream.uniform() * (bursts.to_bad + bursts.to_good) < bursts.to_bad
            }
            _ => false,
        };
        State {
            bad,
            ..State::default()
        }
    }

    /// Whether the packet that comes at `now` is lost.
    pub fn lost(&mut self, now: Time, loss: &Loss, stream: &mut Stream) -> bool {
        match *loss {
            Loss::None => false,
            Loss::Fades(spells) => self.fade.within(now, &spells, stream).is_some(),
            Loss::Random(probability) => stream.uniform() < probability,
            Loss::Bursts(bursts) => {
                // The packet is judged by the state before the change.
                let (change, loss) = if self.bad {
                    (bursts.to_good, bursts.when_bad)
                } else {
                    (bursts.to_bad, bursts.when_good)
                };
                self.bad ^= stream.uniform() < change;
                stream.uniform() < loss
            }
        }
    }
}

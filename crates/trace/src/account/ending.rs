//! What only a connection's end tells: what followed its last byte, what its retransmissions were, and that a peer was gone or
//! a path took no packet of that size.

use rexmit_tcp::Mechanism;
use rexmit_time::Time;

use super::owner::Owner;
use super::timeline::Cover;
use super::{Account, Share};
use crate::cost::Waits;
use crate::event::Direction;
use crate::measures::Unacked;
use crate::rows::Position;

/// Copies of what was never acknowledged that tell that nothing answers; one may be lost.
const LEAST_COPIES: u32 = 2;

/// What is known of a connection when it has ended.
#[derive(Debug)]
pub(crate) struct Ending<'e> {
    pub end: Time,
    /// Only one direction was seen.
    pub one_sided: bool,
    /// Of each direction: how its sender waited for retransmissions, what of it was never acknowledged, and where the
    /// monitor stood.
    pub senders: [(&'e Waits, Option<Unacked>, Option<Position>); 2],
}

impl Account {
    /// What each owner has of each direction.
    pub fn finish(&mut self, ending: &Ending<'_>) -> [Vec<Share>; 2] {
        self.close(ending);
        let gone = self.gone(ending);
        let named: [Vec<Cover>; 2] = [0, 1].map(|of| repairs(ending.senders[of].0));
        for (of, line) in self.lines.iter_mut().enumerate() {
            let line = &mut line.sure;
            let (own, other) = (&named[of], &named[1 - of]);
            line.cover(own, |was, _| {
                was != Owner::Connecting && was != Owner::Closing
            });
            line.cover(other, |was, _| was.is_recovery());
            line.name_repairs(own);
            line.cover(gone.as_slice(), |_, _| true);
        }
        [0, 1].map(|of| self.lines[of].sure.shares())
    }

    /// The time after the last data.
    fn close(&mut self, ending: &Ending<'_>) {
        let turns = &self.turns;
        let end = ending.end;
        let known = turns.start() < end && !ending.one_sided;
        let rest: &[(Time, Owner)] = if !turns.is_open() {
            let shaken = turns.is_asked();
            &[(
                end,
                if shaken {
                    Owner::Connecting
                } else {
                    Owner::Unknown
                },
            )]
        } else if ending.one_sided || !known {
            &[(end, Owner::Unknown)]
        } else {
            match turns.last() {
                None => &[(end, Owner::Closing)],
                Some(of) => {
                    let acked = self.flows[of as usize].empty_at;
                    let arrived =
                        acked.map_or(turns.mark, |at| at.clamp(turns.mark, end.max(turns.mark)));
                    // A request that was taken and never answered.
                    let unanswered = of == Direction::Forward && turns.has_served();
                    let closed = turns.closed.map_or(end, |(at, _)| at);
                    let owner = if unanswered {
                        Owner::Server
                    } else {
                        Owner::Closing
                    };
                    &[
                        (arrived, Owner::RoundTrip),
                        (closed, owner),
                        (end, Owner::Closing),
                    ]
                }
            }
        };
        for line in &mut self.lines {
            rest.iter()
                .for_each(|&(to, owner)| line.wait(to.min(end), owner));
            line.settle();
            if ending.one_sided && turns.is_open() {
                line.begin(turns.start());
                line.sure.push(end, Owner::Unknown);
            }
        }
    }

    /// Since when a peer was gone, or a path took nothing of that size.
    fn gone(&self, ending: &Ending<'_>) -> Option<Cover> {
        for (of, (_, unacked, position)) in ending.senders.iter().enumerate() {
            let (Some(unacked), Some(sent)) = (unacked, self.flows[of].sent()) else {
                continue;
            };
            let larger = unacked.acked_size > 0
                && unacked.size > unacked.acked_size
                && unacked.sends > LEAST_COPIES
                && unacked.unanswered < unacked.sends
                && *position != Some(Position::Receiver);
            let owner = if larger {
                Owner::PathMtu
            } else if unacked.unanswered >= LEAST_COPIES {
                Owner::PeerGone
            } else {
                continue;
            };
            return Some((sent - unacked.silence, ending.end, owner));
        }
        None
    }
}

fn repairs(waits: &Waits) -> Vec<Cover> {
    let named = |(from, to, mechanism): (Time, Time, usize)| {
        let owner = Owner::of_mechanism(Mechanism::ALL[mechanism])?;
        Some((from, to, owner))
    };
    waits.iter().filter_map(named).collect()
}

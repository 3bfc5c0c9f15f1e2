//! What only a connection's end tells: what followed its last byte, what its retransmissions were, and that a peer was gone or
//! a path took no packet of that size.

use rexmit_tcp::Mechanism;
use rexmit_time::{Duration, Time};

use super::flow::Flow;
use super::owner::Owner;
use super::sizes::OPTIONS;
use super::timeline::{By, Cover};
use super::{Account, Share, SERVER};
use crate::cost::Waits;
use crate::event::Direction;
use crate::measures::Unacked;
use crate::rows::Position;

/// Copies of what was never acknowledged, or probes, that tell that nothing answers; one may be lost.
const LEAST_COPIES: u32 = 2;

/// A lost packet has been sent again twice within this time, by timers alone (RFC 6298 §2.1, §5.5).
const REPAIRED: Duration = Duration::from_secs(3);

/// What is known of a connection when it has ended.
#[derive(Debug)]
pub(crate) struct Ending<'e> {
    pub end: Time,
    /// Only one direction was seen.
    pub one_sided: bool,
    /// Of each direction: how its sender waited for retransmissions, what of it was never acknowledged, and where the
    /// monitor stood.
    pub senders: [(&'e Waits, Option<Unacked>, Option<Position>); 2],
    /// Of each direction: what was sent again had arrived, and nothing was lost.
    pub spurious: [bool; 2],
}

impl Account {
    /// What each owner has of each direction.
    pub fn finish(&mut self, ending: &Ending<'_>) -> [Vec<Share>; 2] {
        let closed = self.turns.closed.map_or(ending.end, |(at, _)| at);
        let spans = &mut self.lines[SERVER].sure.spans;
        self.requests.end(closed, self.turns.is_pushed(), spans);
        self.close(ending);
        let gone = self.gone(ending);
        let waits = ending.senders.map(|(waits, ..)| waits);
        let named = waits.map(repairs);
        let perhaps = waits.map(late_or_lost);
        let policed = [0, 1].map(|of| {
            let flow = &self.flows[of];
            let since = flow.policer.found(self.mss[of].unwrap_or(flow.largest()));
            since.filter(|_| !ending.spurious[of])
        });
        let busy = [0, 1].map(|of| match policed[of] {
            None => self.flows[of].bottleneck().busy(),
            Some(_) => Vec::new(),
        });
        // A client that sends a little now and then and is never answered says something, and asks nothing.
        let small = |mss: u32| self.flows[0].largest() + OPTIONS < mss;
        let messages = self.turns.is_pushed() && self.mss[0].is_some_and(small);
        let thinned = self.flows.iter().any(Flow::is_thinned);
        for (of, line) in self.lines.iter_mut().enumerate() {
            let line = &mut line.sure;
            let (own, other) = (&named[of], &named[1 - of]);
            line.cover(own, By::Own, |was, _| {
                was != Owner::Connecting && was != Owner::Closing
            });
            line.cover(other, By::Other, |was, _| was.is_recovery());
            line.name_repairs(own, By::Own);
            line.name_repairs(other, By::Other);
            for flow in [of, 1 - of] {
                line.cover(&perhaps[flow], By::own(flow == of), |was, _| {
                    was.is_program() || was == Owner::Unknown
                });
            }
            for flow in [of, 1 - of] {
                let flat = self.flows[flow].flat();
                line.cover(flat, By::own(flow == of), |was, _| was == Owner::SlowStart);
                line.cover(&busy[flow], By::own(flow == of), |was, _| {
                    matches!(was, Owner::SmallWindow | Owner::Sender) || was.is_recovery()
                });
                let stalls = self.flows[flow].bottleneck().stalls();
                line.cover(stalls, By::own(flow == of), |was, _| was == Owner::PathRate);
                let policed = policed[flow].map(|since| (since, ending.end, Owner::Policer));
                line.cover(policed.as_slice(), By::own(flow == of), |was, _| {
                    // Away from the sender, what the bucket let wait seems to be sent late.
                    matches!(was, Owner::SmallWindow | Owner::Sender) || was.is_recovery()
                });
                let cut = self.flows[flow].sizes.cut();
                let cut = cut.map(|(from, to)| (from, to, Owner::PathMtu));
                line.cover(cut.as_slice(), By::own(flow == of), |was, _| {
                    was.is_recovery()
                });
            }
            for (flow, stream) in self.streams.iter().enumerate() {
                line.cover(stream.found(), By::own(flow == of), |was, _| {
                    matches!(was, Owner::Client | Owner::Server | Owner::Sender)
                });
            }
            if let Some((whose, gone)) = gone {
                line.cover(&[gone], By::own(whose == of), |_, _| true);
            }
            let not_taken = self
                .turns
                .not_taken
                .map(|to| (self.turns.start(), to, Owner::Connecting));
            line.cover(not_taken.as_slice(), By::Own, |_, _| true);
            let all = |owner| [(self.turns.start(), ending.end, owner)];
            if thinned {
                line.cover(&all(Owner::Unknown), By::Own, |was, _| was.is_program());
            }
            if messages {
                let idle = all(Owner::Messages);
                line.cover(&idle, By::Own, |was, _| was == Owner::Client);
            }
        }
        [0, 1].map(|of| self.lines[of].sure.shares())
    }

    /// The time after the last data.
    fn close(&mut self, ending: &Ending<'_>) {
        let turns = &self.turns;
        let end = ending.end;
        let unknown = ending.one_sided && (turns.is_open() || turns.is_answered());
        let connected = turns.connected_by_client();
        let (start, mut on_way) = (turns.start(), None);
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
                    let flow = &self.flows[of as usize];
                    let way = turns.mark + flow.beyond().unwrap_or(Duration::ZERO);
                    let acked = turns
                        .arrival(flow.acked_at[1])
                        .filter(|at| *at >= turns.mark);
                    // A FIN acknowledges when its program closes, also what came long before.
                    let by_fin = turns
                        .closed
                        .is_some_and(|(at, by)| Some(at) == acked && by != of);
                    let way = flow.acked_at[0].map_or(way, |partly| partly.max(way));
                    let arrived = acked.filter(|_| !by_fin).unwrap_or(way).min(end);
                    let closed = turns.closed.map_or(end, |(at, _)| at);
                    let mss = self.mss[of as usize].unwrap_or(0);
                    let lacks = flow.sizes.lacks_full(mss, flow.largest());
                    // An answer that did not come this far is none.
                    let rest = match turns.rest() {
                        _ if flow.waits_for_window() => Owner::ReceiverWindow,
                        _ if lacks && closed.since(turns.mark) >= REPAIRED => Owner::PathMtu,
                        Owner::Closing if of == Direction::Backward && flow.sizes.lacks() => {
                            Owner::Unanswered
                        }
                        Owner::Unanswered if turns.is_asking(flow.sent()) => Owner::LateOrLost,
                        // Nor is one that breaks off.
                        Owner::Closing if self.flows[SERVER].hides() || self.breaks_off() => {
                            Owner::Unanswered
                        }
                        rest => rest,
                    };
                    // Before what ended it instead of an answer.
                    let arrived = match rest {
                        Owner::Unanswered => arrived.min(closed - Duration::from_nanos(1)),
                        _ => arrived,
                    };
                    on_way = Some((of as usize, arrived));
                    &[(closed, rest), (end, Owner::Closing)]
                }
            }
        };
        if let Some((of, arrived)) = on_way {
            self.on_way(of, arrived, Owner::RoundTrip);
        }
        let last = self.turns.last();
        let late = |owner| match owner {
            Owner::TlsSetUp => last.map(Direction::reversed),
            Owner::LateOrLost => last,
            _ => None,
        };
        for (of, line) in self.lines.iter_mut().enumerate() {
            for &(to, owner) in rest {
                let own = late(owner).is_none_or(|late| late as usize == of);
                line.wait(to.min(end), owner, By::own(own));
            }
            line.settle();
            if unknown {
                line.begin(start);
                self.requests.begin();
                if let Some(at) = connected {
                    line.sure.push(at, Owner::Connecting, By::Own);
                }
                line.sure.push(end, Owner::Unknown, By::Own);
            }
        }
    }

    /// Whether the connection was closed within a response.
    fn breaks_off(&self) -> bool {
        let sent = self.flows[SERVER].sent();
        self.turns.closed.is_some() && self.turns.breaks_off(sent)
    }

    /// Whose peer was gone and since when, or a path took nothing of that size.
    fn gone(&self, ending: &Ending<'_>) -> Option<(usize, Cover)> {
        for of in (0..2).filter(|_| !ending.one_sided) {
            if let Some(since) = self.flows[of].is_not_answered(LEAST_COPIES) {
                return Some((of, (since, ending.end, Owner::PeerGone)));
            }
        }
        for (of, (_, unacked, position)) in ending.senders.iter().enumerate() {
            let Some(unacked) = unacked else { continue };
            let larger = unacked.size > unacked.acked_size
                && unacked.sends > LEAST_COPIES
                && *position != Some(Position::Receiver);
            // A peer that still answers is there. Else it is the path if all that does not arrive is full, and nothing as
            // large ever did.
            let answers = unacked.acked_size > 0 && unacked.unanswered < unacked.sends;
            if larger && (answers || (unacked.all_full && self.mss[of].is_some())) {
                let closed = self.turns.closed.map_or(ending.end, |(at, _)| at);
                let begun = unacked.last - unacked.silence.max(unacked.tried);
                return Some((of, (begun, closed.max(unacked.last), Owner::PathMtu)));
            }
            if unacked.unanswered >= LEAST_COPIES {
                // Before it was sent first nobody waited for its acknowledgement.
                let begun = unacked.last - unacked.silence.min(unacked.tried);
                // Up to a reset in place of an answer.
                let closed = self
                    .turns
                    .closed
                    .filter(|(at, by)| *at > begun && *by as usize != of);
                let end = closed.map_or(ending.end, |(at, _)| at - Duration::from_nanos(1));
                return Some((of, (begun, end, Owner::PeerGone)));
            }
        }
        None
    }
}

/// A program may have been silent, or what was sent may have been lost on the way here.
fn late_or_lost(waits: &Waits) -> Vec<Cover> {
    let named = |(from, to)| (from, to, Owner::LateOrLost);
    waits.perhaps().map(named).collect()
}

fn repairs(waits: &Waits) -> Vec<Cover> {
    let named = |(from, to, mechanism): (Time, Time, usize)| {
        let owner = Owner::of_mechanism(Mechanism::ALL[mechanism])?;
        Some((from, to, owner))
    };
    waits.iter().filter_map(named).collect()
}

//! Which way packets go past two points.

use std::collections::BTreeMap;

use rexmit_wire::FlowKey;

use super::sample::Sampled;

/// Packets further apart than this say nothing of each other: clocks may have drifted between them.
const NEAR_NS: i64 = 10_000_000_000;

/// A packet that came by at two points.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Sighting {
    /// At the first point, by its clock, nanoseconds.
    pub at: i64,
    /// How much more the second point's clock showed when it came by there.
    pub ahead: i64,
    /// It went from the first point to the second.
    pub onward: bool,
}

/// Those of the packets seen at two points of which it shows which way they went.
///
/// A packet that goes to the second point comes by there later, one that comes from it earlier, by both ways' delays
/// together; that is so whatever the clocks are, for packets that are near each other in time. A connection whose two
/// directions were not both sampled goes as others of its hosts do.
pub(super) fn sightings(shared: &[(Sampled, Sampled)]) -> Vec<Sighting> {
    let mut connections: BTreeMap<FlowKey, Vec<(i64, i64, bool)>> = BTreeMap::new();
    for (here, there) in shared {
        let (at, other) = (here.at.as_nanos() as i64, there.at.as_nanos() as i64);
        let forward = here.flow <= here.flow.reversed();
        let key = if forward {
            here.flow
        } else {
            here.flow.reversed()
        };
        let ahead = other.saturating_sub(at);
        connections
            .entry(key)
            .or_default()
            .push((at, ahead, forward));
    }
    let mut towards: BTreeMap<_, i64> = BTreeMap::new();
    let votes: Vec<i64> = connections.values().map(|seen| vote(seen)).collect();
    for (key, &vote) in connections.keys().zip(&votes) {
        *towards.entry(key.dst).or_default() += vote.signum();
        *towards.entry(key.src).or_default() -= vote.signum();
    }
    let side = |host| towards.get(host).copied().unwrap_or(0);
    let mut found = Vec::new();
    for ((key, seen), vote) in connections.iter().zip(votes) {
        let vote = if vote == 0 {
            side(&key.dst) - side(&key.src)
        } else {
            vote
        };
        if vote == 0 {
            continue;
        }
        found.extend(seen.iter().map(|&(at, ahead, forward)| Sighting {
            at,
            ahead,
            onward: forward == (vote > 0),
        }));
    }
    found.sort_unstable_by_key(|one| (one.at, one.ahead));
    found
}

/// Whether a connection's forward packets go onward (more than 0) or its backward ones.
fn vote(seen: &[(i64, i64, bool)]) -> i64 {
    let next_to = seen.iter().zip(seen.iter().skip(1));
    next_to
        .filter(|(one, next)| one.2 != next.2 && next.0 - one.0 <= NEAR_NS)
        .map(|(one, next)| {
            let (forward, backward) = if one.2 { (one, next) } else { (next, one) };
            (forward.1 - backward.1).signum()
        })
        .sum()
}

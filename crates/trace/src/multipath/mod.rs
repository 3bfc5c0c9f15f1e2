//! Multipath TCP: which connections are subflows of one, and data that went again on another subflow.
//!
//! Every subflow is a connection of TCP and is analysed as such. Besides, the packets with Multipath TCP options come here:
//! keys and tokens join subflows (RFC 8684 §3.1, §3.2), mappings say which data a packet carries (§3.3). Data at
//! a place of a subflow that were before at another place, mostly of another subflow, are a *re-injection*. Retransmissions
//! of a subflow itself are at the same place and none of this room's business, but they tell whether a re-injection was
//! needed: what the subflow then sent again as needed had not arrived.
//!
//! All subflows of a connection come to one shard ([`Routes`]). Rows of its subflows and its re-injections come out when
//! the last subflow ends.

mod data;
mod group;
mod numbers;
mod routes;
mod sent;
mod settle;
mod signal;
mod subflow;

use std::collections::BTreeMap;

use rexmit_wire::Headers;

use crate::analyzer::{Of, Rows};
use crate::event::Direction;
use crate::rows::{self, Retransmission, Role};

use group::Group;
pub(crate) use group::SubflowPacket;
pub(crate) use routes::{Lesson, Routes};
pub use signal::Signal;
pub(crate) use subflow::Whose;

/// Pieces of data that all connections of a shard keep together; beyond, one that goes on keeps no more than
/// [`FEW_PIECES`] a direction.
const MOST_PIECES: usize = 1 << 19;
const FEW_PIECES: usize = 64;

/// Subflows of all connections of a shard together, those that have ended included: beyond, rows of ended ones wait for no
/// others, and fewer join a connection.
const MOST_SUBFLOWS: usize = 1 << 14;

/// Which subflow a connection of TCP is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct SubflowOf {
    /// The Multipath TCP connection: the number of its first subflow's connection.
    pub group: u64,
    /// Which of its subflows, from 0.
    pub subflow: u32,
}

/// The Multipath TCP connections of a shard.
#[derive(Debug, Default)]
pub(crate) struct Multipath {
    groups: BTreeMap<u64, Group>,
    /// The connection that a token names, and its side.
    tokens: BTreeMap<u32, (u64, usize)>,
    pieces: usize,
    subflows: usize,
}

impl Multipath {
    /// A packet with Multipath TCP options, of the subflow at `place`.
    pub fn packet(&mut self, place: SubflowOf, seen: &SubflowPacket<'_>, out: &mut Rows) {
        let Some(group) = self.groups.get_mut(&place.group) else {
            return;
        };
        if let Some(capable) = &seen.signal.capable {
            for (token, side) in group
                .learn(place.subflow, seen.direction, capable)
                .into_iter()
                .flatten()
            {
                self.tokens.insert(token, (place.group, side));
            }
        }
        group.packet(place.subflow, seen, out);
        if self.pieces > MOST_PIECES {
            group.limit(FEW_PIECES);
        }
        self.pieces -= group.counted;
        group.counted = group.pieces();
        self.pieces += group.counted;
    }

    /// Whether a connection is a subflow by this packet, whatever was seen of it before.
    pub fn is_told_by(headers: &Headers, signal: &Signal) -> bool {
        signal.token.is_some() || role(headers, signal).is_some()
    }

    /// The subflow that a connection turns out to be.
    pub fn join(&mut self, whose: &Whose, seen: &SubflowPacket<'_>) -> Option<SubflowOf> {
        if let Some(token) = seen.signal.token {
            return Some(self.join_by(token, whose, seen.direction));
        }
        let role = role(seen.headers, seen.signal)?;
        Some(self.found(whose, role, false))
    }

    fn join_by(&mut self, token: u32, whose: &Whose, direction: Direction) -> SubflowOf {
        let named = self.tokens.get(&token).copied();
        let many = self.subflows >= MOST_SUBFLOWS;
        let group = named.and_then(|(id, side)| Some((self.groups.get_mut(&id)?, side)));
        if let Some((group, side)) = group.filter(|(group, _)| group.has_room(many)) {
            self.subflows += 1;
            // Whoever joins names the other side.
            let flipped = (1 - side) != direction as usize;
            return SubflowOf {
                group: group.id,
                subflow: group.add(*whose, Some(Role::Join), flipped),
            };
        }
        let flipped = direction == Direction::Backward;
        let place = self.found(whose, Some(Role::Join), flipped);
        if let Some(group) = self.groups.get_mut(&place.group) {
            group.tokens.push(token);
        }
        self.tokens.insert(token, (place.group, 1));
        place
    }

    /// A connection of one subflow, so far.
    fn found(&mut self, whose: &Whose, role: Option<Role>, flipped: bool) -> SubflowOf {
        let id = whose.connection;
        let mut group = Group::new(id);
        let subflow = group.add(*whose, role, flipped);
        self.subflows += 1;
        self.groups.insert(id, group);
        SubflowOf { group: id, subflow }
    }

    /// Retransmissions of a subflow are settled.
    pub fn retransmitted(&mut self, place: SubflowOf, rows: &mut [Retransmission]) {
        let Some(group) = self.groups.get_mut(&place.group) else {
            return;
        };
        for row in rows {
            group.retransmitted(place.subflow, row);
            let connection = group.id;
            let first = None;
            row.multipath = Some(Box::new(rows::OnSubflow { connection, first }));
        }
    }

    /// A subflow has ended; its row comes out with those of the others.
    pub fn end(&mut self, place: SubflowOf, row: Of<Box<rows::Connection>>, out: &mut Rows) {
        let Some(group) = self.groups.get_mut(&place.group) else {
            out.connections.push(row);
            return;
        };
        group.end(place.subflow, row, self.subflows >= MOST_SUBFLOWS, out);
        if group.alive == 0 {
            self.remove(place.group);
        }
    }

    /// The analysis of a subflow failed: its connection is forgotten. The subflows whose rows have not come out.
    pub fn fail(&mut self, place: SubflowOf) -> Vec<Whose> {
        let subflows = self.remove(place.group).map(|group| group.subflows);
        let left = subflows.into_iter().flatten();
        left.filter(|subflow| !subflow.ended || subflow.row.is_some())
            .map(|subflow| subflow.whose)
            .collect()
    }

    fn remove(&mut self, group: u64) -> Option<Group> {
        let group = self.groups.remove(&group)?;
        self.pieces -= group.counted;
        self.subflows -= group.subflows.len();
        for token in &group.tokens {
            if self
                .tokens
                .get(token)
                .is_some_and(|(id, _)| *id == group.id)
            {
                self.tokens.remove(token);
            }
        }
        Some(group)
    }
}

/// How the connection of this packet began as a subflow, if it is known; none if the packet does not make it one.
fn role(headers: &Headers, signal: &Signal) -> Option<Option<Role>> {
    let syn = headers.flags.syn();
    // A SYN alone is an offer, and the answer may be plain TCP.
    let capable = signal
        .capable
        .is_some_and(|capable| capable.sender_key.is_some() && (!syn || headers.flags.ack()));
    if capable {
        Some(Some(Role::Initial))
    } else if signal.joins {
        Some(Some(Role::Join))
    } else if signal.dss.is_some() && !syn {
        Some(None)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use rexmit_time::Time;

    use super::*;
    use crate::testing;

    /// The first subflow of each connection goes on, and others come and go.
    #[test]
    fn of_very_many_subflows_no_row_waits_for_others() {
        let (mut multipath, mut out) = (Multipath::default(), Rows::default());
        let (mut ended, mut token) = (0, 0);
        for number in 0..3 * MOST_SUBFLOWS as u64 {
            let flow = testing::flow(number as u16);
            let whose = Whose {
                connection: number,
                start: Time::ZERO,
                flow,
            };
            if number % 32 == 0 {
                let place = multipath.found(&whose, Some(Role::Initial), false);
                token = number as u32;
                multipath.tokens.insert(token, (place.group, 0));
                continue;
            }
            let place = multipath.join_by(token, &whose, Direction::Forward);
            let row = Of {
                connection: number,
                start: Time::ZERO,
                flow,
                row: Box::new(testing::connection()),
            };
            multipath.end(place, row, &mut out);
            ended += 1;
        }
        assert!(ended - out.connections.len() <= MOST_SUBFLOWS);
        let kept: usize = multipath
            .groups
            .values()
            .map(|one| one.subflows.len())
            .sum();
        assert_eq!(kept, multipath.subflows);
        assert!(kept <= 2 * MOST_SUBFLOWS, "{kept}");
    }
}

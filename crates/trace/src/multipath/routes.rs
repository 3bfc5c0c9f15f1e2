//! Which shard a packet goes to, so that all subflows of a connection meet in one.

use rexmit_wire::mptcp::{Capable, Identity, Version};
use rexmit_wire::table::{Hashed, Keyed, Table};
use rexmit_wire::FlowKey;
use serde::{Deserialize, Serialize};

use super::Signal;
use crate::connection::Pair;

/// Joined subflows, and tokens, that are remembered at a time. A subflow whose connection's token was forgotten is one of a
/// connection of its own.
const MOST: usize = 1 << 18;

/// Where the packets of a flow go, or the subflows that a token names.
#[derive(Debug)]
struct Route<K> {
    key: K,
    shard: u16,
}

impl<K: core::hash::Hash + Eq> Keyed for Route<K> {
    type Key = K;

    fn key(&self) -> &K {
        &self.key
    }
}

/// Shards of joined subflows.
///
/// Every flow has a shard of its own by its hash, but for a subflow that joined: it goes where the first of its
/// connection went. Whoever reads asks this in the capture's order, so the answers do not depend on threads. They depend on
/// nothing but [`Lesson`]s before, which few packets have. As long as no subflow joins, there is nothing to look up.
#[derive(Debug)]
pub(crate) struct Routes {
    flows: Table<Route<Pair>>,
    tokens: Table<Route<u32>>,
}

impl Default for Routes {
    fn default() -> Self {
        Routes {
            flows: Table::new(MOST),
            tokens: Table::new(MOST),
        }
    }
}

impl Routes {
    /// The shard of a packet of `flow` that has joined; none if it is its own.
    #[inline]
    pub fn shard(&self, hash: Hashed, flow: &FlowKey) -> Option<u16> {
        if self.flows.is_empty() {
            return None;
        }
        let slot = self.flows.find(hash, &Pair(*flow))?;
        self.flows.peek(slot).map(|route| route.shard)
    }

    /// Learns from a packet of `flow`, whose own shard is `own`. Whether `flow` may have another shard from here on.
    #[cold]
    pub fn learn(&mut self, hash: Hashed, flow: &FlowKey, own: u16, lesson: &Lesson) -> bool {
        if let Some(token) = lesson.joins {
            if let Some(shard) = get(&mut self.tokens, Hashed::of(&token), &token) {
                put(&mut self.flows, hash, Pair(*flow), shard);
                return true;
            }
        }
        let shard = self.shard(hash, flow).unwrap_or(own);
        for token in lesson
            .joins
            .into_iter()
            .chain(lesson.tokens.into_iter().flatten())
        {
            put(&mut self.tokens, Hashed::of(&token), token, shard);
        }
        false
    }
}

/// What a packet says of the subflows that a connection has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Lesson {
    /// It joins the connection of this token.
    pub joins: Option<u32>,
    /// Tokens of its connection.
    pub tokens: [Option<u32>; 2],
}

impl Lesson {
    /// What these options say of it, if anything.
    pub fn of(signal: &Signal) -> Option<Self> {
        let lesson = Lesson {
            joins: signal.token,
            // A packet that joins a connection begins none.
            tokens: match (signal.token, &signal.capable) {
                (None, Some(capable)) => tokens(capable),
                _ => [None; 2],
            },
        };
        (lesson != Lesson::default()).then_some(lesson)
    }
}

/// The tokens of the keys in an MP_CAPABLE.
fn tokens(capable: &Capable) -> [Option<u32>; 2] {
    let version = Version::of(capable.version);
    [capable.sender_key, capable.receiver_key].map(|key| Some(Identity::of(key?, version?).token))
}

fn get<K: core::hash::Hash + Eq>(
    table: &mut Table<Route<K>>,
    hash: Hashed,
    key: &K,
) -> Option<u16> {
    let slot = table.find(hash, key)?;
    table.get(slot).map(|route| route.shard)
}

fn put<K: core::hash::Hash + Eq>(table: &mut Table<Route<K>>, hash: Hashed, key: K, shard: u16) {
    if let Some(slot) = table.find(hash, &key) {
        if let Some(route) = table.get(slot) {
            route.shard = shard;
        }
        return;
    }
    while table.is_full() {
        let Some(slot) = table.unused() else {
            break;
        };
        table.remove(slot);
    }
    table.insert(hash, Route { key, shard });
}

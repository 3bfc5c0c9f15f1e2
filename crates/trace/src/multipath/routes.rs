//! Which shard a packet goes to, so that all subflows of a connection meet in one.

use rexmit_wire::mptcp::{Capable, Identity, Version};
use rexmit_wire::table::{Hashed, Keyed, Table};
use rexmit_wire::FlowKey;

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
/// connection went. Whoever reads asks this in the capture's order, so the answers do not depend on threads. As long as no
/// subflow joins, there is nothing to look up.
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
    /// The shard of a packet of `flow`, whose own is `own`.
    #[inline]
    pub fn shard(&mut self, hash: Hashed, flow: &FlowKey, own: u16) -> u16 {
        if self.flows.is_empty() {
            return own;
        }
        get(&mut self.flows, hash, &Pair(*flow)).unwrap_or(own)
    }

    /// As [`Routes::shard`], for a packet with Multipath TCP options.
    #[cold]
    pub fn learn(&mut self, hash: Hashed, flow: &FlowKey, own: u16, signal: &Signal) -> u16 {
        if let Some(token) = signal.token {
            let named = get(&mut self.tokens, Hashed::of(&token), &token);
            if let Some(shard) = named {
                put(&mut self.flows, hash, Pair(*flow), shard);
                return shard;
            }
            let shard = self.shard(hash, flow, own);
            put(&mut self.tokens, Hashed::of(&token), token, shard);
            return shard;
        }
        let shard = self.shard(hash, flow, own);
        if let Some(capable) = &signal.capable {
            for token in tokens(capable) {
                put(&mut self.tokens, Hashed::of(&token), token, shard);
            }
        }
        shard
    }
}

/// The tokens of the keys in an MP_CAPABLE.
fn tokens(capable: &Capable) -> impl Iterator<Item = u32> {
    let version = Version::of(capable.version);
    let keys = [capable.sender_key, capable.receiver_key];
    let keys = keys.into_iter().flatten();
    keys.filter_map(move |key| Some(Identity::of(key, version?).token))
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

//! Which packets of other groups a group needs: those of subflows whose connection is in it.

use std::collections::BTreeSet;

use super::group_of;
use super::part::{Detail, Key, Part, Taught};
use crate::multipath::Routes;
use crate::run::decode::Spread;

/// Subflows whose packets were written for another group.
#[derive(Debug)]
pub(super) struct Extra {
    /// From where on, the flow's hash, and the other group.
    subflows: Vec<(Key, u64, u16)>,
}

impl Extra {
    /// Those that `group` needs.
    pub fn new(parts: &[Part], group: u16, spread: Spread) -> Self {
        let mut all: Vec<(Key, &Taught, &Part)> = Vec::new();
        for (file, part) in parts.iter().enumerate() {
            let taught = part.lessons.iter();
            all.extend(taught.map(|taught| ((taught.latest, file), taught, part)));
        }
        // Those of one file stay in its order.
        all.sort_by_key(|(key, ..)| *key);
        let mut routes = Routes::default();
        let mut subflows = Vec::new();
        for (key, taught, part) in all {
            let hash = taught.hash();
            let own = spread.own(&taught.flow);
            if !routes.learn(hash, &taught.flow, own, &taught.lesson) {
                continue;
            }
            let shard = routes.shard(hash, &taught.flow).unwrap_or(own);
            let other = group_of(own, part.groups);
            if group_of(shard, part.groups) == group && other != group {
                subflows.push((key, spread.hash(&taught.flow), other));
            }
        }
        Extra { subflows }
    }

    /// The other groups of which number `file` may have packets that are needed.
    pub fn groups(&self, part: &Part, detail: &Detail, file: usize) -> BTreeSet<u16> {
        let needed = self.subflows.iter().filter(|(from, hash, _)| {
            part.end(file).is_some_and(|end| *from <= end) && detail.flows.may_have(*hash)
        });
        needed.map(|(_, _, other)| *other).collect()
    }
}

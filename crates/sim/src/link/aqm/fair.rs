//! FQ-CoDel (RFC 8290): a line for each flow, with CoDel in each; flows have turns, new ones first.
//!
//! RFC 8290 hashes flows into 1,024 lines. Here each has its own, so that no two share one by chance.

use std::collections::{BTreeMap, VecDeque};

use rexmit_plan::{Codel as OfLine, FqCodel as Parameters};
use rexmit_time::Time;

use super::{Codel, Counters, Item, Line};

/// Packets that are dropped together at most when there is no room (RFC 8290 §4.1).
const BATCH: usize = 64;

/// The lines of flows.
#[derive(Debug)]
pub(super) struct Fair<P> {
    with: Parameters,
    flows: BTreeMap<u64, Flow<P>>,
    /// Flows whose line was empty, and those that had their first turn.
    new: VecDeque<u64>,
    old: VecDeque<u64>,
    len: usize,
}

#[derive(Debug)]
struct Flow<P> {
    line: Line<P>,
    codel: Codel,
    /// Bytes that it may still send in this turn.
    credits: i64,
    /// Whether it is in one of the lists.
    active: bool,
}

impl<P> Fair<P> {
    pub fn new(with: Parameters) -> Self {
        Self {
            with,
            flows: BTreeMap::new(),
            new: VecDeque::new(),
            old: VecDeque::new(),
            len: 0,
        }
    }

    pub fn len(&self) -> usize {
        self.len
    }

    pub fn push(&mut self, item: Item<P>) {
        let Parameters {
            target_ns,
            interval_ns,
            ecn,
            quantum_bytes,
        } = self.with;
        let id = item.frame.flow;
        let flow = self.flows.entry(id).or_insert_with(|| Flow {
            line: Line::default(),
            codel: Codel::new(OfLine {
                target_ns,
                interval_ns,
                ecn,
            }),
            credits: 0,
            active: false,
        });
        flow.line.push(item);
        self.len += 1;
        if !flow.active {
            flow.active = true;
            flow.credits = i64::from(quantum_bytes);
            self.new.push_back(id);
        }
    }

    /// Drops from the head of the line with the most bytes, up to half of its packets; how many were dropped.
    pub fn make_room(&mut self) -> u64 {
        let longest = self.flows.values_mut().max_by_key(|flow| flow.line.bytes);
        let Some(flow) = longest else { return 0 };
        let many = (flow.line.len() / 2).clamp(1, BATCH);
        let dropped = (0..many).map_while(|_| flow.line.pop()).count();
        self.len -= dropped;
        dropped as u64
    }

    /// The packet that leaves at `now` (RFC 8290 §4.2).
    pub fn pop(&mut self, now: Time, counters: &mut Counters) -> Option<Item<P>> {
        loop {
            let is_new = !self.new.is_empty();
            let list = if is_new { &mut self.new } else { &mut self.old };
            let id = *list.front()?;
            let flow = self.flows.get_mut(&id)?;
            if flow.credits <= 0 {
                flow.credits += i64::from(self.with.quantum_bytes);
                list.pop_front();
                self.old.push_back(id);
                continue;
            }
            let before = flow.line.len();
            let item = flow.codel.pop(now, &mut flow.line, counters);
            self.len -= before - flow.line.len();
            if let Some(item) = item {
                flow.credits -= i64::from(item.frame.bytes);
                return Some(item);
            }
            list.pop_front();
            if is_new && !self.old.is_empty() {
                // Else it could go before the others by sending now and then.
                self.old.push_back(id);
            } else {
                flow.active = false;
            }
        }
    }
}

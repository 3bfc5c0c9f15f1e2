//! Which data a subflow's bytes are.

use std::collections::VecDeque;

/// A run of a subflow's bytes that are data in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Mapping {
    /// The first byte of the subflow's stream, from 0.
    pub at: u64,
    /// The first byte of data.
    pub data: u64,
    pub len: u32,
    /// Another subflow carried the data before.
    pub again: bool,
    /// The subflows that carried the data when they were put here, this one included, as bits.
    pub carried_by: u32,
    /// Pages of the sender's buffer that they lie in (`nr_frags`).
    pub pages: u32,
}

impl Mapping {
    pub fn end(&self) -> u64 {
        self.at + u64::from(self.len)
    }

    pub fn data_end(&self) -> u64 {
        self.data + u64::from(self.len)
    }
}

/// Mappings in the order of the subflow's stream.
#[derive(Clone, Debug, Default)]
pub(super) struct Mappings {
    runs: VecDeque<Mapping>,
}

impl Mappings {
    pub fn last(&self) -> Option<&Mapping> {
        self.runs.back()
    }

    pub fn push(&mut self, mapping: Mapping) {
        self.runs.push_back(mapping);
    }

    /// The last mapping becomes `bytes` longer.
    pub fn extend(&mut self, bytes: u32) {
        if let Some(last) = self.runs.back_mut() {
            last.len += bytes;
        }
    }

    /// The last mapping reaches into one more page.
    pub fn add_page(&mut self) {
        if let Some(last) = self.runs.back_mut() {
            last.pages += 1;
        }
    }

    /// The mapping that holds the byte at `at`.
    pub fn find(&self, at: u64) -> Option<&Mapping> {
        let index = self.runs.partition_point(|run| run.end() <= at);
        self.runs.get(index).filter(|run| run.at <= at)
    }

    /// Puts in a mapping that came with a packet; again, it changes nothing.
    pub fn learn(&mut self, mapping: Mapping) {
        let index = self.runs.partition_point(|run| run.at < mapping.at);
        if self.runs.get(index).is_none_or(|run| run.at != mapping.at) {
            self.runs.insert(index, mapping);
        }
    }

    /// Nothing before `at` is asked for any more.
    pub fn forget_before(&mut self, at: u64) {
        while self.runs.front().is_some_and(|run| run.end() <= at) {
            self.runs.pop_front();
        }
    }

    /// All that are still known, in order.
    pub fn iter(&self) -> impl Iterator<Item = &Mapping> {
        self.runs.iter()
    }
}

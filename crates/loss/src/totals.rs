//! How many packets of new data went on each path in each burst.

use core::fmt;

use crate::pattern::{Pattern, Scope, Which};

/// Packets of new data by burst and path.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    packets: Vec<Vec<u64>>,
}

impl Totals {
    /// No packet in any of `bursts` bursts on any of `paths` paths.
    #[must_use]
    pub fn none(bursts: usize, paths: usize) -> Self {
        Totals {
            packets: vec![vec![0; paths]; bursts],
        }
    }

    /// These packets: for each burst, those of each path.
    #[must_use]
    pub fn new(packets: Vec<Vec<u64>>) -> Self {
        Totals { packets }
    }

    /// The packets of each path, for each burst.
    #[must_use]
    pub fn packets(&self) -> &[Vec<u64>] {
        &self.packets
    }

    /// Counts one more packet on `path` in `burst`, both from 1, if there are such.
    pub fn count(&mut self, path: u32, burst: u32) {
        let place = |number: u32| (number as usize).wrapping_sub(1);
        let row = self.packets.get_mut(place(burst));
        if let Some(count) = row.and_then(|row| row.get_mut(place(path))) {
            *count += 1;
        }
    }

    /// How many packets there are within `scope`.
    #[must_use]
    pub fn within(&self, scope: Scope) -> u64 {
        let bursts = (1..).zip(&self.packets);
        bursts
            .flat_map(|(burst, row)| {
                (1..)
                    .zip(row)
                    .map(move |(path, count)| (path, burst, count))
            })
            .filter(|&(path, burst, _)| scope.has(path, burst))
            .map(|(_, _, count)| count)
            .sum()
    }

    /// Where these packets, of a run, are not those that `pattern` reckons with: of every scope in which it counts from
    /// behind there must be as many as in the `rehearsal`, of every other as many as it names.
    #[must_use]
    pub fn differences(&self, pattern: &Pattern, rehearsal: &Totals) -> Vec<Difference> {
        let mut found = Vec::new();
        for item in &pattern.data {
            let (rehearsed, sent) = (rehearsal.within(item.scope), self.within(item.scope));
            let named = item.range(rehearsed).map_or(0, |(_, to)| to);
            let differs = if item.counts_back() {
                sent != rehearsed
            } else {
                sent < named
            };
            let difference = Difference {
                scope: item.scope,
                rehearsed,
                sent,
            };
            if differs && !found.contains(&difference) {
                found.push(difference);
            }
        }
        found
    }

    /// Whether every packet of data that `pattern` names is there.
    ///
    /// Which acknowledgements a client sends depends on what is lost: those are not looked at. A SYN-ACK is always there.
    ///
    /// # Errors
    /// The first of the pattern's items that names a packet that is not.
    pub fn check(&self, pattern: &Pattern) -> Result<(), Unsent> {
        let data = pattern.data.iter();
        for item in data.filter(|item| item.which != Which::SynAck) {
            let total = self.within(item.scope);
            let there = item
                .range(total)
                .is_some_and(|(from, to)| 1 <= from && from <= to && to <= total);
            if !there {
                let named = Pattern {
                    data: vec![*item],
                    client: Vec::new(),
                };
                return Err(Unsent {
                    named: named.to_string(),
                    sent: self.clone(),
                });
            }
        }
        Ok(())
    }
}

impl fmt::Display for Totals {
    /// As in `burst 1: 41 packets on path 1, 39 on path 2; burst 2: …`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (burst, row) in (1..).zip(&self.packets) {
            let begin = if burst == 1 { "" } else { "; " };
            write!(f, "{begin}burst {burst}: ")?;
            for (path, count) in (1..).zip(row) {
                let packets = match (path, count) {
                    (1, 1) => " packet",
                    (1, _) => " packets",
                    _ => "",
                };
                let begin = if path == 1 { "" } else { ", " };
                write!(f, "{begin}{count}{packets} on path {path}")?;
            }
        }
        Ok(())
    }
}

/// A run in which fewer or more packets were sent than without loss.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Difference {
    /// Where.
    pub scope: Scope,
    /// Packets of new data in the rehearsal.
    pub rehearsed: u64,
    /// Packets of new data in the run.
    pub sent: u64,
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Difference {
            scope,
            rehearsed,
            sent,
        } = self;
        if *scope == Scope::ALL {
            f.write_str("all paths and bursts")?;
        } else {
            write!(f, "{scope}")?;
        }
        write!(
            f,
            " had {sent} packets of new data, {rehearsed} without loss"
        )
    }
}

/// A pattern names a packet that was never sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsent {
    /// The item that names it, with its clause.
    pub named: String,
    /// What was sent without loss.
    pub sent: Totals,
}

impl fmt::Display for Unsent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the loss pattern's {:?} names a packet that is never sent; without loss there are, of new data, in {}",
            self.named, self.sent
        )
    }
}

impl std::error::Error for Unsent {}

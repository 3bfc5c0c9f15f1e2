//! A sample of a capture's packets, which another capture of the same packets samples alike.

use std::collections::BTreeSet;

use hashbrown::HashMap;
use rexmit_time::Time;
use rexmit_wire::table::Key;
use rexmit_wire::{FlowKey, Headers};

use super::Mark;

/// Packets that a sample keeps at most.
const MOST: usize = 1 << 16;

/// Things by marks. Its order is of this process alone: nothing may follow from it.
pub(super) type ByMark<T> = HashMap<u64, T, Key>;

/// A packet of a sample.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sampled {
    /// When it came by, on the capture's clock.
    pub at: Time,
    /// Its addresses and ports there.
    pub flow: FlowKey,
    /// How often there was one with this mark.
    pub count: u32,
}

/// The packets of a capture with the smallest marks.
///
/// Which these are depends on the packets alone, not on where they were captured: of two captures with the same packets the
/// samples have the same ones, however large the captures are.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    kept: ByMark<Sampled>,
    /// A mark is kept if so many of its upper bits are 0.
    bits: u32,
    packets: u64,
    span: Option<(Time, Time)>,
}

impl Sample {
    /// Takes in a packet.
    pub fn add(&mut self, at: Time, headers: &Headers) {
        self.packets += 1;
        let (first, last) = self.span.unwrap_or((at, at));
        self.span = Some((first.min(at), last.max(at)));
        let mark = Mark::of(headers).bits();
        if !self.keeps(mark) {
            return;
        }
        let seen = self.kept.entry(mark).or_insert(Sampled {
            at,
            flow: headers.flow,
            count: 0,
        });
        seen.count += 1;
        self.bound();
    }

    /// Takes in what another capture of the same point holds.
    pub fn append(&mut self, other: &Sample) {
        self.packets += other.packets;
        if let Some((first, last)) = other.span {
            let (earliest, latest) = self.span.unwrap_or((first, last));
            self.span = Some((earliest.min(first), latest.max(last)));
        }
        self.bits = self.bits.max(other.bits);
        let bits = self.bits;
        self.kept.retain(|&mark, _| keeps(bits, mark));
        for (&mark, seen) in &other.kept {
            if self.keeps(mark) {
                let mine = self
                    .kept
                    .entry(mark)
                    .or_insert(Sampled { count: 0, ..*seen });
                mine.count += seen.count;
            }
        }
        self.bound();
    }

    fn bound(&mut self) {
        while self.kept.len() > MOST {
            self.bits += 1;
            let bits = self.bits;
            self.kept.retain(|&mark, _| keeps(bits, mark));
        }
    }

    fn keeps(&self, mark: u64) -> bool {
        keeps(self.bits, mark)
    }

    /// Pairs of samples, by their places, that have packets in common. The work is that of reading the samples once, however
    /// many there are.
    #[must_use]
    pub fn in_common(samples: &[Sample]) -> Vec<(usize, usize)> {
        let mut first: ByMark<usize> = ByMark::default();
        let mut further: ByMark<Vec<usize>> = ByMark::default();
        let mut pairs = BTreeSet::new();
        for (place, sample) in samples.iter().enumerate() {
            for &mark in sample.kept.keys() {
                let one = *first.entry(mark).or_insert(place);
                if one == place {
                    continue;
                }
                let others = further.entry(mark).or_default();
                pairs.insert((one, place));
                pairs.extend(others.iter().map(|&other| (other, place)));
                others.push(place);
            }
        }
        pairs.into_iter().collect()
    }

    /// Packets of the capture.
    #[must_use]
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// The earliest and the latest time stamp.
    #[must_use]
    pub const fn span(&self) -> Option<(Time, Time)> {
        self.span
    }

    /// Packets that came by once here and once there, as seen here and there, in the order of time here.
    #[must_use]
    pub fn shared(&self, other: &Sample) -> Vec<(Sampled, Sampled)> {
        let once = self.kept.iter().filter(|(_, seen)| seen.count == 1);
        let mut found: Vec<_> = once
            .filter_map(|(mark, seen)| {
                let there = other.kept.get(mark).filter(|there| there.count == 1)?;
                Some((*seen, *there))
            })
            .collect();
        found.sort_unstable_by_key(|(here, there)| (here.at, there.at, here.flow));
        found
    }

    /// Marks that are in both samples, and those that the smaller one has of what both would keep.
    #[must_use]
    pub fn overlap(&self, other: &Sample) -> (usize, usize) {
        let bits = self.bits.max(other.bits);
        let of = |sample: &Sample| sample.kept.keys().filter(|&&m| keeps(bits, m)).count();
        let both = self
            .kept
            .keys()
            .filter(|&mark| other.kept.contains_key(mark));
        (both.count(), of(self).min(of(other)))
    }
}

const fn keeps(bits: u32, mark: u64) -> bool {
    match mark.checked_shr(64 - bits) {
        Some(upper) => upper == 0,
        None => true,
    }
}

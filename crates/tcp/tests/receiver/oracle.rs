//! Whatever comes in whatever order: what is acknowledged and told is what a list of bytes says.

use proptest::prelude::*;
use rexmit_wire::{Flags, SeqNum, SeqRange};

use crate::script::Script;

const UNIT: u32 = 100;
const UNITS: u32 = 60;

/// Which hundreds of bytes came.
struct Oracle {
    came: [bool; UNITS as usize],
    most_islands: usize,
}

impl Oracle {
    fn take(&mut self, from: u32, len: u32) {
        for unit in from..from + len {
            self.came[unit as usize] = true;
        }
        self.most_islands = self.most_islands.max(self.islands().len());
    }

    fn next(&self) -> u32 {
        self.came.iter().take_while(|&&came| came).count() as u32
    }

    fn came(&self, from: u32, to: u32) -> bool {
        (from..to).all(|unit| self.came[unit as usize])
    }

    /// The islands beyond what is in order.
    fn islands(&self) -> Vec<(u32, u32)> {
        let mut islands: Vec<(u32, u32)> = Vec::new();
        for unit in (self.next()..UNITS).filter(|&unit| self.came[unit as usize]) {
            match islands.last_mut() {
                Some((_, end)) if *end == unit => *end += 1,
                _ => islands.push((unit, unit + 1)),
            }
        }
        islands
    }
}

/// Segments of up to `longest` units: numbers, lengths, pauses in milliseconds.
fn arrivals(longest: u32) -> impl Strategy<Value = Vec<(u32, u32, u32)>> {
    let arrival = (0..UNITS, 1..=longest, 0_u32..30)
        .prop_map(|(from, len, wait)| (from, len.min(UNITS - from), wait));
    prop::collection::vec(arrival, 1..120)
}

proptest! {
    #[test]
    fn acknowledgements_and_blocks_tell_what_came(
        arrivals in arrivals(1),
        stack in 0_usize..4,
        first in prop_oneof![Just(1000_u32), Just(0xffff_f800), any::<u32>()],
    ) {
        run(&arrivals, stack, first)?;
    }

    /// What packets in the queue share may be told less precisely, as in Linux.
    #[test]
    fn overlapping_segments_lose_nothing(
        arrivals in arrivals(5),
        stack in 0_usize..4,
        first in any::<u32>(),
    ) {
        run(&arrivals, stack, first)?;
    }
}

fn run(arrivals: &[(u32, u32, u32)], stack: usize, first: u32) -> Result<(), TestCaseError> {
    let stack = ["linux-3.10", "linux-6.1", "linux-6.12", "rfc"][stack];
    let apart = arrivals.iter().all(|&(_, len, _)| len == 1);
    // SACKs that are held back tell of what came before.
    let mut script = Script::with(stack, &[("sack_compression_most", "0")], first);
    let mut oracle = Oracle {
        came: [false; UNITS as usize],
        most_islands: 0,
    };
    let mut millis = 0.0;
    for &(from, len, wait) in arrivals {
        millis += f64::from(wait);
        // A timer may tell of what came before.
        script.at(millis);
        check(&mut script, &oracle, first, None)?;
        let again = oracle.came(from, from + len);
        script.segment(from * UNIT, len * UNIT, Flags(0));
        oracle.take(from, len);
        let next = first.wrapping_add(oracle.next() * UNIT);
        prop_assert_eq!(script.receiver.next().get(), next);
        prop_assert_eq!(script.receiver.readable(), 0);
        check(&mut script, &oracle, first, apart.then_some((from, again)))?;
    }
    Ok(())
}

/// Checks the latest acknowledgement. `last` is the unit that came last and whether it had come before.
fn check(
    script: &mut Script,
    oracle: &Oracle,
    first: u32,
    last: Option<(u32, bool)>,
) -> Result<(), TestCaseError> {
    let unit = |seq: SeqNum| seq.get().wrapping_sub(first) / UNIT;
    let headers = script.headers();
    let Some((_, header)) = headers.last() else {
        return Ok(());
    };
    prop_assert_eq!(unit(header.ack), oracle.next());
    let mut blocks: Vec<(u32, u32)> = header
        .sack
        .as_slice()
        .iter()
        .map(|block: &SeqRange| (unit(block.start), unit(block.end)))
        .collect();
    prop_assert!(blocks.len() <= 3);
    let all_came = blocks
        .iter()
        .all(|&(from, to)| from < to && oracle.came(from, to));
    prop_assert!(all_came, "{blocks:?}");
    let Some((from, again)) = last else {
        return Ok(());
    };
    if again {
        // The D-SACK comes first.
        prop_assert!(!blocks.is_empty());
        prop_assert_eq!(blocks.remove(0), (from, from + 1));
    }
    // Of more than four islands some were forgotten, and may be told in part when they grow.
    let islands = oracle.islands();
    if oracle.most_islands <= 4 {
        prop_assert!(
            blocks.iter().all(|block| islands.contains(block)),
            "{blocks:?}"
        );
        prop_assert!(again || blocks.len() == islands.len().min(3), "{blocks:?}");
    }
    let mut apart = blocks.clone();
    apart.sort_unstable();
    apart.dedup();
    prop_assert_eq!(apart.len(), blocks.len(), "a block twice");
    if from >= oracle.next() {
        // The block that the latest segment is part of comes first (RFC 2018 §4).
        let (begin, end) = blocks[0];
        prop_assert!(
            (begin..end).contains(&from),
            "{from} is not in {begin}..{end}"
        );
    }
    Ok(())
}

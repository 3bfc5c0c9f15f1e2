//! What capturing programs say they lost: the statistics blocks of pcapng (draft-ietf-opsawg-pcapng §4.6).

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// Packets that a capturing program says never came into the capture, since it began.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Drops {
    /// By the interface, for want of room (`isb_ifdrop`).
    pub interface: u64,
    /// By the system, after its filter took them (`isb_osdrop`).
    pub system: u64,
}

impl Drops {
    /// Adds those of another capture.
    pub fn add(&mut self, other: &Drops) {
        self.interface = self.interface.saturating_add(other.interface);
        self.system = self.system.saturating_add(other.system);
    }
}

/// The last statistics of each interface.
#[derive(Debug, Default)]
pub(super) struct Statistics {
    each: BTreeMap<u32, Drops>,
}

impl Statistics {
    /// Takes in a block of the interface `index`, counted over all sections; its counts are since the capture began, so
    /// they replace those of the block before. A block that contradicts itself is left out: the packets are what counts.
    pub fn read(&mut self, index: u32, block: &[u8], big_endian: bool) {
        const FIXED: usize = 20;
        const IF_DROP: u16 = 5;
        const OS_DROP: u16 = 7;
        let short = |bytes: [u8; 2]| {
            if big_endian {
                u16::from_be_bytes(bytes)
            } else {
                u16::from_le_bytes(bytes)
            }
        };
        let mut found = self.each.get(&index).copied().unwrap_or_default();
        let end = block.len().saturating_sub(4);
        let mut rest = block.get(FIXED..end).unwrap_or_default();
        while let Some((&[a, b, c, d], value)) = rest.split_first_chunk::<4>() {
            let (code, length) = (short([a, b]), usize::from(short([c, d])));
            if code == 0 {
                break;
            }
            let count = value.first_chunk::<8>().filter(|_| length == 8);
            let count = count.map(|&bytes| {
                if big_endian {
                    u64::from_be_bytes(bytes)
                } else {
                    u64::from_le_bytes(bytes)
                }
            });
            match (code, count) {
                (IF_DROP, Some(count)) => found.interface = count,
                (OS_DROP, Some(count)) => found.system = count,
                _ => {}
            }
            rest = value.get(length.next_multiple_of(4)..).unwrap_or_default();
        }
        self.each.insert(index, found);
    }

    /// Of all interfaces.
    pub fn all(&self) -> Drops {
        let mut all = Drops::default();
        self.each.values().for_each(|one| all.add(one));
        all
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(options: &[(u16, &[u8])]) -> Vec<u8> {
        let mut block = vec![0; 20];
        for (code, value) in options {
            block.extend(code.to_le_bytes());
            block.extend((value.len() as u16).to_le_bytes());
            block.extend(*value);
            block.resize(block.len().next_multiple_of(4), 0);
        }
        block.extend([0; 4]);
        block
    }

    #[test]
    fn the_last_block_of_each_interface_counts() {
        let mut statistics = Statistics::default();
        let drops = |interface: u64, system: u64| {
            block(&[
                (1, b"odd"),
                (5, &interface.to_le_bytes()),
                (7, &system.to_le_bytes()),
            ])
        };
        statistics.read(0, &drops(2, 3), false);
        statistics.read(0, &drops(5, 7), false);
        statistics.read(1, &drops(10, 20), false);
        let (interface, system) = (15, 27);
        assert_eq!(statistics.all(), Drops { interface, system });
    }

    #[test]
    fn what_contradicts_itself_is_left_out() {
        let mut statistics = Statistics::default();
        statistics.read(0, &block(&[(5, &[1, 2])]), false);
        statistics.read(0, &[], false);
        let mut long = block(&[(7, &9_u64.to_le_bytes())]);
        long[22..24].copy_from_slice(&60_000_u16.to_le_bytes());
        statistics.read(0, &long, false);
        assert_eq!(statistics.all(), Drops::default());
    }
}

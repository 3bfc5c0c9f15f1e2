//! Where packets of new data stand, and acknowledgements.

use std::collections::BTreeMap;

use crate::pattern::Scope;

/// Where a packet of new data stands: its numbers, from 1, among those of its stretch on its path, of its path, of its
/// stretch, and of all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Place {
    /// The stretch, from 1.
    pub stretch: u32,
    /// The path, from 1.
    pub path: u32,
    /// Its number in that stretch on that path.
    pub number: u64,
    of_path: u64,
    of_stretch: u64,
    of_all: u64,
}

impl Place {
    /// Its number within `scope`, which it is in.
    pub fn within(&self, scope: Scope) -> u64 {
        match (scope.path, scope.burst) {
            (Some(_), Some(_)) => self.number,
            (Some(_), None) => self.of_path,
            (None, Some(_)) => self.of_stretch,
            (None, None) => self.of_all,
        }
    }
}

/// Packets by stretch and path.
#[derive(Clone, Debug, Default)]
pub(crate) struct Counts(BTreeMap<(u32, u32), u64>);

impl Counts {
    /// Counts one more packet, and says where it stands.
    pub fn count(&mut self, stretch: u32, path: u32) -> Place {
        let number = self.0.entry((stretch, path)).or_default();
        *number += 1;
        let number = *number;
        let within = |path, burst| self.within(Scope { path, burst });
        Place {
            stretch,
            path,
            number,
            of_path: within(Some(path), None),
            of_stretch: within(None, Some(stretch)),
            of_all: within(None, None),
        }
    }

    fn within(&self, scope: Scope) -> u64 {
        let counts = self.0.iter();
        let within = counts.filter(|((stretch, path), _)| scope.has(*path, *stretch));
        within.map(|(_, count)| count).sum()
    }

    /// Forgets the stretches before `stretch`.
    pub fn forget_before(&mut self, stretch: u32) {
        if !self.0.is_empty() {
            self.0 = self.0.split_off(&(stretch, 0));
        }
    }
}

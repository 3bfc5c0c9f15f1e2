//! Step 3: what all connections of a host say decides on the rows that wait for it.
//!
//! This is the one step that does not divide, so it sees nothing but what it must: of a capture with 1 % loss one row of some
//! ten.

use std::io::{Read, Write};

use serde::{Deserialize, Serialize};

use super::analyse::{files, hash, Analysed};
use super::blocks::{read_one, write_one, FileKind, Packer};
use super::part::Part;
use super::pieces::{Pieces, Stretches};
use super::rows::{first_of, RowsHeader};
use super::split::Waiting;
use super::{identity, Error};
use crate::analyzer::Counters;
use crate::run::decode::Counted;
use crate::run::hosts::{Hosts, Said};
use crate::run::Summary;
use crate::settings::Settings;
use crate::whatif::Totals;

/// What waits of one group.
struct WaitingGroup<R> {
    group: u16,
    from: Stretches<R>,
}

/// What a step `judge` says: what the merge of a piece must know.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Judged {
    head: RowsHeader,
    counted: Counted,
    counters: Counters,
    warnings: Vec<String>,
    /// The name of the first file.
    pub capture: String,
    /// Names of the settings that were replayed.
    pub settings: Vec<String>,
    /// Where each piece begins in what was written of each group, and where the last one ends; behind those of groups, in what
    /// was judged.
    pieces: Vec<Vec<u64>>,
}

impl Judged {
    /// How many pieces there are, one at least.
    #[must_use]
    pub fn pieces(&self) -> usize {
        let ends = self.pieces.iter().map(Vec::len).max();
        ends.unwrap_or(0).saturating_sub(1)
    }

    /// The bytes of each piece, of all groups and what was judged.
    #[must_use]
    pub fn sizes(&self) -> Vec<u64> {
        let mut sizes = vec![0; self.pieces()];
        for begins in &self.pieces {
            for (size, piece) in sizes.iter_mut().zip(begins.windows(2)) {
                *size += piece[1] - piece[0];
            }
        }
        sizes
    }

    /// Where a piece begins in the rows of a group; none where it has none there. What was judged is behind all groups.
    #[must_use]
    pub fn begin(&self, group: u16, piece: usize) -> Option<u64> {
        let pieces = self.pieces.get(usize::from(group))?.split_last()?.1;
        pieces.get(piece).copied()
    }

    /// How many groups there are.
    #[must_use]
    pub const fn groups(&self) -> u16 {
        self.head.groups
    }

    /// What one run says of itself.
    #[must_use]
    pub fn summary(&self) -> Summary {
        Summary::new(&self.counted, self.counters.clone(), self.warnings.clone())
    }

    pub(super) fn is_of(&self, head: &RowsHeader) -> bool {
        (head.settings, head.files, head.groups)
            == (self.head.settings, self.head.files, self.head.groups)
    }

    /// Writes it.
    ///
    /// # Errors
    /// As `to` has them.
    pub fn write(&self, to: impl Write) -> Result<(), Error> {
        write_one(self, to, FileKind::Judged)
    }

    /// Reads it from a file of this name.
    ///
    /// # Errors
    /// As `from` has them, and for what is none or not whole.
    pub fn read(name: &str, from: impl Read) -> Result<Self, Error> {
        read_one(name, from, FileKind::Judged)
    }
}

/// Judges the rows that wait in what [`analyse`](super::analyse()) wrote of each group of `parts`, in any order; each with a name
/// for errors. The rows go to `to`, in pieces.
///
/// # Errors
/// Those of what is read and written, and when it is not of all groups of these parts, with these settings. [`Error::Full`]
/// where the groups had more connections between them than are remembered.
pub fn judge<R: Read, W: Write>(
    parts: &[Part],
    settings: &Settings,
    waiting: impl IntoIterator<Item = (String, R)>,
    to: W,
) -> Result<Judged, Error> {
    let mut judged = Judged::new(parts, settings);
    let mut groups = opened(&judged, waiting)?;
    let mut hosts = Hosts::new(settings);
    let mut packer = Packer::new()?;
    let mut pieces = Pieces::new(judged.head, to)?;
    while let Some(stretch) = groups.iter().filter_map(|group| group.from.next).min() {
        let mut all = Waiting::default();
        for group in &mut groups {
            if let Some(mut waiting) = group.from.stretch(stretch)? {
                all.append(&mut waiting);
            }
        }
        all.sort();
        let said: Vec<Said> = all.said.iter().map(|of| of.row.clone()).collect();
        hosts.pass_with(&said, &mut all.rows);
        pieces.write(stretch, &all.rows, &mut packer)?;
    }
    let mut totals = Totals::default();
    let mut connections: Vec<usize> = Vec::new();
    for mut group in groups {
        let analysed: Analysed = group.from.value()?;
        group.from.finish()?;
        judged.counters.add(&analysed.counters);
        judged.pieces[usize::from(group.group)] = analysed.pieces;
        totals.append(&analysed.totals);
        connections.resize(analysed.connections.len().max(connections.len()), 0);
        let each = connections.iter_mut().zip(&analysed.connections);
        each.for_each(|(all, one)| *all += one);
    }
    if connections
        .iter()
        .any(|all| *all > settings.most_connections)
    {
        return Err(Error::Full);
    }
    // Behind the last piece of all groups is what waited to the end, and what sums up the whole.
    let last = first_of(judged.pieces());
    let mut left = hosts.end();
    judged.counters.failures.add(hosts.failures());
    left.totals.append(&totals);
    pieces.write(last, &left, &mut packer)?;
    judged.pieces.push(pieces.finish(&mut packer)?);
    Ok(judged)
}

impl Judged {
    /// Of nothing yet.
    fn new(parts: &[Part], settings: &Settings) -> Self {
        let groups = parts.first().map_or(1, |part| part.groups);
        let mut counted = Counted::default();
        parts.iter().for_each(|part| counted.add(&part.counted));
        let names = settings.whatif.as_ref().map(|plan| plan.names().to_vec());
        Judged {
            head: RowsHeader {
                groups,
                // Behind those that there are.
                group: groups,
                settings: hash(&identity(settings)),
                files: files(parts),
            },
            counted,
            counters: Counters::default(),
            warnings: warnings(parts),
            capture: parts
                .first()
                .map_or_else(String::new, |part| part.name.clone()),
            settings: names.unwrap_or_default(),
            pieces: vec![Vec::new(); usize::from(groups)],
        }
    }
}

/// Opens what waits of all groups.
fn opened<R: Read>(
    judged: &Judged,
    waiting: impl IntoIterator<Item = (String, R)>,
) -> Result<Vec<WaitingGroup<R>>, Error> {
    let mut groups = Vec::new();
    for (name, from) in waiting {
        let (from, of) = Stretches::new(name, from, FileKind::Waiting)?;
        if of.settings != judged.head.settings {
            return Err(from.error("this was made with other settings: analyse the group again"));
        }
        if !judged.is_of(&of) {
            return Err(from.error("this is of other files: analyse the group again"));
        }
        let group = of.group;
        groups.push(WaitingGroup { group, from });
    }
    let mut there: Vec<u16> = groups.iter().map(|group| group.group).collect();
    there.sort_unstable();
    if !there.iter().copied().eq(0..judged.groups()) {
        return Err(Error::format(format!(
            "groups {there:?} are there where the groups 0 to {} are needed, each once",
            judged.groups() - 1
        )));
    }
    Ok(groups)
}

/// The warnings of all files, in the order in which one run has them: by kind, and of each kind by when files ended.
fn warnings(parts: &[Part]) -> Vec<String> {
    let mut ended: Vec<usize> = (0..parts.len()).collect();
    // Those without frames end first.
    ended.sort_by_key(|file| parts[*file].end(*file));
    let each: Vec<_> = ended
        .into_iter()
        .map(|file| parts[file].warnings())
        .collect();
    let kinds = each.first().map_or(0, |all| all.len());
    (0..kinds)
        .flat_map(|kind| each.iter().filter_map(move |all| all[kind].clone()))
        .collect()
}

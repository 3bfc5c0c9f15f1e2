//! What the settings of a grid would have done, summed up over connections.

use rexmit_time::Duration;
use serde::{Deserialize, Deserializer, Serialize};

use crate::event::Direction;
use crate::parts::Known;
use crate::rows::{Changes, Connection, WhatIf, Word};

/// What one setting would have done to all senders of one stack.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Total {
    /// Senders for which it changes something.
    pub changed: u32,
    /// Of them, those whose connection gets shorter, and longer, by more than a tenth.
    pub shorter: u32,
    /// See `shorter`.
    pub longer: u32,
    /// Which retransmissions it changes.
    pub changes: Changes,
    /// Sum of the changes of durations; negative is shorter.
    pub change: Duration,
    /// Sum of the changes of the time waited.
    pub waited: Duration,
}

impl Total {
    fn add_row(&mut self, row: &WhatIf, tenth: Duration) {
        self.changed += 1;
        self.shorter += u32::from(-row.change > tenth);
        self.longer += u32::from(row.change > tenth);
        self.changes += row.changes;
        self.change += row.change;
        self.waited += row.waited;
    }

    fn add(&mut self, other: &Total) {
        self.changed += other.changed;
        self.shorter += other.shorter;
        self.longer += other.longer;
        self.changes += other.changes;
        self.change += other.change;
        self.waited += other.waited;
    }
}

/// The sums of a grid by stack and setting. They take room for each stack met, whatever the number of connections.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Totals {
    #[serde(deserialize_with = "sums")]
    stacks: Vec<(Word, Vec<Total>)>,
}

fn sums<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<(Word, Vec<Total>)>, D::Error> {
    let all = Vec::<(Known, _)>::deserialize(from)?;
    Ok(all
        .into_iter()
        .map(|(stack, sums)| (stack.0, sums))
        .collect())
}

impl Totals {
    /// Whether nothing was added.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.stacks.is_empty()
    }

    /// Takes the rows of settings from `first` on out of a connection's `rows` and adds them to the sums.
    pub fn take(&mut self, rows: &mut Vec<WhatIf>, first: usize, connection: &Connection) {
        let first = first as u32;
        if rows.iter().all(|row| row.setting < first) {
            return;
        }
        let tenth = (connection.end - connection.start) / 10;
        let sides = [
            (Direction::Forward, &connection.forward),
            (Direction::Backward, &connection.backward),
        ];
        for (direction, sender) in sides {
            let totals = self.totals_of(sender.stack.unwrap_or("none"));
            let grid = |row: &&WhatIf| row.direction == direction && row.setting >= first;
            for row in rows.iter().filter(grid) {
                let index = row.setting as usize;
                if index >= totals.len() {
                    totals.resize(index + 1, Total::default());
                }
                totals[index].add_row(row, tenth);
            }
        }
        rows.retain(|row| row.setting < first);
    }

    /// Adds the sums of `other`.
    pub fn append(&mut self, other: &Totals) {
        for (stack, theirs) in &other.stacks {
            let ours = self.totals_of(stack);
            if theirs.len() > ours.len() {
                ours.resize(theirs.len(), Total::default());
            }
            for (mine, total) in ours.iter_mut().zip(theirs) {
                mine.add(total);
            }
        }
    }

    /// Stack, index of the setting, and sums, of all that changed anything, in the order of stacks and settings.
    #[must_use]
    pub fn rows(&self) -> Vec<(&'static str, u32, Total)> {
        let mut rows: Vec<(&'static str, u32, Total)> = self
            .stacks
            .iter()
            .flat_map(|(stack, totals)| {
                let numbered = (0_u32..).zip(totals);
                numbered.map(|(setting, total)| (*stack, setting, *total))
            })
            .filter(|(_, _, total)| total.changed > 0)
            .collect();
        rows.sort_by_key(|(stack, setting, _)| (*stack, *setting));
        rows
    }

    fn totals_of(&mut self, stack: &'static str) -> &mut Vec<Total> {
        let known = self.stacks.iter().position(|(name, _)| *name == stack);
        let index = known.unwrap_or_else(|| {
            self.stacks.push((stack, Vec::new()));
            self.stacks.len() - 1
        });
        &mut self.stacks[index].1
    }
}

#[cfg(test)]
mod tests {
    use rexmit_time::Time;

    use super::*;
    use crate::rows::SenderRow;
    use crate::testing;

    fn row(setting: u32, millis: i64) -> WhatIf {
        WhatIf {
            direction: Direction::Backward,
            setting,
            changes: Changes {
                avoided: 1,
                fr_to_rto: 2,
                spurious_rto_avoided: 1,
                spurious_rto_caused: 3,
                ..Changes::default()
            },
            change: Duration::from_millis(millis),
            waited: Duration::from_millis(millis / 2),
        }
    }

    fn connection(stack: Option<&'static str>) -> Connection {
        Connection {
            end: Time::from_nanos(1_000_000_000),
            backward: SenderRow {
                stack,
                ..SenderRow::default()
            },
            ..testing::connection()
        }
    }

    #[test]
    fn a_grid_is_summed_up_and_single_settings_keep_their_rows() {
        let mut totals = Totals::default();
        let mut rows = vec![row(0, -500), row(2, -500), row(3, 50)];
        totals.take(&mut rows, 1, &connection(Some("rfc")));
        assert_eq!(rows, [row(0, -500)]);
        let mut other = Totals::default();
        other.take(&mut vec![row(2, 150)], 1, &connection(Some("rfc")));
        other.take(&mut vec![row(2, 150)], 1, &connection(None));
        totals.append(&other);
        let rows = totals.rows();
        let keys: Vec<(&str, u32)> = rows.iter().map(|(stack, s, _)| (*stack, *s)).collect();
        assert_eq!(keys, [("none", 2), ("rfc", 2), ("rfc", 3)]);
        let total = rows[1].2;
        assert_eq!((total.changed, total.shorter, total.longer), (2, 1, 1));
        assert_eq!(total.change, Duration::from_millis(-350));
        assert_eq!(total.waited, Duration::from_millis(-175));
        assert_eq!(
            (total.changes.fr_to_rto, total.changes.spurious_rto_caused),
            (4, 6)
        );
        assert_eq!((rows[2].2.shorter, rows[2].2.longer), (0, 0));
    }
}

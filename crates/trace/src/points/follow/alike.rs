//! Packets of one mark that are looked for: what packets look like is theirs to say, and any number may look the same.

use super::Follow;
use crate::points::way::PendingPacket;

/// Packets of one mark that are looked for at most, the newest ones: more are not on their way at a time.
const MOST_ALIKE: u32 = 1 << 10;

/// The entries of one mark, which are linked from the newest to the oldest.
#[derive(Clone, Copy, Debug)]
pub(super) struct Alike {
    pub newest: u32,
    oldest: u32,
    count: u32,
}

impl Alike {
    /// Whether there is this entry, and no other.
    pub fn is_only(&self, number: u32) -> bool {
        self.newest == number && self.count == 1
    }
}

impl Follow {
    /// Takes an entry in where it is found by its mark.
    pub(super) fn keep(&mut self, entry: PendingPacket) -> u32 {
        let number = if let Some(number) = self.free.pop() {
            self.entries[number as usize] = entry;
            number
        } else {
            self.entries.push(entry);
            self.entries.len() as u32 - 1
        };
        self.put_in(number);
        number
    }

    /// Puts an entry, which is linked with none, among those of its mark. With too many the oldest is looked for no more.
    pub(super) fn put_in(&mut self, number: u32) {
        let mark = self.entries[number as usize].mark.bits();
        let alike = self.by_mark.entry(mark).or_insert(Alike {
            newest: number,
            oldest: number,
            count: 0,
        });
        if alike.count > 0 {
            self.entries[alike.newest as usize].newer = Some(number);
            self.entries[number as usize].older = Some(alike.newest);
            alike.newest = number;
        }
        alike.count += 1;
        if alike.count > MOST_ALIKE {
            let oldest = alike.oldest;
            self.note_settled(oldest);
            self.take_out(oldest);
        }
    }

    /// Takes an entry out of those of its mark, if it is still among them.
    pub(super) fn take_out(&mut self, number: u32) {
        let entry = &mut self.entries[number as usize];
        let (older, newer) = (entry.older.take(), entry.newer.take());
        let mark = entry.mark.bits();
        let Some(alike) = self.by_mark.get_mut(&mark) else {
            return;
        };
        if newer.is_none() && alike.newest != number {
            return;
        }
        alike.count -= 1;
        match newer {
            Some(newer) => self.entries[newer as usize].older = older,
            None => alike.newest = older.unwrap_or(number),
        }
        match older {
            Some(older) => self.entries[older as usize].newer = newer,
            None => alike.oldest = newer.unwrap_or(number),
        }
        if alike.count == 0 {
            self.by_mark.remove(&mark);
        }
    }
}

#[cfg(test)]
mod tests {
    use rexmit_wire::Headers;

    use super::*;
    use crate::testing::{bare, flow};

    const MS: i64 = 1_000_000;

    /// The entries of the only mark, the newest first; their links are what they are in the other direction.
    fn linked(follow: &Follow) -> Vec<u32> {
        let alike = follow.by_mark.values().next();
        let older = |number: &u32| follow.entries[*number as usize].older;
        let newer = |number: &u32| follow.entries[*number as usize].newer;
        let all: Vec<u32> =
            core::iter::successors(alike.map(|alike| alike.newest), older).collect();
        let back = core::iter::successors(alike.map(|alike| alike.oldest), newer);
        assert!(back.eq(all.iter().rev().copied()));
        assert_eq!(alike.map_or(0, |alike| alike.count), all.len() as u32);
        all
    }

    /// What follows so many packets that look the same but for their identifications, at the first of two points.
    fn after(packets: u32) -> Follow {
        let mut follow = Follow::new(vec![(0, 100_000 * MS); 2]);
        for number in 0..packets {
            let headers = Headers {
                ip_id: Some(1 + number as u16),
                ..bare(flow(777))
            };
            let at = i64::from(number) * 1_000;
            follow.packet(0, at, at as u64, &headers);
        }
        follow
    }

    #[test]
    fn of_packets_that_look_the_same_the_newest_are_looked_for() {
        let mut follow = after(5_000);
        assert_eq!(linked(&follow).len() as u32, MOST_ALIKE);
        let came = Headers {
            ip_id: Some(5_000),
            ..bare(flow(777))
        };
        follow.packet(1, 6 * MS, 6_000_000, &came);
        assert_eq!(
            linked(&follow).len() as u32,
            MOST_ALIKE,
            "it is one of them"
        );
        follow.finish();
        assert_eq!(follow.entries.len(), follow.free.len());
        assert!(follow.by_mark.is_empty());
    }

    #[test]
    fn an_entry_is_taken_out_wherever_it_stands() {
        let mut follow = after(5);
        for (number, left) in [(2, vec![4, 3, 1, 0]), (4, vec![3, 1, 0]), (0, vec![3, 1])] {
            follow.take_out(number);
            follow.take_out(number);
            assert_eq!(linked(&follow), left);
        }
        follow.put_in(2);
        assert_eq!(linked(&follow), [2, 3, 1]);
    }
}

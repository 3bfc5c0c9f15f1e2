//! Packets are logged until there is trouble, then given to the halves.

use rexmit_time::Time;
use rexmit_wire::{Headers, SeqRange};

use super::doubled::RECENT;
use super::log::{self, Log};
use super::{Common, Connection, BOTH};
use crate::event::{Direction, Event};
use crate::half::Half;
use crate::rows;
use crate::settings::Settings;

/// Packets between two looks for resends that are settled.
const SETTLE: u32 = 256;

impl Connection {
    /// Logs a packet, and gives it to the halves that there are.
    #[inline]
    pub(super) fn keep(
        &mut self,
        at: Time,
        direction: Direction,
        headers: &Headers,
        common: &mut Common,
    ) {
        if self.logging {
            if self.log.len() >= common.settings.most_events || !Log::can_hold(self.start, at) {
                self.end_log(common);
            } else {
                let spare = &mut common.spare;
                self.log.push(self.start, at, direction, headers, spare);
            }
        }
        if self.trouble != [false; 2] || !self.logging {
            self.feed(at, direction, headers, common);
        }
    }

    /// A packet of a connection with trouble, or without a log.
    #[inline(never)]
    fn feed(&mut self, at: Time, direction: Direction, headers: &Headers, common: &mut Common) {
        let event = log::event(at, direction, headers);
        let sacks = headers.sack.blocks();
        if self.logging {
            self.cold.sacks.extend_from_slice(sacks);
        } else {
            self.remember(direction, headers);
        }
        for (of, half) in BOTH.into_iter().zip(&mut self.cold.halves) {
            if let Some(half) = half {
                give(half, of, &event, sacks);
                self.cold.unsettled += 1;
            }
        }
        for of in BOTH {
            if self.cold.halves[of as usize].is_some() || !self.sides[of as usize].sent {
                continue;
            }
            if !self.logging {
                let mut half = Half::new(of, &self.facts(of), &common.settings);
                give(&mut half, of, &event, sacks);
                self.cold.halves[of as usize] = Some(Box::new(half));
            } else if self.trouble[of as usize] && !headers.flags.syn() {
                // What the sides agreed on is known when the handshake is over.
                self.make_half(of, &common.settings);
            }
        }
        if self.logging && self.cold.halves.iter().all(Option::is_some) {
            self.drop_log(common);
        }
        if self.cold.unsettled >= SETTLE {
            self.cold.unsettled = 0;
            for half in self.cold.halves.iter_mut().flatten() {
                half.settled(&mut common.resends);
            }
        }
    }

    /// Makes the halves that are missing, and keeps no log any more.
    #[cold]
    fn end_log(&mut self, common: &mut Common) {
        for of in BOTH {
            if self.cold.halves[of as usize].is_none() && self.sides[of as usize].sent {
                self.make_half(of, &common.settings);
            }
        }
        self.drop_log(common);
    }

    fn drop_log(&mut self, common: &mut Common) {
        if self.cold.doubled != [(0, 0); 2] {
            let latest = self.log.len().saturating_sub(RECENT);
            self.cold.recent = self.log.marks().skip(latest).collect();
        }
        common.spare.give(core::mem::take(&mut self.log));
        self.cold.sacks = Vec::new();
        self.logging = false;
    }

    /// Makes a half and gives it what is in the log.
    #[cold]
    fn make_half(&mut self, of: Direction, settings: &Settings) {
        let mut half = Half::new(of, &self.facts(of), settings);
        for (event, sacks) in self.log.iter(self.start, &self.cold.sacks) {
            give(&mut half, of, &event, sacks);
        }
        self.cold.halves[of as usize] = Some(Box::new(half));
    }

    /// The connection is over: its row, and all others that are left.
    pub fn finish(mut self, evicted: bool, common: &mut Common) -> rows::Connection {
        for of in BOTH {
            // Trouble before the handshake was over.
            let late = self.trouble[of as usize] && self.logging;
            if late && self.cold.halves[of as usize].is_none() && self.sides[of as usize].sent {
                self.make_half(of, &common.settings);
            }
        }
        let mut row = self.row(evicted);
        let doubled = self.cold.doubled;
        common.spare.give(self.log);
        for (half, row) in self
            .cold
            .halves
            .into_iter()
            .zip([&mut row.forward, &mut row.backward])
        {
            if let Some(half) = half {
                half.finish(&mut common.resends, &mut common.whatif, row);
            }
        }
        for (half, (packets, _)) in [&mut row.forward, &mut row.backward]
            .into_iter()
            .zip(doubled)
        {
            half.capture_duplicates += packets;
        }
        row
    }
}

/// Gives a packet to the half of the sender in direction `of`.
#[inline]
fn give(half: &mut Half, of: Direction, event: &Event, sacks: &[SeqRange]) {
    if event.direction == of {
        half.data(event);
    } else {
        half.ack(event, sacks);
    }
}

//! What is on the board, and not SACKed, in the order in which it was sent last, for who looks for losses by time
//! (`tsorted_sent_queue`).

use core::cell::Cell;
use std::collections::VecDeque;

use rexmit_time::Time;
use rexmit_wire::SeqNum;

use super::{Board, Piece};

/// One time that something was sent.
#[derive(Clone, Debug)]
pub struct Transmission {
    at: Time,
    /// Where what is left of it begins, as far as somebody looked.
    start: Cell<SeqNum>,
    end: SeqNum,
    /// How many from this one on have nothing left, as far as somebody looked.
    over: Cell<u32>,
}

/// All transmissions of what is on the board and not SACKed, the oldest first, but for those at the front that others followed.
///
/// Each has a number, which stays its own. It is sorted as long as every packet is told of after those that were sent before
/// it.
#[derive(Debug)]
pub struct TransmitOrder {
    transmissions: VecDeque<Transmission>,
    /// The number of the first.
    first: u64,
    /// When the newest was sent.
    latest: Time,
    sorted: bool,
}

impl TransmitOrder {
    pub(super) fn within(transmissions: VecDeque<Transmission>) -> Self {
        TransmitOrder {
            transmissions,
            first: 0,
            latest: Time::ZERO,
            sorted: true,
        }
    }

    /// Its collection, empty, of a capacity of `most` at most.
    pub(super) fn leave(mut self, most: usize) -> VecDeque<Transmission> {
        self.transmissions.clear();
        self.transmissions.shrink_to(most);
        self.transmissions
    }

    pub(super) fn push(&mut self, at: Time, start: SeqNum, end: SeqNum) {
        self.sorted &= at >= self.latest;
        self.latest = self.latest.max(at);
        self.transmissions.push_back(Transmission {
            at,
            start: Cell::new(start),
            end,
            over: Cell::new(0),
        });
    }

    /// Whether the transmissions are in the order of their times.
    pub fn is_sorted(&self) -> bool {
        self.sorted
    }

    /// When the newest was sent.
    pub fn latest(&self) -> Time {
        self.latest
    }

    /// The number of the transmission after the newest.
    pub fn end(&self) -> u64 {
        self.first + self.transmissions.len() as u64
    }

    /// When a transmission took place; none if there is none of this number.
    pub fn time(&self, number: u64) -> Option<Time> {
        Some(self.get(number)?.at)
    }

    fn get(&self, number: u64) -> Option<&Transmission> {
        let place = number.checked_sub(self.first)?;
        self.transmissions.get(usize::try_from(place).ok()?)
    }
}

impl Board {
    /// The first piece that was sent last in a transmission and is not SACKed, by its index; of those after the piece at `after`,
    /// which is one of them, if it is given.
    pub fn sent_in(&self, number: u64, after: Option<usize>) -> Option<usize> {
        let sent = self.order.get(number)?;
        let from = after.map_or_else(|| self.index(sent.start.get()), |after| after + 1);
        let pieces = self.pieces.range(from..self.pieces.len());
        let mut within = pieces.take_while(|piece| piece.start.is_before(sent.end));
        let left = |piece: &Piece| {
            self.looked_at(1);
            piece.sent == sent.at && !piece.sacked
        };
        Some(from + within.position(left)?)
    }

    /// The first transmission from `number` on that was the last of a piece which is not SACKed, and the index of its first such
    /// piece.
    pub fn transmission(&self, number: u64) -> Option<(u64, usize)> {
        let mut number = number.max(self.order.first);
        loop {
            let sent = self.order.get(number)?;
            if sent.over.get() == 0 {
                if let Some(first) = self.sent_in(number, None) {
                    sent.start.set(self.pieces[first].start);
                    return Some((number, first));
                }
                // What was sent again or SACKed since never belongs to it again.
                sent.over.set(1);
            }
            number += u64::from(sent.over.get());
            // So that not every look passes them one by one.
            let further = self.order.get(number).map_or(0, |next| next.over.get());
            sent.over.set(sent.over.get() + further);
        }
    }

    /// Lets go of transmissions at the front of which nothing is left.
    pub(super) fn trim_order(&mut self) {
        let end = self.order.end();
        let live = self.transmission(self.order.first);
        let first = live.map_or(end, |(number, _)| number);
        let gone = (first - self.order.first) as usize;
        self.order.transmissions.drain(..gone);
        self.order.first = first;
        if self.is_empty() {
            self.order.latest = Time::ZERO;
            self.order.sorted = true;
        }
    }
}

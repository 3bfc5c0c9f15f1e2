//! What was sent and not acknowledged, with what is known of it: the board of the model's sender.
//!
//! `queue` is the scoreboard, `memory` what its segments cost, `sizes` how large they are. `board` is what
//! [`recovery::machine`](crate::recovery::machine) asks of it, with `fack`, the marks of stacks that count. `sack` and `acked`
//! note what an acknowledgement delivers, `again` readies a segment for being sent again, and `walk` says which is next.

mod acked;
mod again;
mod board;
mod fack;
mod memory;
mod queue;
mod sack;
mod sizes;
mod walk;

use std::sync::Arc;

use rexmit_wire::{SeqNum, SeqRange};

use super::peer::PeerState;
use super::timing::Timing;
use crate::recovery::machine::{AckView, Board as _, Counts, Detection, Episode};
use crate::recovery::rack::Delivered;
use crate::settings::Settings;

pub(super) use acked::{Cleaned, Delivery};
use fack::Fack;
pub(super) use memory::Memory;
use queue::Queue;
pub(super) use queue::{packets, time_of, Marks, Micros, SentSegment};
use sack::SeenBlocks;
pub(super) use sack::Tagged;
pub(super) use sizes::Sizes;
pub(super) use walk::Walk;

/// What was sent and not acknowledged.
#[derive(Clone, Debug)]
pub struct Flight {
    pub(super) settings: Arc<Settings>,
    /// `snd_una`
    una: SeqNum,
    /// `snd_nxt`
    nxt: SeqNum,
    sack: bool,
    pub(super) sizes: Sizes,
    /// What segments cost, those that wait to be sent as well.
    pub(super) memory: Memory,
    queue: Queue,
    seen_blocks: SeenBlocks,
    fack: Fack,
    /// Segments delivered (`tp->delivered`).
    delivered: u32,
}

/// An acknowledgement that arrives: when, and what it meets.
pub(super) struct Arrival<'a> {
    pub before: &'a Before,
    pub timing: &'a Timing,
    pub peer: &'a PeerState,
    pub episode: &'a mut Episode,
    pub detection: &'a mut Detection,
    /// The latest of the transmissions that it says were delivered.
    pub delivery: &'a mut Delivery,
}

impl Arrival<'_> {
    /// A transmission was delivered.
    fn advance_rack(&mut self, segment: &SentSegment) {
        let delivered = Delivered {
            sent: time_of(segment.at),
            end: segment.end,
            retransmitted: segment.marks.any(Marks::ANY_RETRANSMISSION),
        };
        let (now, min_rtt) = (self.timing.sent_now(), self.timing.min_rtt.span());
        self.detection.rack.advance(&delivered, now, min_rtt);
    }
}

/// What is out before an acknowledgement is worked through.
#[derive(Clone, Copy, Debug)]
pub(super) struct Before {
    pub view: AckView,
    /// Segments up to the highest SACK, and that SACK; without one, the first byte not acknowledged.
    pub reach: u32,
    pub highest: SeqNum,
    /// Segments delivered, and losses marked.
    pub delivered: u32,
    pub losses: u32,
}

impl Flight {
    /// Nothing was sent; the first byte has the number `first`.
    pub(super) fn new(settings: Arc<Settings>, mss: u32, first: SeqNum) -> Self {
        Flight {
            una: first,
            nxt: first,
            sack: settings.segments.sack,
            sizes: Sizes::new(mss),
            memory: Memory::default(),
            queue: Queue::new(first),
            seen_blocks: SeenBlocks::default(),
            fack: Fack::new(first),
            // The SYN.
            delivered: 1,
            settings,
        }
    }

    /// Whether SACK was negotiated is known.
    pub(super) fn established(&mut self, sack: bool) {
        self.sack = sack;
    }

    /// Gives back the memory of an empty queue.
    pub(super) fn rest(&mut self) {
        self.queue.rest();
    }

    /// Payload bytes of a full segment (`mss_cache`).
    #[must_use]
    pub fn mss(&self) -> u32 {
        self.sizes.mss
    }

    /// The first byte not acknowledged (`snd_una`).
    #[must_use]
    pub fn una(&self) -> SeqNum {
        self.una
    }

    /// The first byte not sent (`snd_nxt`).
    #[must_use]
    pub fn nxt(&self) -> SeqNum {
        self.nxt
    }

    /// What is out.
    pub(super) fn range(&self) -> SeqRange {
        SeqRange {
            start: self.una,
            end: self.nxt,
        }
    }

    /// Whether SACK was negotiated.
    #[must_use]
    pub fn has_sack(&self) -> bool {
        self.sack
    }

    /// Packets not acknowledged (`packets_out`).
    #[must_use]
    pub fn packets_out(&self) -> u32 {
        self.queue.counts.out
    }

    /// Packets sent and neither arrived nor lost, as far as is known (`tcp_packets_in_flight`).
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.queue.in_flight()
    }

    /// Segments not acknowledged.
    #[must_use]
    pub fn segments(&self) -> usize {
        self.queue.len()
    }

    /// How many packets are where.
    pub(super) fn counts(&self) -> Counts {
        self.queue.counts
    }

    /// Segments delivered so far, and losses marked so far.
    pub(super) fn delivered(&self) -> u32 {
        self.delivered
    }

    /// Losses marked so far, each transmission counted (`tp->lost`).
    pub(super) fn losses(&self) -> u32 {
        self.queue.losses
    }

    pub(super) fn head(&self) -> Option<&SentSegment> {
        self.queue.head()
    }

    pub(super) fn at(&self, index: usize) -> &SentSegment {
        self.queue.at(index)
    }

    /// Bytes that what waits and what is out, up to `end`, cost in the send buffer; `waiting` segments wait (`sk_wmem_queued`).
    pub(super) fn cost(&self, waiting: usize, end: SeqNum) -> u32 {
        let packets = (self.queue.len() + waiting) as u32 - self.queue.joined;
        let bytes = end.offset_from(self.una).unsigned_abs();
        packets * self.settings.segments.packet_overhead + bytes + self.memory.more()
    }

    /// Adds a segment that leaves for the first time.
    pub(super) fn push(&mut self, segment: SentSegment) {
        self.nxt = segment.end;
        self.queue.push(segment);
    }

    /// The sender is a subflow's, with so many bytes of options on every segment: segments are not joined, neither before they are
    /// sent nor when they are sent again (`mptcp_skb_can_collapse`).
    pub(crate) fn be_subflow(&mut self, options: u32) {
        self.sizes.apart = true;
        self.sizes.options = options;
    }

    /// All before `una` is acknowledged.
    pub(super) fn acknowledge(&mut self, una: SeqNum) {
        self.una = una;
    }

    /// The packet that began at `seq` was dropped on its way.
    pub(crate) fn dropped(&mut self, seq: SeqNum) {
        if let Some(index) = self.queue.find(seq) {
            self.queue.at_mut(index).marks.set(Marks::ALONE);
        }
    }

    /// Cuts a segment that was sent so that its first part holds `len` bytes (`tcp_fragment`).
    pub(super) fn split(&mut self, index: usize, len: u32) {
        let whole = *self.queue.at(index);
        self.queue.split(index, len, self.sizes.mss, self.sack);
        let (at, rest) = (whole.seq + len, whole.len() - len);
        self.memory.split(whole.seq, at, rest, &self.settings);
    }

    /// What is out before an acknowledgement is worked through.
    pub(super) fn before_ack(&self) -> Before {
        let line = self.line();
        let counts = self.queue.counts;
        Before {
            view: AckView {
                prior_una: self.una,
                prior_out: counts.out,
                prior_sacked: counts.sacked,
                prior_in_flight: counts.in_flight(),
                acked: 0,
                duplicates: 0,
            },
            reach: line.reach,
            highest: match self.sack {
                true => line.highest_sack,
                false => self.una,
            },
            delivered: self.delivered,
            losses: self.queue.losses,
        }
    }

    /// Counts everything afresh and compares with the counts kept; says what is wrong.
    ///
    /// # Errors
    /// The first difference found, in words.
    pub fn check(&self) -> Result<(), String> {
        if self.nxt.is_before(self.una) {
            return Err(format!("{} {}", self.una, self.nxt));
        }
        self.queue.check(self.sack)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks;

    /// So many segments of 1,000 bytes that this stack sent, the second of which begins at number 0.
    pub fn flight_of(stack: &str, segments: u32) -> Flight {
        let settings = Arc::new(stacks::page(stack).unwrap().settings);
        let first = SeqNum::new(0) - 1000;
        let mut flight = Flight::new(settings, 1000, first);
        flight.established(true);
        for n in 0..segments {
            let seq = first + 1000 * n;
            flight.push(SentSegment::new(seq, seq + 1000, 1, Marks::default()));
        }
        flight
    }

    #[test]
    fn what_is_out_costs_its_bytes_and_each_packet_s_overhead() {
        let flight = flight_of("linux-6.12", 3);
        let overhead = flight.settings.segments.packet_overhead;
        assert_eq!(flight.cost(0, flight.nxt()), 3 * (1000 + overhead));
        assert_eq!(flight.cost(1, flight.nxt() + 10), 3010 + 4 * overhead);
        assert_eq!(flight.range().end, flight.una() + 3000);
        flight.check().unwrap();
    }

    #[test]
    fn a_cut_segment_is_as_many_packets_as_before() {
        let mut flight = flight_of("linux-6.12", 1);
        let seq = flight.nxt();
        flight.push(SentSegment::new(seq, seq + 3000, 3, Marks::default()));
        flight.split(1, 1000);
        assert_eq!((flight.segments(), flight.packets_out()), (3, 4));
        assert_eq!(flight.at(2).len(), 2000);
        flight.check().unwrap();
    }
}

//! What of a sender's events bears on any setting: its round trips, and how long each head of its queue waited.

use std::collections::VecDeque;

use rexmit_tcp::recovery::rack::{Delivered, Rack, Reordering};
use rexmit_tcp::recovery::CaState;
use rexmit_time::{Duration, Time};
use rexmit_wire::{SeqNum, SeqRange};

use super::setting::MOST_THRESHOLD;
use crate::event::{Acked, Sent, SentKind};
use crate::pieces::MOST_PARTS;
use crate::window::is_too_much;

/// Packets outstanding that are remembered; a sender with more has its oldest forgotten.
const MOST_SEGMENTS: usize = 1 << 16;
/// Different stamps remembered until they are echoed.
const MOST_STAMPS: usize = 1 << 12;
/// Retransmissions remembered of one head of the queue.
const MOST_LEGS: usize = 16;

/// Something that settings are judged by, in order.
#[derive(Clone, Debug)]
pub(super) enum Note {
    /// The handshake is over, at this sequence number; its round-trip time, if its packets are not among the events.
    Begin(Option<Duration>, SeqNum),
    /// An acknowledgement moved on.
    Ack(Ack),
    /// The head of the queue waited, with duplicate acknowledgements or retransmissions meanwhile.
    Stand(Box<Stand>),
}

/// An acknowledgement that moved on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ack {
    pub at: Time,
    /// First sequence number not acknowledged, and first not sent.
    pub una: SeqNum,
    pub nxt: SeqNum,
    /// From the sending of the oldest packet acknowledged, if none of them was sent twice.
    pub sent_rtt: Option<Duration>,
    /// From the first packet with the echoed stamp.
    pub stamp_rtt: Option<Duration>,
    /// From the sending of the one packet timed in this round trip.
    pub once_rtt: Option<Duration>,
    /// Segments sent again that it acknowledged in a recovery, but for the one that began it: without SACK, the holes that
    /// partial acknowledgements show one a round trip.
    pub holes: u32,
    /// How long they were at the head of the queue.
    pub held: Duration,
    /// What it ended, unless that is a [`Stand`] of its own.
    pub wait: Option<Wait>,
}

/// The head of the queue waits, from its coming to the head.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    pub start: Time,
    /// The last transmission of new data in it, or its start.
    pub last_sent: Time,
    /// Segments outstanding at that time.
    pub outstanding: u32,
    /// It began within an episode of loss.
    pub recovery: bool,
}

/// A wait with duplicate acknowledgements or retransmissions.
#[derive(Clone, Debug)]
pub(super) struct Stand {
    pub wait: Wait,
    /// When the head was acknowledged.
    pub end: Option<Time>,
    /// When the first, second … duplicate acknowledgement (or segment SACKed) came.
    pub duplicates: Vec<Time>,
    /// When the first, second … acknowledgement came that a sender without SACK counts.
    pub duplicate_acks: Vec<Time>,
    /// When the highest segment SACKed was the first, second … after the head.
    pub forward: Vec<Time>,
    /// When RACK finds the head lost, before any retransmission.
    pub rack_at: Option<Time>,
    /// Retransmissions: all of the head, and the first one if it is of something else outside an episode.
    pub legs: Vec<Leg>,
    /// Smallest round-trip time so far.
    pub min_rtt: Duration,
}

/// A retransmission in a stand.
#[derive(Clone, Copy, Debug)]
pub(super) struct Leg {
    pub at: Time,
    /// How far that may be off.
    pub slack: Duration,
    pub number: u32,
    /// When RACK finds it lost in its turn.
    pub rack_at: Option<Time>,
}

/// A packet outstanding. Packets are never cut into pieces: what is acknowledged of one is taken off its front.
#[derive(Clone, Copy, Debug)]
struct Outstanding {
    range: SeqRange,
    sent: Time,
    retransmitted: bool,
    sacked: bool,
}

/// Follows a sender's queue.
#[derive(Debug)]
pub(super) struct Watch {
    mss: u32,
    sack: bool,
    packets: VecDeque<Outstanding>,
    una: Option<SeqNum>,
    nxt: SeqNum,
    /// Segments outstanding, and of them SACKed.
    outstanding: u32,
    sacked: u32,
    /// After the highest byte SACKed.
    highest: SeqNum,
    /// A segment that was sent once was delivered after one behind it.
    reordered: bool,
    /// Blocks of the last acknowledgement.
    blocks: [SeqRange; 4],
    stamps: VecDeque<(u32, Time)>,
    /// The packet timed in this round trip: its end and when it was sent.
    timed: Option<(SeqNum, Time)>,
    min_rtt: Duration,
    window: u32,
    /// The episode of loss ends when this is acknowledged.
    recover: Option<SeqNum>,
    stand: Option<Stand>,
}

impl Outstanding {
    /// Whether it was sent once, and a packet behind it was delivered before.
    fn is_late(&self, highest: SeqNum) -> bool {
        !self.retransmitted && self.range.start.is_before(highest)
    }
}

impl Watch {
    pub fn new(mss: u32, sack: bool) -> Self {
        Watch {
            mss: mss.max(1),
            sack,
            packets: VecDeque::new(),
            una: None,
            nxt: SeqNum::default(),
            outstanding: 0,
            sacked: 0,
            highest: SeqNum::default(),
            reordered: false,
            blocks: [SeqRange::default(); 4],
            stamps: VecDeque::new(),
            timed: None,
            min_rtt: Duration::MAX,
            window: 0,
            recover: None,
            stand: None,
        }
    }

    /// A packet that the sender put on the wire.
    pub fn sent(&mut self, sent: &Sent) {
        if sent.range.is_empty() {
            return;
        }
        match sent.kind {
            SentKind::New | SentKind::Unseen => self.sent_new(sent),
            SentKind::Retransmission(number) => self.sent_again(sent, number),
            SentKind::WindowProbe | SentKind::KeepAlive => return,
        }
        if let Some(stamp) = sent.stamp {
            if self.stamps.back().is_none_or(|(last, _)| *last != stamp) {
                if self.stamps.len() == MOST_STAMPS {
                    self.stamps.pop_front();
                }
                self.stamps.push_back((stamp, sent.at));
            }
        }
    }

    fn sent_new(&mut self, sent: &Sent) {
        if self.una.is_some_and(|una| is_too_much(una, sent.range.end)) {
            self.begin_anew();
        }
        let una = *self.una.get_or_insert(sent.range.start);
        if self.packets.is_empty() {
            self.highest = una;
            self.open(sent.at, una);
        }
        self.nxt = sent.range.end;
        self.outstanding += self.segments(sent.range);
        if self.packets.len() == MOST_SEGMENTS {
            self.packets.pop_front();
        }
        self.packets.push_back(Outstanding {
            range: sent.range,
            sent: sent.at,
            retransmitted: false,
            sacked: false,
        });
        if self.timed.is_none() {
            self.timed = Some((sent.range.end, sent.at));
        }
        let outstanding = self.outstanding;
        if let Some(stand) = self.stand.as_mut().filter(|stand| stand.legs.is_empty()) {
            stand.wait.last_sent = sent.at;
            stand.wait.outstanding = outstanding;
        }
    }

    /// Nothing was acknowledged for so long that what waits has no order: nothing is known of it any more.
    #[cold]
    fn begin_anew(&mut self) {
        self.una = None;
        self.packets.clear();
        (self.outstanding, self.sacked) = (0, 0);
        (self.timed, self.recover, self.stand) = (None, None, None);
    }

    fn sent_again(&mut self, sent: &Sent, number: u32) {
        self.timed = None;
        let Some(una) = self.una else { return };
        let from = self.index(sent.range.start);
        for packet in self.packets.range_mut(from..).take(MOST_PARTS) {
            if !packet.range.start.is_before(sent.range.end) {
                break;
            }
            packet.retransmitted = true;
            packet.sent = sent.at;
        }
        if self.recover.is_none_or(|recover| !una.is_before(recover)) {
            self.recover = Some(self.nxt);
        }
        let head = !sent.range.start.is_after(una) && sent.range.end.is_after(una);
        if let Some(stand) = &mut self.stand {
            let first = stand.legs.is_empty() && !stand.wait.recovery;
            if (head || first) && stand.legs.len() < MOST_LEGS {
                stand.legs.push(Leg {
                    at: sent.at,
                    slack: sent.slack,
                    number,
                    rack_at: None,
                });
            }
        }
    }

    /// An acknowledgement reached the sender.
    pub fn acked(&mut self, acked: &Acked, notes: &mut Vec<Note>) {
        let Some(una) = self.una else { return };
        let (ahead, beyond) = (acked.ack.is_after(una), acked.ack.is_after(self.nxt));
        if beyond || acked.ack.is_before(una) || self.packets.is_empty() {
            return;
        }
        let stamp_rtt = acked
            .echo
            .and_then(|echo| self.stamped(echo))
            .map(|at| acked.at - at);
        if ahead {
            self.advance(una, acked, stamp_rtt, notes);
        }
        let newly = self.note_sacks(acked);
        if !ahead {
            let plain = acked.carried.is_empty() && acked.window == self.window;
            let duplicate = if self.sack { newly > 0 } else { plain };
            if duplicate {
                self.duplicate(acked, newly);
            }
            // Without SACK (RFC 5681 §2). A receiver of data out of order opens its window with SACK only, so that a duplicate
            // stays one (`tcp_data_queue_ofo`).
            if plain || (newly > 0 && acked.carried.is_empty()) {
                self.duplicate_ack(acked.at);
            }
        }
        self.window = acked.window;
    }

    fn advance(
        &mut self,
        una: SeqNum,
        acked: &Acked,
        stamp_rtt: Option<Duration>,
        notes: &mut Vec<Note>,
    ) {
        let mut oldest = None;
        let mut retransmitted = false;
        let mut repaired = 0;
        while let Some(packet) = self.packets.front().copied() {
            if packet.range.end.is_after(acked.ack) {
                if packet.range.start.is_before(acked.ack) {
                    // A part of a super-segment.
                    let segments = self.segments(packet.range);
                    let rest = SeqRange {
                        start: acked.ack,
                        ..packet.range
                    };
                    self.outstanding -= segments - self.segments(rest).min(segments);
                    retransmitted |= packet.retransmitted;
                    oldest.get_or_insert(packet);
                    self.packets[0].range = rest;
                }
                break;
            }
            let segments = self.segments(packet.range);
            self.outstanding = self.outstanding.saturating_sub(segments);
            if packet.sacked {
                self.sacked = self.sacked.saturating_sub(segments);
            }
            retransmitted |= packet.retransmitted;
            repaired += segments * u32::from(packet.retransmitted && !packet.sacked);
            self.reordered |= !packet.sacked && packet.is_late(self.highest);
            oldest.get_or_insert(packet);
            self.packets.pop_front();
        }
        let sent_rtt = oldest
            .filter(|packet| !retransmitted && !packet.sacked)
            .map(|packet| acked.at - packet.sent);
        if let Some(rtt) = sent_rtt {
            self.min_rtt = self.min_rtt.min(rtt);
        }
        let once_rtt = match self.timed {
            Some((end, at)) if !end.is_after(acked.ack) => {
                self.timed = None;
                Some(acked.at - at)
            }
            _ => None,
        };
        let recovers = self.recover.is_some_and(|recover| una.is_before(recover));
        // The wait of the first began before its recovery.
        let (holes, held) = match &self.stand {
            Some(stand) if stand.wait.recovery => (repaired, acked.at - stand.wait.start),
            Some(_) if recovers => (repaired.saturating_sub(1), Duration::ZERO),
            _ => (0, Duration::ZERO),
        };
        self.una = Some(acked.ack);
        let wait = self.close(Some(acked.at), notes);
        notes.push(Note::Ack(Ack {
            at: acked.at,
            una: acked.ack,
            nxt: self.nxt,
            sent_rtt,
            stamp_rtt,
            once_rtt,
            holes,
            held,
            wait,
        }));
        if !self.packets.is_empty() {
            self.open(acked.at, acked.ack);
        }
    }

    /// Marks what the blocks report, and gives the segments newly reported. Notes when RACK finds the head lost.
    fn note_sacks(&mut self, acked: &Acked) -> u32 {
        let mut newly = 0;
        let Some(head) = self.packets.front().copied() else {
            return 0;
        };
        let highest = self.highest;
        let mut overtaken: Option<Duration> = None;
        for block in acked.sacks.as_slice() {
            // What a block of the last acknowledgement reported has been noted.
            let noted = self.blocks.iter().find(|known| {
                known.start == block.start && !known.is_empty() && !known.end.is_after(block.end)
            });
            let from = noted.map_or(block.start, |known| known.end);
            let index = self.index(from);
            let mss = self.mss;
            for packet in self.packets.range_mut(index..) {
                if packet.range.end.is_after(block.end) {
                    break;
                }
                if packet.sacked || packet.range.start.is_before(block.start) {
                    continue;
                }
                packet.sacked = true;
                newly += segments(packet.range, mss);
                self.reordered |= packet.is_late(highest);
                if packet.range.end.is_after(self.highest) {
                    self.highest = packet.range.end;
                }
                let delivered = Delivered {
                    sent: packet.sent,
                    end: packet.range.end,
                    retransmitted: packet.retransmitted,
                };
                let mut rack = Rack::default();
                rack.advance(&delivered, acked.at, Some(self.min_rtt));
                if rack.advanced && rack.overtook(head.sent, head.range.end) {
                    let wait = rack.wait(head.sent, Duration::ZERO, acked.at);
                    overtaken = Some(overtaken.map_or(wait, |other| other.min(wait)));
                }
            }
        }
        self.blocks = [SeqRange::default(); 4];
        for (slot, block) in self.blocks.iter_mut().zip(acked.sacks.as_slice()) {
            *slot = *block;
        }
        self.sacked += newly;
        let window = self.reordering_window();
        let late = |wait: Duration| acked.at + (wait + window).max(Duration::ZERO);
        if let (Some(stand), Some(at)) = (&mut self.stand, overtaken.map(late)) {
            let slot = match stand.legs.last_mut() {
                Some(leg) => &mut leg.rack_at,
                None => &mut stand.rack_at,
            };
            *slot = Some(slot.map_or(at, |other| other.min(at)));
        }
        newly
    }

    /// How long RACK waits for reordered segments. That enough are SACKed is counted apart, as each setting has its threshold.
    fn reordering_window(&self) -> Duration {
        let recovers = |una: SeqNum| self.recover.is_some_and(|recover| una.is_before(recover));
        Rack::default().reordering_window(&Reordering {
            state: match self.una.is_some_and(recovers) {
                true => CaState::Recovery,
                false => CaState::Open,
            },
            seen: self.reordered,
            sacked_out: self.sacked,
            threshold: 0,
            no_threshold: true,
            min_rtt: Some(self.min_rtt),
            // No quarter of the smallest is longer than the smoothed.
            srtt: Some(self.min_rtt),
        })
    }

    fn duplicate(&mut self, acked: &Acked, newly: u32) {
        let highest = acked.sacks.as_slice().iter();
        let highest = highest.map(|block| block.end.offset_from(acked.ack)).max();
        let span = SeqRange::new(acked.ack, highest.map_or(0, |span| span.max(0) as u32));
        let forward = self.segments(span) as usize - 1;
        let sacked = self.sacked as usize;
        if let Some(stand) = &mut self.stand {
            let count = match newly {
                0 => stand.duplicates.len() + 1,
                _ => sacked,
            };
            let most = MOST_THRESHOLD as usize;
            let reached = |times: &mut Vec<Time>, count: usize| {
                times.resize(times.len().max(count.min(most)), acked.at);
            };
            reached(&mut stand.duplicates, count);
            reached(&mut stand.forward, forward);
        }
    }

    fn duplicate_ack(&mut self, at: Time) {
        let room = |stand: &&mut Stand| stand.duplicate_acks.len() < MOST_THRESHOLD as usize;
        if let Some(stand) = self.stand.as_mut().filter(room) {
            stand.duplicate_acks.push(at);
        }
    }

    /// The sender's events are over: what the head waited until now.
    pub fn finish(&mut self, notes: &mut Vec<Note>) {
        let _ = self.close(None, notes);
    }

    /// A wait begins.
    fn open(&mut self, at: Time, una: SeqNum) {
        self.stand = Some(Stand {
            wait: Wait {
                start: at,
                last_sent: at,
                outstanding: self.outstanding,
                recovery: self.recover.is_some_and(|recover| una.is_before(recover)),
            },
            end: None,
            duplicates: Vec::new(),
            duplicate_acks: Vec::new(),
            forward: Vec::new(),
            rack_at: None,
            legs: Vec::new(),
            min_rtt: self.min_rtt,
        });
    }

    /// The wait is over: given back if nothing happened in it, else noted.
    fn close(&mut self, end: Option<Time>, notes: &mut Vec<Note>) -> Option<Wait> {
        let mut stand = self.stand.take()?;
        if stand.duplicates.is_empty() && stand.legs.is_empty() {
            return Some(stand.wait);
        }
        stand.end = end;
        notes.push(Note::Stand(Box::new(stand)));
        None
    }

    /// When the first packet with `stamp` was sent.
    fn stamped(&mut self, stamp: u32) -> Option<Time> {
        while let Some((first, at)) = self.stamps.front().copied() {
            match stamp.wrapping_sub(first) as i32 {
                0 => return Some(at),
                ahead if ahead > 0 => self.stamps.pop_front(),
                _ => return None,
            };
        }
        None
    }

    /// The first packet that ends after `seq`.
    fn index(&self, seq: SeqNum) -> usize {
        self.packets
            .partition_point(|packet| !packet.range.end.is_after(seq))
    }

    fn segments(&self, range: SeqRange) -> u32 {
        segments(range, self.mss)
    }
}

/// Full segments in a range, the last one perhaps short. A FIN behind full ones is none of its own.
fn segments(range: SeqRange, mss: u32) -> u32 {
    range.len().saturating_sub(1).div_ceil(mss).max(1)
}

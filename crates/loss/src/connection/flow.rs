//! One connection: positions, what was sent, and the transfers in it.

use std::collections::VecDeque;

use rexmit_time::{Duration, Time};
use rexmit_wire::options::TcpOption;
use rexmit_wire::table::Keyed;
use rexmit_wire::{FlowKey, Intervals, SeqNum, SeqRange, TcpPacket};

use super::heads::{Found, Responses};
use super::log::Log;
use super::losses::Lost;
use super::open::Open;
use super::out::Out;
use super::place::{Counts, Place};
use super::rows::lingers_until;
use super::seen::SentRanges;
use super::segment::{Carrier, Segment};
use super::waiting::Waiting;
use crate::subflow::{Anchor, Repeats};
use crate::{Drops, Note, PacketId, Quiet, Span, Verdict, Why};

/// Position of the initial sequence number. Positions count on where sequence numbers wrap; this leaves room
/// below for whatever the first packet seen is not the first of.
const ORIGIN: u64 = 1 << 32;
/// Fewest first transmissions that are remembered of one connection (24 MB at 1,460 bytes).
const LOG_SEGMENTS: usize = 16_384;

/// Bytes of options in a TCP header at most.
const MOST_OPTIONS: u32 = 40;

/// Largest payload to reckon with while neither the handshake nor a full segment was seen, bytes.
const ASSUMED_MSS: u32 = 1_460;

fn log_capacity(out: &Out) -> usize {
    match out.told {
        Some(_) => usize::MAX,
        None => LOG_SEGMENTS.max(out.drops.tail_segments() as usize * 2),
    }
}

/// Bytes of a connection before its FIN says how many they are: more than any has, and positions stay in range.
pub(crate) const UNKNOWN: u64 = 1 << 62;

/// The connection's FIN.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Fin {
    pub position: u64,
    pub on_data: bool,
}

/// One packet by its positions.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Positions {
    pub id: PacketId,
    pub start: u64,
    /// Behind the payload.
    pub end: u64,
    /// Behind the FIN.
    pub top: u64,
    pub at: Time,
    /// Its first byte was sent before.
    pub known: bool,
    pub carrier: Option<Carrier>,
}

impl Positions {
    /// The packet as one that is dropped; where what is sent was told, it goes again when its first byte does.
    fn lost(&self, retransmission: bool, told: bool) -> Lost {
        Lost {
            flow: self.carrier.map(|carrier| carrier.flow),
            start: self.start,
            end: self.end,
            top: self.top,
            at: self.at,
            retransmission,
            again: if told { self.known } else { retransmission },
        }
    }
}

/// How often packets were sent that carry nothing of a response.
#[derive(Debug, Default)]
pub(crate) struct Bares {
    /// The newest packet of a request: its path, its bytes, its transmissions.
    pub(crate) request: Option<(u32, SeqRange, u32)>,
    /// Transmissions of the SYN-ACK.
    pub(crate) syn_acks: u32,
}

/// The middle of the one open transfer, where nothing can happen but that the next bytes come.
#[derive(Debug, Default)]
struct Middle {
    /// It goes on up to here; 0 where there is none.
    until: u64,
    /// How many packets of it came that are not yet counted in the transfer.
    segments: u64,
    /// Positions of which nobody saw the packets: only how many they were is known.
    unwatched: Intervals<u64>,
}

/// One connection, as seen from its sender.
#[derive(Debug)]
pub(crate) struct Flow {
    pub key: FlowKey,
    /// Initial sequence number, when the handshake was seen.
    pub isn: Option<SeqNum>,
    /// When [`Flow::on_deadline`] is due.
    pub due: Option<Time>,
    middle: Middle,
    /// Of the highest position sent.
    pub(crate) anchor: Anchor,
    /// Every position sent, and all below the first.
    pub(crate) seen: SentRanges,
    /// Every position that was sent and of which every copy was dropped.
    pub(crate) missing: Intervals<u64>,
    pub(crate) largest: u32,
    pub(crate) mss_option: Option<u16>,
    pub(crate) fin: Option<Fin>,
    pub(crate) responses: Responses,
    /// The position of a response head whose held packets the rule had to release, and why. Its transfer is not measured.
    pub(crate) spoilt_head: Option<(u64, Note)>,
    told_untracked: bool,
    pub(crate) log: Log,
    pub(crate) transfers: VecDeque<Open>,
    pub(crate) waiting: Waiting,
    /// Packets of the pattern rule that were sent before, by their bytes, as often as they were sent again.
    pub(crate) retransmitted: Repeats,
    /// Packets of new data, where they are counted.
    pub(crate) counts: Counts,
    /// The client's last request, or the last stretch of which something was sent where they were told; 0 before the first.
    pub(crate) asked: u32,
    /// How often packets were sent that carry nothing of a response.
    pub(crate) bare: Bares,
    /// Acknowledgements of the client since its last request, or all.
    pub(crate) acks: Counts,
    /// Packets of new data whose response is not known yet: their first byte and their path.
    pub(crate) unowned: Vec<(u64, u32)>,
    /// Where the last packet stands, if it was one of new data.
    pub(crate) place: Option<Place>,
    /// Responses that began.
    pub(crate) begun: u32,
}

impl Keyed for Flow {
    type Key = FlowKey;

    fn key(&self) -> &FlowKey {
        &self.key
    }
}

impl Flow {
    /// A connection whose SYN-ACK is `packet`.
    pub fn from_handshake(packet: &TcpPacket<'_>, out: &Out) -> Self {
        let mss_option = packet.options().find_map(|option| match option {
            TcpOption::MaxSegmentSize(mss) => Some(mss),
            _ => None,
        });
        let first = packet.seq() + 1;
        let responses = match (&out.told, out.whole) {
            (Some(told), _) => Responses::told(ORIGIN + 1, &told.bytes),
            (None, Some(_)) => Responses::told(ORIGIN + 1, &[UNKNOWN]),
            (None, None) => Responses::head_at(ORIGIN + 1),
        };
        Flow {
            isn: Some(packet.seq()),
            mss_option,
            ..Flow::new(packet.flow(), first, responses)
        }
    }

    /// A connection that is first seen in its middle, by `packet`.
    pub fn from_the_middle(packet: &TcpPacket<'_>) -> Self {
        Flow::new(packet.flow(), packet.seq(), Responses::Searching)
    }

    fn new(key: FlowKey, first: SeqNum, responses: Responses) -> Self {
        Flow {
            key,
            isn: None,
            due: None,
            middle: Middle::default(),
            anchor: Anchor {
                position: ORIGIN + 1,
                seq: first,
            },
            // What lies below was sent before anything that is seen here.
            seen: SentRanges::below(ORIGIN + 1),
            missing: Intervals::default(),
            largest: 0,
            mss_option: None,
            fin: None,
            responses,
            spoilt_head: None,
            told_untracked: false,
            log: Log::default(),
            transfers: VecDeque::new(),
            waiting: Waiting::default(),
            retransmitted: Repeats::default(),
            counts: Counts::default(),
            asked: 0,
            bare: Bares::default(),
            acks: Counts::default(),
            unowned: Vec::new(),
            place: None,
            begun: 0,
        }
    }

    /// Judges a packet with data, a FIN, or both.
    pub fn on_packet(
        &mut self,
        id: PacketId,
        segment: &Segment<'_>,
        now: Time,
        out: &mut Out,
    ) -> Verdict {
        let &Segment { seq, len, .. } = segment;
        let start = self.position(seq);
        let end = start + u64::from(len);
        let top = end + u64::from(segment.fin);
        let fits = len <= self.largest && start < end && end == top;
        if start == self.seen.highest && end <= self.middle.until && fits {
            self.go_on(1, len, now, out);
            return Verdict::Accept;
        }
        self.count_quiet();
        let hidden = !self.middle.unwatched.is_empty()
            && (start > self.seen.highest || self.middle.unwatched.meets(start, top));
        out.unfollowed += u64::from(hidden);
        let p = Positions {
            id,
            start,
            end,
            top,
            at: now,
            known: self.seen.intersects(start, start + 1),
            carrier: segment.carrier,
        };

        let retransmission = self.seen.intersects(start, top);
        let before = (retransmission || out.told.is_some()).then(|| self.before(&p));
        if retransmission {
            self.note_retransmission(&p);
        } else {
            // A retransmission may join what had been sent apart, so its size says nothing of segments to come.
            self.largest = self.largest.max(len);
        }
        self.note_new(&p, segment, out);
        let (verdict, loser) = self.judge(&p, retransmission, out);
        if let Some(before) = &before {
            self.tell(&p, before, verdict == Verdict::Drop, out);
        }
        if let Some(loser) = loser {
            out.counters.dropped += 1;
            let lost = p.lost(retransmission, out.told.is_some());
            self.lose(&lost, loser, out);
        }
        if !self.waiting.is_empty() {
            self.sweep(out);
        }
        if !self.transfers.is_empty() {
            self.complete(now, out);
        }
        self.due = self.deadline(out);
        self.middle.until = self.quiet_limit(out);
        verdict
    }

    /// Up to where nothing can happen but that the next bytes come.
    fn quiet_limit(&self, out: &Out) -> u64 {
        let (Some(t), 1) = (self.transfers.front(), self.transfers.len()) else {
            return 0;
        };
        let in_body = matches!(self.responses, Responses::Body { end } if end == t.end);
        if !in_body || t.completed.is_some() || self.fin.is_some() || !self.waiting.is_empty() {
            return 0;
        }
        // Both modes: no packet that ends here or before can reach into the tail, nor complete the transfer.
        let Drops::Tail { segments, .. } = out.drops else {
            return 0;
        };
        if out.told.is_some() {
            return 0;
        }
        let tail = u64::from(segments) * u64::from(self.largest_to_come());
        t.end.saturating_sub(tail.max(1))
    }

    fn count_quiet(&mut self) {
        if let Some(t) = self.transfers.front_mut() {
            t.row.segments += core::mem::take(&mut self.middle.segments);
        }
        self.middle.until = 0;
    }

    /// Which packets it need not be given.
    pub fn quiet(&self) -> Option<Quiet> {
        // A segment that is full but for the options of its header: none will be larger.
        let full = self.mss_option.map_or(ASSUMED_MSS, u32::from);
        if self.largest + MOST_OPTIONS < full {
            return None;
        }
        let from = self.seen.highest;
        let until = self.middle.until.saturating_sub(u64::from(self.largest));
        (from < until).then(|| Quiet {
            flow: self.key,
            from: self.anchor.seq(from),
            until: self.anchor.seq(until),
        })
    }

    /// So many packets with so many bytes, the next ones, were sent and not given to the rule.
    pub fn passed(&mut self, packets: u64, bytes: u64, now: Time, out: &mut Out) {
        let start = self.seen.highest;
        let end = start + bytes;
        if end > self.quiet_limit(out) {
            out.unfollowed += 1;
            return;
        }
        self.middle.unwatched.add(start, end);
        self.go_on(packets, bytes as u32, now, out);
    }

    /// The next packets of the middle are sent, with so many bytes.
    fn go_on(&mut self, packets: u64, len: u32, now: Time, out: &Out) {
        let start = self.seen.highest;
        let end = start + u64::from(len);
        self.middle.segments += packets;
        self.seen.highest = end;
        self.anchor = Anchor {
            position: end,
            seq: self.anchor.seq(end),
        };
        self.log.insert(start, len, (now, 1), log_capacity(out));
    }

    /// No segment will be larger than this side's own MSS option allows its peer, or than any before.
    pub(crate) fn largest_to_come(&self) -> u32 {
        self.largest
            .max(self.mss_option.map_or(ASSUMED_MSS, u32::from))
    }

    /// Ends the connection's measurement: nothing stays held, every transfer gets its row.
    pub fn end(&mut self, note: Note, out: &mut Out) {
        self.count_quiet();
        self.let_go(note, out);
        while let Some(mut open) = self.transfers.pop_front() {
            if !open.row.complete {
                open.row.notes.push(note);
                out.counters.evicted_transfers += u64::from(note == Note::Evicted);
            }
            self.give_row(open, out);
        }
        self.due = None;
        self.forget();
    }

    fn deadline(&self, out: &Out) -> Option<Time> {
        let hold =
            (!self.waiting.is_empty()).then(|| self.waiting.last_new + out.drops.hold_limit());
        if out.linger == Duration::ZERO {
            return hold;
        }
        let linger = self
            .transfers
            .iter()
            .filter_map(|t| lingers_until(t, out.linger))
            .min();
        hold.into_iter().chain(linger).min()
    }

    /// Lets go of packets held too long and gives the rows that have waited long enough.
    pub fn on_deadline(&mut self, now: Time, out: &mut Out) {
        self.count_quiet();
        if !self.waiting.is_empty() && now >= self.waiting.last_new + out.drops.hold_limit() {
            self.stall(now, out);
            self.complete(now, out);
        }
        self.give_rows(now, out);
        self.due = self.deadline(out);
    }

    /// The sequence number that stands for byte `place` of the stream, from 0.
    pub(crate) fn seq_at(&self, place: u64) -> SeqNum {
        self.anchor.seq(ORIGIN + 1 + place)
    }

    fn position(&self, seq: SeqNum) -> u64 {
        // No underflow: positions start at 2³² and an offset is above −2³¹ − 1.
        self.anchor.position(seq).unwrap_or(0)
    }

    pub(crate) fn span(&self, start: u64, end: u64, top: u64) -> Span {
        Span {
            seq: self.anchor.seq(start),
            relative: start.saturating_sub(ORIGIN),
            len: (end - start) as u32,
            fin: top > end,
        }
    }

    /// The bytes of a packet that were not sent before.
    fn note_new(&mut self, p: &Positions, segment: &Segment<'_>, out: &mut Out) {
        let capacity = log_capacity(out);
        let sent = (p.at, p.carrier.map_or(1, |carrier| carrier.path as u16));
        let highest = self.seen.highest;
        if p.start >= highest {
            self.log_new(p.start, p.end, sent, capacity);
        } else if self.seen.covers(p.start, p.top) {
            return;
        } else {
            for (start, end) in self.seen.gaps(p.start, p.end) {
                self.log_new(start, end, sent, capacity);
            }
            if p.start == p.end {
                self.log_new(p.start, p.end, sent, capacity);
            }
        }
        let fin_is_new = p.top > p.end && !self.seen.covers(p.end, p.top);
        self.seen.insert(p.start, p.top);
        if p.top > highest {
            self.anchor = Anchor {
                position: p.top,
                seq: segment.seq + segment.len + u32::from(segment.fin),
            };
        }
        if !self.waiting.is_empty() {
            self.waiting.last_new = p.at;
        }
        if p.start < p.end {
            self.find(p, segment, out);
        }
        if fin_is_new {
            let fin = Fin {
                position: p.end,
                on_data: p.start < p.end,
            };
            self.fin = Some(fin);
            if let Some(t) = self.transfers.back_mut().filter(|t| t.completed.is_none()) {
                t.attach_fin(fin.position, fin.on_data);
            }
        }
    }

    fn log_new(&mut self, start: u64, end: u64, sent: (Time, u16), capacity: usize) {
        // Without a response that is or may be tracked there is nothing to measure.
        if matches!(self.responses, Responses::Over) && self.transfers.is_empty() {
            return;
        }
        let len = (end - start) as u32;
        self.log.insert(start, len, sent, capacity);
        for t in self
            .transfers
            .iter_mut()
            .filter(|t| t.touches_data(start, end))
        {
            t.row.segments += 1;
        }
    }

    /// Looks for heads in the packet.
    fn find(&mut self, p: &Positions, segment: &Segment<'_>, out: &mut Out) {
        let mut found = Vec::new();
        self.responses
            .feed(p.start, segment.payload, segment.len, &mut found);
        for found in found {
            match found {
                Found::Response {
                    start,
                    head,
                    body,
                    keep_alive,
                } => {
                    self.open(start, head, body, keep_alive, p.at, out);
                }
                Found::Untracked(why) => self.untracked(why, p.at, out),
            }
        }
        if matches!(self.responses, Responses::Searching | Responses::Over)
            && self.transfers.is_empty()
        {
            self.forget();
        }
    }

    fn untracked(&mut self, why: Why, at: Time, out: &mut Out) {
        out.untracked(self.key, why, !self.told_untracked, at);
        self.told_untracked = true;
    }
}

//! One connection: positions, what was sent, and the transfers in it.

use std::collections::VecDeque;

use rexmit_tcp::Need;
use rexmit_time::{Duration, Time};
use rexmit_wire::options::TcpOption;
use rexmit_wire::{FlowKey, SeqNum, TcpPacket};

use super::hold::{Held, Waiting};
use super::log::{Log, Segment};
use super::open::{Open, Resend};
use super::out::Out;
use super::responses::{Found, Responses};
use super::sequence::in_tail;
use super::settings::Mode;
use crate::intervals::IntervalSet;
use crate::{
    Decision, Dropped, Event, Note, PacketId, Resent, Span, Stalled, Started, Transfer, Verdict,
    Why,
};

/// Position of the initial sequence number. Positions count on where sequence numbers wrap; this leaves room
/// below for whatever the first packet seen is not the first of.
const ORIGIN: u64 = 1 << 32;
/// Fewest first transmissions that are remembered of one connection (24 MB at 1,460 bytes).
const LOG_SEGMENTS: usize = 16_384;
/// Largest payload to reckon with while neither the handshake nor a full segment was seen, bytes.
const ASSUMED_MSS: u32 = 1_460;
/// Most gaps in what was sent; beyond, the lowest counts as sent.
const GAPS: usize = 1_024;
/// Most transfers of one connection that wait for their resends.
const OPEN_TRANSFERS: usize = 64;

/// The connection's FIN.
#[derive(Clone, Copy, Debug)]
struct Fin {
    position: u64,
    on_data: bool,
}

/// One packet by its positions.
#[derive(Clone, Copy, Debug)]
struct Packet {
    id: PacketId,
    start: u64,
    /// Behind the payload.
    end: u64,
    /// Behind the FIN.
    top: u64,
    at: Time,
}

/// One connection, as seen from its sender.
#[derive(Debug)]
pub(super) struct Flow {
    pub key: FlowKey,
    /// Initial sequence number, when the handshake was seen.
    pub isn: Option<SeqNum>,
    /// A sequence number and its position; the highest sent.
    anchor: (SeqNum, u64),
    /// Behind the highest position sent.
    highest: u64,
    /// Every position sent, and all below the first.
    seen: IntervalSet,
    /// Every position that was dropped and has not been sent again.
    missing: IntervalSet,
    largest: u32,
    mss_option: Option<u16>,
    fin: Option<Fin>,
    responses: Responses,
    /// A head that packets must not be held for any more starts here.
    unheld_head: Option<u64>,
    told_untracked: bool,
    log: Log,
    transfers: VecDeque<Open>,
    waiting: Waiting,
}

impl Flow {
    /// A connection whose SYN-ACK is `packet`.
    pub fn from_handshake(packet: &TcpPacket<'_>) -> Self {
        let mss_option = packet.options().find_map(|option| match option {
            TcpOption::MaxSegmentSize(mss) => Some(mss),
            _ => None,
        });
        let first = packet.seq() + 1;
        Flow {
            isn: Some(packet.seq()),
            mss_option,
            ..Flow::new(packet.flow(), first, Responses::head_at(ORIGIN + 1))
        }
    }

    /// A connection that is first seen in its middle, by `packet`.
    pub fn from_the_middle(packet: &TcpPacket<'_>) -> Self {
        Flow::new(packet.flow(), packet.seq(), Responses::Searching)
    }

    fn new(key: FlowKey, first: SeqNum, responses: Responses) -> Self {
        let mut seen = IntervalSet::default();
        // What lies below was sent before anything that is seen here.
        seen.insert(0, ORIGIN + 1);
        Flow {
            key,
            isn: None,
            anchor: (first, ORIGIN + 1),
            highest: ORIGIN + 1,
            seen,
            missing: IntervalSet::default(),
            largest: 0,
            mss_option: None,
            fin: None,
            responses,
            unheld_head: None,
            told_untracked: false,
            log: Log::default(),
            transfers: VecDeque::new(),
            waiting: Waiting::default(),
        }
    }

    /// Judges a packet with data, a FIN, or both.
    pub fn on_packet(
        &mut self,
        id: PacketId,
        packet: &TcpPacket<'_>,
        now: Time,
        out: &mut Out,
    ) -> Verdict {
        let seq = packet.seq() + u32::from(packet.flags().syn());
        let start = self.position(seq);
        let end = start + u64::from(packet.payload_len());
        let top = end + u64::from(packet.flags().fin());
        let p = Packet {
            id,
            start,
            end,
            top,
            at: now,
        };
        self.largest = self.largest.max(packet.payload_len());

        let resend = self.seen.intersects(start, top);
        if resend {
            self.note_resend(&p, out);
        }
        self.note_new(&p, packet, out);
        let verdict = if resend || out.settings.segments == 0 {
            Verdict::Accept
        } else {
            match out.settings.mode {
                Mode::Sequence => self.judge_by_sequence(&p, out),
                Mode::Hold => self.judge_by_hold(&p, out),
            }
        };
        if !self.waiting.is_empty() {
            self.sweep(out);
        }
        if !self.transfers.is_empty() {
            self.complete(now, out);
        }
        verdict
    }

    /// Ends the connection's measurement: nothing stays held, every transfer gets its row.
    pub fn end(&mut self, note: Note, out: &mut Out) {
        self.let_go();
        for (id, decision) in self.waiting.settled() {
            out.release(id, decision);
        }
        while let Some(mut open) = self.transfers.pop_front() {
            if !open.row.complete {
                open.row.notes.push(note);
                out.counters.evicted_transfers += u64::from(note == Note::Evicted);
            }
            self.give_row(open, out);
        }
        self.unheld_head = self.responses.head_start();
        self.forget();
    }

    /// When [`Flow::on_deadline`] is due.
    pub fn deadline(&self, out: &Out) -> Option<Time> {
        let hold =
            (!self.waiting.is_empty()).then(|| self.waiting.last_new + out.settings.hold_limit);
        let linger = self
            .transfers
            .iter()
            .filter_map(|t| lingers_until(t, out.settings.linger))
            .min();
        hold.into_iter().chain(linger).min()
    }

    /// Lets go of packets held too long and gives the rows that have waited long enough.
    pub fn on_deadline(&mut self, now: Time, out: &mut Out) {
        if !self.waiting.is_empty() && now >= self.waiting.last_new + out.settings.hold_limit {
            self.stall(now, out);
            self.complete(now, out);
        }
        self.give_rows(now, out);
    }

    fn position(&mut self, seq: SeqNum) -> u64 {
        let (anchor, position) = self.anchor;
        // No underflow: positions start at 2³² and an offset is above −2³¹ − 1.
        position.saturating_add_signed(i64::from(seq.offset_from(anchor)))
    }

    fn span(&self, start: u64, end: u64, top: u64) -> Span {
        let (anchor, position) = self.anchor;
        Span {
            // Wraps as sequence numbers do.
            seq: anchor + (start.wrapping_sub(position) as u32),
            relative: start.saturating_sub(ORIGIN),
            len: (end - start) as u32,
            fin: top > end,
        }
    }

    /// A packet of which some bytes were sent before.
    fn note_resend(&mut self, p: &Packet, out: &mut Out) {
        let highest = p.top >= self.highest;
        let held = self.waiting.touches(p.start, p.top);
        let fin_again = p.top > p.end && self.seen.covers(p.end, p.top);
        let resend = || Resend {
            start: p.start,
            top: p.top,
            highest,
            at: p.at,
        };
        let mut transfer = None;
        let (mut was_dropped, mut needed) = (false, false);
        for t in self
            .transfers
            .iter_mut()
            .filter(|t| t.touches(p.start, p.top))
        {
            transfer = transfer.or(Some(t.row.id));
            let (dropped, missing) = t.lost(p.start, p.top);
            was_dropped |= dropped;
            needed |= missing;
            t.row.resends += 1;
            let needless = t.repair(&resend());
            t.row.needless_resends += u64::from(needless && !held);
            if fin_again && t.fin == Some(p.end) {
                t.repair_fin(p.at);
            }
            if held && !t.row.notes.contains(&Note::ResentWhileHeld) {
                t.row.notes.push(Note::ResentWhileHeld);
            }
        }
        self.missing.remove(p.start, p.top);
        if held {
            self.waiting.resends.push(resend());
        }
        if let Some(transfer) = transfer {
            let need = match (needed, held) {
                (true, _) => Need::Needed,
                (false, true) => Need::Unknown,
                (false, false) => Need::Spurious,
            };
            let first_sent = self.log.first_sent(p.start, p.top);
            let span = self.span(p.start, p.end, p.top);
            let flow = self.key;
            let resent = Resent {
                flow,
                transfer,
                span,
                first_sent,
                was_dropped,
                need,
                highest,
                at: p.at,
            };
            out.events.push_back(Event::Resent(resent));
        }
    }

    /// The bytes of a packet that were not sent before.
    fn note_new(&mut self, p: &Packet, packet: &TcpPacket<'_>, out: &mut Out) {
        let capacity = LOG_SEGMENTS.max(out.settings.segments as usize * 2);
        if p.start >= self.highest {
            self.log_new(p.start, p.end, p.at, capacity);
        } else if self.seen.covers(p.start, p.top) {
            return;
        } else {
            for (start, end) in self.seen.gaps(p.start, p.end) {
                self.log_new(start, end, p.at, capacity);
            }
            if p.start == p.end {
                self.log_new(p.start, p.end, p.at, capacity);
            }
        }
        let fin_is_new = p.top > p.end && !self.seen.covers(p.end, p.top);
        self.seen.insert(p.start, p.top);
        while self.seen.pieces() > GAPS {
            self.seen.close_lowest_gap();
        }
        if p.top > self.highest {
            self.highest = p.top;
            self.anchor = (packet.seq() + packet.seq_len(), p.top);
        }
        if !self.waiting.is_empty() {
            self.waiting.last_new = p.at;
        }
        if p.start < p.end {
            self.find(p, packet, out);
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

    fn log_new(&mut self, start: u64, end: u64, sent: Time, capacity: usize) {
        // Without a response that is or may be tracked there is nothing to measure.
        if matches!(self.responses, Responses::Over) && self.transfers.is_empty() {
            return;
        }
        let len = (end - start) as u32;
        self.log.insert(
            Segment {
                start,
                sent,
                len,
                dropped: false,
            },
            capacity,
        );
        for t in self
            .transfers
            .iter_mut()
            .filter(|t| t.touches_data(start, end))
        {
            t.row.segments += 1;
        }
    }

    /// Looks for heads in the packet.
    fn find(&mut self, p: &Packet, packet: &TcpPacket<'_>, out: &mut Out) {
        let mut found = Vec::new();
        self.responses
            .feed(p.start, packet.payload(), packet.payload_len(), &mut found);
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

    fn open(
        &mut self,
        start: u64,
        head: u64,
        body: u64,
        keep_alive: bool,
        now: Time,
        out: &mut Out,
    ) {
        let id = out.next_transfer();
        let row = Transfer {
            id,
            flow: self.key,
            isn: self.isn,
            head_bytes: head,
            body_bytes: body,
            segments: 0,
            dropped_segments: 0,
            dropped_packets: 0,
            fin_on_data: None,
            mss_bytes: 0,
            exact: false,
            stalled: false,
            complete: false,
            t_start: self.log.first_sent(start, start + head).unwrap_or(now),
            t_drop: None,
            t_retransmit: None,
            t_fin_retransmit: None,
            t_end: None,
            is_tlp: None,
            resends: 0,
            needless_resends: 0,
            notes: Vec::new(),
        };
        let mut open = Open::new(row, start, !keep_alive);
        open.row.segments = self.log.last_first(open.start, open.end).count() as u64;
        // Bytes that a pipelined predecessor's tail took with it.
        let lost: Vec<(u64, u64, Time)> = self
            .log
            .last_first(open.start, open.end)
            .filter(|s| s.dropped)
            .map(|s| (s.start, s.start + u64::from(s.len), s.sent))
            .collect();
        for (start, end, sent) in lost {
            open.drop_packet(start, end, true, sent);
            for (start, end) in self.missing.gaps(start, end) {
                open.repaired_before(start, end);
            }
        }
        if self.unheld_head == Some(start) {
            open.settled = true;
            open.row.stalled = true;
            open.row.notes.push(Note::HoldStalled);
        }
        if let Some(fin) = self.fin {
            open.attach_fin(fin.position, fin.on_data);
        }
        out.events.push_back(Event::Started(Started {
            flow: self.key,
            transfer: id,
            at: open.row.t_start,
        }));
        self.transfers.push_back(open);
        if self.transfers.len() > OPEN_TRANSFERS {
            if let Some(mut oldest) = self.transfers.pop_front() {
                oldest.row.notes.push(Note::TooManyOpen);
                self.give_row(oldest, out);
            }
        }
    }

    fn judge_by_sequence(&mut self, p: &Packet, out: &mut Out) -> Verdict {
        let (segments, mss) = (out.settings.segments, self.largest);
        let owner = self
            .transfers
            .iter()
            .filter(|t| t.completed.is_none())
            .find(|t| {
                if p.start < p.end {
                    t.touches_data(p.start, p.end) && in_tail(p.start, t.end, segments, mss)
                } else {
                    // A bare FIN goes with its tail; where the FIN came early there may have been none.
                    t.fin == Some(p.start)
                        && (t.row.dropped_segments > 0 || !t.row.notes.iter().any(is_short))
                }
            });
        let Some(owner) = owner.map(|t| t.row.id) else {
            return Verdict::Accept;
        };
        out.counters.dropped += 1;
        self.lose(p.start, p.end, p.top, p.at, owner, out);
        Verdict::Drop
    }

    /// Notes a drop in every transfer that it touches.
    fn lose(
        &mut self,
        start: u64,
        end: u64,
        top: u64,
        at: Time,
        owner: crate::TransferId,
        out: &mut Out,
    ) {
        let data = start < end;
        self.missing.insert(start, top);
        for resend in &self.waiting.resends {
            self.missing.remove(resend.start, resend.top);
        }
        for t in self
            .transfers
            .iter_mut()
            .filter(|t| t.completed.is_none() && t.touches(start, top))
        {
            t.drop_packet(start, top, data, at);
            for resend in self
                .waiting
                .resends
                .iter()
                .filter(|r| r.start < top && start < r.top)
            {
                // Only what this packet and the resend share was lost and is there again.
                let shared = Resend {
                    start: resend.start.max(start),
                    top: resend.top.min(top),
                    highest: resend.highest,
                    at: resend.at,
                };
                t.repair(&shared);
                if t.fin
                    .is_some_and(|fin| shared.start <= fin && fin < shared.top)
                {
                    t.repair_fin(shared.at);
                }
            }
        }
        self.log.mark_dropped(start);
        let span = self.span(start, end, top);
        out.events.push_back(Event::Dropped(Dropped {
            flow: self.key,
            transfer: owner,
            span,
            at,
        }));
    }

    fn judge_by_hold(&mut self, p: &Packet, out: &mut Out) -> Verdict {
        let held = Held {
            id: p.id,
            start: p.start,
            end: p.end,
            top: p.top,
            at: p.at,
            fate: None,
        };
        if self.may_be_tail(&held, out.settings.segments) {
            self.waiting.packets.push_back(held);
            self.waiting.last_new = p.at;
            return Verdict::Hold;
        }
        // A bare FIN right behind a tail that was decided without it, and is still being repaired.
        let tail = self.transfers.iter().find(|t| {
            !held.data()
                && t.fin == Some(p.start)
                && t.completed.is_none()
                && t.settled
                && t.row.dropped_segments > 0
        });
        let Some(owner) = tail.map(|t| t.row.id) else {
            return Verdict::Accept;
        };
        out.counters.dropped += 1;
        self.lose(p.start, p.end, p.top, p.at, owner, out);
        Verdict::Drop
    }

    /// Whether the packet may turn out to belong to a tail: it lies in a head that is not complete, or so close
    /// to the end of a transfer that the last N segments may reach back to it.
    fn may_be_tail(&self, held: &Held, segments: u32) -> bool {
        let head = self
            .responses
            .head_start()
            .filter(|head| self.unheld_head != Some(*head));
        let mut undecided = self
            .transfers
            .iter()
            .filter(|t| !t.settled && t.completed.is_none());
        if held.data() {
            // No segment will be larger than this side's own MSS option allows its peer, or than any before.
            let bound = self
                .largest
                .max(self.mss_option.map_or(ASSUMED_MSS, u32::from));
            head.is_some_and(|head| held.end > head)
                || undecided.any(|t| {
                    t.touches_data(held.start, held.end)
                        && in_tail(held.start, t.end, segments, bound)
                })
        } else {
            undecided.any(|t| t.fin == Some(held.start))
                || (head.is_some() && !self.waiting.is_empty())
        }
    }

    /// Settles the fate of waiting packets as far as it shows by now.
    fn sweep(&mut self, out: &mut Out) {
        for at in 0..self.transfers.len() {
            let t = &self.transfers[at];
            let whole = !t.settled && self.highest >= t.end && self.seen.covers(t.start, t.end);
            if whole && (!t.awaits_fin || self.highest > t.end) {
                self.decide(at, out);
            }
        }
        // A head that the FIN cut off never becomes a transfer.
        if let (Some(head), Some(fin)) = (self.responses.head_start(), self.fin) {
            if self.seen.covers(head, fin.position) {
                self.unheld_head = Some(head);
            }
        }
        for at in 0..self.waiting.packets.len() {
            let held = self.waiting.packets[at];
            if held.fate.is_none() && !self.may_be_tail(&held, out.settings.segments) {
                self.waiting.packets[at].fate = Some(Decision::Accept);
            }
        }
        for (id, decision) in self.waiting.settled() {
            out.release(id, decision);
        }
    }

    /// Drops the last N data segments of a transfer that is known to its end, and its bare FIN.
    fn decide(&mut self, at: usize, out: &mut Out) {
        let t = &mut self.transfers[at];
        t.settled = true;
        let (start, end, fin, owner) = (t.start, t.end, t.fin, t.row.id);
        let tail = self
            .log
            .last_first(start, end)
            .take(out.settings.segments as usize)
            .last();
        let Some(tail) = tail.map(|segment| segment.start) else {
            return;
        };
        // The data first: a FIN that goes with no lost data (because it came early) passes.
        for data in [true, false] {
            for place in 0..self.waiting.packets.len() {
                let held = self.waiting.packets[place];
                let in_tail = if data {
                    held.data() && held.start >= tail && held.start < end
                } else {
                    !held.data()
                        && fin == Some(held.start)
                        && self.transfers[at].row.dropped_segments > 0
                };
                if in_tail && held.fate.is_none() {
                    self.waiting.packets[place].fate = Some(Decision::Drop);
                    self.lose(held.start, held.end, held.top, held.at, owner, out);
                }
            }
        }
    }

    fn let_go(&mut self) {
        for held in &mut self.waiting.packets {
            held.fate = Some(Decision::Accept);
        }
    }

    fn stall(&mut self, now: Time, out: &mut Out) {
        let released = self.waiting.packets.len();
        self.let_go();
        for (id, decision) in self.waiting.settled() {
            out.release(id, decision);
        }
        let mut transfer = None;
        for t in self
            .transfers
            .iter_mut()
            .filter(|t| t.completed.is_none() && !t.settled)
        {
            t.settled = true;
            t.row.stalled = true;
            t.row.notes.push(Note::HoldStalled);
            transfer = transfer.or(Some(t.row.id));
        }
        self.unheld_head = self.responses.head_start();
        out.counters.stalls += 1;
        out.events.push_back(Event::Stalled(Stalled {
            flow: self.key,
            transfer,
            released,
            at: now,
        }));
    }

    /// Looks which transfers are complete.
    fn complete(&mut self, now: Time, out: &mut Out) {
        let mut any = false;
        for t in &mut self.transfers {
            let held = !self.waiting.is_empty() && self.waiting.touches(t.start, t.top());
            any |= t.complete_now(&self.seen, self.highest, held, now);
        }
        if any {
            self.give_rows(now, out);
        }
    }

    /// Gives the rows of complete transfers that nothing more is awaited of.
    fn give_rows(&mut self, now: Time, out: &mut Out) {
        let mut at = 0;
        while let Some(t) = self.transfers.get(at) {
            let over = lingers_until(t, out.settings.linger).is_some_and(|until| until <= now);
            match if over {
                self.transfers.remove(at)
            } else {
                None
            } {
                Some(open) => self.give_row(open, out),
                None => at += 1,
            }
        }
        self.forget();
    }

    fn give_row(&mut self, open: Open, out: &mut Out) {
        let row = open.close(&self.log, u64::from(out.settings.segments), self.largest);
        out.events.push_back(Event::Finished(Box::new(row)));
    }

    /// Forgets first transmissions that no open transfer needs.
    fn forget(&mut self) {
        let open = self.transfers.iter().map(|t| t.start).min();
        let needed = open.into_iter().chain(self.responses.head_start()).min();
        self.log.forget_below(needed.unwrap_or(self.highest));
    }
}

fn is_short(note: &Note) -> bool {
    matches!(note, Note::ShortOf { .. })
}

fn lingers_until(open: &Open, linger: Duration) -> Option<Time> {
    open.completed
        .filter(|_| linger < Duration::MAX)
        .map(|completed| completed + linger)
}

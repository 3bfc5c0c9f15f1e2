//! One connection: what is known of it, and its packets until somebody wants to know more.

mod belongs;
mod bytes;
mod doubled;
mod facts;
mod frozen;
mod keep;
mod kept;
mod late;
mod log;
mod measured;
mod opening;
mod pair;
mod replay;
mod row;
mod side;
mod syns;
mod views;

use core::ops::{Deref, DerefMut};

use rexmit_time::{Duration, Time};
use rexmit_wire::headers::{Notes, Record};
use rexmit_wire::message::Message;
use rexmit_wire::table::{prefetch, Keyed};
use rexmit_wire::{FlowKey, Headers, SeqRange};

use crate::event::Direction;
use crate::fault::Moment;
use crate::fingerprint::Known;
use crate::measures::Before;
use crate::multipath::{Signal, SubflowOf, SubflowPacket, Whose};
use crate::requests::Request;
use crate::rows;
use crate::sender_view::Recycled;
use crate::settings::Settings;

pub(crate) use belongs::Belongs;
use doubled::Doubles;
use frozen::Offers;
use kept::Kept;
use late::Lateness;
use log::Log;
pub(crate) use log::Spare;
use measured::Measured;
pub(crate) use opening::Opening;
pub use pair::Pair;
use replay::Replay;
use side::{Side, MOST_MISSING};
use syns::Syns;
use views::Views;

/// What the connections of an analyzer share.
#[derive(Debug)]
pub(crate) struct Common {
    /// What is asked for.
    pub settings: Settings,
    /// Retransmissions that are ready.
    pub retransmissions: Vec<rows::Retransmission>,
    /// Replays that are ready.
    pub whatif: Vec<rows::WhatIf>,
    /// Requests that are ready.
    pub requests: Vec<Request>,
    /// What the payload of the packet that comes next begins with, if that is a [message](rexmit_wire::headers::Record::tells).
    pub message: Option<Message>,
    /// Memory to use again: of logs, and of a sender view.
    pub spare: Spare,
    pub recycled: Recycled,
    /// SACK blocks of numbers that are none of what they are about.
    pub stray_blocks: u64,
    /// Connections of which one direction is recorded late, and by how much at most.
    pub late: (u64, Duration),
    /// Connections of which one was moved, and by how much at most.
    pub moved: (u64, Duration),
    /// Connections within which the capture's clock was set, and by how much at most.
    pub set: (u64, Duration),
    /// What quiet connections were offered.
    pub offers: Offers,
    /// What was found of signatures.
    known: Known,
    replay: Option<Box<Replay>>,
}

impl Common {
    /// Shared by no connection yet.
    pub fn new(settings: Settings) -> Self {
        Common {
            settings,
            retransmissions: Vec::new(),
            whatif: Vec::new(),
            requests: Vec::new(),
            message: None,
            spare: Spare::default(),
            recycled: Recycled::default(),
            stray_blocks: 0,
            late: (0, Duration::ZERO),
            moved: (0, Duration::ZERO),
            set: (0, Duration::ZERO),
            offers: Offers::default(),
            known: Known::default(),
            replay: None,
        }
    }

    /// A connection failed half-way: what it was writing to is dropped. Offers stay, which connections that are written down
    /// refer to; each is whole.
    #[cold]
    pub fn begin_anew(&mut self) {
        let settings = self.settings.clone();
        let offers = core::mem::take(&mut self.offers);
        *self = Common {
            offers,
            ..Common::new(settings)
        };
    }
}

/// How a connection ended, as far as it has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Closed {
    Open,
    /// FINs of both sides.
    Fin,
    /// An RST that fits.
    Rst,
}

/// One connection.
///
/// While no packet overlaps another or leaves a gap, nothing is acknowledged twice, and no SACK block comes, there are
/// only running counters and the log. The first trouble in a direction makes a sender view due for it, a full log one for
/// every direction with data. It is fed the log, at the connection's end or before, and from then on each packet.
///
/// What every packet looks at stands in the connection itself, four cache lines; the rest is behind a pointer.
#[derive(Debug)]
#[repr(align(64))]
pub(crate) struct Connection {
    pair: Pair,
    trouble: [bool; 2],
    /// The highest time to live that came from each side.
    ttls: [u8; 2],
    /// How each side numbers its packets, as other packets of its host have shown.
    numbered: [Notes; 2],
    closed: Closed,
    /// The log is kept up: not all sender views have been made.
    logging: bool,
    /// The client's acknowledgement of the handshake has been seen, or will not be.
    shaken: bool,
    /// The last packet.
    before: Before,
    /// First packet.
    pub start: Time,
    /// Last packet.
    pub last: Time,
    log: Log,
    cold: Whole,
    sides: [Side; 2],
}

const _: () = assert!(size_of::<Connection>() <= 256);

/// What few packets look at.
#[derive(Debug, Default)]
struct Cold {
    id: u64,
    mid_stream: bool,
    syns: Syns,
    /// A SYN within the client's window, which is answered by a challenge.
    stray_syn: Option<Box<Kept>>,
    doubles: Doubles,
    lateness: Lateness,
    /// Keep-alives without payload of each side, and those of them that probed a closed window.
    probes: [u32; 2],
    window_probes: [u32; 2],
    measured: Option<Box<Measured>>,
    /// SACK blocks came from a side.
    sacked: [bool; 2],
    /// SACK blocks of the packets in the log.
    sacks: Vec<SeqRange>,
    /// What payloads in the log begin with, each with its packet's place there.
    messages: Vec<(u32, Message)>,
    views: Views,
    /// The account of its time, once there is no log.
    replay: Option<Box<Replay>>,
    /// Which subflow of a Multipath TCP connection it is.
    subflow: Option<SubflowOf>,
    /// Packets in a row that fit nothing here, and how many that fit came before them.
    strays: (u8, u64),
}

/// What few packets look at; not there only while the connection is [frozen](frozen).
#[derive(Debug, Default)]
struct Whole(Option<Box<Cold>>);

impl Whole {
    fn new(cold: Cold) -> Self {
        Whole(Some(Box::new(cold)))
    }
}

impl Deref for Whole {
    type Target = Cold;

    #[inline]
    fn deref(&self) -> &Cold {
        self.0.as_ref().expect("thawed before it is looked at")
    }
}

impl DerefMut for Whole {
    #[inline]
    fn deref_mut(&mut self) -> &mut Cold {
        self.0.as_mut().expect("thawed before it is looked at")
    }
}

/// What other packets of a host show of its numbers.
const NUMBERED: Notes = Notes::NUMBERED_APART.and(Notes::NUMBERED_TOGETHER);

const BOTH: [Direction; 2] = [Direction::Forward, Direction::Backward];

impl Keyed for Connection {
    type Key = Pair;

    #[inline]
    fn key(&self) -> &Pair {
        &self.pair
    }
}

impl Connection {
    /// A connection whose first packet is `headers`, which still has to be given to it.
    pub fn new(id: u64, at: Time, headers: &Headers) -> Self {
        let flags = headers.flags;
        Connection {
            pair: Pair::begun_by(headers),
            trouble: [false; 2],
            ttls: [0; 2],
            numbered: [Notes::default(); 2],
            closed: Closed::Open,
            logging: true,
            shaken: !flags.syn(),
            before: Before::default(),
            start: at,
            last: at,
            log: Log::default(),
            cold: Whole::new(Cold {
                id,
                mid_stream: !flags.syn(),
                ..Cold::default()
            }),
            sides: [Side::default(), Side::default()],
        }
    }

    /// Its number in the analysis.
    pub fn id(&self) -> u64 {
        self.log.frozen_id().unwrap_or_else(|| self.cold.id)
    }

    /// Client to server.
    pub fn flow(&self) -> FlowKey {
        self.pair.0
    }

    /// Which subflow of a Multipath TCP connection it is.
    pub fn subflow(&self) -> Option<SubflowOf> {
        self.cold.subflow
    }

    /// It is this subflow.
    pub fn is_subflow(&mut self, place: Option<SubflowOf>) {
        self.cold.subflow = place;
    }

    /// Whose subflow it is.
    pub fn whose(&self) -> Whose {
        Whose {
            connection: self.cold.id,
            start: self.start,
            flow: self.flow(),
        }
    }

    /// One of its packets as its Multipath TCP connection wants to see it.
    pub fn seen<'p>(
        &self,
        at: Time,
        headers: &'p Headers,
        signal: &'p Signal,
    ) -> SubflowPacket<'p> {
        let direction = self.direction(&headers.flow);
        SubflowPacket {
            at,
            direction,
            headers,
            signal,
            isn: self.cold.syns.isn(direction),
            delay: self.cold.syns.delay(direction).unwrap_or(Duration::ZERO),
        }
    }

    /// Whether nothing that comes at `now` belongs to it any more.
    #[inline]
    pub fn is_over(&self, now: Time, settings: &Settings) -> bool {
        let silence = now.since(self.last);
        let allowed =
            if self.closed == Closed::Open || (silence > settings.linger && self.is_owed()) {
                settings.idle
            } else {
                settings.linger
            };
        // A clock that leaps back so far is another clock.
        silence > allowed || silence < -settings.idle
    }

    /// Both sides have sent their FINs, and something is not acknowledged yet: it may be sent again after any wait.
    fn is_owed(&self) -> bool {
        self.closed == Closed::Fin && self.sides.iter().any(|side| side.flight() > 0)
    }

    /// Has what the next packet will look at on its way from memory.
    #[inline]
    pub fn prefetch(&self) {
        // One field of each cache line, wherever the compiler has put it.
        prefetch(&self.pair);
        prefetch(&self.last);
        prefetch(&self.log);
        for side in &self.sides {
            side.prefetch();
        }
    }

    /// The same for the log, of which the connection says where it is.
    #[inline]
    pub fn prefetch_log(&self) {
        self.log.prefetch();
    }

    #[inline]
    fn direction(&self, flow: &FlowKey) -> Direction {
        if flow.src_port == self.pair.0.src_port && flow.src == self.pair.0.src {
            Direction::Forward
        } else {
            Direction::Backward
        }
    }

    /// The next packet.
    #[inline]
    pub fn packet(&mut self, at: Time, headers: &Headers, common: &mut Common) {
        let direction = self.direction(&headers.flow);
        let (me, peer) = (direction as usize, direction.reversed() as usize);
        let flags = headers.flags;
        let old = self.sides[me].is_old(headers) && !self.sides[peer].is_next_ack(headers);
        if old && self.is_recorded_again(at, direction, headers) {
            return;
        }
        if let Some(missing) = self.sides[me].skipped(headers) {
            // After a round trip, a packet behind a gap may be a retransmission of one lost before the monitor.
            let trip = self.cold.syns.rtt();
            let trip = trip.map_or(Duration::ZERO, |(whole, _)| whole);
            self.trouble[me] |= at.since(self.last) >= trip
                && (missing <= MOST_MISSING || self.counts_own(direction));
        }
        let before = self.last;
        if at < before {
            self.cold.lateness.goes_back(before - at);
        }
        self.last = before.max(at);
        let numbered = headers.notes.common(NUMBERED);
        // Packets that say nothing of it leave the earlier verdict.
        if numbered != Notes::default() && numbered != self.numbered[me] {
            self.is_numbered(direction, numbered);
        }
        if headers.ttl != self.ttls[me] && self.is_doubled(at, direction, headers) {
            return;
        }
        if flags.syn() {
            let Cold { doubles, syns, .. } = &mut *self.cold;
            if doubles.is_syn(at, direction, headers, syns.get(direction)) {
                return;
            }
        }
        let shut = self.sides[me].offers_nothing();
        let same_window = self.sides[me].count(headers);
        if shut || headers.window == 0 {
            self.window_moves(at, direction, headers);
        }
        let takes_up = headers.seq_len() > 0;
        let near;
        let headers = if headers.sack.is_empty() {
            headers
        } else {
            self.trouble[peer] = true;
            self.cold.sacked[me] = true;
            let sack = self.near_blocks(direction, &headers.sack);
            common.stray_blocks += (headers.sack.blocks().len() - sack.blocks().len()) as u64;
            near = Headers { sack, ..*headers };
            &near
        };
        if flags.syn() {
            self.syn(at, direction, headers, common);
        } else if takes_up && !flags.rst() {
            let side = &mut self.sides[me];
            if side.is_behind(headers.seq) {
                self.trouble[me] = true;
                self.cold.lateness.behind = true;
            }
            side.fin |= flags.fin();
            if self.trouble[me] && side.is_next(headers) {
                self.cold.lateness.of[me].came(headers, at);
            }
            self.trouble[me] |= side.advance(at, headers.range());
        } else if self.sides[me].is_keep_alive(headers.seq) {
            self.keeps_alive(direction);
        } else if self.sides[me].says_more(headers.seq) {
            self.trouble[me] |= !flags.rst();
        }
        if flags.rst() {
            self.reset(at, before, direction, headers);
        } else if flags.ack() {
            let sender = &mut self.sides[peer];
            let samples = sender.rtt.count;
            if sender.has_not_shown(headers.ack) {
                self.cold.lateness.of[peer].acked(headers.ack, at);
            }
            self.trouble[peer] |= sender.acked(at, headers.ack, !takes_up && same_window);
            if sender.rtt.count != samples {
                // A round-trip time that a lower timeout might not have waited for, or in which a loss hides.
                self.trouble[peer] |= sender.rtt.spread() > common.settings.spread;
            }
            if !self.shaken && !flags.syn() {
                self.handshake_ends(at, direction, headers);
            }
        }
        if flags.fin() && self.closed == Closed::Open && self.sides[peer].fin {
            self.closed = Closed::Fin;
        }
        self.before = Before::of(direction, flags, headers.payload_len);
        if let Some(fault) = &common.settings.fault {
            let packets = self.sides.iter().map(|side| side.packets).sum();
            fault.happen(&self.pair.0, Moment::Packet(packets));
        }
        if headers.record == Record::Alert {
            self.cold.note_alert(direction, common.message.as_ref());
        }
        self.keep(at, direction, headers, common);
    }

    /// Other packets of a side's host have shown how it numbers them.
    #[cold]
    fn is_numbered(&mut self, direction: Direction, numbered: Notes) {
        self.numbered[direction as usize] = numbered;
        // Halves that are made later ask themselves.
        for of in BOTH {
            if self.cold.views.has(of) {
                let (own, peer_own) = (self.counts_own(of), self.counts_own(of.reversed()));
                self.cold.views.counted(of, own, peer_own);
            }
        }
    }

    /// An RST closes when it is the next packet of its side, or answers what the other sent (RFC 9293 §3.10.7).
    #[cold]
    fn reset(&mut self, at: Time, before: Time, direction: Direction, headers: &Headers) {
        let side = &self.sides[direction as usize];
        let other = &self.sides[direction.reversed() as usize];
        let fits = side.is_in_window(headers.seq, u32::from(u16::MAX))
            || (headers.flags.ack() && other.may_acknowledge(headers.ack));
        self.note_reset(at, before, direction, fits);
        if fits && self.closed == Closed::Open {
            self.closed = Closed::Rst;
        }
    }
}

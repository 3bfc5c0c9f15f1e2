//! One connection: what is known of it, and its packets until somebody wants to know more.

mod log;
mod pair;
mod row;
mod side;
mod syn;

use rexmit_time::{Duration, Time};
use rexmit_wire::headers::SynOptions;
use rexmit_wire::table::Keyed;
use rexmit_wire::{FlowKey, Headers, SeqRange};

use crate::event::{Direction, Event};
use crate::facts::SenderFacts;
use crate::half::Half;
use crate::rows;
use crate::settings::Settings;
use log::Log;
pub use pair::Pair;
use side::{Acked, Side};

/// Packets between two looks for resends that are settled.
const SETTLE: u32 = 256;

/// Rows of one connection that are ready.
#[derive(Debug, Default)]
pub(crate) struct Ready {
    /// Resends.
    pub resends: Vec<rows::Retransmission>,
    /// What other settings would have done.
    pub whatif: Vec<rows::WhatIf>,
}

impl Ready {
    /// Whether there are none.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.resends.is_empty() && self.whatif.is_empty()
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

/// What a packet is to the connection whose addresses it bears.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Belongs {
    /// One of its packets.
    Here,
    /// The first of a new connection; this one is over.
    Next,
    /// Neither: its numbers are none of this connection.
    Stray,
}

/// One connection.
///
/// While no packet overlaps another or leaves a gap, nothing is acknowledged twice, and no SACK block comes, there are
/// only running counters and the log. A half is made for a direction at the first trouble in it, for
/// every direction with data when the log is full; it is fed the log and from then on each packet.
#[derive(Debug)]
pub(crate) struct Connection {
    pair: Pair,
    /// Its number in the analysis.
    pub id: u64,
    /// First packet.
    pub start: Time,
    /// Last packet.
    pub last: Time,
    sides: [Side; 2],
    log: Log,
    /// The log is kept up: not all halves have been made.
    logging: bool,
    trouble: [bool; 2],
    halves: [Option<Box<Half>>; 2],
    /// Packets given to halves since resends were asked for last.
    unsettled: u32,
    /// From SYN to SYN-ACK, and from there to the client's acknowledgement: what lies beyond the monitor on either side.
    server_part: Option<Duration>,
    client_part: Option<Duration>,
    mid_stream: bool,
    closed: Closed,
}

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
        let flow = headers.flow;
        let from_client = if flags.syn() {
            !flags.ack()
        } else {
            // A server's port is the lower one, mostly (RFC 6335 §6).
            flow.src_port >= flow.dst_port
        };
        Connection {
            pair: Pair(if from_client { flow } else { flow.reversed() }),
            id,
            start: at,
            last: at,
            sides: [Side::default(), Side::default()],
            log: Log::default(),
            logging: true,
            trouble: [false; 2],
            halves: [None, None],
            unsettled: 0,
            server_part: None,
            client_part: None,
            mid_stream: !flags.syn(),
            closed: Closed::Open,
        }
    }

    /// Client to server.
    pub fn flow(&self) -> FlowKey {
        self.pair.0
    }

    /// Whether nothing that comes at `now` belongs to it any more.
    #[inline]
    pub fn is_over(&self, now: Time, settings: &Settings) -> bool {
        let allowed = if self.closed == Closed::Open {
            settings.idle
        } else {
            settings.linger
        };
        now.since(self.last) > allowed
    }

    /// What a packet is to it.
    #[inline]
    pub fn belongs(&self, headers: &Headers) -> Belongs {
        let direction = self.direction(&headers.flow);
        let side = &self.sides[direction as usize];
        if headers.flags.syn() {
            return self.belongs_syn(direction, headers);
        }
        if side.is_near(headers.seq) || headers.flags.rst() {
            return Belongs::Here;
        }
        if self.closed == Closed::Open {
            Belongs::Stray
        } else {
            Belongs::Next
        }
    }

    #[cold]
    fn belongs_syn(&self, direction: Direction, headers: &Headers) -> Belongs {
        let side = &self.sides[direction as usize];
        let other = &self.sides[direction.reversed() as usize];
        match &side.syn {
            Some(syn) if syn.isn == headers.seq => return Belongs::Here,
            // The answer to the client's SYN, after a mid-stream start at the earliest: its first packet.
            None if side.packets == 0 => return Belongs::Here,
            _ => {}
        }
        if self.closed != Closed::Open {
            return Belongs::Next;
        }
        // The peer gave up, or an answer made anew without memory of the first (RFC 4987 §3.6).
        let answer = headers.flags.ack() && other.syn.is_some() && side.segments == 0;
        if answer && other.may_acknowledge(headers.ack) {
            return Belongs::Here;
        }
        // A SYN within the window gets a challenge and ends nothing (RFC 5961 §4.2).
        if side.is_in_window(headers.seq, u32::from(u16::MAX)) {
            Belongs::Stray
        } else {
            Belongs::Next
        }
    }

    fn direction(&self, flow: &FlowKey) -> Direction {
        if flow.src_port == self.pair.0.src_port && flow.src == self.pair.0.src {
            Direction::Forward
        } else {
            Direction::Backward
        }
    }

    /// The next packet.
    #[inline]
    pub fn packet(&mut self, at: Time, headers: &Headers, settings: &Settings, ready: &mut Ready) {
        let direction = self.direction(&headers.flow);
        let (me, peer) = (direction as usize, direction.reversed() as usize);
        let flags = headers.flags;
        self.last = self.last.max(at);
        let side = &mut self.sides[me];
        side.count(headers);
        let window = side.offer(headers.window);
        let takes_up = headers.seq_len() > 0;
        if flags.syn() {
            self.syn(at, direction, headers);
        } else if takes_up && !flags.rst() {
            side.fin |= flags.fin();
            self.trouble[me] |= side.advance(at, headers.range());
        } else if side.is_keep_alive(headers.seq) {
            side.probes = side.probes.saturating_add(1);
        }
        if flags.rst() {
            self.reset(direction, headers);
        }
        if flags.ack() && !flags.rst() {
            let pure = !takes_up;
            let sender = &mut self.sides[peer];
            let before = sender.rtt.count;
            let acked = sender.acked(at, headers.ack, pure, window);
            self.trouble[peer] |= acked == Acked::Trouble || !headers.sack.is_empty();
            if settings.whatif.is_some() && sender.rtt.count != before {
                // A round-trip time that a lower timeout might not have waited for.
                let spread = sender.rtt.most - sender.rtt.least;
                self.trouble[peer] |= spread > settings.spread;
            }
            if self.client_part.is_none() && !flags.syn() {
                self.handshake_ends(at, direction, headers);
            }
        }
        if flags.fin() && self.closed == Closed::Open && self.sides[peer].fin {
            self.closed = Closed::Fin;
        }
        self.keep(at, direction, headers, settings, ready);
    }

    #[cold]
    fn syn(&mut self, at: Time, direction: Direction, headers: &Headers) {
        let again = self.sides[direction as usize].syn(at, headers);
        self.trouble[direction as usize] |= again;
        let [client, server] = &self.sides;
        self.server_part = match (&client.syn, &server.syn) {
            (Some(syn), Some(answer)) if client.syns == 1 && server.syns == 1 => {
                Some(answer.at.since(syn.at)).filter(|part| !part.is_negative())
            }
            _ => None,
        };
    }

    /// Notes the acknowledgement of the SYN-ACK.
    fn handshake_ends(&mut self, at: Time, direction: Direction, headers: &Headers) {
        let server = &self.sides[Direction::Backward as usize];
        if direction != Direction::Forward || server.syns != 1 {
            return;
        }
        if let Some(answer) = server.syn.as_ref() {
            if headers.ack.is_after(answer.isn) {
                self.client_part = Some(at.since(answer.at)).filter(|part| !part.is_negative());
            }
        }
    }

    /// An RST closes when it is the next packet of its side, or answers what the other sent (RFC 9293 §3.10.7).
    #[cold]
    fn reset(&mut self, direction: Direction, headers: &Headers) {
        let side = &self.sides[direction as usize];
        let other = &self.sides[direction.reversed() as usize];
        let fits = side.is_in_window(headers.seq, u32::from(u16::MAX))
            || (headers.flags.ack() && other.may_acknowledge(headers.ack));
        if fits && self.closed == Closed::Open {
            self.closed = Closed::Rst;
        }
    }

    /// Logs a packet, and gives it to the halves that there are.
    #[inline]
    fn keep(
        &mut self,
        at: Time,
        direction: Direction,
        headers: &Headers,
        settings: &Settings,
        ready: &mut Ready,
    ) {
        if self.logging
            && (self.log.len() >= settings.most_events || !Log::can_hold(self.start, at))
        {
            self.end_log(settings);
        }
        if self.logging {
            self.log.push(self.start, at, direction, headers);
        }
        if self.trouble != [false; 2] || !self.logging {
            self.feed(at, direction, headers, settings);
            if self.unsettled >= SETTLE {
                self.settle(ready);
            }
        }
    }

    /// A packet of a connection with trouble, or without a log.
    fn feed(&mut self, at: Time, direction: Direction, headers: &Headers, settings: &Settings) {
        let event = log::event(at, direction, headers);
        let sacks = headers.sack.blocks();
        for (of, half) in BOTH.into_iter().zip(&mut self.halves) {
            if let Some(half) = half {
                give(half, of, &event, sacks);
                self.unsettled += 1;
            }
        }
        for of in BOTH {
            let missing = self.halves[of as usize].is_none() && self.sides[of as usize].sent;
            if self.logging {
                // What the sides agreed on is known when the handshake is over.
                if missing && self.trouble[of as usize] && !headers.flags.syn() {
                    self.halves[of as usize] = Some(self.half_from_log(of, settings));
                }
            } else if missing {
                let mut half = Box::new(Half::new(of, &self.facts(of), settings));
                give(&mut half, of, &event, sacks);
                self.halves[of as usize] = Some(half);
            }
        }
        if self.logging && self.halves.iter().all(Option::is_some) {
            self.log = Log::default();
            self.logging = false;
        }
    }

    /// Makes the halves that are missing, and keeps no log any more.
    #[cold]
    fn end_log(&mut self, settings: &Settings) {
        for of in BOTH {
            if self.halves[of as usize].is_none() && self.sides[of as usize].sent {
                self.halves[of as usize] = Some(self.half_from_log(of, settings));
            }
        }
        self.log = Log::default();
        self.logging = false;
    }

    #[cold]
    fn half_from_log(&self, of: Direction, settings: &Settings) -> Box<Half> {
        let mut half = Box::new(Half::new(of, &self.facts(of), settings));
        for (event, sacks) in self.log.iter(self.start) {
            give(&mut half, of, &event, sacks);
        }
        half
    }

    /// What is known of a sender.
    fn facts(&self, of: Direction) -> SenderFacts {
        let side = &self.sides[of as usize];
        let peer = &self.sides[of.reversed() as usize];
        let syn = side.syn.as_ref();
        let answer = peer.syn.as_ref();
        let (mss, sack, timestamps, window_shift) = match (syn, answer) {
            (Some(syn), Some(answer)) => {
                let (mine, theirs) = (&syn.options, &answer.options);
                let both = |has: fn(&SynOptions) -> bool| has(mine) && has(theirs);
                let scaled = both(|options| options.window_scale.is_some());
                let shift = theirs.window_scale.filter(|_| scaled).unwrap_or(0);
                (
                    mss(mine, theirs),
                    both(|options| options.sack_permitted),
                    both(|options| options.timestamps),
                    // RFC 7323 §2.3: larger ones count as 14.
                    shift.min(14),
                )
            }
            _ => (
                side.largest,
                peer.sacks || side.sacks,
                side.stamps,
                answer
                    .and_then(|syn| syn.options.window_scale)
                    .unwrap_or(0)
                    .min(14),
            ),
        };
        SenderFacts {
            isn: syn.map(|syn| syn.isn),
            client: of == Direction::Forward,
            mss,
            sack,
            timestamps,
            window_shift,
            syn_at: syn.map(|syn| syn.at),
            syns: side.syns,
            handshake_rtt: self.handshake_rtt().map(|(whole, _)| whole),
        }
    }

    /// SYN to the client's first acknowledgement, and its part between monitor and server.
    fn handshake_rtt(&self) -> Option<(Duration, Duration)> {
        let server = self.server_part?;
        Some((server + self.client_part?, server))
    }

    /// Takes the rows of resends that are settled.
    fn settle(&mut self, ready: &mut Ready) {
        self.unsettled = 0;
        for half in self.halves.iter_mut().flatten() {
            half.settled(&mut ready.resends);
        }
    }

    /// The connection is over: its row, and all others that are left.
    pub fn finish(
        mut self,
        evicted: bool,
        settings: &Settings,
        ready: &mut Ready,
    ) -> rows::Connection {
        if self.logging {
            for of in BOTH {
                // Trouble before the handshake was over.
                if self.trouble[of as usize] && self.halves[of as usize].is_none() {
                    self.halves[of as usize] = Some(self.half_from_log(of, settings));
                }
            }
        }
        let mut row = self.row(evicted);
        let halves = core::mem::take(&mut self.halves);
        for (half, row) in halves
            .into_iter()
            .zip([&mut row.forward, &mut row.backward])
        {
            if let Some(half) = half {
                half.finish(&mut ready.resends, &mut ready.whatif, row);
            }
        }
        row
    }
}

/// The largest payload that a sender may send: the smaller of both offers, less what options take
/// (RFC 6691 §2). A side that offers none takes 536 bytes (RFC 9293 §3.7.1).
fn mss(mine: &SynOptions, theirs: &SynOptions) -> u32 {
    let offer = |options: &SynOptions| u32::from(options.mss.unwrap_or(536));
    let stamps = if mine.timestamps && theirs.timestamps {
        12
    } else {
        0
    };
    offer(mine).min(offer(theirs)).saturating_sub(stamps).max(1)
}

const BOTH: [Direction; 2] = [Direction::Forward, Direction::Backward];

/// Gives a packet to the half of the sender in direction `of`.
#[inline]
fn give(half: &mut Half, of: Direction, event: &Event, sacks: &[SeqRange]) {
    if event.direction == of {
        half.data(event);
    } else {
        half.ack(event, sacks);
    }
}

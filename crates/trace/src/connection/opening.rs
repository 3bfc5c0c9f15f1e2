//! A connection of which nothing has come but its first packet, repetitions of it, and at most an answer without data.
//!
//! A flood, a scan or backscatter makes millions of them, a capture of ordinary traffic few at a time. So the packets are
//! kept as they came, in as few bytes as they need, and given to a [`Connection`] when another one comes or nothing more will:
//! what is said of a connection does not depend on where it was kept.

use rexmit_time::{Duration, Time};
use rexmit_wire::headers::{Record, Timestamps};
use rexmit_wire::table::{prefetch, Keyed};
use rexmit_wire::{FlowKey, Headers};

use super::{Common, Connection, Kept, Pair};
use crate::settings::Settings;
use crate::window::is_near;

/// Repetitions that are kept: Linux sends a SYN ten times again at most by default, 6.5 on (`tcp_syn_retries`,
/// `tcp_syn_linear_timeouts`), and its answer five times.
const MOST_AGAIN: usize = 16;

/// A connection that has barely begun.
#[derive(Debug)]
pub(crate) struct Opening {
    pair: Pair,
    /// The first packet was the client's.
    from_client: bool,
    id: u64,
    first: Kept,
    answer: Option<Box<Answer>>,
    again: Vec<Again>,
}

// With its share of the table's index, and three repetitions, no more than 300 bytes.
const _: () = assert!(size_of::<Opening>() <= 192);

/// The first packet of the other side.
#[derive(Debug)]
struct Answer {
    kept: Kept,
    /// Repetitions that came before it.
    before: usize,
}

/// What a repetition has of its own.
#[derive(Clone, Copy, Debug)]
struct Again {
    /// Nanoseconds since the first packet, the lower and the upper bits.
    at_low: u32,
    at_high: i16,
    ip_id: u16,
    /// Value of its timestamps option.
    stamp: u32,
    /// It is the answer's.
    answers: bool,
}

const _: () = assert!(size_of::<Again>() == 16);

impl Again {
    /// What `headers` has of its own; none if it comes too late, 39 hours, to be told.
    fn of(start: Time, at: Time, headers: &Headers, answers: bool) -> Option<Self> {
        let at = at.since(start).as_nanos();
        Some(Again {
            at_low: at as u32,
            at_high: i16::try_from(at >> 32).ok()?,
            ip_id: headers.ip_id.unwrap_or(0),
            stamp: headers.timestamps.map_or(0, |stamps| stamps.value),
            answers,
        })
    }

    fn at(&self, start: Time) -> Time {
        let at = i64::from(self.at_high) << 32 | i64::from(self.at_low);
        start + Duration::from_nanos(at)
    }

    /// The packet, which is otherwise as `first`.
    fn headers(&self, first: &Headers) -> Headers {
        let stamps = |stamps: Timestamps| Timestamps {
            value: self.stamp,
            ..stamps
        };
        Headers {
            ip_id: first.ip_id.map(|_| self.ip_id),
            timestamps: first.timestamps.map(stamps),
            ..*first
        }
    }
}

impl Keyed for Opening {
    type Key = Pair;

    #[inline]
    fn key(&self) -> &Pair {
        &self.pair
    }
}

impl Opening {
    /// A connection that begins with this packet; none if the packet cannot be kept.
    pub fn new(id: u64, at: Time, headers: &Headers) -> Option<Self> {
        let pair = Pair::begun_by(headers);
        let told = headers.record.tells() && headers.record.of_session() == Record::None;
        (headers.sack.is_empty() && !told).then(|| Opening {
            pair,
            from_client: pair.0.src == headers.flow.src && pair.0.src_port == headers.flow.src_port,
            id,
            first: Kept::of(at, headers),
            answer: None,
            again: Vec::new(),
        })
    }

    /// First packet.
    pub fn start(&self) -> Time {
        self.first.at
    }

    /// Its number.
    pub const fn id(&self) -> u64 {
        self.id
    }

    /// From the first packet's sender to the other side.
    fn flow(&self) -> FlowKey {
        if self.from_client {
            self.pair.0
        } else {
            self.pair.0.reversed()
        }
    }

    /// When its last packet came.
    pub fn last(&self) -> Time {
        let answered = self.answer.iter().map(|answer| answer.kept.at);
        let again = self.again.iter().map(|again| again.at(self.first.at));
        answered.chain(again).fold(self.first.at, Time::max)
    }

    /// Its answer was a reset, which may have closed it.
    fn is_reset(&self) -> bool {
        self.answer
            .as_ref()
            .is_some_and(|answer| answer.kept.flags.rst())
    }

    /// Whether it may be that nothing that comes at `now` belongs to it any more; the [`Connection`] knows.
    pub fn may_be_over(&self, now: Time, settings: &Settings) -> bool {
        let allowed = if self.is_reset() {
            settings.linger.min(settings.idle)
        } else {
            settings.idle
        };
        let silence = now.since(self.last());
        silence > allowed || silence < -settings.idle
    }

    /// Keeps a packet if it belongs here and says nothing new. Otherwise it is for the [`Connection`] to judge.
    pub fn keep(&mut self, at: Time, headers: &Headers, settings: &Settings) -> bool {
        let plain = headers.sack.is_empty() && self.first.is_syn() && !self.is_reset();
        if !plain || self.may_be_over(at, settings) {
            return false;
        }
        let answers = headers.flow != self.flow();
        let before = match (&self.answer, answers) {
            (Some(answer), true) => &answer.kept,
            (_, false) => &self.first,
            (None, true) => return self.answer(at, headers),
        };
        if self.again.len() >= MOST_AGAIN || !before.is_syn() || before.seq != headers.seq {
            return false;
        }
        let Some(again) = Again::of(self.first.at, at, headers, answers) else {
            return false;
        };
        if again.headers(&before.headers(headers.flow)) != *headers {
            return false;
        }
        // Most are not repeated, and none often: the list has no room to spare.
        self.again.reserve_exact(1);
        self.again.push(again);
        true
    }

    /// Keeps the first packet of the other side if it is a SYN-ACK, another SYN, or a reset.
    fn answer(&mut self, at: Time, headers: &Headers) -> bool {
        let kept = Kept::of(at, headers);
        let first = self.first.headers(self.flow());
        let far = (headers.flags.ack() && !is_near(headers.ack, first.range().end))
            || (first.flags.ack() && !is_near(headers.seq, first.ack));
        if kept.is_syn() == headers.flags.rst() || (far && kept.is_syn()) {
            return false;
        }
        let before = self.again.len();
        self.answer = Some(Box::new(Answer { kept, before }));
        true
    }

    /// The connection that it is, which has had all its packets.
    pub fn unfold(&self, common: &mut Common) -> Connection {
        let flow = self.flow();
        let first = self.first.headers(flow);
        let mut connection = Connection::new(self.id, self.first.at, &first);
        connection.packet(self.first.at, &first, common);
        let answer = self.answer.as_deref();
        let whole = answer.map(|answer| answer.kept.headers(flow.reversed()));
        let give_answer = |connection: &mut Connection, common: &mut Common| {
            if let (Some(answer), Some(whole)) = (answer, &whole) {
                connection.packet(answer.kept.at, whole, common);
            }
        };
        let answered = answer.map_or(self.again.len(), |answer| answer.before);
        for (n, again) in self.again.iter().enumerate() {
            if n == answered {
                give_answer(&mut connection, common);
            }
            let like = whole.as_ref().filter(|_| again.answers).unwrap_or(&first);
            connection.packet(again.at(self.first.at), &again.headers(like), common);
        }
        if answered == self.again.len() {
            give_answer(&mut connection, common);
        }
        connection
    }

    /// Has what the next packet will look at on its way from memory.
    #[inline]
    pub fn prefetch(&self) {
        prefetch(&self.pair);
        prefetch(&self.first.seq);
        prefetch(&self.again);
    }
}

//! Tests that read like a packet script: what is written, what is acknowledged, what must leave and when.
//!
//! Segments are numbered from 0 in full segments of [`MSS`] bytes; times are milliseconds after the handshake.

use std::collections::VecDeque;
use std::sync::Arc;

use rexmit_tcp::receiver::{Agreed, Receiver, Sending};
use rexmit_tcp::sender::{Ack, CaState, Metrics, Peer, Sender, Transmit};
use rexmit_tcp::settings::Settings;
use rexmit_tcp::{Mechanism, SackList, Segment, Timestamps};
use rexmit_time::{Duration, Time};
use rexmit_wire::{Flags, SeqNum, SeqRange};

use rexmit_testing::settings;

pub use rexmit_testing::exact;

/// Bytes of a full segment.
pub const MSS: u32 = 1000;

/// The sender's initial sequence number: scripts cross the wrap.
const ISS: u32 = u32::MAX - 4_500;

/// When scripts begin.
pub const START: Time = Time::from_nanos(5_000_000_000);

/// A sender whose clock the script moves.
pub struct Script {
    pub sender: Sender,
    settings: Arc<Settings>,
    rtt: Duration,
    start: Time,
    now: Time,
    first: SeqNum,
    window: u32,
    /// The timestamp that acknowledgements echo.
    echo: Option<u32>,
}

/// A millisecond count as a duration.
pub fn ms(ms: i64) -> Duration {
    Duration::from_millis(ms)
}

/// A packet of a transfer, as it left: when, in milliseconds, which segment it begins with, and why it was sent again.
pub type Seen = (u64, u32, Option<Mechanism>);

impl Script {
    /// After a handshake of `rtt`.
    pub fn new(settings: Settings, rtt: Duration) -> Self {
        let clock = settings.timers.clock();
        let start = START;
        let iss = SeqNum::new(ISS);
        let sack = settings.segments.sack;
        let settings = Arc::new(settings);
        let mut sender = Sender::new(Arc::clone(&settings), clock, MSS, iss, start);
        sender.established(
            start,
            Some(rtt),
            &Peer {
                window: 1 << 20,
                seq: SeqNum::new(7),
                sack,
                ecn: false,
                handshake_retransmissions: 0,
                metrics: Metrics::default(),
            },
        );
        Script {
            sender,
            settings,
            rtt,
            start,
            now: start,
            first: iss + 1,
            window: 1 << 20,
            echo: None,
        }
    }

    /// Goes on to `at`; timers that are due before fire.
    pub fn at(&mut self, at_ms: i64) -> &mut Self {
        let until = self.start + ms(at_ms);
        while let Some(due) = self.sender.timing().deadline().filter(|due| *due <= until) {
            self.now = due;
            self.sender.on_deadline(due);
            assert!(
                self.sender.timing().deadline() != Some(due),
                "the timer fires for ever at {due}"
            );
        }
        self.now = until;
        self
    }

    /// As [`Script::at`] for a timer that is expected then and no earlier.
    pub fn timer_at(&mut self, at_ms: i64) -> &mut Self {
        let due = self.sender.timing().deadline().map(|due| due - self.start);
        assert_eq!(due, Some(ms(at_ms)));
        self.at(at_ms)
    }

    /// Writes full segments.
    pub fn write(&mut self, segments: u32) -> &mut Self {
        self.sender.writer(self.now).write(segments * MSS, false);
        self
    }

    pub fn close(&mut self) -> &mut Self {
        self.sender.writer(self.now).close();
        self
    }

    /// From now on acknowledgements offer this window.
    pub fn offer(&mut self, window: u32) -> &mut Self {
        self.window = window;
        self
    }

    /// From now on acknowledgements echo what was sent at this time.
    pub fn echo(&mut self, sent_ms: i64) -> &mut Self {
        self.echo = Some(self.sender.timing().timestamp(self.start + ms(sent_ms)));
        self
    }

    /// An acknowledgement of everything before segment `next`, with SACK blocks from segment to segment.
    pub fn ack(&mut self, next: u32, blocks: &[(u32, u32)]) -> &mut Self {
        self.ack_bytes(next * MSS, blocks)
    }

    /// As [`Script::ack`], by bytes: a FIN takes one.
    pub fn ack_bytes(&mut self, next: u32, blocks: &[(u32, u32)]) -> &mut Self {
        let mut sack = SackList::default();
        for (from, to) in blocks {
            sack.push(SeqRange {
                start: self.first + from * MSS,
                end: self.first + to * MSS,
            });
        }
        self.take(self.first + next, sack);
        self
    }

    fn take(&mut self, ack: SeqNum, sack: SackList) {
        let segment = &Segment {
            seq: SeqNum::new(7),
            ack,
            flags: Flags::ACK,
            sack,
            ..Segment::default()
        };
        let (window, echo) = (self.window, self.echo);
        self.sender.on_ack(
            self.now,
            &Ack {
                segment,
                window,
                echo,
            },
        );
        self.sender.check().unwrap();
    }

    fn next(&mut self) -> Option<(u32, u32, Transmit)> {
        let packet = self.sender.poll_transmit(self.now)?;
        self.sender.left_host(self.now, packet.in_host_bytes);
        let from = packet.range.start.offset_from(self.first).unsigned_abs();
        Some((from, packet.range.len(), packet))
    }

    /// These segments leave for the first time, and nothing else.
    pub fn sends(&mut self, segments: std::ops::Range<u32>) -> &mut Self {
        for segment in segments {
            let (from, len, packet) = self
                .next()
                .unwrap_or_else(|| panic!("no segment {segment}"));
            assert_eq!((from, len, packet.mechanism), (segment * MSS, MSS, None));
        }
        self.is_silent()
    }

    /// These segments leave again, by this mechanism, and nothing else.
    pub fn again(&mut self, by: Mechanism, segments: &[u32]) -> &mut Self {
        let all: Vec<_> = segments.iter().map(|segment| (*segment, by)).collect();
        self.again_by(&all)
    }

    /// These segments leave again, each by its mechanism, and nothing else.
    pub fn again_by(&mut self, segments: &[(u32, Mechanism)]) -> &mut Self {
        for (segment, by) in segments {
            let (from, len, packet) = self
                .next()
                .unwrap_or_else(|| panic!("no retransmission {segment}"));
            assert_eq!(
                (from, len, packet.mechanism),
                (segment * MSS, MSS, Some(*by)),
                "for segment {segment}"
            );
        }
        self.is_silent()
    }

    /// Whatever is ready leaves.
    pub fn next_all(&mut self) -> &mut Self {
        while self.next().is_some() {}
        self
    }

    /// A FIN alone leaves.
    pub fn sends_fin(&mut self, by: Option<Mechanism>) -> &mut Self {
        let (_, len, packet) = self.next().unwrap_or_else(|| panic!("no FIN"));
        assert_eq!((len, packet.fin, packet.mechanism), (0, true, by));
        self.is_silent()
    }

    /// Nothing leaves.
    pub fn is_silent(&mut self) -> &mut Self {
        let next = self.next();
        assert!(next.is_none(), "{next:?}");
        self
    }

    pub fn is(&mut self, state: CaState) -> &mut Self {
        assert_eq!(self.sender.state(), state);
        self
    }

    /// The windows, in segments.
    pub fn has_window(&mut self, cwnd: u32, ssthresh: Option<u32>) -> &mut Self {
        let threshold =
            Some(self.sender.window().ssthresh).filter(|segments| *segments < 0x7fff_ffff);
        assert_eq!((self.sender.window().cwnd, threshold), (cwnd, ssthresh));
        self
    }

    pub fn has_rto(&mut self, rto_ms: i64) -> &mut Self {
        assert_eq!(self.sender.timing().rto(), ms(rto_ms));
        self
    }

    /// Sends so many segments to a receiver that acknowledges each as it comes, at the end of a round trip. Packets with the
    /// numbers `lose` do not come, retransmissions counted.
    pub fn transfer(&mut self, segments: u32, lose: &[usize]) -> Vec<Seen> {
        let clock = self.settings.timers.clock();
        let (sack, timestamps) = (
            self.settings.segments.sack,
            self.settings.segments.timestamps,
        );
        let agreed = Agreed {
            scaling: true,
            timestamps,
            sack,
            ecn: false,
            segment: MSS,
        };
        let mut receiver =
            Receiver::new(&Arc::new(settings("rfc", &[])), clock, MSS, MSS, None, true);
        receiver.synchronize(self.first, self.sender.timing().timestamp(self.now));
        receiver.open(self.now, &clock, &agreed);
        let sending = Sending {
            srtt: Some(self.rtt),
            rto_ticks: 1,
        };
        let (mut seen, mut under_way) = (Vec::new(), VecDeque::new());
        self.write(segments);
        loop {
            while let Some((from, _, packet)) = self.next() {
                if !lose.contains(&seen.len()) {
                    let value = self.sender.timing().timestamp(self.now);
                    let stamps = timestamps.then_some(Timestamps { value, echo: 1 });
                    under_way.push_back((self.now + self.rtt, packet.range, stamps));
                }
                let at = (self.now - self.start).as_nanos() as u64 / 1_000_000;
                seen.push((at, from / MSS, packet.mechanism));
            }
            self.sender.check().unwrap();
            let answered = under_way.front().map(|(at, ..)| *at);
            let due = self
                .sender
                .timing()
                .deadline()
                .filter(|due| answered.is_none_or(|at| *due < at));
            if let Some(due) = due {
                self.now = due;
                self.sender.on_deadline(due);
            } else if let Some((at, range, timestamps)) = under_way.pop_front() {
                self.now = at;
                let (seq, len) = (range.start, range.len());
                let data = Segment {
                    seq,
                    len,
                    flags: Flags::ACK,
                    timestamps,
                    ..Segment::default()
                };
                receiver.on_timestamps(&data, 0, None, true);
                receiver.on_data(at, &data, &sending, |_| {});
                receiver.read(at, u32::MAX);
                let header = receiver.header();
                self.echo = timestamps.map(|_| header.echo);
                self.take(header.ack, header.sack);
            } else {
                break;
            }
        }
        assert!(self.sender.is_empty(), "{seen:?}");
        seen
    }
}

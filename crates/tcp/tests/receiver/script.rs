//! A receiver with a peer that the test plays and a reader that takes all there is at once.

use std::sync::Arc;

use rexmit_tcp::clock::Clock;
use rexmit_tcp::receiver::{Agreed, Header, Receiver, Sending};
use rexmit_tcp::settings::Settings;
use rexmit_tcp::{Segment, Timestamps};
use rexmit_time::{Duration, Time};
use rexmit_wire::{Flags, SeqNum, SeqRange};

/// Full segments carry so much.
pub const FULL: u32 = 1448;

/// The script: numbers are bytes from the stream's first, times are milliseconds from the handshake's end.
pub struct Script {
    pub receiver: Receiver,
    pub sending: Sending,
    clock: Clock,
    first: SeqNum,
    begin: Time,
    now: Time,
    timestamp: u32,
    reads: bool,
    pages: u32,
    buffer: Option<(u32, u32)>,
    acks: Vec<(Time, Header)>,
    /// The acknowledgement that ended the handshake.
    pub opening: Header,
}

/// The settings of the stack `name`, some of them changed.
pub fn settings(name: &str, set: &[(&str, &str)]) -> Arc<Settings> {
    Arc::new(rexmit_testing::settings(name, set))
}

impl Script {
    /// The receiver of the stack `name`, after an active open.
    pub fn new(name: &str) -> Self {
        Self::with(name, &[], 1000)
    }

    /// With other settings, and the stream's first byte at `first`.
    pub fn with(name: &str, set: &[(&str, &str)], first: u32) -> Self {
        let settings = settings(name, set);
        let clock = settings.timers.clock();
        // In the middle of a tick of any clock.
        let begin = Time::from_nanos(10_000_500_000);
        let mut receiver = Receiver::new(&settings, clock, 1460, 1460, None, true);
        let first = SeqNum::new(first);
        receiver.synchronize(first, 1);
        receiver.open(
            begin,
            &clock,
            &Agreed {
                scaling: true,
                timestamps: true,
                sack: settings.segments.sack,
                ecn: false,
                segment: FULL,
            },
        );
        let opening = receiver.header();
        Script {
            opening,
            receiver,
            sending: Sending {
                srtt: Some(Duration::from_millis(100)),
                rto_ticks: clock.ticks_in(Duration::from_millis(300)),
            },
            clock,
            first,
            begin,
            now: begin,
            timestamp: 1,
            reads: true,
            pages: 0,
            buffer: None,
            acks: Vec::new(),
        }
    }

    /// What comes was written by a program, not out of a file.
    pub fn written(mut self) -> Self {
        self.pages = 1;
        self
    }

    /// What comes lies in one buffer each that costs so much.
    pub fn in_buffers(mut self, cost: u32) -> Self {
        self.buffer = Some((cost, FULL));
        self
    }

    /// The reader sleeps from now on, or reads on.
    pub fn set_reading(&mut self, reads: bool) {
        self.reads = reads;
        self.read();
    }

    /// Lets time pass up to `millis` after the handshake.
    pub fn at(&mut self, millis: f64) -> &mut Self {
        let until = self.begin + Duration::from_nanos((millis * 1e6).round() as i64);
        assert!(until >= self.now, "time goes back");
        while let Some(due) = self.receiver.deadline().filter(|&due| due <= until) {
            self.now = self.now.max(due);
            if let Some(header) = self.receiver.on_deadline(self.now, &self.sending) {
                self.acks.push((self.now, header));
            }
        }
        self.now = until;
        self
    }

    /// Bytes `from .. from + len` come, in a segment with `flags`.
    pub fn segment(&mut self, from: u32, len: u32, flags: Flags) -> &mut Self {
        self.timestamp += 1;
        let segment = Segment {
            seq: self.first + from,
            len,
            flags: Flags(flags.0 | Flags::ACK.0),
            timestamps: Some(Timestamps {
                value: self.timestamp,
                echo: 1,
            }),
            pages: self.pages,
            buffer: self.buffer,
            ..Segment::default()
        };
        if !self.receiver.accepts(&segment) {
            let header = self.receiver.reject(&segment);
            self.acks.push((self.now, header));
            return self;
        }
        let clock = (self.now.as_nanos() / 1_000_000) as u32;
        self.receiver
            .on_timestamps(&segment, clock, Some(clock - 100), true);
        let (now, acks) = (self.now, &mut self.acks);
        let received = self
            .receiver
            .on_data(now, &segment, &self.sending, |header| {
                acks.push((now, header));
            });
        if received.fin {
            self.receiver.enter_interactive();
        }
        if let Some(header) = self.receiver.acknowledge(now, &self.sending) {
            self.acks.push((now, header));
        }
        self.read();
        self
    }

    /// A full segment comes, number `index` of the stream.
    pub fn full(&mut self, index: u32) -> &mut Self {
        self.segment(index * FULL, FULL, Flags(0))
    }

    /// Full segments come, all at this moment.
    pub fn fulls(&mut self, indexes: impl IntoIterator<Item = u32>) -> &mut Self {
        for index in indexes {
            self.full(index);
        }
        self
    }

    fn read(&mut self) {
        while self.reads {
            let (taken, header) = self.receiver.read(self.now, 65_536);
            if let Some(header) = header {
                self.acks.push((self.now, header));
            }
            if taken == 0 {
                break;
            }
        }
    }

    /// The timestamp of the last segment that came; each has one more than that before it.
    pub fn timestamp(&self) -> u32 {
        self.timestamp
    }

    /// What was acknowledged since the last call: times in milliseconds, numbers in bytes.
    pub fn acks(&mut self) -> Vec<(f64, u32)> {
        self.headers()
            .into_iter()
            .map(|(at, header)| (at, header.ack.get().wrapping_sub(self.first.get())))
            .collect()
    }

    /// The same with all that was said.
    pub fn headers(&mut self) -> Vec<(f64, Header)> {
        let begin = self.begin;
        std::mem::take(&mut self.acks)
            .into_iter()
            .map(|(at, header)| ((at - begin).as_nanos() as f64 / 1e6, header))
            .collect()
    }

    /// The SACK blocks of the acknowledgements since the last call, in full segments.
    pub fn blocks(&mut self) -> Vec<Vec<(u32, u32)>> {
        let first = self.first.get();
        let index = |seq: SeqNum| seq.get().wrapping_sub(first) / FULL;
        let blocks = |header: &Header| {
            let pair = |block: &SeqRange| (index(block.start), index(block.end));
            header.sack.as_slice().iter().map(pair).collect()
        };
        let headers = self.headers();
        headers.iter().map(|(_, header)| blocks(header)).collect()
    }

    /// In milliseconds after the handshake: when tick `ticks` after that of `millis` begins.
    pub fn tick_after(&self, millis: f64, ticks: i64) -> f64 {
        let then = self.begin + Duration::from_nanos((millis * 1e6).round() as i64);
        let fires = self.clock.time_of(self.clock.ticks(then) + ticks);
        (fires - self.begin).as_nanos() as f64 / 1e6
    }

    /// A receiver whose buffer does not grow, as each growth brings a quick acknowledgement.
    pub fn steady(name: &str) -> Self {
        Script::with(name, &[("moderate_receive_buffer", "false")], 1000)
    }

    /// The same, past its first quick acknowledgements: 20 segments came, as far as the script counts.
    pub fn warm(name: &str) -> Self {
        let mut script = Script::steady(name);
        script.at(800.0).fulls(0..30);
        let mut count = 30;
        while script.acks().last().map(|&(_, ack)| ack) != Some(count * FULL) {
            script.full(count);
            count += 1;
        }
        script.at(1000.0);
        script.first += (count - 20) * FULL;
        script
    }
}

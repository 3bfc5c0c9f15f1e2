//! A sender, a pipe that loses what it is told to, and a receiver that acknowledges every segment.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use rexmit_tcp::sender::{Ack, Metrics, Peer, Sender, Transmit};
use rexmit_tcp::settings::Settings;
use rexmit_tcp::{stacks, Mechanism, SackList, Segment};
use rexmit_time::{Duration, Time};
use rexmit_wire::{Flags, SeqNum, SeqRange};

pub const MSS: u32 = 1000;

/// The settings of a stack with some of them changed.
pub fn stack(name: &str, changes: &[(&str, &str)]) -> Settings {
    let changes: BTreeMap<String, String> = changes
        .iter()
        .map(|(key, value)| ((*key).to_owned(), (*value).to_owned()))
        .collect();
    stacks::build(name, &changes, &BTreeMap::new()).unwrap().0
}

/// A packet that the sender gave out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    pub at: Time,
    /// Bytes from the start of the stream.
    pub from: u32,
    pub len: u32,
    pub fin: bool,
    pub mechanism: Option<Mechanism>,
    pub probe: bool,
}

/// What arrives when.
enum Arrival {
    Data(SeqRange, bool, u32),
    Ack(Segment, Option<u32>),
}

/// A sender and its world.
pub struct Pipe {
    pub sender: Sender,
    pub now: Time,
    pub log: Vec<Seen>,
    one_way: Duration,
    first: SeqNum,
    /// Data packets to lose, by their number from 0.
    lose: BTreeSet<usize>,
    lose_acks: BTreeSet<usize>,
    acks: usize,
    arrivals: BTreeMap<(Time, u64), Arrival>,
    order: u64,
    // The receiver
    received: BTreeSet<u32>,
    expected: SeqNum,
    recent: Vec<SeqRange>,
    echo: u32,
    sack: bool,
    timestamps: bool,
}

impl Pipe {
    pub fn new(settings: Settings, one_way: Duration, iss: u32) -> Self {
        let clock = settings.timers.clock();
        let now = Time::from_nanos(1_000_000_000);
        let iss = SeqNum::new(iss);
        let (sack, timestamps) = (settings.segments.sack, settings.segments.timestamps);
        let mut sender = Sender::new(Arc::new(settings), clock, MSS, iss, now);
        sender.established(
            now,
            Some(one_way * 2),
            &Peer {
                window: 1 << 20,
                seq: SeqNum::new(7),
                sack,
                timestamps,
                handshake_timeouts: 0,
                metrics: Metrics::default(),
            },
        );
        Pipe {
            sender,
            now,
            log: Vec::new(),
            one_way,
            first: iss + 1,
            lose: BTreeSet::new(),
            lose_acks: BTreeSet::new(),
            acks: 0,
            arrivals: BTreeMap::new(),
            order: 0,
            received: BTreeSet::new(),
            expected: iss + 1,
            recent: Vec::new(),
            echo: 0,
            sack,
            timestamps,
        }
    }

    /// Loses the data packets with these numbers, retransmissions counted.
    pub fn lose(mut self, packets: impl IntoIterator<Item = usize>) -> Self {
        self.lose.extend(packets);
        self
    }

    /// Loses the acknowledgements with these numbers.
    pub fn lose_acks(mut self, acks: impl IntoIterator<Item = usize>) -> Self {
        self.lose_acks.extend(acks);
        self
    }

    pub fn write(&mut self, bytes: u32) {
        self.sender.write(self.now, bytes, false);
        self.drain();
    }

    pub fn close(&mut self) {
        self.sender.close(self.now);
        self.drain();
    }

    /// Runs until nothing is left to do or `most` events happened. Whether everything was acknowledged.
    pub fn run(&mut self, most: usize) -> bool {
        for _ in 0..most {
            if !self.step() {
                break;
            }
        }
        self.sender.is_empty()
    }

    /// One event.
    pub fn step(&mut self) -> bool {
        let arrival = self.arrivals.keys().next().copied();
        let deadline = self.sender.deadline();
        match (arrival, deadline) {
            (None, None) => return false,
            (Some(key), due) if due.is_none_or(|due| key.0 <= due) => {
                self.now = key.0;
                match self.arrivals.remove(&key) {
                    Some(Arrival::Data(range, fin, value)) => self.receive(range, fin, value),
                    Some(Arrival::Ack(segment, echo)) => {
                        let before = self.sender.una();
                        self.sender.on_ack(
                            self.now,
                            &Ack {
                                segment: &segment,
                                window: 1 << 20,
                                echo,
                            },
                        );
                        assert!(!self.sender.una().is_before(before));
                    }
                    None => {}
                }
            }
            (_, Some(due)) => {
                assert!(due >= self.now);
                self.now = due;
                self.sender.on_deadline(due);
            }
            (Some(_), None) => unreachable!(),
        }
        self.drain();
        true
    }

    fn drain(&mut self) {
        self.sender.check().unwrap();
        while let Some(packet) = self.sender.poll_transmit(self.now) {
            self.carry(&packet);
            self.sender.left_host(self.now, packet.in_host_bytes);
        }
        self.sender.check().unwrap();
    }

    fn carry(&mut self, packet: &Transmit) {
        let number = self.log.len();
        self.log.push(Seen {
            at: self.now,
            from: packet.range.start.offset_from(self.first) as u32,
            len: packet.range.len(),
            fin: packet.fin,
            mechanism: packet.mechanism,
            probe: packet.probe,
        });
        if self.lose.contains(&number) {
            return;
        }
        let value = self.sender.timestamp(self.now);
        self.order += 1;
        self.arrivals.insert(
            (self.now + self.one_way, self.order),
            Arrival::Data(packet.range, packet.fin, value),
        );
    }

    /// The receiver: an acknowledgement for every segment, SACK blocks newest first, a D-SACK for what is there already.
    fn receive(&mut self, range: SeqRange, fin: bool, value: u32) {
        let end = range.end + u32::from(fin);
        let offset = |seq: SeqNum| seq.offset_from(self.first) as u32;
        let numbers = offset(range.start)..offset(end);
        let known = numbers
            .clone()
            .all(|number| self.received.contains(&number) || number < offset(self.expected));
        if !range.start.is_after(self.expected) {
            self.echo = value;
        }
        let mut sack = SackList::default();
        if known && self.sack {
            sack.push(SeqRange {
                start: range.start,
                end,
            });
        }
        self.received.extend(numbers);
        while self.received.remove(&offset_of(self.first, self.expected)) {
            self.expected += 1;
        }
        self.received = self
            .received
            .split_off(&offset_of(self.first, self.expected));
        if self.sack {
            self.note_block(range.start, end, known);
            for block in self.recent.iter().take(3) {
                sack.push(*block);
            }
        }
        let number = self.acks;
        self.acks += 1;
        if self.lose_acks.contains(&number) {
            return;
        }
        let segment = Segment {
            seq: SeqNum::new(7),
            ack: self.expected,
            flags: Flags::ACK,
            window: 4096,
            sack,
            ..Segment::default()
        };
        let echo = (self.timestamps && self.echo != 0).then_some(self.echo);
        self.order += 1;
        self.arrivals.insert(
            (self.now + self.one_way, self.order),
            Arrival::Ack(segment, echo),
        );
    }

    fn note_block(&mut self, start: SeqNum, end: SeqNum, known: bool) {
        let expected = self.expected;
        self.recent.retain(|block| block.start.is_after(expected));
        if known || !start.is_after(expected) {
            return;
        }
        let mut block = SeqRange { start, end };
        self.recent.retain(|other| {
            let touches = !other.end.is_before(block.start) && !other.start.is_after(block.end);
            if touches {
                if other.start.is_before(block.start) {
                    block.start = other.start;
                }
                if other.end.is_after(block.end) {
                    block.end = other.end;
                }
            }
            !touches
        });
        self.recent.insert(0, block);
    }
}

fn offset_of(first: SeqNum, seq: SeqNum) -> u32 {
    seq.offset_from(first) as u32
}

//! Two ends, the paths between them, and what was sent.

use std::collections::BTreeMap;
use std::sync::Arc;

use rexmit_tcp::clock::Wheel;
use rexmit_tcp::connection::{Event, Local};
use rexmit_tcp::multipath::{Meta, Options, Outgoing};
use rexmit_tcp::settings::Settings;
use rexmit_tcp::{stacks, Mechanism, Segment};
use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

/// A packet of the server with data, as it was sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// Milliseconds since the first write.
    pub at: i64,
    /// The path, from 0.
    pub path: usize,
    /// Its first byte of data.
    pub data: u64,
    pub len: u32,
    pub by: Option<Mechanism>,
}

type Loses = dyn FnMut(&Sent) -> bool;

pub struct Duo {
    /// Server and client.
    pub ends: [Meta; 2],
    pub log: Vec<Sent>,
    /// Bytes that the client read, with the time of the last.
    pub read: u64,
    pub read_at: i64,
    delays: Vec<Duration>,
    wire: BTreeMap<(Time, u64), (usize, usize, Segment, Options)>,
    count: u64,
    now: Time,
    start: Time,
    loses: Box<Loses>,
    left: u32,
}

pub const SERVER: usize = 0;
pub const CLIENT: usize = 1;

pub fn local(iss: u32) -> Local {
    Local::ethernet(SeqNum::new(iss))
}

/// The settings of a stack at 1000 Hz whose timers fire at the tick asked for, with windows that hold nobody up.
pub fn settings(stack: &str, changes: &[(&str, &str)]) -> Settings {
    let wide = [
        ("first_window_segments", "1000"),
        ("receive_buffer", "4096 2097152 6291456"),
    ];
    let changes = wide.iter().chain(changes);
    let changes = changes.map(|(name, value)| ((*name).to_owned(), (*value).to_owned()));
    let (mut settings, _) = stacks::build(stack, &changes.collect(), &BTreeMap::new()).unwrap();
    settings.timers.hz = 1000;
    settings.timers.wheel = Wheel::Exact;
    settings
}

impl Duo {
    /// A connection with a subflow on each path, these one-way delays, opened on the first.
    pub fn new(stack: &str, changes: &[(&str, &str)], delays_ms: &[i64]) -> Self {
        let delays = delays_ms.iter().map(|ms| Duration::from_millis(*ms));
        Self::of_delays(stack, changes, delays.collect())
    }

    /// The same with delays that need not be whole milliseconds.
    pub fn of_delays(stack: &str, changes: &[(&str, &str)], delays: Vec<Duration>) -> Self {
        let settings = Arc::new(settings(stack, changes));
        let clock = settings.timers.clock();
        let now = Time::from_nanos(5_000_000_000);
        let end = |is_client| Meta::new(Arc::clone(&settings), clock, is_client);
        let mut duo = Duo {
            ends: [end(false), end(true)],
            log: Vec::new(),
            read: 0,
            read_at: 0,
            delays,
            wire: BTreeMap::new(),
            count: 0,
            now,
            start: now,
            loses: Box::new(|_| false),
            left: 0,
        };
        duo.ends[CLIENT].connect(now, 0, &local(1_000));
        duo.settle();
        duo.run_for(1_000);
        duo.ends[CLIENT].write(duo.now, 1);
        duo.settle();
        duo.run_for(1_000);
        let paths = duo.delays.len();
        for path in 1..paths {
            duo.ends[CLIENT].connect(duo.now, path, &local(1_000 * path as u32));
            duo.settle();
        }
        duo.run_for(3_000);
        for path in 0..paths {
            for end in &duo.ends {
                assert!(end.confirmed(path).is_some(), "path {path}");
            }
        }
        duo.ends[SERVER].set_nodelay(duo.now, true);
        duo.start = duo.now;
        duo.log.clear();
        duo
    }

    /// Loses the packets for which `loses` says so.
    pub fn losing(mut self, loses: impl FnMut(&Sent) -> bool + 'static) -> Self {
        self.loses = Box::new(loses);
        self
    }

    /// Ends the play: what is still under way is lost, and the test moves packets itself.
    pub fn by_hand(self) -> Hand {
        Hand {
            ends: self.ends,
            now: self.now,
        }
    }

    /// The server sets TCP_CORK.
    pub fn cork(&mut self) -> &mut Self {
        self.ends[SERVER].set_cork(self.now, true);
        self
    }

    /// The server writes `bytes`, as far as its buffer goes at once and the rest when there is room.
    pub fn write(&mut self, bytes: u32) -> &mut Self {
        self.left = bytes;
        self.go_on_writing();
        self.settle();
        self
    }

    fn go_on_writing(&mut self) {
        if self.left > 0 {
            self.left -= self.ends[SERVER].write(self.now, self.left);
        }
    }

    pub fn millis(&self) -> i64 {
        self.now.since(self.start).as_nanos() / 1_000_000
    }

    /// Lets so many milliseconds pass.
    pub fn run_for(&mut self, ms: i64) -> &mut Self {
        let until = self.now + Duration::from_millis(ms);
        loop {
            let arrives = self.wire.keys().next().map(|(at, _)| *at);
            let timers = self.ends.iter().filter_map(Meta::deadline).min();
            let next = arrives.into_iter().chain(timers).min();
            let Some(next) = next.filter(|next| *next <= until) else {
                break;
            };
            self.now = self.now.max(next);
            if let Some((key, packet)) = self.wire.first_key_value() {
                if key.0 <= self.now {
                    let (key, (to, path, segment, options)) = (*key, *packet);
                    self.wire.remove(&key);
                    self.arrive(to, path, &segment, &options);
                    self.settle();
                    continue;
                }
            }
            for end in &mut self.ends {
                if end.deadline().is_some_and(|due| due <= self.now) {
                    end.on_deadline(self.now);
                }
            }
            self.settle();
        }
        self.now = until;
        self
    }

    fn arrive(&mut self, to: usize, path: usize, segment: &Segment, options: &Options) {
        let end = &mut self.ends[to];
        if segment.flags.syn() && !segment.flags.ack() {
            end.accept(self.now, path, &local(7_000 + path as u32), segment);
        } else {
            end.on_segment(self.now, path, segment, options);
        }
    }

    fn settle(&mut self) {
        loop {
            let mut busy = false;
            for from in [SERVER, CLIENT] {
                while let Some(out) = self.ends[from].poll_transmit() {
                    busy = true;
                    self.transmit(from, &out);
                }
                while let Some(event) = self.ends[from].poll_event() {
                    busy = true;
                    match (from, event) {
                        (SERVER, Event::Writable) => self.go_on_writing(),
                        _ => self.read(from),
                    }
                }
            }
            if !busy {
                break;
            }
        }
    }

    fn read(&mut self, side: usize) {
        loop {
            let taken = self.ends[side].read(self.now, 65_536);
            if taken == 0 {
                break;
            }
            if side == CLIENT {
                self.read += u64::from(taken);
                self.read_at = self.millis();
            }
        }
    }

    fn transmit(&mut self, from: usize, out: &Outgoing) {
        let segment = out.sent.segment;
        let mut lost = false;
        if let (SERVER, Some(map)) = (from, out.options.map) {
            let sent = Sent {
                at: self.millis(),
                path: out.path,
                data: map.data,
                len: segment.len,
                by: out.sent.mechanism,
            };
            lost = (self.loses)(&sent);
            self.log.push(sent);
        }
        if !lost {
            self.count += 1;
            let key = (self.now + self.delays[out.path], self.count);
            let packet = (1 - from, out.path, segment, out.options);
            self.wire.insert(key, packet);
        }
        if out.sent.in_host_bytes > 0 {
            let (now, bytes) = (self.now, out.sent.in_host_bytes);
            self.ends[from].left_host(now, out.path, bytes);
        }
    }

    /// The retransmissions and re-injections so far: when, on which path, from which byte of data on, why.
    pub fn again(&self) -> Vec<(i64, usize, u64, Mechanism)> {
        let again = self.log.iter();
        again
            .filter_map(|sent| Some((sent.at, sent.path, sent.data, sent.by?)))
            .collect()
    }

    /// The first bytes of the data that first went on `path`.
    pub fn carried(&self, path: usize) -> Vec<u64> {
        let new = self.log.iter();
        new.filter(|sent| sent.path == path && sent.by.is_none())
            .map(|sent| sent.data)
            .collect()
    }
}

/// Two ends whose packets the test delivers, in the order and at the time that it wants.
pub struct Hand {
    /// Server and client.
    pub ends: [Meta; 2],
    pub now: Time,
}

impl Hand {
    /// What an end sends now, all of which leaves its host.
    pub fn sent(&mut self, from: usize) -> Vec<Outgoing> {
        let mut all = Vec::new();
        while let Some(out) = self.ends[from].poll_transmit() {
            if out.sent.in_host_bytes > 0 {
                self.ends[from].left_host(self.now, out.path, out.sent.in_host_bytes);
            }
            all.push(out);
        }
        all
    }

    /// An end takes a packet in.
    pub fn deliver(&mut self, to: usize, out: &Outgoing) {
        self.ends[to].on_segment(self.now, out.path, &out.sent.segment, &out.options);
    }

    /// What an end sends when it takes a packet in, before its timers.
    pub fn answers(&mut self, to: usize, out: &Outgoing) -> Vec<Outgoing> {
        self.deliver(to, out);
        self.sent(to)
    }

    pub fn pass(&mut self, ms: i64) {
        self.now += Duration::from_millis(ms);
    }
}

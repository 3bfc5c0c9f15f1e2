//! A server and a client of Multipath TCP with paths between them, and what was sent.

use rexmit_sim::apps::{Sink, Source};
use rexmit_sim::{App, Machine, Packet, Subflows};
use rexmit_tcp::connection::{Local, Socket};
use rexmit_tcp::multipath::{Meta, Outgoing, PacketOptions};
use rexmit_tcp::settings::Settings;
use rexmit_tcp::Mechanism;
use rexmit_testing::{exact, Lab, Plan};
use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

/// A packet of the server with data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sent {
    /// The path, from 0.
    pub path: usize,
    /// Its first byte of data.
    pub data: u64,
    pub len: u32,
    pub by: Option<Mechanism>,
}

impl Sent {
    fn of(packet: &Packet<PacketOptions>) -> Option<Self> {
        let map = packet.options.map.filter(|_| !packet.from.is_client())?;
        Some(Sent {
            path: usize::from(packet.path),
            data: map.data,
            len: packet.segment().len,
            by: packet.sent.mechanism,
        })
    }
}

pub struct Duo(Lab<Subflows>);

/// At a tick.
const BEGIN: Time = Time::from_nanos(5_000_000_000);

pub const SERVER: usize = 0;
pub const CLIENT: usize = 1;

/// The settings of a stack with round times and windows that hold nobody up.
fn settings(stack: &str, changes: &[(&str, &str)]) -> Settings {
    let wide = [
        ("first_window_segments", "1000"),
        ("receive_buffer", "4096 2097152 6291456"),
    ];
    exact(stack, &[&wide, changes].concat())
}

impl Duo {
    /// A connection with a subflow on each path, these one-way delays, opened on the first.
    pub fn new(stack: &str, changes: &[(&str, &str)], delays_ms: &[i64]) -> Self {
        let delays = delays_ms.iter().map(|ms| Duration::from_millis(*ms));
        Self::of_delays(stack, changes, &delays.collect::<Vec<_>>())
    }

    /// The same with delays that need not be whole milliseconds.
    pub fn of_delays(stack: &str, changes: &[(&str, &str)], delays: &[Duration]) -> Self {
        let sink = || App::Sink(Sink::default());
        let plan = Plan {
            begin: BEGIN,
            ..Plan::new(settings(stack, changes), Duration::ZERO, [sink(), sink()])
        };
        let mut lab: Lab<Subflows> = Lab::open(plan.over(delays));
        lab.run(1_000.0);
        lab.with(lab.client, |now, end| end.write(now, 1, false));
        lab.run(2_000.0);
        for path in 1..delays.len() {
            lab.world.join(lab.client, path);
        }
        lab.run(5_000.0);
        for path in 0..delays.len() {
            for end in [lab.client(), lab.server()] {
                assert!(end.meta().confirmed(path).is_some(), "path {path}");
            }
        }
        lab.with(lab.server, |now, end| end.set_nodelay(now));
        lab.begin_anew();
        Duo(lab)
    }

    /// Loses the packets for which `loses` says so.
    pub fn losing(self, mut loses: impl FnMut(&Sent) -> bool + 'static) -> Self {
        let lost = move |packet: &_| Sent::of(packet).is_some_and(|sent| loses(&sent));
        Duo(self.0.losing(lost))
    }

    /// The server writes `bytes`, as far as its buffer goes at once and the rest when there is room.
    pub fn write(&mut self, bytes: u32) -> &mut Self {
        self.0.world.with(self.0.server, |now, end, app| {
            let left = bytes - end.write(now, bytes, false);
            if left > 0 {
                *app = App::Source(Source::new(left.into()));
            }
        });
        self
    }

    /// The server sets TCP_CORK and writes `bytes`.
    pub fn write_corked(&mut self, bytes: u32) -> &mut Self {
        self.0.with(self.0.server, |now, end| {
            end.set_cork(now, true);
            assert_eq!(end.send_file(now, 0, bytes), bytes);
        });
        self
    }

    /// Lets so many milliseconds pass.
    pub fn run_for(&mut self, ms: i64) -> &mut Self {
        let now = self.0.ms(self.0.world.now());
        self.0.run(now + ms as f64);
        self
    }

    /// From now on times count from here, and nothing was sent yet.
    pub fn begin_anew(&mut self) {
        self.0.begin_anew();
    }

    pub fn server(&self) -> &Meta {
        self.0.server().meta()
    }

    pub fn client(&self) -> &Meta {
        self.0.client().meta()
    }

    /// Bytes of data that the client has read, and in which millisecond the last of them.
    pub fn read(&self) -> (u64, i64) {
        (self.0.read(), self.0.ms(self.0.read_at) as i64)
    }

    /// What the server sent, by the millisecond.
    pub fn log(&self) -> Vec<(i64, Sent)> {
        let all = self.0.sent(self.0.server);
        all.filter_map(|(at, packet)| Some((at as i64, Sent::of(packet)?)))
            .collect()
    }

    /// The retransmissions and re-injections so far: when, on which path, from which byte of data on, why.
    pub fn again(&self) -> Vec<(i64, usize, u64, Mechanism)> {
        let all = self.log().into_iter();
        all.filter_map(|(at, sent)| Some((at, sent.path, sent.data, sent.by?)))
            .collect()
    }

    /// The first bytes of the data that went on `path`, copies of the other's among them.
    pub fn all(&self, path: usize) -> Vec<u64> {
        let all = self.log().into_iter().map(|(_, sent)| sent);
        all.filter(|sent| sent.path == path)
            .map(|sent| sent.data)
            .collect()
    }

    /// The first bytes of the data that first went on `path`.
    pub fn carried(&self, path: usize) -> Vec<u64> {
        let new = self.log().into_iter().map(|(_, sent)| sent);
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
    /// A connection with so many subflows, all of 40 ms there and back.
    pub fn new(stack: &str, changes: &[(&str, &str)], paths: usize) -> Self {
        let settings = std::sync::Arc::new(settings(stack, changes));
        let clock = settings.timers.clock();
        let end = |is_client| Meta::new(settings.clone(), clock, is_client);
        let ends = [end(false), end(true)];
        let mut hand = Hand { ends, now: BEGIN };
        for path in 0..paths {
            let local = Local::ethernet(SeqNum::new(1_000 * path as u32));
            hand.ends[CLIENT].connect(hand.now, path, &local);
            hand.play();
            if path == 0 {
                hand.ends[CLIENT].write(hand.now, 1);
                hand.play();
            }
        }
        hand.ends[SERVER].set_nodelay(hand.now, true);
        hand
    }

    /// Both ends send and read for a second, and each packet comes 20 ms after it was sent.
    fn play(&mut self) {
        for _ in 0..50 {
            let sent = [SERVER, CLIENT].map(|from| self.sent(from));
            self.pass(20);
            for (to, packets) in [CLIENT, SERVER].into_iter().zip(&sent) {
                for out in packets {
                    let segment = &out.sent.segment;
                    if segment.flags.syn() && !segment.flags.ack() {
                        let local = Local::ethernet(SeqNum::new(7_000 + out.path as u32));
                        self.ends[to].accept(self.now, out.path, &local, segment);
                    } else {
                        self.deliver(to, out);
                    }
                }
                let end = &mut self.ends[to];
                end.on_deadline(self.now);
                while end.poll_event().is_some() {
                    end.read(self.now, u32::MAX);
                }
            }
        }
    }

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

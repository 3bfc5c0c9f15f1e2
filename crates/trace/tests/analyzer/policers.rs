//! Policers, and what may be taken for one: transfers between two of the model's hosts.

use std::collections::{BTreeMap, VecDeque};
use std::ops::Range;
use std::sync::Arc;

use rexmit_sim::apps::{Exchange, Host, Script, Visitor};
use rexmit_sim::link::{Bucket, Bursts, Link, Loss, Settings as Path};
use rexmit_sim::App;
use rexmit_testing::{bare, flow, settings, Lab, Plan};
use rexmit_time::{Duration, Stream, Streams, Time};
use rexmit_trace::account::Owner;
use rexmit_trace::settings::Settings;
use rexmit_wire::headers::{Sack, SynOptions, Timestamps};
use rexmit_wire::{Flags, Headers, Intervals, SeqNum, SeqRange};

use crate::script::{analyse, SYN_ACK};

/// What holds up a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Trouble {
    Policer,
    Loss,
    LossInBursts,
    ShortQueue,
    DeepQueue,
    LossAndQueue,
    Shaper,
    ReceiverWindow,
}

const OTHERS: [Trouble; 7] = [
    Trouble::Loss,
    Trouble::LossInBursts,
    Trouble::ShortQueue,
    Trouble::DeepQueue,
    Trouble::LossAndQueue,
    Trouble::Shaper,
    Trouble::ReceiverWindow,
];

/// A transfer to the client.
#[derive(Clone, Debug)]
struct Case {
    /// The server does not heed losses.
    paced: bool,
    control: &'static str,
    rtt: Duration,
    down: Path,
    bytes: u64,
    window: Option<u32>,
    timestamps: bool,
    seed: u64,
}

/// A number between two, those of each magnitude as likely.
fn between(random: &mut Stream, low: f64, high: f64) -> f64 {
    low * (high / low).powf(random.uniform())
}

impl Case {
    fn draw(seed: u64, trouble: Trouble) -> Self {
        let random = &mut Streams::new(seed).stream("policers", 0);
        let rtt = Duration::from_nanos((between(random, 10.0, 200.0) * 1e6) as i64);
        let rate = between(random, 0.5e6, 50e6);
        let burst = between(random, 10e3, 1e6);
        let seconds = between(random, 5.0, 20.0);
        let control = ["cubic", "reno"][random.below(2) as usize];
        let loss = Loss::Random(between(random, 0.005, 0.05));
        let line = Path {
            delay: rtt / 2,
            rate_bps: 1_000_000_000,
            queue_packets: 20_000,
            ..Path::default()
        };
        let bucket = |queue_bytes: f64| {
            Some(Bucket {
                rate_bps: rate as u64,
                burst_bytes: burst as u64,
                queue_bytes: queue_bytes as u64,
            })
        };
        // Packets under way count.
        let queue = |bytes: f64| Path {
            rate_bps: rate as u64,
            queue_packets: ((rate / 16.0 * rtt.as_secs_f64() + bytes) / 1514.0) as usize + 2,
            ..line.clone()
        };
        let down = match trouble {
            Trouble::Policer => Path {
                bucket: bucket(0.0),
                ..line.clone()
            },
            Trouble::Loss => Path {
                loss,
                ..line.clone()
            },
            Trouble::LossInBursts => Path {
                loss: Loss::Bursts(Bursts {
                    to_bad: between(random, 0.002, 0.02),
                    to_good: between(random, 0.1, 0.7),
                    loss_when_bad: 1.0,
                    loss_when_good: 0.0,
                }),
                ..line.clone()
            },
            Trouble::ShortQueue => queue(between(random, 4e3, 60e3)),
            Trouble::DeepQueue => queue(rate / 8.0 * between(random, 0.1, 1.0)),
            Trouble::LossAndQueue => Path {
                loss,
                ..queue(rate / 8.0 * between(random, 0.02, 0.3))
            },
            Trouble::Shaper => Path {
                bucket: bucket(rate / 8.0 * between(random, 0.03, 0.4)),
                ..line.clone()
            },
            Trouble::ReceiverWindow => Path {
                loss: Loss::Random(between(random, 0.0005, 0.01)),
                ..line.clone()
            },
        };
        let window = between(random, 16e3, 256e3) as u32;
        Case {
            paced: false,
            control,
            rtt,
            down,
            bytes: (rate / 8.0 * seconds + 2.0 * burst).min(20e6) as u64,
            window: (trouble == Trouble::ReceiverWindow).then_some(window),
            timestamps: random.uniform() < 0.8,
            seed: seed + 1,
        }
    }

    /// The packets, as both hosts see them.
    fn packets(&self) -> Vec<Packet> {
        if self.paced {
            return Paced::new(self).run();
        }
        let timestamps = if self.timestamps { "true" } else { "false" };
        let changes = [
            ("congestion_control", self.control),
            ("timestamps", timestamps),
        ];
        let mut client = settings("linux-6.12", &changes);
        if let Some(window) = self.window {
            client.receiver.moderate_receive_buffer = false;
            client.receiver.receive_buffer = [window; 3];
        }
        let script = Arc::new(Script {
            exchanges: vec![Exchange {
                request: 100,
                response: self.bytes,
                work: Duration::ZERO,
                think: Duration::ZERO,
            }],
            server_closes: true,
            ..Script::default()
        });
        let apps = [
            App::Visitor(Visitor::new(Arc::clone(&script))),
            App::Host(Host::new(script)),
        ];
        let up = Path {
            delay: self.rtt / 2,
            ..Path::default()
        };
        let server = settings("linux-6.12", &changes);
        let mut lab: Lab = Lab::open(Plan {
            client,
            paths: vec![[up, self.down.clone()]],
            seed: self.seed,
            ..Plan::new(server, Duration::ZERO, apps)
        });
        lab.run(120_000.0);
        let log = lab.log().iter();
        log.map(|one| Packet {
            at: one.at,
            came: one.came,
            from_client: one.packet.from == lab.client,
            headers: headers(one.packet.from == lab.client, one.packet.segment()),
        })
        .collect()
    }
}

/// A packet that left its host, or came to the other.
#[derive(Clone, Copy)]
struct Packet {
    at: Time,
    came: bool,
    from_client: bool,
    headers: Headers,
}

fn of_end(from_client: bool) -> Headers {
    let flow = flow(40_000);
    bare(if from_client { flow } else { flow.reversed() })
}

fn headers(from_client: bool, segment: &rexmit_tcp::Segment) -> Headers {
    Headers {
        seq: segment.seq,
        ack: segment.ack,
        payload_len: segment.len,
        window: segment.window,
        flags: segment.flags,
        timestamps: segment.timestamps.map(|stamps| Timestamps {
            value: stamps.value,
            echo: stamps.echo,
        }),
        sack: segment.sack.as_slice().iter().copied().collect(),
        syn: segment.flags.syn().then(|| SynOptions {
            mss: segment.mss,
            window_scale: segment.window_scale,
            sack_permitted: segment.sack_permitted,
            timestamps: segment.timestamps.is_some(),
            ..SynOptions::default()
        }),
        ..of_end(from_client)
    }
}

/// A server that paces by what arrived lately and does not heed losses, as BBR does.
struct Paced {
    link: Link,
    rtt: Duration,
    segments: i64,
    /// When each was sent last, in which turn, and whether it was acknowledged.
    sent: Vec<(Time, u64, bool)>,
    again: VecDeque<i64>,
    turns: u64,
    /// What was acknowledged by when, for a round trip, and what that was in each of the last ten.
    delivered: VecDeque<(Time, i64)>,
    rates: VecDeque<(Time, f64)>,
    acked: i64,
    came: Intervals<i64>,
    packets: Vec<Packet>,
}

const MSS: u32 = 1_448;
const ISS: u32 = 1_000;

impl Paced {
    fn new(case: &Case) -> Self {
        Paced {
            link: Link::new(case.down.clone(), || {
                Streams::new(case.seed).stream("link", 0)
            }),
            rtt: case.rtt,
            segments: case.bytes as i64 / i64::from(MSS),
            sent: Vec::new(),
            again: VecDeque::new(),
            turns: 0,
            delivered: VecDeque::new(),
            rates: VecDeque::new(),
            acked: 0,
            came: Intervals::default(),
            packets: Vec::new(),
        }
    }

    fn note(&mut self, at: Time, came: bool, from_client: bool, headers: Headers) {
        let packet = Packet {
            at,
            came,
            from_client,
            headers,
        };
        self.packets.push(packet);
    }

    /// The handshake and a request; when the response begins.
    fn begin(&mut self) -> Time {
        let half = self.rtt / 2;
        let mut at = Time::ZERO + Duration::from_secs(1);
        let options = || {
            Some(SynOptions {
                mss: Some(1_460),
                window_scale: Some(10),
                sack_permitted: true,
                timestamps: true,
                ..SynOptions::default()
            })
        };
        for (from_client, flags, len) in [
            (true, Flags::SYN, 0),
            (false, SYN_ACK, 0),
            (true, Flags::ACK, 100),
        ] {
            let seq = if from_client { 7 } else { ISS - 1 } + u32::from(flags == Flags::ACK);
            let headers = Headers {
                seq: SeqNum::new(seq),
                ack: SeqNum::new(if from_client { ISS } else { 8 }),
                flags,
                window: 60_000,
                payload_len: len,
                timestamps: Some(stamps(at, at)),
                syn: flags.syn().then(options).flatten(),
                ..of_end(from_client)
            };
            self.note(at, false, from_client, headers);
            at += half;
            self.note(at, true, from_client, headers);
        }
        at
    }

    fn run(mut self) -> Vec<Packet> {
        let mut next_send = self.begin();
        let begun = next_send;
        let mut heard = next_send;
        let mut acks: VecDeque<(Time, i64, u64, Time)> = VecDeque::new();
        // As long as the rate grows, and since when it did not.
        let (mut startup, mut best, mut best_at) = (true, 0.0, begun);
        while self.acked < self.segments {
            let rate = self.rates.iter().map(|one| one.1).fold(0.0, f64::max);
            let rate = rate.max(10.0 / self.rtt.as_secs_f64());
            if rate > best * 1.25 {
                (best, best_at) = (rate, next_send);
            }
            startup &= next_send.since(best_at) < self.rtt * 3;
            let flight = (self.sent.len() as i64 - self.acked - self.again.len() as i64) as f64;
            let most = (2.0 * rate * self.rtt.as_secs_f64()).max(4.0);
            let sends = flight < if startup { most * 1.5 } else { most };
            let more = !self.again.is_empty() || (self.sent.len() as i64) < self.segments;
            let ack = acks.front().map(|ack| ack.0);
            if let Some(at) = ack.filter(|at| *at <= next_send || !sends || !more) {
                let Some((_, number, turn, stamp)) = acks.pop_front() else {
                    break;
                };
                heard = stamp;
                next_send = next_send.max(at);
                self.hear(at, number, turn);
                continue;
            }
            if !more || !sends {
                // What was lost last of all: a timeout.
                let open = self.sent.iter().position(|one| !one.2);
                let Some(open) = open else { break };
                next_send += Duration::from_millis(300);
                self.again.push_back(open as i64);
            }
            let phase = next_send.since(begun).as_nanos() / self.rtt.as_nanos() % 8;
            let gain = match (startup, phase) {
                (true, _) => 2.89,
                (false, 0) => 1.25,
                (false, 1) => 0.75,
                _ => 1.0,
            };
            if let Some(ack) = self.send(next_send, heard) {
                acks.push_back(ack);
            }
            next_send += Duration::from_nanos((1e9 / (gain * rate)) as i64);
        }
        self.packets
    }

    /// Sends what is next; the acknowledgement, when it comes to the server.
    fn send(&mut self, at: Time, heard: Time) -> Option<(Time, i64, u64, Time)> {
        let number = self.again.pop_front().unwrap_or(self.sent.len() as i64);
        if number == self.sent.len() as i64 {
            self.sent.push((at, self.turns, false));
        } else {
            let one = &mut self.sent[number as usize];
            (one.0, one.1) = (at, self.turns);
        }
        self.turns += 1;
        let place = |number: i64| SeqNum::new(ISS) + number as u32 * MSS;
        let data = Headers {
            seq: place(number),
            ack: SeqNum::new(108),
            payload_len: MSS,
            window: 60_000,
            timestamps: Some(stamps(at, heard)),
            ..of_end(false)
        };
        self.note(at, false, false, data);
        let came = self.link.enter(at, MSS + 66)[0]?;
        self.note(came, true, false, data);
        self.came.add(number, number + 1);
        let first = self.came.within(0, 1).next().map_or(0, |one| one.1);
        let mut sack = Sack::default();
        let blocks = self.came.within(number, number + 1);
        let others: Vec<_> = self.came.within(first, i64::MAX).collect();
        for (from, to) in blocks.chain(others.into_iter().rev().take(2)) {
            if from > first {
                sack.push(SeqRange {
                    start: place(from),
                    end: place(to),
                });
            }
        }
        let ack = Headers {
            seq: SeqNum::new(108),
            ack: place(first),
            window: 60_000,
            timestamps: Some(stamps(came, at)),
            sack,
            ..of_end(true)
        };
        self.note(came, false, true, ack);
        let back = came + self.rtt / 2;
        self.note(back, true, true, ack);
        Some((back, number, self.turns - 1, came))
    }

    fn hear(&mut self, at: Time, number: i64, turn: u64) {
        let one = &mut self.sent[number as usize];
        if !std::mem::replace(&mut one.2, true) {
            self.acked += 1;
        }
        // What was sent three turns before is lost.
        let from = self.sent.len().saturating_sub(4_000);
        for (number, one) in self.sent.iter_mut().enumerate().skip(from) {
            if !one.2 && one.1 + 3 < turn {
                one.1 = u64::MAX / 2;
                self.again.push_back(number as i64);
            }
        }
        self.delivered.push_back((at, self.acked));
        while self
            .delivered
            .front()
            .is_some_and(|one| one.0 + self.rtt < at)
        {
            if let Some(first) = self.delivered.pop_front() {
                let rate = (self.acked - first.1) as f64 / at.since(first.0).as_secs_f64();
                self.rates.push_back((at, rate));
            }
        }
        while self
            .rates
            .front()
            .is_some_and(|one| one.0 + self.rtt * 10 < at)
        {
            self.rates.pop_front();
        }
    }
}

/// In milliseconds.
fn stamps(value: Time, echo: Time) -> Timestamps {
    let ms = |at: Time| (at.as_nanos() / 1_000_000) as u32;
    Timestamps {
        value: ms(value),
        echo: ms(echo),
    }
}

/// Where a monitor stands: beside the sender, midway before and behind what drops, and beside the receiver.
const PLACES: [&str; 4] = ["sender", "before", "behind", "receiver"];

fn captured(packets: &[Packet], place: usize, rtt: Duration) -> Vec<(Time, Headers)> {
    let at_client = place >= 2;
    let away = if place % 3 == 0 {
        Duration::ZERO
    } else {
        rtt / 4
    };
    let own = packets
        .iter()
        .filter(|packet| packet.came != (packet.from_client == at_client));
    let mut captured: Vec<_> = own
        .map(|packet| {
            let at = if packet.came {
                packet.at - away
            } else {
                packet.at + away
            };
            (at, packet.headers)
        })
        .collect();
    captured.sort_by_key(|one| one.0);
    captured
}

/// Who has most of the time in which data went to the client, and whether a policer has any.
fn largest(capture: &[(Time, Headers)]) -> (Owner, bool) {
    let rows = analyse(capture, Settings::default()).1;
    assert_eq!(rows.connections.len(), 1);
    let shares = &rows.connections[0].row.backward.account;
    let counts = |owner| !matches!(owner, Owner::Closing | Owner::Connecting | Owner::RoundTrip);
    let all = shares.iter().filter(|share| counts(share.owner));
    let most = all.max_by_key(|share| share.length);
    let policer = shares.iter().any(|share| share.owner == Owner::Policer);
    (most.map_or(Owner::Unknown, |share| share.owner), policer)
}

/// What was said at each place, how often.
type Matrix = BTreeMap<(Trouble, usize), BTreeMap<Owner, u32>>;

/// Cases of these seeds: half of them policers.
fn judged(seeds: Range<u64>, paced: bool) -> (Matrix, Vec<String>) {
    let (mut matrix, mut odd) = (Matrix::new(), Vec::new());
    for seed in seeds {
        let other = OTHERS[(seed / 2) as usize % OTHERS.len()];
        let trouble = if seed % 2 == 0 {
            Trouble::Policer
        } else {
            other
        };
        let mut case = Case::draw(seed, trouble);
        case.paced = paced;
        let packets = case.packets();
        for (place, name) in PLACES.iter().enumerate() {
            let (owner, policer) = largest(&captured(&packets, place, case.rtt));
            *matrix
                .entry((trouble, place))
                .or_default()
                .entry(owner)
                .or_default() += 1;
            if policer != (trouble == Trouble::Policer) {
                let Bucket {
                    rate_bps,
                    burst_bytes,
                    ..
                } = case.down.bucket.unwrap_or(Bucket {
                    rate_bps: 0,
                    burst_bytes: 0,
                    queue_bytes: 0,
                });
                odd.push(format!(
                    "{seed} {trouble:?} {name}: {owner:?}; {} rtt {:.0} ms, {rate_bps} bit/s, {burst_bytes} bytes, of {}",
                    case.control,
                    case.rtt.as_secs_f64() * 1e3,
                    case.bytes
                ));
            }
        }
    }
    (matrix, odd)
}

fn print(matrix: &Matrix, odd: &[String]) {
    for ((trouble, place), said) in matrix {
        println!("{trouble:?} {}: {said:?}", PLACES[*place]);
    }
    odd.iter().for_each(|line| println!("{line}"));
}

#[test]
#[ignore = "a sweep, to be looked at: REXMIT_SEEDS=FROM-TO"]
fn sweep() {
    let seeds = std::env::var("REXMIT_SEEDS").unwrap_or_default();
    let (from, to) = seeds.split_once('-').unwrap_or(("0", "200"));
    let seeds = from.parse().unwrap()..to.parse().unwrap();
    for paced in [false, true] {
        println!("paced: {paced}");
        let (matrix, odd) = judged(seeds.clone(), paced);
        print(&matrix, &odd);
    }
}

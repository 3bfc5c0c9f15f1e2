//! Random transfers between two of the model's machines, with the events that the sender saw and the cause of each
//! retransmission.

use std::collections::BTreeMap;
use std::sync::Arc;

use rexmit_tcp::connection::{Connection, Event, Local, Socket};
use rexmit_tcp::settings::Settings;
use rexmit_tcp::{stacks, Mechanism, SackList, Segment};
use rexmit_time::{Duration, Stream, Streams, Time};
use rexmit_trace::event::{Acked, SenderEvent, Sent, SentKind};
use rexmit_trace::facts::SenderFacts;
use rexmit_wire::{SeqNum, SeqRange};

const BEGIN: Time = Time::from_nanos(5_000_200_000);

/// What the path does.
#[derive(Clone, Debug)]
pub struct Path {
    pub one_way: Duration,
    pub jitter: Duration,
    /// Bytes a second towards the client; 0 is no limit.
    pub rate: u64,
    /// Longest wait in the queue.
    pub queue: Duration,
    pub loss: f64,
    /// A loss goes on with this chance.
    pub burst: f64,
    pub ack_loss: f64,
    pub reorder: f64,
    pub duplicate: f64,
    /// Chance a packet of a stop of the path, and its length.
    pub spike: f64,
    pub spike_for: Duration,
}

/// What the applications do.
#[derive(Clone, Debug)]
pub struct Work {
    /// Bytes of each response.
    pub responses: Vec<u32>,
    pub think: Duration,
}

/// One connection: what its sender saw, and why it sent what it sent again.
pub struct Run {
    pub facts: SenderFacts,
    pub events: Vec<SenderEvent>,
    /// The cause of each retransmission, in the order of their numbers.
    pub causes: Vec<Mechanism>,
}

enum Wire {
    Packet(bool, Segment),
    Request,
}

struct World {
    path: Path,
    random: Stream,
    wire: BTreeMap<(Time, u64), Wire>,
    count: u64,
    free: Time,
    stopped: Time,
    losing: bool,
}

impl World {
    fn chance(&mut self, chance: f64) -> bool {
        chance > 0.0 && self.random.uniform() < chance
    }

    fn put(&mut self, at: Time, item: Wire) {
        self.count += 1;
        self.wire.insert((at, self.count), item);
    }

    fn carry(&mut self, now: Time, down: bool, segment: &Segment) {
        let path = self.path.clone();
        if self.chance(path.spike) {
            self.stopped = now + path.spike_for;
        }
        let mut leaves = now.max(self.stopped);
        if down {
            self.losing = if self.losing {
                self.chance(path.burst)
            } else {
                self.chance(path.loss)
            };
            if self.losing {
                return;
            }
            if let Some(wire) = (u64::from(segment.len + 66) * 1_000_000_000).checked_div(path.rate)
            {
                let begins = leaves.max(self.free);
                if begins - now > path.queue {
                    return;
                }
                leaves = begins + Duration::from_nanos(wire as i64);
                self.free = leaves;
            }
        } else if self.chance(path.ack_loss) {
            return;
        }
        let jitter = (path.jitter.as_nanos() as f64 * self.random.uniform()) as i64;
        let mut at = leaves + path.one_way + Duration::from_nanos(jitter);
        if self.chance(path.reorder) {
            let by = (path.one_way.as_nanos() as f64 * self.random.uniform()) as i64;
            at += Duration::from_nanos(by + 200_000);
        }
        self.put(at, Wire::Packet(!down, *segment));
        if self.chance(path.duplicate) {
            self.put(at + Duration::from_micros(5), Wire::Packet(!down, *segment));
        }
    }
}

fn local(iss: u32) -> Local {
    Local {
        timestamp_offset: 0x7fff_0000,
        ..Local::ethernet(SeqNum::new(iss))
    }
}

/// The settings of a stack with some of them changed.
pub fn stack(name: &str, changes: &[(&str, String)]) -> Settings {
    let changes: BTreeMap<String, String> = changes
        .iter()
        .map(|(key, value)| ((*key).to_owned(), value.clone()))
        .collect();
    stacks::build(name, &changes, &BTreeMap::new()).unwrap().0
}

/// What the server's sender saw, put together packet by packet.
#[derive(Default)]
struct Log {
    events: Vec<SenderEvent>,
    causes: Vec<Mechanism>,
    iss: Option<SeqNum>,
    nxt: SeqNum,
    shift: u8,
    facts: SenderFacts,
    syn_at: Option<Time>,
    syn_acked: bool,
}

impl Log {
    fn sent(&mut self, at: Time, segment: &Segment, mechanism: Option<Mechanism>) {
        if segment.space() == 0 {
            return;
        }
        let range = SeqRange {
            start: segment.seq,
            end: segment.end(),
        };
        let again = self.iss.is_some() && range.start.is_before(self.nxt);
        if segment.flags.syn() {
            self.facts.syns += 1;
            self.syn_at = Some(at);
            self.facts.isn = Some(segment.seq);
            self.facts.sack = segment.sack_permitted;
            self.facts.timestamps = segment.timestamps.is_some();
            if self.facts.timestamps && self.facts.syns == 1 {
                self.facts.mss -= 12;
            }
        }
        let kind = if again {
            self.causes.push(mechanism.unwrap_or(Mechanism::Rto));
            SentKind::Retransmission(self.causes.len() as u32 - 1)
        } else {
            SentKind::New
        };
        if self.iss.is_none() || range.end.is_after(self.nxt) {
            self.nxt = range.end;
        }
        self.iss.get_or_insert(segment.seq);
        self.events.push(SenderEvent::Sent(Sent {
            at,
            range,
            kind,
            flags: segment.flags,
            stamp: segment.timestamps.map(|stamps| stamps.value),
            echo: segment.timestamps.map(|stamps| stamps.echo),
            slack: Duration::ZERO,
            own_time: true,
            counted: false,
            missing: None,
        }));
    }

    fn acked(&mut self, at: Time, segment: &Segment) {
        if segment.flags.syn() {
            self.shift = segment.window_scale.unwrap_or(0);
            self.facts.window_shift = self.shift;
            let mss = u32::from(segment.mss.unwrap_or(536)).min(1460);
            self.facts.mss = mss;
            return;
        }
        if !self.syn_acked {
            self.syn_acked = true;
            if self.facts.syns == 1 {
                self.facts.handshake_rtt = self.syn_at.map(|sent| at - sent);
            }
        }
        let blocks = segment.sack.as_slice();
        let mut sacks = SackList::default();
        let mut dsack = None;
        for (index, block) in blocks.iter().enumerate() {
            let inside = index == 0
                && blocks.get(1).is_some_and(|second| {
                    !block.end.is_after(second.end) && !block.start.is_before(second.start)
                });
            if index == 0 && (block.start.is_before(segment.ack) || inside) {
                dsack = Some(*block);
            } else {
                sacks.push(*block);
            }
        }
        self.events.push(SenderEvent::Acked(Acked {
            at,
            ack: segment.ack,
            window: u32::from(segment.window) << self.shift,
            sacks,
            dsack,
            stamp: segment.timestamps.map(|stamps| stamps.value),
            echo: segment.timestamps.map(|stamps| stamps.echo),
            carried: SeqRange::new(segment.seq, segment.space()),
            slack: Duration::ZERO,
        }));
    }
}

/// Runs one connection whose server sends `work` by `settings` to a client of the stack `client`.
pub fn run(settings: Settings, client: Settings, path: Path, work: &Work, seed: u64) -> Run {
    let streams = Streams::new(seed);
    let mut random = streams.stream("hosts", 0);
    let phase = Duration::from_nanos(random.below(1_000_000_000) as i64);
    let begin = BEGIN + phase;
    let clock = settings.timers.clock();
    let settings = Arc::new(settings);
    let client_clock = client.timers.clock();
    let iss = random.next_u64() as u32;
    let mut client = Connection::connect(Arc::new(client), client_clock, &local(iss), begin);
    let mut server: Option<Connection> = None;
    let mut world = World {
        path,
        random: streams.stream("path", 0),
        wire: BTreeMap::new(),
        count: 0,
        free: Time::ZERO,
        stopped: Time::ZERO,
        losing: false,
    };
    let mut log = Log::default();
    let mut now = begin;
    let mut next = 0;
    let (mut to_send, mut to_read) = (0, 0);
    let end = begin + Duration::from_secs(900);
    let mut steps = 0;
    loop {
        loop {
            let mut busy = false;
            while let Some(sent) = client.poll_transmit(now) {
                busy = true;
                world.carry(now, false, &sent.segment);
                if sent.in_host_bytes > 0 {
                    client.left_host(now, sent.in_host_bytes);
                }
            }
            while let Some(event) = client.poll_event() {
                busy = true;
                if event == Event::Established {
                    world.put(now, Wire::Request);
                }
                loop {
                    let taken = client.read(now, 1 << 20);
                    if taken == 0 {
                        break;
                    }
                    to_read -= i64::from(taken);
                    if to_read == 0 {
                        let think = work.think.as_nanos() as f64 * world.random.uniform();
                        world.put(now + Duration::from_nanos(think as i64), Wire::Request);
                    }
                }
                if client.at_end() {
                    client.close(now);
                }
            }
            if let Some(server) = &mut server {
                while let Some(sent) = server.poll_transmit(now) {
                    busy = true;
                    log.sent(now, &sent.segment, sent.mechanism);
                    world.carry(now, true, &sent.segment);
                    if sent.in_host_bytes > 0 {
                        server.left_host(now, sent.in_host_bytes);
                    }
                }
                while let Some(event) = server.poll_event() {
                    busy = true;
                    if event == Event::Readable && server.read(now, 1 << 20) > 0 {
                        to_send += work.responses[next - 1];
                    }
                }
                if to_send > 0 {
                    let taken = server.write(now, to_send, false);
                    to_send -= taken;
                    busy |= taken > 0;
                    if to_send == 0 && next == work.responses.len() {
                        server.close(now);
                    }
                }
            }
            if !busy {
                break;
            }
        }
        let arrival = world.wire.keys().next().map(|&(at, _)| at);
        let server_due = server.as_ref().and_then(Connection::deadline);
        let client_due = client.deadline();
        let due = [client_due, server_due].into_iter().flatten().min();
        let Some(at) = due.into_iter().chain(arrival).min() else {
            break;
        };
        steps += 1;
        if at > end || steps > 400_000 {
            break;
        }
        now = now.max(at);
        if arrival == Some(at) {
            match world.wire.pop_first() {
                Some((_, Wire::Packet(true, segment))) => match &mut server {
                    Some(server) => {
                        log.acked(now, &segment);
                        server.on_segment(now, &segment);
                    }
                    None => {
                        log.acked(now, &segment);
                        let local = local(iss ^ 0x5555_5555);
                        let settings = Arc::clone(&settings);
                        server = Some(Connection::accept(settings, clock, &local, &segment, now));
                    }
                },
                Some((_, Wire::Packet(false, segment))) => client.on_segment(now, &segment),
                Some((_, Wire::Request)) if next < work.responses.len() => {
                    to_read += i64::from(work.responses[next]);
                    next += 1;
                    client.write(now, 100, false);
                }
                _ => {}
            }
        } else if client_due == Some(at) {
            client.on_deadline(now);
        } else if let Some(server) = &mut server {
            server.on_deadline(now);
        }
    }
    Run {
        facts: log.facts,
        events: log.events,
        causes: log.causes,
    }
}

/// A random path and workload.
pub fn draw(seed: u64) -> (Path, Work) {
    let streams = Streams::new(seed);
    let mut random = streams.stream("case", 0);
    let mut pick = |list: &[f64]| list[random.below(list.len() as u64) as usize];
    let rtt_ms = pick(&[1.0, 5.0, 10.0, 20.0, 40.0, 60.0, 100.0, 150.0, 250.0, 400.0]);
    let loss = pick(&[0.005, 0.01, 0.02, 0.05, 0.1]);
    let kind = pick(&[0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
    let path = Path {
        one_way: Duration::from_nanos((rtt_ms * 5e5) as i64),
        jitter: Duration::from_nanos((rtt_ms * 1e6 * pick(&[0.0, 0.01, 0.05, 0.2])) as i64),
        rate: (pick(&[0.0, 0.0, 1.0, 8.0, 100.0]) * 125_000.0) as u64,
        queue: Duration::from_millis(pick(&[50.0, 200.0, 1000.0]) as i64),
        loss,
        burst: pick(&[loss, loss, 0.5, 0.8]),
        ack_loss: pick(&[0.0, 0.0, 0.02, 0.1]),
        reorder: if kind == 1.0 {
            pick(&[0.01, 0.05])
        } else {
            0.0
        },
        duplicate: if kind == 2.0 { 0.02 } else { 0.0 },
        spike: if kind == 3.0 { 0.003 } else { 0.0 },
        spike_for: Duration::from_millis(pick(&[200.0, 500.0, 1500.0]) as i64),
    };
    let responses = (0..pick(&[1.0, 2.0, 5.0, 10.0]) as usize)
        .map(|_| (pick(&[0.3, 1.0, 3.0, 8.0, 15.0, 40.0, 150.0]) * 1460.0) as u32)
        .collect();
    let work = Work {
        responses,
        think: Duration::from_millis(pick(&[0.0, 50.0, 500.0]) as i64),
    };
    (path, work)
}

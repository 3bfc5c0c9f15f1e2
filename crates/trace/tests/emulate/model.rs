//! Random transfers between two of the model's machines, with the events that the sender saw and the cause of each
//! retransmission.

use std::sync::Arc;

use rexmit_sim::apps::{Exchange, Host, Script, Visitor};
use rexmit_sim::link::{Loss, LossBursts, Settings as Link, Spells};
use rexmit_sim::App;
use rexmit_tcp::settings::Settings;
use rexmit_tcp::{Mechanism, SackList, Segment};
use rexmit_testing::{Lab, Plan};
use rexmit_time::{Duration, Streams, Time};
use rexmit_trace::event::{Acked, SenderEvent, Sent, SentKind};
use rexmit_trace::facts::SenderFacts;
use rexmit_wire::{SeqNum, SeqRange};

/// One connection: what its sender saw, and why it sent what it sent again.
pub struct Run {
    pub facts: SenderFacts,
    pub events: Vec<SenderEvent>,
    /// The cause of each retransmission, in the order of their numbers.
    pub causes: Vec<Mechanism>,
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

/// Runs one connection by `plan`.
pub fn run(plan: Plan) -> Run {
    let mut lab: Lab = Lab::open(plan);
    lab.run(900_000.0);
    let mut log = Log::default();
    for one in lab.log() {
        let segment = one.packet.segment();
        match (one.came, one.packet.from == lab.server) {
            (false, true) => log.sent(one.at, segment, one.packet.sent.mechanism),
            (true, false) => log.acked(one.at, segment),
            _ => {}
        }
    }
    Run {
        facts: log.facts,
        events: log.events,
        causes: log.causes,
    }
}

/// A random path and workload between these hosts.
pub fn draw(seed: u64, client: Settings, server: Settings) -> Plan {
    let streams = Streams::new(seed);
    let mut random = streams.stream("case", 0);
    let mut pick = |list: &[f64]| list[random.below(list.len() as u64) as usize];
    let rtt_ms = pick(&[1.0, 5.0, 10.0, 20.0, 40.0, 60.0, 100.0, 150.0, 250.0, 400.0]);
    let loss = pick(&[0.005, 0.01, 0.02, 0.05, 0.1]);
    let kind = pick(&[0.0, 0.0, 0.0, 1.0, 2.0, 3.0]);
    let millis = |ms: f64| Duration::from_nanos((ms * 1e6) as i64);
    let one_way = Link {
        delay: millis(rtt_ms / 2.0),
        jitter: millis(rtt_ms / 2.0 * pick(&[0.0, 0.01, 0.05, 0.2])),
        reorder: if kind == 1.0 {
            pick(&[0.01, 0.05])
        } else {
            0.0
        },
        duplicate: if kind == 2.0 { 0.02 } else { 0.0 },
        ..Link::default()
    };
    let rate_bps = (pick(&[0.0, 0.0, 1.0, 8.0, 100.0]) * 1e6) as u64;
    let queue_ms = pick(&[50.0, 200.0, 1000.0]);
    // A loss goes on with this chance.
    let burst = pick(&[loss, loss, 0.5, 0.8]);
    let up = Link {
        loss: Loss::Random(pick(&[0.0, 0.0, 0.02, 0.1])),
        ..one_way.clone()
    };
    let stall = pick(&[200.0, 500.0, 1500.0]);
    let down = Link {
        rate_bps,
        queue_packets: match rate_bps {
            0 => 1000,
            _ => (rate_bps as f64 / 8e3 * queue_ms / 1514.0) as usize + 2,
        },
        loss: Loss::Bursts(LossBursts {
            to_bad: loss,
            to_good: 1.0 - burst,
            when_bad: 1.0,
            when_good: 0.0,
        }),
        stalls: (kind == 3.0).then_some(Spells {
            every: Duration::from_secs(3),
            least: millis(stall),
            most: millis(stall),
        }),
        ..one_way
    };
    let responses = pick(&[1.0, 2.0, 5.0, 10.0]) as usize;
    let think = pick(&[0.0, 50.0, 500.0]);
    let exchange = || Exchange {
        request: 100,
        response: (pick(&[0.3, 1.0, 3.0, 8.0, 15.0, 40.0, 150.0]) * 1460.0) as u64,
        work: Duration::ZERO,
        think: millis(think * pick(&[0.1, 0.5, 0.9])),
    };
    let script = Arc::new(Script {
        exchanges: std::iter::repeat_with(exchange).take(responses).collect(),
        server_closes: true,
        ..Script::default()
    });
    let apps = [
        App::Visitor(Visitor::new(Arc::clone(&script))),
        App::Host(Host::new(script)),
    ];
    let phase = Duration::from_nanos(streams.stream("phase", 0).below(1_000_000_000) as i64);
    let plan = Plan::new(server, Duration::ZERO, apps);
    Plan {
        client,
        paths: vec![[up, down]],
        begin: plan.begin + phase,
        seed,
        ..plan
    }
}

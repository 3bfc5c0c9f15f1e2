//! The model's speed and size on one core: packets a second, transfers a second, bytes an idle connection.
//!
//! The reference for packets is std's binary heap with two entries put in and taken out for each packet: what the least
//! discrete-event simulator would do that keeps a packet's two ways through the network and nothing else.
//!
//! `cargo bench -p rexmit-benches --bench model`

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::fmt::Write as _;
use std::hint::black_box;
use std::net::IpAddr;

use rexmit_benches::{best_of, Rate};
use rexmit_sim::apps::{Answerer, Asker, Sink, Source};
use rexmit_sim::link::Settings as Link;
use rexmit_sim::{run_plan, App, Host, Network, NodeId, Open, Stack, Talk, World};
use rexmit_tcp::connection::Connection;
use rexmit_tcp::stacks;
use rexmit_time::{Duration, Streams, Time};

const RUNS: u32 = 5;
/// The issue's aims.
const PACKETS_A_SECOND: f64 = 2e6;
const TRANSFER_US: f64 = 150.0;
const IDLE_BYTES: f64 = 2048.0;

type Simulation = World<Connection, Open>;

fn main() {
    let reference = heap(2_000_000);
    println!("std BinaryHeap, two entries a packet          {reference}");
    let mut slowest = f64::INFINITY;
    for stack in ["linux-6.12", "linux-3.10"] {
        for flows in [1, 100] {
            let rate = bulk(stack, flows);
            slowest = slowest.min(rate.per_second);
            println!(
                "bulk over 1 Gbit/s, {stack:10}, {flows:3} flows    {rate}  {:.2} of the reference",
                rate.per_second / reference.per_second
            );
        }
    }
    aim(
        "slowest, M packets/s",
        slowest / 1e6,
        PACKETS_A_SECOND / 1e6,
        slowest >= PACKETS_A_SECOND,
    );
    for stack in ["linux-6.12", "linux-3.10"] {
        for lost in [0, 5] {
            let micros = 1e6 / transfers(stack, lost).per_second;
            let label = format!("transfer of 100 segments, {lost} lost, {stack}, µs");
            aim(&label, micros, TRANSFER_US, micros <= TRANSFER_US);
        }
    }
    let bytes = idle(100_000);
    aim(
        "an idle connection, both ends, bytes",
        bytes,
        2.0 * IDLE_BYTES,
        bytes <= 2.0 * IDLE_BYTES,
    );
}

fn aim(what: &str, value: f64, aim: f64, reached: bool) {
    let verdict = if reached { "reached" } else { "missed" };
    println!("{what:48} {value:8.2}; aim {aim:.0} {verdict}");
}

fn heap(packets: u64) -> Rate {
    best_of(RUNS, packets, || {
        let mut heap = BinaryHeap::new();
        for id in 0..100_u64 {
            heap.push(Reverse((id, id)));
        }
        for _ in 0..2 * packets {
            if let Some(Reverse((time, id))) = heap.pop() {
                heap.push(Reverse((time + 1 + id % 7, id)));
            }
        }
        black_box(heap.len());
    })
}

/// Two hosts with a switch between them, on links of this rate and delay.
fn network(stack: &str, rate_bps: u64, delay: Duration) -> (Network, [NodeId; 2]) {
    let settings = stacks::page(stack).expect("a stack").settings;
    let host = |last| Host::new(IpAddr::from([10, 0, 0, last]), Stack::new(settings.clone()));
    let streams = Streams::new(1);
    let mut network = Network::new();
    let nodes = [network.add_host(host(1)), network.add_host(host(2))];
    let switch = network.add_switch();
    let link = Link {
        rate_bps,
        delay,
        ..Link::default()
    };
    for node in nodes {
        network.add_link(node, switch, &link, &streams);
    }
    (network, nodes)
}

fn world(stack: &str, rate_bps: u64, delay: Duration) -> (Simulation, [NodeId; 2]) {
    let (network, nodes) = network(stack, rate_bps, delay);
    let world = World::new(
        network,
        Open,
        &Streams::new(1),
        Time::from_nanos(1_000_000_000),
    );
    (world, nodes)
}

/// Packets a second of transfers that share a bottleneck and lose packets in its queue.
fn bulk(stack: &str, flows: u16) -> Rate {
    const BYTES: u64 = 300_000_000;
    let run = || {
        let (mut world, nodes) = world(stack, 1_000_000_000, Duration::from_micros(250));
        for flow in 0..flows {
            let source = App::Source(Source::new(BYTES / u64::from(flows)));
            let talk = Talk {
                client: (nodes[0], 32_768 + flow, source),
                server: (nodes[1], 80, App::Sink(Sink::default())),
            };
            let at = Time::from_nanos(1_000_000_000 + 1_000_000 * u64::from(flow));
            world.open(at, talk);
        }
        world.run_until(Time::from_nanos(60_000_000_000));
        world.delivered()
    };
    let packets = run();
    assert!(packets > BYTES / 1448, "all of it arrived: {packets}");
    best_of(RUNS, packets, || {
        black_box(run());
    })
}

/// Transfers a second as campaigns make them, plan to rows.
fn transfers(stack: &str, lost: u32) -> Rate {
    const TRANSFERS: u64 = 500;
    let link =
        r#"{"rate_bps":7200000,"delay_ns":25000000,"jitter_ns":0,"loss":0.0,"queue_packets":1000}"#;
    let mut starts = String::new();
    for n in 0..TRANSFERS {
        let comma = if n > 0 { "," } else { "" };
        let phase = n * 256_000_000 / TRANSFERS;
        let _ = write!(starts, r#"{comma}{{"repetition":{n},"phase_ns":{phase}}}"#);
    }
    let plan = format!(
        r#"{{"version":1,"cells":[{{"id":0,"label":"x","sysctls":{{}},"congestion_control":"cubic",
        "network":{{"family":4,"at":"wire","mtu":1500,"links":[{link},{link}]}},
        "workload":{{"server":"nginx","client":"builtin","segments":100,"bytes":null,"receive_window_bytes":null}},
        "loss":{{"rule":"tail","segments":{lost},"mode":"sequence","hold_limit_ns":3000000000}},
        "starts":[{starts}],"phase_period_ns":256000000,"capture":false,"transfer_timeout_ns":300000000000,
        "stack":{{"name":"{stack}"}}}}]}}"#
    );
    best_of(RUNS, TRANSFERS, || {
        let mut events = Vec::new();
        run_plan(&plan, None, &mut events).expect("a plan");
        let text = String::from_utf8_lossy(&events);
        let rows = text.matches(r#"{"type":"transfer""#).count();
        assert_eq!(rows as u64, TRANSFERS, "{text}");
    })
}

/// Resident bytes of a connection that has done a question and an answer and is quiet.
fn idle(connections: u32) -> f64 {
    let before = resident_bytes();
    let (mut world, nodes) = world("linux-6.12", 1_000_000_000, Duration::from_millis(5));
    for n in 0..connections {
        let asker = Asker::new(100, 1_000, 1, Duration::from_secs(1_000_000));
        let talk = Talk {
            client: (nodes[0], 1_024 + (n % 60_000) as u16, App::Asker(asker)),
            server: (
                nodes[1],
                (n / 60_000) as u16 + 80,
                App::Answerer(Answerer::new(100, 1_000)),
            ),
        };
        world.open(
            Time::from_nanos(1_000_000_000 + 20_000 * u64::from(n)),
            talk,
        );
    }
    world.run_until(Time::from_nanos(1_000_000_000_000));
    let bytes = resident_bytes() - before;
    assert!(world.delivered() > 5 * u64::from(connections));
    bytes / f64::from(connections)
}

fn resident_bytes() -> f64 {
    let statm = std::fs::read_to_string("/proc/self/statm").expect("Linux");
    let pages: f64 = statm
        .split(' ')
        .nth(1)
        .and_then(|word| word.parse().ok())
        .expect("the second number");
    pages * 4096.0
}

//! Connections over networks that lose, delay, reorder and double.

use std::net::IpAddr;

use proptest::prelude::*;
use rexmit_sim::apps::{Sink, Source};
use rexmit_sim::link::{Bursts, Loss, Settings as Link, Shaper};
use rexmit_sim::{App, Host, Network, NodeId, Open, Stack, Talk, Turn, World};
use rexmit_tcp::connection::{Connection, State};
use rexmit_tcp::sender::Metrics;
use rexmit_tcp::stacks;
use rexmit_time::{Duration, Streams, Time};

const START: Time = Time::from_nanos(1_000_000_000);

/// How long a sender whose program has closed tries in vain, which happens where bursts of loss meet each retransmission
/// or its ACK: 200 ms, doubled eight times (`tcp_orphan_retries`, `retransmits_timed_out`).
const ORPHAN_GIVES_UP: Duration = Duration::from_millis(102_200);

fn star(stack: &str, hosts: u8, link: &Link, streams: &Streams) -> (Network, Vec<NodeId>) {
    let settings = stacks::page(stack).unwrap().settings;
    let mut network = Network::new();
    let switch = network.add_switch();
    let nodes: Vec<NodeId> = (1..=hosts)
        .map(|last| {
            network.add_host(Host {
                address: IpAddr::from([10, 0, 0, last]),
                mtu: 1500,
                stack: Stack::new(settings.clone()),
                filtered: false,
                turn: Turn::AtOnce,
                window_clamp: None,
                metrics: Metrics::default(),
                look: Duration::ZERO,
                defer_accept: None,
            })
        })
        .collect();
    for node in &nodes {
        network.add_link(*node, switch, link, streams);
    }
    (network, nodes)
}

fn received(world: &World<Connection, Open>, end: rexmit_sim::EndId) -> (u64, bool) {
    match world.app(end) {
        App::Sink(sink) => (sink.received, sink.finished.is_some()),
        _ => panic!("not a sink"),
    }
}

#[test]
fn a_hundred_flows_share_a_bottleneck_whose_queue_overflows() {
    const BYTES: u64 = 300_000;
    let streams = Streams::new(3);
    let link = Link {
        rate_bps: 20_000_000,
        delay: Duration::from_millis(5),
        queue_packets: 50,
        ..Link::default()
    };
    let (network, nodes) = star("linux-6.12", 2, &link, &streams);
    let mut world: World<Connection, Open> = World::new(network, Open, &streams, START);
    let ends: Vec<_> = (0..100_u16)
        .map(|n| {
            let at = START + Duration::from_millis(i64::from(n));
            let source = App::Source(Source::new(BYTES));
            let talk = Talk {
                client: (nodes[0], 40_000 + n, source),
                server: (nodes[1], 80, App::Sink(Sink::default())),
            };
            world.open(at, talk)
        })
        .collect();
    world.run_until(START + Duration::from_secs(600));
    for end in &ends {
        assert_eq!(received(&world, end.peer()), (BYTES, true));
    }
    let retransmissions: u64 = ends
        .iter()
        .filter_map(|end| Some(u64::from(world.machine(*end)?.counters().retransmissions)))
        .sum();
    assert!(retransmissions > 0, "the queue overflows");
    // No faster than the link: 30 MB at 20 Mbit/s take 12 s.
    let finished = |end: &rexmit_sim::EndId| match world.app(end.peer()) {
        App::Sink(sink) => sink.finished,
        _ => None,
    };
    let last = ends.iter().filter_map(finished).max().unwrap();
    let took = (last - START).as_secs_f64();
    assert!((12.0..20.0).contains(&took), "{took}");
}

fn links() -> impl Strategy<Value = Link> {
    let loss = prop_oneof![
        Just(Loss::None),
        (0.0..0.08).prop_map(Loss::Random),
        (0.0..0.02, 0.2..0.8).prop_map(|(to_bad, to_good)| Loss::Bursts(Bursts {
            to_bad,
            to_good,
            loss_when_bad: 0.8,
            loss_when_good: 0.0,
        })),
    ];
    let rate = prop_oneof![Just(0), 1_000_000_u64..1_000_000_000];
    (
        rate,
        0i64..50_000,
        0i64..5_000,
        4usize..200,
        loss,
        0.0..0.1,
        0.0..0.1,
    )
        .prop_map(
            |(rate_bps, delay, jitter, queue_packets, loss, reorder, duplicate)| Link {
                stalls: None,
                rate_bps,
                delay: Duration::from_micros(delay),
                jitter: Duration::from_micros(jitter),
                queue_packets,
                loss,
                reorder,
                shaper: Shaper::Netem,
                reorder_gap: 1,
                duplicate,
            },
        )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn all_that_is_sent_arrives_once_and_in_order(
        link in links(),
        stack in prop::sample::select(vec!["linux-3.10", "linux-6.1", "linux-6.12", "rfc"]),
        bytes in 1u64..400_000,
        seed in any::<u64>(),
    ) {
        let streams = Streams::new(seed);
        let (network, nodes) = star(stack, 2, &link, &streams);
        let mut world: World<Connection, Open> = World::new(network, Open, &streams, START);
        let talk = Talk {
            client: (nodes[0], 40_000, App::Source(Source::new(bytes))),
            server: (nodes[1], 80, App::Sink(Sink::default())),
        };
        let end = world.open(START, talk);
        world.run_until(START + Duration::from_secs(3_600));
        let (arrived, finished) = received(&world, end.peer());
        let all = arrived == bytes && finished;
        let closed = world.machine(end).unwrap().state() == State::Closed;
        let gave_up = closed && arrived <= bytes && world.now() - START > ORPHAN_GIVES_UP;
        prop_assert!(all || gave_up, "{arrived} of {bytes} bytes, closed: {closed}, at {:?}", world.now());
    }
}

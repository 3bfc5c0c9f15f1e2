//! Connections that share a network.

use std::net::IpAddr;

use rexmit_sim::apps::{Sink, Source};
use rexmit_sim::link::Settings as Link;
use rexmit_sim::{App, Host, Network, Open, Stack, Talk, World};
use rexmit_tcp::connection::Connection;
use rexmit_testing::settings;
use rexmit_time::{Duration, Streams, Time};

const START: Time = Time::from_nanos(1_000_000_000);

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
    let mut network = Network::new();
    let switch = network.add_switch();
    let nodes = [1, 2].map(|last| {
        let stack = Stack::new(settings("linux-6.12", &[]));
        let node = network.add_host(Host::new(IpAddr::from([10, 0, 0, last]), stack));
        network.add_link(node, switch, &link, &streams);
        node
    });
    let mut world: World<Connection, Open> = World::new(network, Open, &streams, START);
    let ends: Vec<_> = (0..100_u16)
        .map(|n| {
            let at = START + Duration::from_millis(i64::from(n));
            let talk = Talk {
                client: (nodes[0], 40_000 + n, App::Source(Source::new(BYTES))),
                server: (nodes[1], 80, App::Sink(Sink::default())),
            };
            world.open(at, talk)
        })
        .collect();
    world.run_until(START + Duration::from_secs(600));
    let mut last = START;
    for end in &ends {
        match world.app(end.peer()) {
            App::Sink(sink) => {
                assert_eq!(sink.received, BYTES);
                last = last.max(sink.finished.expect("an end"));
            }
            _ => panic!("not a sink"),
        }
    }
    let retransmissions = |end| u64::from(world.machine(end).unwrap().counters().retransmissions);
    let all: u64 = ends.iter().map(|end| retransmissions(*end)).sum();
    assert!(all > 0, "the queue overflows");
    // No faster than the link: 30 MB at 20 Mbit/s take 12 s.
    let took = (last - START).as_secs_f64();
    assert!((12.0..20.0).contains(&took), "{took}");
}

//! The simulation with a TCP that can be reckoned by hand.

mod stop_and_wait;
mod turns;
mod work;

use std::collections::BTreeSet;
use std::net::IpAddr;
use std::sync::Arc;

use rexmit_loss::{Decision, Verdict};
use rexmit_time::Duration;

use super::*;
use crate::apps::{self, Answerer, Asker, Browser, Exchange, Nginx, Script, Sink, Source, Visitor};
use crate::link;
use crate::machine::Stack;
use stop_and_wait::{StopAndWait, MSS};

const MILLISECOND: Duration = Duration::from_millis(1);

/// Keeps what is sent and drops the packets of which `drop` says so.
#[derive(Default)]
struct Log {
    sent: Vec<(Time, EndId, u32)>,
    drop: Vec<usize>,
    hold: Option<(usize, Time)>,
    released: Option<(PacketId, Decision)>,
}

impl<M: Machine> Gate<M> for Log {
    fn on_sent(
        &mut self,
        now: Time,
        id: PacketId,
        packet: &Packet<M::Options>,
        _: &FlowKey,
        _: &M,
    ) -> Verdict {
        let number = self.sent.len();
        self.sent.push((now, packet.from, packet.segment().len));
        match self.hold {
            Some((held, _)) if held == number => {
                self.released = Some((id, Decision::Accept));
                Verdict::Hold
            }
            _ if self.drop.contains(&number) => Verdict::Drop,
            _ => Verdict::Accept,
        }
    }

    fn poll_release(&mut self) -> Option<(PacketId, Decision)> {
        if self.hold.is_some() {
            return None;
        }
        self.released.take()
    }

    fn deadline(&self) -> Option<Time> {
        self.hold.map(|(_, until)| until)
    }

    fn on_deadline(&mut self, _: Time) {
        self.hold = None;
    }
}

fn host(last: u8) -> Host {
    let settings = rexmit_tcp::stacks::page("rfc").unwrap().settings;
    Host::new(IpAddr::from([10, 0, 0, last]), Stack::new(settings))
}

fn delay(time: Duration) -> link::Settings {
    link::Settings {
        delay: time,
        ..link::Settings::default()
    }
}

/// `hosts` around a switch, each on a link of a millisecond without a rate.
fn star(hosts: u8) -> (Network, Vec<NodeId>) {
    let streams = Streams::new(1);
    let mut network = Network::new();
    let switch = network.add_switch();
    let nodes: Vec<NodeId> = (1..=hosts).map(|n| network.add_host(host(n))).collect();
    for node in &nodes {
        network.add_link(*node, switch, &delay(MILLISECOND), &streams);
    }
    (network, nodes)
}

fn talk(nodes: &[NodeId], client: App, server: App) -> Talk {
    Talk {
        client: (nodes[0], 40_000, client),
        server: (nodes[1], 80, server),
    }
}

fn world(gate: Log) -> (World<StopAndWait, Log>, Vec<NodeId>) {
    let (network, nodes) = star(2);
    (
        World::new(network, gate, &Streams::new(1), Time::ZERO),
        nodes,
    )
}

fn web() -> (App, App) {
    let client = App::Browser(Browser::new(100));
    (client, App::Nginx(Nginx::new(100, 200, 2_300)))
}

#[test]
fn a_page_is_fetched_a_segment_a_round_trip() {
    let (mut world, nodes) = world(Log::default());
    let (client, server) = web();
    let end = world.open(Time::ZERO, talk(&nodes, client, server));
    world.run_until(Time::MAX);
    let App::Browser(browser) = world.app(end) else {
        panic!()
    };
    // SYN and SYN-ACK, the request, then 200, 1,000 and 1,000 and their acknowledgements, then 300 with the FIN.
    assert_eq!(browser.received, 2_500);
    assert_eq!(
        browser.finished,
        Some(Time::ZERO + MILLISECOND * (4 + 2 + 4 + 4 + 4 + 2))
    );
    let data: u32 = world.gate.sent.iter().map(|(_, _, len)| len).sum();
    assert_eq!(data, 2_600);
    let left: u32 = [end, end.peer()]
        .iter()
        .filter_map(|end| Some(world.machine(*end)?.in_host))
        .sum();
    assert_eq!(left, 2_600);
}

#[test]
fn a_packet_that_is_dropped_comes_a_timeout_later() {
    let (mut world, nodes) = world(Log {
        drop: vec![0, 7],
        ..Log::default()
    });
    let (client, server) = web();
    let end = world.open(Time::ZERO, talk(&nodes, client, server));
    world.run_until(Time::MAX);
    let App::Browser(browser) = world.app(end) else {
        panic!()
    };
    let expected = MILLISECOND * 20 + Duration::from_secs(2);
    assert_eq!(browser.finished, Some(Time::ZERO + expected));
}

#[test]
fn a_packet_that_is_held_leaves_when_the_gate_says_so() {
    let until = Time::ZERO + MILLISECOND * 500;
    let (mut world, nodes) = world(Log {
        hold: Some((0, until)),
        ..Log::default()
    });
    let (client, server) = web();
    let end = world.open(Time::ZERO, talk(&nodes, client, server));
    world.run_until(Time::MAX);
    let App::Browser(browser) = world.app(end) else {
        panic!()
    };
    assert_eq!(browser.finished, Some(until + MILLISECOND * 20));
}

#[test]
fn questions_are_answered_with_time_to_think_between() {
    let (mut world, nodes) = world(Log::default());
    let client = App::Asker(Asker::new(10, 1_500, 3, MILLISECOND * 100));
    let server = App::Answerer(Answerer::new(10, 1_500));
    let end = world.open(Time::ZERO, talk(&nodes, client, server));
    world.run_until(Time::MAX);
    let App::Asker(asker) = world.app(end) else {
        panic!()
    };
    // There and back, and once more for the second segment.
    assert_eq!(asker.took, [MILLISECOND * 8; 3]);
}

/// Bytes that a scripted session of two exchanges sends each way, and when the last packet with data left, milliseconds.
fn session(server_closes: bool, aborts_after: Option<u64>) -> (u32, u32, i64) {
    let exchange = Exchange {
        request: 100,
        response: 1_500,
        work: MILLISECOND * 10,
        think: MILLISECOND * 50,
    };
    let script = Arc::new(Script {
        exchanges: vec![exchange; 2],
        server_closes,
        aborts_after,
        ..Script::default()
    });
    let (mut world, nodes) = world(Log::default());
    let client = App::Visitor(Visitor::new(Arc::clone(&script)));
    world.open(
        Time::ZERO,
        talk(&nodes, client, App::Host(apps::Host::new(script))),
    );
    world.run_until(Time::MAX);
    let sent = &world.gate.sent;
    let bytes = |client: bool| {
        let own = sent
            .iter()
            .filter(|(_, from, _)| from.is_client() == client);
        own.map(|(_, _, len)| len).sum()
    };
    let data = sent.iter().filter(|(_, _, len)| *len > 0);
    let last = data.map(|(time, _, _)| *time).max().unwrap();
    let millis = (last - Time::ZERO).as_nanos() / 1_000_000;
    (bytes(true), bytes(false), millis)
}

#[test]
fn a_scripted_session_asks_works_and_thinks() {
    // SYN and SYN-ACK; each time 2 there, 10 of work, two segments with 4 between them, 2 back; 50 between the two.
    let expected = (200, 3_000, 4 + (2 + 10 + 4) + 2 + 50 + (2 + 10 + 4));
    assert_eq!(session(true, None), expected);
    assert_eq!(session(false, None), expected);
    // When more than a hundred bytes have come, the client goes: no second request.
    let (asked, answered, _) = session(true, Some(100));
    assert_eq!((asked, answered), (100, 1_500));
}

#[test]
fn bulk_flows_to_its_end() {
    let (mut world, nodes) = world(Log::default());
    let client = App::Source(Source::new(10 * u64::from(MSS)));
    let end = world.open(Time::ZERO, talk(&nodes, client, App::Sink(Sink::default())));
    world.run_until(Time::MAX);
    let App::Sink(sink) = world.app(end.peer()) else {
        panic!()
    };
    assert_eq!(sink.received, 10_000);
    assert!(sink.finished.is_some());
}

#[test]
fn packets_find_their_way_through_switches() {
    let streams = Streams::new(1);
    let mut network = Network::new();
    let hosts: Vec<NodeId> = (1..=4).map(|n| network.add_host(host(n))).collect();
    let [left, right] = [(); 2].map(|()| network.add_switch());
    for (host, switch) in [(0, left), (1, right), (2, left), (3, right)] {
        network.add_link(hosts[host], switch, &delay(MILLISECOND), &streams);
    }
    network.add_link(left, right, &delay(MILLISECOND * 10), &streams);
    let mut world: World<StopAndWait, Open> = World::new(network, Open, &streams, Time::ZERO);
    let (client, server) = web();
    let far = world.open(
        Time::ZERO,
        talk(&[hosts[0], hosts[3]], client.clone(), server.clone()),
    );
    let near = world.open(Time::ZERO, talk(&[hosts[0], hosts[2]], client, server));
    world.run_until(Time::MAX);
    for (end, one_way) in [(far, 12), (near, 2)] {
        let App::Browser(browser) = world.app(end) else {
            panic!()
        };
        assert_eq!(
            browser.finished,
            Some(Time::ZERO + MILLISECOND * (10 * one_way))
        );
    }
}

#[test]
fn the_same_seed_gives_the_same_packets() {
    let run = |seed| {
        let streams = Streams::new(seed);
        let mut network = Network::new();
        let switch = network.add_switch();
        let nodes = [network.add_host(host(1)), network.add_host(host(2))];
        let rough = link::Settings {
            jitter: MILLISECOND * 3,
            loss: link::Loss::Random(0.1),
            duplicate: 0.1,
            ..delay(MILLISECOND * 10)
        };
        for node in nodes {
            network.add_link(node, switch, &rough, &streams);
        }
        let mut world: World<StopAndWait, Log> =
            World::new(network, Log::default(), &streams, Time::ZERO);
        let (client, server) = web();
        world.open(Time::ZERO, talk(&nodes, client, server));
        world.run_until(Time::ZERO + Duration::from_secs(60));
        world.gate.sent
    };
    assert_eq!(run(5), run(5));
    assert_ne!(run(5), run(6));
}

use std::collections::BTreeMap;

use rexmit_loss::paths::{PathRule, Settings};
use rexmit_plan::PathStory;
use rexmit_tcp::stacks;
use rexmit_tcp::Segment;

use super::*;
use crate::paths::gate::{addresses, Wants};

const START: Time = Time::from_nanos(1_000_000_000);

fn stack() -> Stack {
    let (settings, _) = stacks::build("linux-6.12", &BTreeMap::new(), &BTreeMap::new()).unwrap();
    Stack::new(settings)
}

/// Two hosts of this stack, with nothing lost on two paths of 20 ms at 54 Mbit/s.
fn world(stack: &Stack) -> World<'_> {
    let (server, clients) = addresses(4, 2).unwrap();
    let rule = PathRule::new(Settings {
        pattern: "none".parse().unwrap(),
        bursts: vec![60_000],
        clients: clients.clone(),
        totals: None,
    });
    let flows = clients.iter().map(|&client| FlowKey {
        src: server,
        dst: client,
        src_port: 80,
        dst_port: 40_000,
    });
    let link = link::Settings {
        rate_bps: 54_000_000,
        delay: Duration::from_millis(20),
        ..link::Settings::default()
    };
    let parts = Parts {
        stacks: [stack; 2],
        multipath: true,
        mtu: 1500,
        ip_header: 20,
        flows: flows.collect(),
        links: vec![link; 2],
        first_path: 0,
        look: Duration::ZERO,
    };
    let gate = Gate::new(rule, Wants::default(), PathStory::new(1, 2, false), None);
    World::new(parts, gate, &Streams::new(1), START)
}

/// A packet of which its receiver makes nothing.
fn stray() -> Packet {
    Packet {
        sent: Sent {
            segment: Segment::default(),
            mechanism: None,
            probe: false,
            in_host_bytes: 0,
        },
        options: Options::default(),
    }
}

fn at(micros: i64) -> Time {
    START + Duration::from_micros(micros)
}

/// The paths in the order in which the client's next `count` packets arrive on them.
fn arrivals(world: &mut World<'_>, count: usize) -> Vec<usize> {
    let mut paths = Vec::new();
    while paths.len() < count {
        let before: Vec<_> = (0..2).map(|path| world.waiting(path, CLIENT)).collect();
        assert!(world.step(at(1_000_000)));
        paths.extend((0..2).filter(|&path| world.waiting(path, CLIENT) < before[path]));
    }
    paths
}

impl World<'_> {
    fn waiting(&self, path: usize, to: usize) -> usize {
        self.wires.times(path, to).count()
    }

    fn put_on_wire(&mut self, time: Time, path: usize, to: usize, packet: Packet) {
        let first = self.wires.put(time, path, to, packet);
        self.await_arrival(first);
    }

    /// Packets that are to arrive at an end by now.
    fn due(&self, to: usize) -> usize {
        let times = (0..2).flat_map(|path| self.wires.times(path, to));
        times.filter(|time| *time <= self.now()).count()
    }

    /// Until `done`, which is to be soon.
    fn run(&mut self, done: impl Fn(&Self) -> bool) {
        while !done(self) {
            assert!(self.step(at(10_000_000)));
        }
    }
}

#[test]
fn of_packets_that_arrive_at_once_the_first_on_its_wire_comes_first() {
    for paths in [[0, 1], [1, 0]] {
        let stack = stack();
        let mut world = world(&stack);
        for path in paths {
            world.put_on_wire(at(500), path, CLIENT, stray());
        }
        assert_eq!(arrivals(&mut world, 2), paths);
    }
}

/// A wire waits for one packet at a time: that behind another begins to be awaited when the other has arrived.
#[test]
fn a_wire_that_has_just_delivered_comes_last() {
    for paths in [[0, 1], [1, 0]] {
        let stack = stack();
        let mut world = world(&stack);
        let [busy, other] = paths;
        world.put_on_wire(at(400), busy, CLIENT, stray());
        world.put_on_wire(at(500), busy, CLIENT, stray());
        world.put_on_wire(at(500), other, CLIENT, stray());
        assert_eq!(arrivals(&mut world, 3), [busy, other, busy]);
    }
}

/// Packets that arrive together on both paths are all taken in before a program reads, and before what they make the server
/// send passes its filter.
#[test]
fn programs_and_the_filter_wait_for_all_that_arrives_at_once() {
    let stack = stack();
    let mut world = world(&stack);
    world.open(START, 0);
    world.run(|world| world.is_open(0));
    world.say_hello(world.now());
    world.run(|world| world.is_up(0));
    world.open(world.now(), 1);
    world.run(|world| world.is_up(1));
    let first = world.now() + Duration::from_millis(100);
    let patience = Duration::from_secs(1);
    let bursts = Bursts::new(vec![first], 60_000, patience, world.now());
    world.begin(world.now(), bursts);
    let read = |world: &World<'_>| world.bursts.as_ref().map(Bursts::wanted);
    let sent = |world: &World<'_>| world.waiting(0, CLIENT) + world.waiting(1, CLIENT);
    let mut together = [0, 0];
    while !world.bursts.as_ref().is_some_and(Bursts::is_complete) {
        let before = (read(&world), sent(&world));
        assert!(world.step(at(10_000_000)));
        if read(&world) != before.0 {
            assert_eq!(world.due(CLIENT), 0);
        }
        if sent(&world) > before.1 {
            assert_eq!(world.due(SERVER), 0);
        }
        for side in [SERVER, CLIENT] {
            together[side] += world.due(side);
        }
    }
    // Some did arrive together.
    assert!(together[SERVER] > 0 && together[CLIENT] > 0, "{together:?}");
}

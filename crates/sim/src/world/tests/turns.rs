//! What comes at one instant: the order of arrivals, and whose turn it is after them.

use super::*;

/// Two wires from one host to two addresses, each of a millisecond, and packets of which nobody makes anything.
fn wires() -> (Network, [LinkId; 2], Packet) {
    let streams = Streams::new(1);
    let mut network = Network::new();
    let server = network.add_host(host(1));
    let links = [2, 3].map(|n| {
        let client = network.add_host(host(n));
        let (there, _) = network.add_link(server, client, &delay(MILLISECOND), &streams);
        there
    });
    let packet = Packet {
        id: PacketId(0),
        from: EndId(1),
        path: 0,
        sent: rexmit_tcp::connection::Sent {
            segment: rexmit_tcp::Segment::default(),
            mechanism: None,
            probe: false,
            in_host_bytes: 0,
        },
        options: (),
        frame_bytes: 60,
    };
    network.seal();
    (network, links, packet)
}

/// The links in the order in which packets leave them that enter at these times.
fn order(entered: &[(i64, usize)]) -> Vec<usize> {
    let (mut network, links, packet) = wires();
    let mut due = BTreeSet::new();
    for (at, link) in entered {
        let now = Time::ZERO + Duration::from_micros(*at);
        network.enter(
            now,
            links[*link],
            packet,
            |_, _| {},
            |one| {
                due.insert(one);
            },
        );
    }
    let mut left = Vec::new();
    while let Some((_, event)) = due.pop_first() {
        let Event::Deliver(arrival) = event else {
            panic!("{event:?}")
        };
        if let Some((node, _, next)) = network.leave(arrival) {
            // The first address is that of the second node.
            left.push(node.0 as usize - 1);
            due.extend(next);
        }
    }
    left
}

#[test]
fn of_packets_that_arrive_at_once_the_first_on_its_wire_comes_first() {
    assert_eq!(order(&[(500, 0), (500, 1)]), [0, 1]);
    assert_eq!(order(&[(500, 1), (500, 0)]), [1, 0]);
}

/// A wire waits for one packet at a time: that behind another begins to be awaited when the other has arrived.
#[test]
fn a_wire_that_has_just_delivered_comes_last() {
    for [busy, other] in [[0, 1], [1, 0]] {
        let left = order(&[(400, busy), (500, busy), (500, other)]);
        assert_eq!(left, [busy, other, busy]);
    }
}

/// Who sends at the instant at which the requests of two clients arrive together, packets without data left out.
fn answers(turn: Turn) -> Vec<u32> {
    let streams = Streams::new(1);
    let mut network = Network::new();
    let server = network.add_host(Host {
        filtered: true,
        turn,
        ..host(1)
    });
    let clients = [2, 3].map(|n| {
        let client = network.add_host(host(n));
        network.add_link(server, client, &delay(MILLISECOND), &streams);
        client
    });
    let mut world: World<StopAndWait, Log> =
        World::new(network, Log::default(), &streams, Time::ZERO);
    for client in clients {
        let (browser, nginx) = web();
        world.open(Time::ZERO, talk(&[client, server], browser, nginx));
    }
    world.run_until(Time::MAX);
    // The handshake there and back, the request there.
    let at = Time::ZERO + MILLISECOND * 3;
    let sent = world.gate.sent.iter();
    let by_server = sent.filter(|(time, from, _)| *time == at && !from.is_client());
    by_server.map(|(_, _, len)| *len).collect()
}

/// Packets that arrive together are all taken in, and acknowledged, before a program answers one and the filter lets it go.
#[test]
fn programs_and_the_filter_may_wait_for_all_that_arrives_at_once() {
    assert_eq!(answers(Turn::AtOnce), [0, 200, 0, 200]);
    assert_eq!(answers(Turn::Last(Duration::ZERO)), [0, 0, 200, 200]);
}

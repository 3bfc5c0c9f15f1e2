//! Hosts whose work takes time.

use super::*;

const MICROS: fn(i64) -> Duration = Duration::from_micros;

#[test]
fn a_packet_waits_for_its_tcp_and_the_filter_and_the_answer_for_its_receipt() {
    let streams = Streams::new(1);
    let mut network = Network::new();
    let nodes: Vec<NodeId> = (1..=2)
        .map(|n| {
            network.add_host(Host {
                filtered: true,
                ..host(n)
            })
        })
        .collect();
    network.add_link(nodes[0], nodes[1], &delay(MILLISECOND), &streams);
    let work = Work {
        receive: MICROS(5),
        send: MICROS(40),
        acknowledge: MICROS(15),
        filter: MICROS(20),
        judge: MICROS(10),
        retransmission: MICROS(700),
    };
    let (client, server) = web();
    let mut world: World<StopAndWait, Log> =
        World::new(network, Log::default(), &streams, Time::ZERO).with_work(work);
    world.open(Time::ZERO, talk(&nodes, client, server));
    world.run_until(Time::MAX);
    let at: Vec<i64> = world
        .gate
        .sent
        .iter()
        .map(|(at, _, _)| (*at - Time::ZERO).as_nanos() / 1_000)
        .collect();
    // SYN and SYN-ACK: each is written down when it is made and the filter awake, and leaves once it is judged.
    assert_eq!(at[..2], [60, 60 + 10 + 1_000 + 5 + 40 + 20]);
    // The request keeps the filter from the acknowledgement before it: both are written down once it is made.
    let answered = 1_135 + 10 + 1_000 + 5;
    assert_eq!(at[2..4], [answered + 15 + 40; 2]);
}

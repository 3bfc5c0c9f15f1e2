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
        answer: MICROS(50),
        wake: MICROS(20),
        take: MICROS(3),
        leave: MICROS(4),
        write: MICROS(6),
        make: MICROS(15),
        fetch: MICROS(8),
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
    assert_eq!(at[..2], [35, 35 + 10 + 1_000 + 5 + 15 + 20]);
    // The filter goes before the client, which writes its request when the acknowledgement is judged.
    let heard = 1_085 + 10 + 1_000 + 5 + 15 + 20;
    assert_eq!(at[2..4], [heard, heard + 10 + 15 + 20 + 8]);
    // The server has to wake before it answers.
    assert!(at[4] > at[3] + 10 + 1_000 + 5 + 20 + 15, "{at:?}");
}

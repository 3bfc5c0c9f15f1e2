//! Linux 6.x packet by packet: what is acknowledged at once.

use rexmit_tcp::multipath::Outgoing;

use super::duo::{Hand, CLIENT, SERVER};

const MSS: u32 = 1420;
/// More than waits at any time.
const ALL: u32 = 10_000_000;

/// A window that neither grows nor is large: nothing but the number of segments makes an acknowledgement leave.
const STEADY: [(&str, &str); 3] = [
    ("send_buffer", "4096 1048576 4194304"),
    ("moderate_receive_buffer", "false"),
    ("receive_buffer", "4096 120000 120000"),
];

/// The client takes `data`, and reads after each packet if it `reads`. How many acknowledgements leave at once with each.
fn answers(hand: &mut Hand, data: &[Outgoing], reads: bool) -> (Vec<usize>, Vec<Outgoing>) {
    let mut acks = Vec::new();
    let mut counts = Vec::new();
    for packet in data {
        let at_once = hand.answers(CLIENT, packet);
        counts.push(at_once.len());
        acks.extend(at_once);
        if reads {
            hand.ends[CLIENT].read(hand.now, ALL);
            acks.extend(hand.sent(CLIENT));
        }
    }
    (counts, acks)
}

/// The server in the midst of much data over so many paths, with what it has just sent: the client's quick acknowledgements
/// are used up.
fn in_the_midst(name: &str, paths: usize) -> (Hand, Vec<Outgoing>) {
    let mut hand = Hand::new(name, &STEADY, paths);
    hand.ends[SERVER].write(hand.now, 1_000 * MSS);
    for _ in 0..5 {
        let data = hand.sent(SERVER);
        hand.pass(20);
        let (_, acks) = answers(&mut hand, &data, true);
        hand.pass(20);
        for ack in &acks {
            hand.deliver(SERVER, ack);
        }
        hand.ends[SERVER].on_deadline(hand.now);
        hand.ends[CLIENT].on_deadline(hand.now);
        hand.sent(CLIENT);
    }
    let data = hand.sent(SERVER);
    hand.pass(20);
    (hand, data)
}

/// `mptcp_sockopt_sync_locked` sets `sk_rcvlowat` of subflows to 0 since 6.9: the window, which does not grow while nothing is
/// read, is what is left to ask.
#[test]
fn acknowledgements_are_left_to_the_reader() {
    let (mut hand, data) = in_the_midst("linux-6.12", 1);
    assert!(data.len() > 10);
    let (counts, _) = answers(&mut hand, &data, false);
    assert_eq!(counts, vec![0; data.len()]);
    hand.ends[CLIENT].read(hand.now, ALL);
    assert_eq!(hand.sent(CLIENT).len(), 1);
}

/// The window that could be offered is reckoned with the segment at hand in memory, even where the reader has taken all that
/// came before.
#[test]
fn acknowledgements_are_left_to_a_reader_that_keeps_up() {
    let (mut hand, data) = in_the_midst("linux-6.12", 1);
    assert!(data.len() > 10);
    let (counts, acks) = answers(&mut hand, &data, true);
    assert_eq!(counts, vec![0; data.len()]);
    // Every second one, and the last, which is pushed.
    assert_eq!(acks.len(), data.len().div_ceil(2));
}

#[test]
fn every_second_segment_is_acknowledged_at_once_by_6_1() {
    let (mut hand, data) = in_the_midst("linux-6.1", 1);
    assert!(data.len() > 10);
    let (counts, _) = answers(&mut hand, &data, false);
    let every_second: Vec<_> = [0, 1].into_iter().cycle().take(data.len()).collect();
    assert_eq!(counts, every_second);
}

/// The other path carries what comes before them: no reader will have them soon (`subflow_data_ready`).
#[test]
fn what_cannot_be_read_yet_is_acknowledged_at_once() {
    let (mut hand, data) = in_the_midst("linux-6.12", 2);
    let first = data
        .iter()
        .min_by_key(|packet| packet.options.map.map(|map| map.data));
    let near = first.unwrap().path;
    let far: Vec<_> = data
        .iter()
        .filter(|packet| packet.path != near)
        .copied()
        .collect();
    assert!(far.len() > 10 && far.len() < data.len());
    let (counts, _) = answers(&mut hand, &far, false);
    let every_second: Vec<_> = [0, 1].into_iter().cycle().take(far.len()).collect();
    assert_eq!(counts, every_second);
}

/// The end of the data that `acks` acknowledge.
fn acknowledged(acks: &[Outgoing]) -> u64 {
    let ends = acks.iter().filter_map(|ack| ack.options.ack);
    ends.map(|ack| ack.next).max().unwrap_or(0)
}

/// Short packets take the paths by turns, and those of the second come first: what is alone among missing data wastes memory.
/// When it is used up the others wait on their subflows, until the reader makes room (`mptcp_data_ready`, `__mptcp_move_skbs`).
#[test]
fn packets_wait_on_their_subflow_while_memory_is_short() {
    const LEN: u32 = 70;
    const COST: u32 = 832 + LEN;
    let narrow = [
        ("initial_window", "400"),
        ("send_buffer", "4096 1048576 4194304"),
        ("moderate_receive_buffer", "false"),
        ("receive_buffer", "4096 100000 100000"),
    ];
    let mut hand = Hand::new("linux-6.12", &narrow, 2);
    hand.ends[SERVER].set_nodelay(hand.now, true);
    let mut paths = [Vec::new(), Vec::new()];
    for _ in 0..120 {
        for path in &mut paths {
            assert_eq!(hand.ends[SERVER].write(hand.now, LEN), LEN);
            path.extend(hand.sent(SERVER));
        }
    }
    hand.pass(20);
    let [first, second] = paths;
    // The first opens the window for the others.
    let mut acks = hand.answers(CLIENT, &first[0]);
    assert!(second.len() as u32 > 100_000 / COST);
    for packet in second.iter().chain(&first[1..100]) {
        acks.extend(hand.answers(CLIENT, packet));
    }
    // Nothing of the first path is let in any more.
    assert_eq!(acknowledged(&acks), 2 * u64::from(LEN));
    assert_eq!(hand.ends[CLIENT].read(hand.now, ALL), 200 * LEN);
    assert_eq!(acknowledged(&hand.sent(CLIENT)), 200 * u64::from(LEN));
}

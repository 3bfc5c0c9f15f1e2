//! Linux 6.x packet by packet: rates, the send buffer, and the order in which what an acknowledgement allows is done.

use rexmit_tcp::connection::Event;
use rexmit_tcp::multipath::Outgoing;
use rexmit_time::Duration;

use super::duo::{Duo, Hand, CLIENT, SERVER};

/// Bytes of a full segment: 1500 less 40 of headers, 12 of timestamps and 28 of Multipath TCP.
const MSS: u32 = 1420;
/// Data of a page of 32 KiB less the 40 bytes of a fragment's head.
const FRAGMENT: u32 = 32_768 - 40;
/// More than any buffer takes.
const ALL: u32 = 10_000_000;

const KERNELS: [&str; 2] = ["linux-6.1", "linux-6.12"];
/// A send buffer that holds nobody up.
const LARGE: (&str, &str) = ("send_buffer", "4096 1048576 4194304");

/// The client takes all of `data` and reads it at once; what it answers.
fn read_at_once(hand: &mut Hand, data: &[Outgoing]) -> Vec<Outgoing> {
    let mut acks = Vec::new();
    for packet in data {
        acks.extend(hand.answers(CLIENT, packet));
        hand.ends[CLIENT].read(hand.now, ALL);
        acks.extend(hand.sent(CLIENT));
    }
    acks
}

fn on_path(packets: &[Outgoing], path: usize) -> Vec<Outgoing> {
    let these = packets.iter().filter(|packet| packet.path == path);
    these.copied().collect()
}

fn lens(packets: &[Outgoing]) -> Vec<u32> {
    packets
        .iter()
        .map(|packet| packet.sent.segment.len)
        .collect()
}

/// `mss_cache` is 1448 with timestamps, of which options of Multipath TCP take 28 of each segment. Slow start reckons with
/// twice the window of ten in 40 ms.
#[test]
fn the_pacing_rate_counts_segments_without_options() {
    for name in KERNELS {
        let mut duo = Duo::new(name, &[], &[20, 30]);
        duo.write(2 * MSS).run_for(1_000);
        let subflow = duo.server().subflow(0).unwrap();
        let sender = subflow.sender().unwrap();
        assert_eq!(
            (sender.flight().mss(), sender.window().cwnd),
            (MSS, 10),
            "{name}"
        );
        assert_eq!(sender.pacing_rate(), 2 * 10 * 1_448 * 1_000 / 40, "{name}");
    }
}

/// 20.7 ms each way: 41.4 ms by the clock, and 42 ticks of the echoed timestamps' clock lie between.
#[test]
fn the_first_round_trip_of_a_join_is_the_echoed_one() {
    for name in KERNELS {
        let delay = Duration::from_micros(20_700);
        let duo = Duo::of_delays(name, &[], &[delay; 2]);
        let srtt = |side: usize, path| {
            let end = [duo.server(), duo.client()][side];
            let subflow = end.subflow(path).unwrap();
            subflow.sender().unwrap().timing().srtt().unwrap()
        };
        assert_eq!(srtt(SERVER, 0), delay * 2, "{name}");
        assert_eq!(srtt(SERVER, 1), Duration::from_millis(42), "{name}");
        for path in 0..2 {
            assert_eq!(srtt(CLIENT, path), delay * 2, "{name}");
        }
    }
}

/// A page of the send buffer holds 32,728 bytes: the segment in which the first ends reaches into the second.
#[test]
fn a_segment_that_a_page_ends_in_tells_of_two_pages() {
    let mut hand = Hand::new("linux-6.12", &[], 1);
    assert_eq!(hand.ends[SERVER].write(hand.now, ALL), 2 * FRAGMENT);
    let page = |at: u64| at / u64::from(FRAGMENT);
    let mut spans = 0;
    for _ in 0..20 {
        hand.pass(20);
        for packet in hand.sent(SERVER) {
            let map = packet.options.map.unwrap();
            let last = map.data + u64::from(map.len) - 1;
            let pages = 1 + page(last) - page(map.data);
            assert_eq!(u64::from(packet.sent.segment.pages), pages, "{map:?}");
            spans += u32::from(pages == 2);
            hand.deliver(CLIENT, &packet);
        }
        hand.ends[CLIENT].read(hand.now, ALL);
        for packet in hand.sent(CLIENT) {
            hand.deliver(SERVER, &packet);
        }
    }
    assert_eq!(spans, 1);
}

/// The least buffer of 4096 and the first subflow's 46,080 hold two pages. The writer waits, both subflows send, and then
/// the join's count too. What a buffer has at first is in those of the subflows.
#[test]
fn the_join_counts_in_the_buffer_once_a_writer_waits() {
    let buffers = [("send_buffer", "4096 30000 4194304")];
    let mut hand = Hand::new("linux-6.12", &buffers, 2);
    assert_eq!(hand.ends[SERVER].write(hand.now, ALL), 2 * FRAGMENT);
    let sent = hand.sent(SERVER);
    assert!(sent.iter().any(|packet| packet.path == 1));
    assert_eq!(hand.ends[SERVER].write(hand.now, ALL), FRAGMENT);
    hand.sent(SERVER);
    assert_eq!(hand.ends[SERVER].write(hand.now, ALL), 0);
}

/// Both subflows send, but as no writer waits nobody looks at their buffers.
#[test]
fn the_join_does_not_count_while_no_writer_waits() {
    let mut hand = Hand::new("linux-6.12", &[], 2);
    assert_eq!(
        hand.ends[SERVER].write(hand.now, 2 * FRAGMENT),
        2 * FRAGMENT
    );
    let sent = hand.sent(SERVER);
    assert!(sent.iter().any(|packet| packet.path == 1));
    assert_eq!(hand.ends[SERVER].write(hand.now, ALL), 0);
}

/// 16,384 hold one page. Then the buffer is the larger of the subflows', 46,080, which hold two.
#[test]
fn the_buffer_of_6_1_becomes_that_of_the_largest_subflow() {
    let mut hand = Hand::new("linux-6.1", &[], 2);
    assert_eq!(hand.ends[SERVER].write(hand.now, ALL), FRAGMENT);
    hand.sent(SERVER);
    assert_eq!(hand.ends[SERVER].write(hand.now, ALL), FRAGMENT);
    hand.sent(SERVER);
    assert_eq!(hand.ends[SERVER].write(hand.now, ALL), 0);
}

#[test]
fn the_buffer_of_6_1_stays_while_no_writer_waits() {
    let mut hand = Hand::new("linux-6.1", &[], 2);
    assert_eq!(hand.ends[SERVER].write(hand.now, FRAGMENT), FRAGMENT);
    hand.sent(SERVER);
    assert_eq!(hand.ends[SERVER].write(hand.now, ALL), 0);
}

/// The window ends within a segment, whose head waits on the subflow for the congestion window. The acknowledgement that
/// lets it leave also moves the window: the segment leaves full (`mptcp_incoming_options` before `tcp_data_snd_check`).
#[test]
fn a_short_tail_is_filled_up_before_it_leaves() {
    let narrow = [
        LARGE,
        ("moderate_receive_buffer", "false"),
        ("receive_buffer", "4096 31296 31296"),
    ];
    for name in KERNELS {
        let mut hand = Hand::new(name, &narrow, 1);
        hand.ends[SERVER].write(hand.now, 60 * MSS);
        let data = hand.sent(SERVER);
        assert_eq!(lens(&data), [MSS; 10], "{name}");
        let handed = hand.ends[SERVER].sent().1;
        assert_ne!(handed % u64::from(MSS), 0, "{name}");
        // The second acknowledgement tells that the first segment was read.
        let acks = read_at_once(&mut hand, &data[..2]);
        let next = hand.answers(SERVER, acks.last().unwrap());
        assert!(!next.is_empty());
        assert_eq!(lens(&next), vec![MSS; next.len()], "{name}");
    }
}

/// What other subflows are to send leaves once all that came at the same instant was taken in.
#[test]
fn a_push_on_another_subflow_waits_for_all_that_came_at_once() {
    let mut hand = Hand::new("linux-6.1", &[LARGE], 2);
    hand.ends[SERVER].write(hand.now, 300 * MSS);
    let data = hand.sent(SERVER);
    hand.pass(20);
    let acks = on_path(&read_at_once(&mut hand, &data), 0);
    hand.pass(20);
    for ack in &acks {
        let next = hand.answers(SERVER, ack);
        assert!(on_path(&next, 1).is_empty());
    }
    assert_eq!(hand.ends[SERVER].deadline(), Some(hand.now));
    hand.ends[SERVER].on_deadline(hand.now);
    let next = hand.sent(SERVER);
    assert!(!on_path(&next, 1).is_empty());
    assert_ne!(hand.ends[SERVER].deadline(), Some(hand.now));
}

/// Acknowledgements let the subflows' buffers grow, but the writer hears of it after the last of them.
#[test]
fn the_sum_of_the_buffers_waits_for_all_that_came_at_once() {
    let mut hand = Hand::new("linux-6.12", &[], 2);
    while hand.ends[SERVER].write(hand.now, ALL) > 0 {}
    let data = hand.sent(SERVER);
    hand.pass(20);
    let acks = read_at_once(&mut hand, &data);
    hand.pass(20);
    for ack in &acks {
        hand.deliver(SERVER, ack);
        assert_eq!(hand.ends[SERVER].poll_event(), None);
        assert_eq!(hand.ends[SERVER].deadline(), Some(hand.now));
    }
    hand.ends[SERVER].on_deadline(hand.now);
    assert_eq!(hand.ends[SERVER].poll_event(), Some(Event::Writable));
}

/// An acknowledgement says how much may follow the data that it acknowledges itself. One that another subflow's overtook
/// must not be read as if it acknowledged what that did.
#[test]
fn an_overtaken_acknowledgement_does_not_move_the_window() {
    let narrow = [
        ("moderate_receive_buffer", "false"),
        ("receive_buffer", "4096 90000 90000"),
    ];
    for name in KERNELS {
        let mut hand = Hand::new(name, &narrow, 2);
        while hand.ends[SERVER].write(hand.now, ALL) > 0 {}
        let data = hand.sent(SERVER);
        hand.pass(20);
        let mut acks = Vec::new();
        // Nothing is read, so the end of the window stays where it is.
        for path in [1, 0] {
            for packet in on_path(&data, path) {
                acks.extend(hand.answers(CLIENT, &packet));
            }
        }
        hand.pass(20);
        for ack in on_path(&acks, 0) {
            hand.deliver(SERVER, &ack);
        }
        hand.ends[SERVER].on_deadline(hand.now);
        let (una, nxt, _) = hand.ends[SERVER].sent();
        let subflow = hand.ends[SERVER].subflow(0).unwrap();
        let end = una + u64::from(subflow.sender().unwrap().peer_window());
        assert_eq!(nxt, end, "{name}");
        let overtaken = on_path(&acks, 1);
        assert!(!overtaken.is_empty());
        for ack in overtaken {
            assert!(ack.options.ack.unwrap().next < una);
            hand.deliver(SERVER, &ack);
        }
        hand.ends[SERVER].on_deadline(hand.now);
        assert_eq!(hand.ends[SERVER].sent().1, end, "{name}");
    }
}

/// 6.1 asks whether there is room where a fragment begins, and lets one that waits grow to the end of its page.
#[test]
fn a_waiting_fragment_of_6_1_grows_in_a_full_buffer() {
    let mut hand = Hand::new("linux-6.1", &[], 1);
    assert_eq!(hand.ends[SERVER].write(hand.now, 32_000), 32_000);
    assert_eq!(hand.ends[SERVER].write(hand.now, ALL), FRAGMENT - 32_000);
    assert_eq!(hand.ends[SERVER].write(hand.now, ALL), 0);
}

#[test]
fn a_waiting_fragment_of_6_12_does_not_grow_in_a_full_buffer() {
    let mut hand = Hand::new("linux-6.12", &[], 1);
    assert_eq!(hand.ends[SERVER].write(hand.now, 60_000), 60_000);
    assert_eq!(hand.ends[SERVER].write(hand.now, ALL), 0);
}

/// A large first window makes room while the write goes on that found the buffer full: 6.1 tells of that once. The socket
/// stays marked as full, so the buffer follows the subflow's from 184,320 to 211,968 bytes, which seven pages fill.
#[test]
fn a_write_of_6_1_that_made_room_leaves_the_buffer_marked_as_full() {
    let mut hand = Hand::new("linux-6.1", &[("initial_window", "40")], 1);
    assert_eq!(hand.ends[SERVER].write(hand.now, ALL), FRAGMENT);
    assert_eq!(hand.ends[SERVER].poll_event(), Some(Event::Writable));
    let data = hand.sent(SERVER);
    hand.pass(20);
    let acks = read_at_once(&mut hand, &data);
    hand.pass(20);
    for ack in &acks {
        hand.deliver(SERVER, ack);
        assert_eq!(hand.ends[SERVER].poll_event(), None);
    }
    assert_eq!(hand.ends[SERVER].write(hand.now, ALL), 7 * FRAGMENT);
}

/// Segments that are SACKed stay packets of their own, as their mappings differ: until an acknowledgement covers them, the
/// scheduler finds as much queued on the subflow as before.
#[test]
fn sacked_segments_stay_apart_in_the_buffer_of_a_subflow() {
    for name in KERNELS {
        let mut hand = Hand::new(name, &[LARGE], 1);
        hand.ends[SERVER].write(hand.now, 10 * MSS);
        let data = hand.sent(SERVER);
        assert_eq!(lens(&data), [MSS; 10], "{name}");
        let buffered = |hand: &Hand| {
            let subflow = hand.ends[SERVER].subflow(0).unwrap();
            subflow.sender().unwrap().buffered()
        };
        let before = buffered(&hand);
        hand.pass(20);
        let acks = read_at_once(&mut hand, &data[1..]);
        hand.pass(20);
        let retransmissions: Vec<Outgoing> = acks
            .iter()
            .flat_map(|ack| hand.answers(SERVER, ack))
            .collect();
        assert_eq!(lens(&retransmissions), [MSS], "{name}");
        assert_eq!(buffered(&hand), before, "{name}");
    }
}

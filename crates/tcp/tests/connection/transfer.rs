//! A page over a clean path.

use rexmit_tcp::connection::{Event, State};
use rexmit_tcp::stacks;

use crate::pair::{Fate, Pair};

#[test]
fn a_page_comes_whole_and_both_ends_close() {
    for stack in stacks::all().map(|page| page.name) {
        let mut pair = Pair::new(stack, 144_570, 20.0);
        pair.run(30_000.0);
        assert_eq!(pair.client.read, 144_800, "{stack}");
        assert!(pair.client.saw(Event::PeerClosed), "{stack}");
        assert!(pair.client.saw(Event::Closed), "{stack}");
        assert_eq!(pair.client.connection.state(), State::Closed, "{stack}");
        let server = pair.server();
        assert!(server.saw(Event::Closed), "{stack}");
        assert_eq!(server.connection.state(), State::TimeWait, "{stack}");
        pair.run(100_000.0);
        assert_eq!(pair.server().connection.state(), State::Closed, "{stack}");
        let retransmitted = pair.sent(true).filter(|l| l.sent.mechanism.is_some());
        assert_eq!(retransmitted.count(), 0, "{stack}");
    }
}

#[test]
fn under_a_cork_all_segments_leave_full_and_the_fin_rides_on_the_last() {
    for stack in ["linux-3.10", "linux-6.1", "linux-6.12"] {
        let mut pair = Pair::new(stack, 100_000, 20.0);
        pair.run(5000.0);
        let data: Vec<(u32, bool)> = pair
            .sent(true)
            .filter(|logged| logged.sent.segment.len > 0)
            .map(|logged| (logged.sent.segment.len, logged.sent.segment.flags.fin()))
            .collect();
        let (last, before) = data.split_last().expect("data");
        assert!(
            before.iter().all(|&(len, fin)| len == 1448 && !fin),
            "{stack}: {data:?}"
        );
        assert_eq!(*last, (100_230 % 1448, true), "{stack}");
    }
}

/// The memory that packets bring along: what a program wrote lies in pages, those of a file are copied into one buffer.
#[test]
fn a_request_lies_in_pages_and_a_file_does_not() {
    let mut pair = Pair::new("linux-6.12", 100_000, 20.0);
    pair.run(5000.0);
    let pages = |down| {
        let with_data = pair.sent(down).filter(|logged| logged.sent.segment.len > 0);
        let mut pages: Vec<u32> = with_data.map(|one| one.sent.segment.pages).collect();
        pages.dedup();
        pages
    };
    assert_eq!((pages(false), pages(true)), (vec![1], vec![0]));
}

#[test]
fn the_first_write_fills_a_send_buffer_of_twice_the_first_window() {
    // 2 * 10 segments at 2304 bytes each hold 21 of 768 + 1448 (832 in 6.12), as a segment is begun while anything is free.
    for (stack, segments) in [("linux-6.1", 21), ("linux-6.12", 21)] {
        let mut pair = Pair::new(stack, 1_000_000, 20.0);
        pair.run(31.0);
        let sender = pair.server().connection.sender().expect("open");
        let (sent, waiting) = sender.queued();
        assert_eq!((sent, waiting), (10, segments - 10), "{stack}");
        pair.run(5000.0);
        assert!(pair.server().saw(Event::Writable), "{stack}");
        assert_eq!(pair.client.read, 1_000_230, "{stack}");
    }
}

#[test]
fn a_request_is_acknowledged_at_once_and_the_answer_makes_the_session_interactive() {
    let mut pair = Pair::new("linux-6.1", 3000, 20.0);
    pair.run(1000.0);
    let first = pair.sent(true).nth(1).expect("an acknowledgement").sent;
    assert_eq!((first.segment.len, first.in_host_bytes), (0, 0));
}

#[test]
fn a_connection_at_rest_is_small() {
    let mut pair = Pair::new("linux-6.12", 144_570, 20.0);
    pair.client.closes = false;
    pair.run(1000.0);
    let connection = size_of::<rexmit_tcp::connection::Connection>();
    let sender = size_of::<rexmit_tcp::sender::Sender>();
    assert!(connection + sender < 1900, "{connection} + {sender}");
}

#[test]
fn a_lost_first_window_is_repaired() {
    for stack in stacks::all().map(|page| page.name) {
        let mut count = 0;
        let mut pair = Pair::new(stack, 50_000, 50.0).with_path(move |logged| {
            if logged.down && logged.sent.segment.len > 0 {
                count += 1;
                if count <= 3 {
                    return Fate::Lose;
                }
            }
            Fate::Pass
        });
        pair.run(60_000.0);
        assert_eq!(pair.client.read, 50_230, "{stack}");
    }
}

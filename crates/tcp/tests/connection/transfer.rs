//! A page over a clean path.

use rexmit_sim::App;
use rexmit_tcp::connection::{Connection, State};
use rexmit_tcp::sender::Sender;
use rexmit_tcp::stacks;

use crate::{fetch, states};

#[test]
fn a_page_comes_whole_and_both_ends_close() {
    for stack in stacks::all().map(|page| page.name) {
        let mut lab = fetch(stack, 144_570, 20.0);
        assert_eq!(lab.run(30_000.0).read(), 144_800, "{stack}");
        let finished =
            matches!(lab.world.app(lab.client), App::Browser(one) if one.finished.is_some());
        assert!(finished, "{stack}");
        assert_eq!(states(&lab), (State::Closed, State::TimeWait), "{stack}");
        assert_eq!(
            lab.run(100_000.0).server().state(),
            State::Closed,
            "{stack}"
        );
        let again = lab
            .sent(lab.server)
            .filter(|(_, packet)| packet.sent.mechanism.is_some());
        assert_eq!(again.count(), 0, "{stack}");
    }
}

#[test]
fn under_a_cork_all_segments_leave_full_and_the_fin_rides_on_the_last() {
    for stack in ["linux-3.10", "linux-6.1", "linux-6.12"] {
        let mut lab = fetch(stack, 100_000, 20.0);
        lab.run(5000.0);
        let sent = lab.sent(lab.server).map(|(_, packet)| packet.segment());
        let data: Vec<_> = sent
            .filter(|one| one.len > 0)
            .map(|one| (one.len, one.flags.fin()))
            .collect();
        let (last, before) = data.split_last().expect("data");
        assert!(
            before.iter().all(|one| *one == (1448, false)),
            "{stack}: {data:?}"
        );
        assert_eq!(*last, (100_230 % 1448, true), "{stack}");
    }
}

/// The memory that packets bring along: what a program wrote lies in pages, those of a file are copied into one buffer.
#[test]
fn a_request_lies_in_pages_and_a_file_does_not() {
    let mut lab = fetch("linux-6.12", 100_000, 20.0);
    lab.run(5000.0);
    for (end, pages) in [(lab.client, 1), (lab.server, 0)] {
        let mut data = lab
            .sent(end)
            .map(|(_, packet)| packet.segment())
            .filter(|one| one.len > 0);
        assert!(data.all(|one| one.pages == pages));
    }
}

#[test]
fn the_first_write_fills_a_send_buffer_of_twice_the_first_window() {
    // 2 * 10 segments at 2304 bytes each hold 21 of 768 + 1448 (832 in 6.12), as a segment is begun while anything is free.
    for stack in ["linux-6.1", "linux-6.12"] {
        let mut lab = fetch(stack, 1_000_000, 20.0);
        let sender = lab.run(31.0).server().sender().expect("open");
        assert_eq!(sender.queued(), (10, 21 - 10), "{stack}");
        // The rest is written as there is room.
        assert_eq!(lab.run(5000.0).read(), 1_000_230, "{stack}");
    }
}

#[test]
fn a_request_is_acknowledged_at_once_and_the_answer_makes_the_session_interactive() {
    let mut lab = fetch("linux-6.1", 3000, 20.0);
    lab.run(1000.0);
    let first = lab
        .sent(lab.server)
        .nth(1)
        .expect("an acknowledgement")
        .1
        .sent;
    assert_eq!((first.segment.len, first.in_host_bytes), (0, 0));
}

#[test]
fn a_connection_at_rest_is_small() {
    let (connection, sender) = (size_of::<Connection>(), size_of::<Sender>());
    assert!(connection + sender < 1900, "{connection} + {sender}");
}

#[test]
fn a_lost_first_window_is_repaired() {
    for stack in stacks::all().map(|page| page.name) {
        let mut left = 3;
        let mut lab = fetch(stack, 50_000, 50.0).losing(move |packet| {
            let lost = left > 0 && !packet.from.is_client() && packet.segment().len > 0;
            left -= u32::from(lost);
            lost
        });
        assert_eq!(lab.run(60_000.0).read(), 50_230, "{stack}");
    }
}

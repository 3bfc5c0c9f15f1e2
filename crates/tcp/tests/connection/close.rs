//! The ways in which a connection ends.

use rexmit_sim::apps::{Asker, Browser};
use rexmit_sim::App;
use rexmit_tcp::connection::{Connection, Event, Local, Socket, State};
use rexmit_tcp::Segment;
use rexmit_testing::{settings, Fate, Lab, Plan};
use rexmit_time::{Duration, Time};
use rexmit_wire::{Flags, SeqNum};

use crate::{broke, fetch, page, states};

/// Reads what comes, and closes only when it is told to.
fn reader() -> App {
    App::Asker(Asker::new(0, u64::MAX, 1, Duration::ZERO))
}

/// Open for 200 ms: nothing was sent, nobody closes by himself.
fn between(client: App, server: App) -> Lab {
    let one_way = Duration::from_millis(10);
    let mut lab = Lab::open(Plan::new(
        settings("linux-6.1", &[]),
        one_way,
        [client, server],
    ));
    lab.run(200.0);
    assert_eq!(states(&lab), (State::Established, State::Established));
    lab
}

fn open() -> Lab {
    between(reader(), reader())
}

#[test]
fn one_side_closes_and_then_the_other() {
    let mut lab = open();
    lab.with(lab.client, |now, tcp| tcp.close(now));
    for (at, client, server) in [
        (205.0, State::FinWait1, State::Established),
        (300.0, State::FinWait2, State::CloseWait),
    ] {
        assert_eq!(states(lab.run(at)), (client, server), "at {at}");
    }
    lab.with(lab.server, |now, tcp| tcp.close(now));
    for (at, client, server) in [
        (305.0, State::FinWait2, State::LastAck),
        (325.0, State::TimeWait, State::Closed),
        (59_000.0, State::TimeWait, State::Closed),
        (62_000.0, State::Closed, State::Closed),
    ] {
        assert_eq!(states(lab.run(at)), (client, server), "at {at}");
    }
}

#[test]
fn both_close_at_once() {
    let mut lab = open();
    lab.with(lab.client, |now, tcp| tcp.close(now));
    lab.with(lab.server, |now, tcp| tcp.close(now));
    assert_eq!(states(lab.run(211.0)), (State::Closing, State::Closing));
    assert_eq!(states(lab.run(225.0)), (State::TimeWait, State::TimeWait));
}

#[test]
fn a_half_closed_connection_still_carries_data() {
    let mut lab = between(App::Browser(Browser::new(0)), reader());
    lab.with(lab.client, |now, tcp| tcp.shutdown(now));
    assert_eq!(states(lab.run(300.0)).1, State::CloseWait);
    let taken = lab.with(lab.server, |now, tcp| tcp.write(now, 30_000, false));
    assert_eq!(taken, 30_000);
    assert_eq!(states(lab.run(600.0)), (State::FinWait2, State::CloseWait));
    assert_eq!(lab.read(), 30_000);
}

#[test]
fn a_lost_fin_is_sent_again_and_time_wait_acknowledges_it() {
    let mut lost = 0;
    let mut lab = open().losing(move |packet| {
        // The server's FIN, and then the client's acknowledgement of it.
        let fin = !packet.from.is_client() && packet.segment().flags.fin();
        let next = (fin && lost == 0) || (packet.from.is_client() && lost == 1);
        lost += u32::from(next);
        next
    });
    lab.with(lab.client, |now, tcp| tcp.shutdown(now));
    lab.run(300.0);
    lab.with(lab.server, |now, tcp| tcp.close(now));
    assert_eq!(states(lab.run(5000.0)), (State::TimeWait, State::Closed));
    let fins = lab.times(lab.server, |segment| segment.flags.fin());
    assert!(fins.len() >= 3, "{fins:?}");
}

#[test]
fn unread_data_make_a_close_a_reset() {
    let mut lab = between(App::Idle, App::Browser(Browser::new(0)));
    lab.with(lab.server, |now, tcp| tcp.write(now, 1000, false));
    assert_eq!(lab.run(220.0).client().readable(), 1000);
    lab.with(lab.client, |now, tcp| tcp.close(now));
    assert_eq!(lab.client().state(), State::Closed);
    lab.run(300.0);
    assert_eq!(broke(lab.world.app(lab.server)), Some(Event::Reset));
    assert!(lab.sent(lab.client).last().unwrap().1.segment().flags.rst());
}

#[test]
fn data_for_a_closed_socket_are_reset() {
    let mut lab = open();
    lab.with(lab.client, |now, tcp| tcp.close(now));
    assert_eq!(states(lab.run(300.0)), (State::FinWait2, State::CloseWait));
    lab.with(lab.server, |now, tcp| tcp.write(now, 1000, false));
    assert_eq!(states(lab.run(400.0)), (State::Closed, State::Closed));
    assert!(lab.sent(lab.client).last().unwrap().1.segment().flags.rst());
}

#[test]
fn a_fin_overtaken_by_data_waits_for_them() {
    let mut held = false;
    let mut lab = fetch("linux-6.1", 5000, 20.0).with_fate(move |packet| {
        let first = !packet.from.is_client() && packet.segment().len == 1448 && !held;
        held |= first;
        match first {
            true => Fate::Late(Duration::from_millis(5)),
            false => Fate::Pass,
        }
    });
    lab.run(1000.0);
    assert_eq!((lab.read(), lab.client().state()), (5230, State::Closed));
}

#[test]
fn a_segment_for_nobody_is_reset() {
    let mut lab = open();
    lab.with(lab.client, |now, tcp| tcp.close(now));
    lab.run(205.0);
    lab.with(lab.server, |now, tcp| tcp.close(now));
    assert_eq!(states(lab.run(100_000.0)), (State::Closed, State::Closed));
    let stray = Segment {
        flags: Flags::ACK,
        ..Segment::default()
    };
    lab.with(lab.client, |now, tcp| tcp.on_segment(now, &stray));
    assert!(lab.sent(lab.client).last().unwrap().1.segment().flags.rst());
}

#[test]
fn an_abort_resets_whatever_waits() {
    let mut lab = between(App::Browser(Browser::new(0)), reader());
    lab.with(lab.server, |now, tcp| {
        assert_eq!(tcp.write(now, 20_000, false), 20_000);
        tcp.abort(now);
    });
    assert_eq!(states(lab.run(230.0)), (State::Closed, State::Closed));
    assert_eq!(broke(lab.world.app(lab.client)), Some(Event::Reset));
    // Others answer acknowledgements that were under way; they have no number to acknowledge.
    let own = |segment: &Segment| segment.flags.rst() && segment.flags.ack();
    assert_eq!(lab.times(lab.server, own).len(), 1);
    // Nothing is there to be reset any more.
    lab.with(lab.server, |now, tcp| tcp.abort(now));
    lab.run(300.0);
    assert_eq!(lab.times(lab.server, own).len(), 1);
}

/// An acknowledgement that leaves before data has their number, not the one behind them.
#[test]
fn acknowledgements_are_numbered_in_the_order_of_leaving() {
    for stack in ["rfc", "windows-xp", "linux-2.4", "linux-6.12"] {
        for close_ms in 60..180 {
            let mut plan = page(stack, 200_000, 20.0);
            plan.apps[0] = App::Asker(Asker::new(100, u64::MAX, 1, Duration::ZERO));
            let mut lab = Lab::open(plan);
            lab.run(f64::from(close_ms));
            lab.with(lab.client, |now, tcp: &mut Connection| tcp.close(now));
            lab.run(f64::from(close_ms) + 15.0);
            let mut next: Option<SeqNum> = None;
            for (_, packet) in lab.sent(lab.server) {
                let segment = packet.segment();
                let known = next.is_none_or(|next| !segment.seq.is_after(next));
                assert!(
                    known,
                    "{stack}: {segment:?} at {close_ms} ms, next is {next:?}"
                );
                let end = segment.end();
                next = next.filter(|next| end.is_before(*next)).or(Some(end));
            }
        }
    }
}

/// By hand: the end of the stream comes before what it follows, and is told once.
#[test]
fn the_end_of_the_stream_is_told_once() {
    let stack = rexmit_sim::Stack::new(settings("linux-6.1", &[]));
    let local = Local::ethernet(SeqNum::new(u32::MAX));
    let now = Time::from_nanos(1_000_000_000);
    let mut client = Connection::connect(stack.settings, stack.clock, &local, now);
    let segment = |seq: u32, len, flags| Segment {
        seq: SeqNum::new(seq),
        ack: SeqNum::new(0),
        flags: Flags(flags),
        len,
        window: 4096,
        ..Segment::default()
    };
    for segment in [
        segment(9, 0, 0x12),
        segment(1010, 500, 0x11),
        segment(10, 1000, 0x10),
        segment(1010, 500, 0x11),
    ] {
        client.on_segment(now, &segment);
    }
    let told: Vec<Event> = std::iter::from_fn(|| client.poll_event()).collect();
    assert_eq!(
        (client.readable(), told.last()),
        (1500, Some(&Event::PeerClosed))
    );
    let ends = told.iter().filter(|event| **event == Event::PeerClosed);
    assert_eq!(ends.count(), 1, "{told:?}");
}

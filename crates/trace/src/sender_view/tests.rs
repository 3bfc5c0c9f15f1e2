//! Scripted exchanges at a monitor. Times in ms; places count from the first data byte, segments of 1000 bytes.

mod arrivals;
mod doubles;
mod missing;
mod monitor;
mod unacked;
mod waits;
mod witness;

use rexmit_tcp::{Mechanism, Need};
use rexmit_testing::steps;
use rexmit_time::{Duration, Time};
use rexmit_wire::{Flags, SeqNum, SeqRange};

use super::prompted::Returned;
use super::SenderView;
use crate::cost::{count_once, Waits};
use crate::event::{Direction, Event};
use crate::facts::SenderFacts;
use crate::rows::{Evidence, Position, Retransmission, SenderRow};
use crate::settings::Settings;
use crate::testing;

const SLIDES: [u32; 4] = [0, 1_000_000, 0x7fff_f000, 0xffff_f000];

/// A capture of one connection, written packet by packet.
struct Script {
    view: SenderView,
    origin: SeqNum,
    stamps: bool,
    /// The monitor stands away from the sender, which echoes the SYN's stamp all along.
    away: bool,
    id: u16,
    ack_id: u16,
    newest_echo: u32,
}

struct Seen {
    rows: Vec<Retransmission>,
    row: SenderRow,
    perhaps: Vec<(Time, Time)>,
}

fn ms(ms: f64) -> Time {
    Time::from_nanos(1_000_000_000 + (ms * 1e6) as u64)
}

fn stamp(ms: f64) -> u32 {
    4_294_967_000_u32.wrapping_add(ms as u32)
}

impl Script {
    fn new(origin: u32, stamps: bool) -> Self {
        let facts = SenderFacts {
            mss: 1000,
            sack: true,
            timestamps: stamps,
            counts_own: true,
            peer_counts_own: true,
            ..SenderFacts::default()
        };
        Script {
            view: SenderView::new(Direction::Backward, &facts, &Settings::default()),
            origin: SeqNum::new(origin),
            stamps,
            away: false,
            id: 100,
            ack_id: 500,
            newest_echo: stamp(0.0),
        }
    }

    fn event(&self, at: f64, direction: Direction) -> Event {
        Event {
            seq: SeqNum::new(77),
            ack: SeqNum::new(77),
            ..testing::event(ms(at), direction)
        }
    }

    /// SYN, SYN-ACK and ACK, the monitor `near` ms from the sender and back, `far` ms from the receiver and back.
    fn handshake(&mut self, near: f64, far: f64) {
        self.away = near > 0.0;
        let syn = Event {
            flags: Flags::SYN,
            seq: SeqNum::new(76),
            timestamps: self.stamps.then_some((stamp(0.0), 0)),
            ..self.event(0.0, Direction::Forward)
        };
        self.view.ack(&syn, &[]);
        let syn_ack = Event {
            flags: Flags(Flags::SYN.0 | Flags::ACK.0),
            seq: self.origin - 1,
            ip_id: Some(0),
            timestamps: self.stamps.then_some((stamp(near), stamp(0.0))),
            ..self.event(near, Direction::Backward)
        };
        self.view.data(&syn_ack);
        let at = near + far;
        self.ack_echo(at, 0, &[], stamp(near));
    }

    /// Sent at `at`, stamped when it passed the monitor.
    fn data(&mut self, at: f64, start: u32, len: u32) -> &mut Self {
        self.stamped(at, at, start, len)
    }

    fn stamped(&mut self, at: f64, sent: f64, start: u32, len: u32) -> &mut Self {
        self.id = self.id.wrapping_add(1);
        self.numbered(at, sent, start, len, self.id)
    }

    fn numbered(&mut self, at: f64, sent: f64, start: u32, len: u32, id: u16) -> &mut Self {
        let event = Event {
            seq: self.origin + start,
            payload_len: len,
            ip_id: Some(id),
            timestamps: self.stamps.then_some((stamp(sent), self.newest_echo)),
            ..self.event(at, Direction::Backward)
        };
        self.view.data(&event);
        self
    }

    /// What a packet script says; echoes are of the time of sending, and a packet is stamped with its own unless it is said.
    fn play(&mut self, script: &str) -> &mut Self {
        for step in steps(script) {
            if step.what() == "ack" {
                let echo = stamp(step.ms("echo").unwrap());
                self.ack_echo(step.at, step.pair("ack").0, &step.pairs("sack"), echo);
                continue;
            }
            let (start, len) = step.pair("data");
            let sent = step.ms("sent").unwrap_or(step.at);
            match step.pairs("id")[..] {
                [(id, _)] => self.numbered(step.at, sent, start, len, id as u16),
                _ => self.stamped(step.at, sent, start, len),
            };
        }
        self
    }

    fn ack_echo(&mut self, at: f64, ack: u32, sacks: &[(u32, u32)], echo: u32) -> &mut Self {
        self.ack_id = self.ack_id.wrapping_add(1);
        let event = Event {
            ack: self.origin + ack,
            ip_id: Some(self.ack_id),
            timestamps: self.stamps.then_some((stamp(at), echo)),
            ..self.event(at, Direction::Forward)
        };
        let sacks: Vec<SeqRange> = sacks
            .iter()
            .map(|&(s, e)| SeqRange::new(self.origin + s, e - s))
            .collect();
        self.view.ack(&event, &sacks);
        if !self.away {
            self.newest_echo = stamp(at);
        }
        self
    }

    fn ack(&mut self, at: f64, ack: u32, echo_sent: f64) -> &mut Self {
        self.ack_echo(at, ack, &[], stamp(echo_sent))
    }

    fn sack(&mut self, at: f64, ack: u32, sacks: &[(u32, u32)], echo_sent: f64) -> &mut Self {
        self.ack_echo(at, ack, sacks, stamp(echo_sent))
    }

    fn end(self) -> Seen {
        let mut rows = Vec::new();
        let mut row = SenderRow::default();
        let (_, waits, _) = self.view.finish(&mut rows, &mut Vec::new(), &mut row);
        let none = Waits::default();
        [row.waited, _] = count_once([&waits, &none], Time::ZERO, Time::MAX);
        let perhaps = waits.perhaps().collect();
        Seen { rows, row, perhaps }
    }
}

impl Seen {
    fn needs(&self) -> Vec<(Need, Evidence)> {
        self.rows.iter().map(|r| (r.need, r.evidence)).collect()
    }

    fn ranges(&self, origin: u32) -> Vec<(u32, u32)> {
        let place = |s: SeqNum| s.get().wrapping_sub(origin);
        self.rows
            .iter()
            .map(|r| (place(r.range.start), place(r.range.end)))
            .collect()
    }
}

/// At the sender: round trips of 50 ms, ten segments, all acknowledged.
fn warm(script: &mut Script) {
    script.handshake(0.0, 50.0);
    for i in 0..10 {
        script.data(50.0 + f64::from(i) * 0.1, i * 1000, 1000);
    }
    for i in 0..10 {
        script.ack(100.0 + f64::from(i) * 0.1, (i + 1) * 1000, 50.0);
    }
}

/// At the receiver: round trips of 50 ms, ten segments, all acknowledged. The sender counts its packets.
fn warm_far(script: &mut Script) {
    script.handshake(50.0, 0.0);
    for i in 0..10 {
        let at = 100.0 + f64::from(i) * 0.1;
        script.data(at, i * 1000, 1000);
        script.ack(at, (i + 1) * 1000, 100.0);
    }
}

#[test]
fn a_lost_segment_is_needed_and_its_times_are_told() {
    for origin in SLIDES {
        let mut script = Script::new(origin, true);
        warm(&mut script);
        for i in 10..14 {
            script.data(101.0, i * 1000, 1000);
        }
        script.play(
            "151 ack 10000 sack 11000-12000 echo 101; 151.1 ack 10000 sack 11000-13000 echo 101; \
             151.2 ack 10000 sack 11000-14000 echo 101; 151.3 data 10000+1000; \
             201.3 ack 14000 echo 151.3",
        );
        let seen = script.end();
        assert_eq!(seen.needs(), [(Need::Needed, Evidence::Timestamp)]);
        assert_eq!(seen.ranges(origin), [(10_000, 11_000)]);
        let row = &seen.rows[0];
        assert_eq!(row.first_sent, Some(ms(101.0)));
        assert_eq!(row.detection, Some(Duration::from_micros(50_300)));
        assert_eq!(row.recovery, Some(Duration::from_millis(50)));
        assert_eq!((row.flight_segments, row.flight_bytes), (4, 4000));
        assert_eq!((row.copy, row.lost_in_flight), (1, 1));
        assert_eq!(seen.row.position, Some(Position::Sender));
        assert_eq!(seen.row.unique_bytes, 14_000);
    }
}

#[test]
fn an_original_that_was_only_slow_makes_the_retransmission_spurious() {
    for stamps in [true, false] {
        let mut script = Script::new(0xffff_e000, stamps);
        warm(&mut script);
        script.play("101 data 10000+1000; 401 data 10000+1000; 420 ack 11000 echo 101");
        let seen = script.end();
        assert_eq!(seen.needs(), [(Need::Spurious, Evidence::AckTooEarly)]);
    }
    // Later than a round trip, the echo tells.
    let mut script = Script::new(5, true);
    warm(&mut script);
    script.play("101 data 10000+1000; 401 data 10000+1000; 470 ack 11000 echo 101");
    let seen = script.end();
    assert_eq!(seen.needs(), [(Need::Spurious, Evidence::Timestamp)]);
}

/// What is sent again in the instant of the original, with its stamp: an echo of it is of either. If a router returned the original, it
/// did not arrive; if a part of it is sent again at once, a router may have done so, by a message that the capture does not have.
#[test]
fn an_echo_of_a_stamp_that_both_copies_have_tells_of_neither() {
    for (len, returned, expected) in [
        (600, true, (Need::Needed, Evidence::Timestamp)),
        (600, false, (Need::Unknown, Evidence::None)),
        (1000, false, (Need::Spurious, Evidence::HoleFilled)),
    ] {
        let mut script = Script::new(5, true);
        warm(&mut script);
        script.play(&format!(
            "101 data 10000+1000; 101.01 data 10000+{len} sent 101; 152 ack {} echo 101",
            10_000 + len
        ));
        if returned {
            let seq = script.origin + 10_000;
            script
                .view
                .returned(Returned::beginning(ms(101.02), seq, 800));
        }
        assert_eq!(script.end().needs(), [expected], "{len} {returned}");
    }
}

#[test]
fn a_report_of_a_duplicate_leaves_the_first_retransmission_of_two_needed() {
    let mut script = Script::new(3, false);
    warm(&mut script);
    script
        .play("101 data 10000+1000; 401 data 10000+1000; 801 data 10000+1000")
        .ack(460.0 + 400.0, 11_000, 0.0)
        .sack(861.0, 11_000, &[(10_000, 11_000)], 0.0);
    let needs = script.end().needs();
    assert_eq!(
        needs,
        [
            (Need::Needed, Evidence::HoleFilled),
            (Need::Spurious, Evidence::Dsack)
        ]
    );
}

#[test]
fn late_originals_and_doubled_packets_are_no_retransmissions() {
    for stamps in [true, false] {
        let mut script = Script::new(0xffff_f000, stamps);
        warm(&mut script);
        // Overtaken before the monitor.
        script
            .play("101 data 11000+1000 sent 101 id 112; 103 data 10000+1000 sent 101 id 111")
            // Doubled by the capture, then by the network.
            .play(
                "104 data 12000+1000 sent 104 id 113; 104.001 data 12000+1000 sent 104 id 113; \
             105 data 12000+1000 sent 104 id 113; 155 ack 13000 echo 101",
            );
        let seen = script.end();
        assert!(seen.rows.is_empty(), "{:?}", seen.rows);
        assert_eq!(seen.row.reordered, 1);
        assert_eq!(seen.row.capture_duplicates, 1);
        assert_eq!(seen.row.network_duplicates, 1);
        assert_eq!(seen.row.unique_bytes, 13_000);
    }
}

#[test]
fn what_a_packet_overtook_is_late_though_another_is_missing() {
    let mut script = Script::new(9, true);
    warm_far(&mut script);
    // It bears a number that leaves room for one more than the four that it overtook.
    script.numbered(450.0, 400.0, 14_000, 1000, 116);
    for i in 0..4_u16 {
        let at = 451.0 + f64::from(i);
        script.numbered(at, 390.0, 10_000 + u32::from(i) * 1000, 1000, 111 + i);
    }
    let seen = script.end();
    assert_eq!(seen.row.reordered, 4, "{:?}", seen.rows);
    assert!(seen.rows.len() <= 1, "{:?}", seen.rows);
}

#[test]
fn a_gap_that_is_filled_later_is_a_retransmission_whose_original_was_lost_before_the_monitor() {
    let mut script = Script::new(0x7fff_e000, true);
    // At the receiver.
    script.handshake(50.0, 0.0);
    for i in 0..10 {
        script.data(100.0, i * 1000, 1000);
        script.ack(100.0, (i + 1) * 1000, 100.0);
    }
    script.play(
        "150.2 data 11000+1000; 150.2 ack 10000 sack 11000-12000 echo 100; 150.3 data 12000+1000; \
             150.3 ack 10000 sack 11000-13000 echo 100; 200.5 data 10000+1000; \
             200.5 ack 13000 echo 200.5",
    );
    let seen = script.end();
    assert_eq!(seen.needs(), [(Need::Needed, Evidence::OriginalUnseen)]);
    assert_eq!(seen.row.position, Some(Position::Receiver));
    assert_eq!(seen.row.capture_losses, 0);
    assert_eq!(seen.row.reordered, 0);
}

#[test]
fn retransmissions_cut_elsewhere_count_their_old_part() {
    let mut script = Script::new(0xffff_d800, true);
    warm(&mut script);
    script
        .data(101.0, 10_000, 4000) // a super-segment
        .play("151 ack 11000 sack 12000-14000 echo 101; 151.1 data 11500+500; 160 data 11000+700; \
             202 ack 11500 echo 151.1; 210 ack 14000 echo 160; 211 data 14000+500; 500 data 14000+1000; \
             550 ack 15000 echo 500");
    let seen = script.end();
    assert_eq!(
        seen.ranges(0xffff_d800),
        [(11_500, 12_000), (11_000, 11_700), (14_000, 14_500)]
    );
    assert_eq!(seen.row.unique_bytes, 15_000);
}

#[test]
fn keep_alives_and_window_probes_are_no_retransmissions() {
    let mut script = Script::new(0xffff_d8ef, true);
    warm(&mut script);
    script
        .play("5000 data 9999+0; 5050 ack 10000 echo 50; 9000 data 9999+1; 9050 ack 10000 echo 50");
    let seen = script.end();
    assert!(seen.rows.is_empty());
    assert_eq!(seen.row.probes, 2);
}

#[test]
fn the_answer_to_a_probe_is_for_no_retransmission() {
    let mut script = Script::new(0, false);
    warm(&mut script);
    script.play(
        "5000 data 10000+1000; 5000.1 data 11000+1000; 5050 ack 10000 sack 11000-12000 echo 0; \
             5050.1 data 10000+1000; 5100 ack 12000 echo 0",
    );
    for probe in [5400.0, 6000.0, 7200.0] {
        script.data(probe, 11_999, 0).ack(probe + 50.0, 12_000, 0.0);
    }
    let seen = script.end();
    assert_eq!(seen.row.probes, 3);
    assert_eq!(seen.needs(), [(Need::Needed, Evidence::HoleFilled)]);
}

#[test]
fn the_stamp_knows_better_than_a_round_trip_that_a_queue_made() {
    let mut script = Script::new(0, true);
    warm(&mut script);
    script.play("5000 data 10000+1000; 5300 data 10000+1000; 5310 ack 11000 echo 5300");
    let seen = script.end();
    assert_eq!(seen.needs(), [(Need::Needed, Evidence::Timestamp)]);
}

#[test]
fn an_answer_with_data_may_follow_one_that_was_missed() {
    for (missed, first) in [(3, Need::Needed), (1, Need::Needed), (4, Need::Spurious)] {
        let mut script = Script::new(0, false);
        warm(&mut script);
        for at in [5000.0, 5200.0, 5600.0, 6400.0] {
            script.data(at, 10_000, 1000);
        }
        script.ack_id += missed;
        let event = Event {
            ack: script.origin + 11_000,
            ip_id: Some(script.ack_id + 1),
            payload_len: 700,
            ..script.event(6452.0, Direction::Forward)
        };
        script.view.ack(&event, &[]);
        let needs = script.end().needs();
        assert_eq!(needs[0].0, first, "{missed} missed");
        let last = if missed > 1 {
            Need::Spurious
        } else {
            Need::Needed
        };
        assert_eq!(needs[2].0, last, "{missed} missed");
    }
}

#[test]
fn mechanisms_wait_for_the_rest_of_the_connection() {
    let mut script = Script::new(1, false);
    script.handshake(0.0, 20.0);
    let mut out = Vec::new();
    for n in 0..200_u32 {
        let at = 100.0 + 2_000.0 * f64::from(n);
        script.data(at, n * 1000, 1000);
        script.data(at + 220.0, n * 1000, 1000);
        script.ack(at + 240.0, (n + 1) * 1000, at + 220.0);
        script.view.settled(&mut out);
        assert!(out.is_empty() || n >= 64, "after {n}");
    }
    let before = out.len();
    assert!(before > 0, "but not for ever");
    let seen = script.end();
    assert_eq!(before + seen.rows.len(), 200);
}

#[test]
fn a_syn_ack_again_although_it_was_acknowledged_at_the_server_was_not_accepted() {
    let of = |near: f64| {
        let mut script = Script::new(5_000, true);
        script.handshake(near, 50.0 - near);
        // What is acknowledged tells where the monitor stands.
        script.data(60.0, 0, 1000);
        script.ack(110.0 - near, 1000, 60.0);
        let again = Event {
            flags: Flags(Flags::SYN.0 | Flags::ACK.0),
            seq: script.origin - 1,
            ip_id: Some(0),
            timestamps: Some((stamp(1050.0), stamp(0.0))),
            ..script.event(1050.0, Direction::Backward)
        };
        script.view.data(&again);
        script.end().needs()
    };
    assert_eq!(of(0.0), [(Need::Spurious, Evidence::NotAccepted)]);
    // The acknowledgement may have been lost on its way from here to the server.
    assert_eq!(of(25.0), [(Need::Spurious, Evidence::AlreadyAcked)]);
}

#[test]
fn on_the_senders_host_an_acknowledgement_comes_before_what_it_lets_go() {
    // The host took 43 µs to answer the SYN, and 33 µs to answer the third report.
    let mut script = Script::new(5_000, false);
    script.handshake(0.043, 50.0);
    for i in 0..10 {
        script.data(50.1 + f64::from(i) * 0.01, i * 1000, 1000);
    }
    for i in 1..4 {
        script.sack(100.0 + f64::from(i), 0, &[(1000, (i + 1) * 1000)], 0.0);
    }
    script.data(103.033, 0, 1000);
    script.ack(153.1, 10_000, 0.0);
    let seen = script.end();
    let [row] = &seen.rows[..] else {
        panic!("{:?}", seen.rows);
    };
    // All three had been heard; which way of counting them it was, one loss does not tell.
    assert_eq!((row.witness.sacked, row.witness.duplicates), (3, 3));
    let timer = crate::necessary::look(Mechanism::Rto, &row.witness);
    assert!(timer.is_err() && row.mechanism != Mechanism::Rto);
}

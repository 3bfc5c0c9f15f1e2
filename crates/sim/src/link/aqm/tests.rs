use rexmit_plan as plan;
use rexmit_time::Streams;

use super::super::hop::Hop;
use super::*;

const MS: u64 = 1_000_000;

fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}

/// 10 Mbit/s, a frame of 1,250 bytes a millisecond, managed so.
fn hop(aqm: Aqm, queue_packets: usize) -> Hop<u64> {
    let settings = Settings {
        rate_bps: 10_000_000,
        queue_packets,
        aqm: Some(aqm),
        ..Settings::default()
    };
    Hop::new(settings, &Streams::new(7), 0)
}

fn frame(flow: u64, ect: bool) -> Frame {
    Frame {
        bytes: 1250,
        flow,
        ect,
    }
}

fn codel(ecn: bool) -> Aqm {
    Aqm::Codel(plan::Codel {
        target_ns: 5 * MS,
        interval_ns: 100 * MS,
        ecn,
    })
}

/// What left when, whether marked, and when something was dropped, or marked in place of that.
#[derive(Default)]
struct Seen {
    left: Vec<(u64, u64, bool)>,
    hit: Vec<u64>,
}

/// Sends a frame every `gap` nanoseconds, the first at none, until `end`; then lets all leave.
fn overload(hop: &mut Hop<u64>, gap: u64, end: u64, ect: bool) -> Seen {
    let mut seen = Seen::default();
    let mut number = 0;
    let mut now = 0;
    let mut next = 0;
    loop {
        let turn = hop.turn().map(Time::as_nanos);
        let Some(event) = [turn, (next < end).then_some(next)]
            .into_iter()
            .flatten()
            .min()
        else {
            return seen;
        };
        assert!(event >= now);
        now = event;
        let before = hop.link().counters;
        let out = |leaves: Time, packet, marked| {
            seen.left.push((leaves.as_nanos(), packet, marked));
        };
        if turn == Some(event) {
            hop.take_turns(at(event), out);
        } else {
            hop.enter(at(event), number, frame(0, ect), out);
            number += 1;
            next += gap;
        }
        let after = hop.link().counters;
        for _ in before.dropped + before.marked..after.dropped + after.marked {
            seen.hit.push(event);
        }
    }
}

/// When CoDel drops, milliseconds after it began to, while the wait stays long: RFC 8289 §5.3 in numbers, interval/sqrt(n)
/// after the drop before, and its packet of a millisecond at the latest.
const LAW: [f64; 9] = [
    0.0, 100.0, 170.71, 228.45, 278.45, 323.17, 363.99, 401.79, 437.14,
];

#[test]
fn codel_drops_by_its_law() {
    let mut hop = hop(codel(false), 10_000);
    let seen = overload(&mut hop, MS / 2, 600 * MS, false);
    // The wait grows by half a millisecond each: the eleventh to leave has waited 5 ms, at 10 ms, and an interval later the
    // first is dropped.
    assert_eq!(seen.hit[0], 110 * MS);
    for (hit, law) in seen.hit.iter().zip(LAW) {
        let after = (hit - seen.hit[0]) as f64 / MS as f64;
        assert!((law..law + 1.01).contains(&after), "{after} ms, not {law}");
    }
    // What was dropped is missing, and the rest leaves in its order, a millisecond each.
    let numbers: Vec<u64> = seen.left.iter().map(|(_, packet, _)| *packet).collect();
    assert!(numbers.is_sorted());
    assert_eq!(numbers.len() + seen.hit.len(), 1200);
    assert!(seen.left.windows(2).all(|two| two[1].0 - two[0].0 == MS));
    assert_eq!(hop.link().counters.dropped, seen.hit.len() as u64);
}

#[test]
fn codel_marks_at_the_same_times_what_may_be_marked() {
    let mut hop = hop(codel(true), 10_000);
    let marked = overload(&mut hop, MS / 2, 600 * MS, true);
    for (hit, law) in marked.hit.iter().zip(LAW) {
        let after = (hit - marked.hit[0]) as f64 / MS as f64;
        assert!((law..law + 1.01).contains(&after), "{after} ms, not {law}");
    }
    assert_eq!(marked.left.len(), 1200);
    assert_eq!(hop.link().counters.dropped, 0);
    let marks = marked.left.iter().filter(|(_, _, marked)| *marked);
    assert_eq!(marks.count(), marked.hit.len());
    // Where it is not asked for, or the packet's ends do not take it, it is a drop.
    for (ecn, ect) in [(false, true), (true, false)] {
        let mut hop = self::hop(codel(ecn), 10_000);
        overload(&mut hop, MS / 2, 600 * MS, ect);
        assert!(hop.link().counters.dropped > 8 && hop.link().counters.marked == 0);
    }
}

#[test]
fn codel_lets_a_burst_pass_and_a_queue_of_one_packet() {
    // 80 at once are gone before an interval has passed.
    let mut burst = hop(codel(false), 10_000);
    let seen = overload(&mut burst, 1, 80, false);
    assert_eq!((seen.left.len(), seen.hit.len()), (80, 0));
    // As many as can go leave little waiting for however long.
    let mut full = hop(codel(false), 10_000);
    let seen = overload(&mut full, MS, 2000 * MS, false);
    assert_eq!((seen.left.len(), seen.hit.len()), (2000, 0));
}

#[test]
fn codel_remembers_how_fast_it_had_to_drop() {
    let mut hop = hop(codel(false), 10_000);
    let first = overload(&mut hop, MS / 2, 600 * MS, false).hit.len() as u64;
    assert!(first > 15);
    let end = 1800 * MS;
    // Soon after, it drops again: not from one drop an interval on.
    let mut out = |_: Time, _: u64, _: bool| {};
    let mut dropped = Vec::new();
    let mut seen = hop.link().counters.dropped;
    for step in 0..1000 {
        let now = end + step * MS / 2;
        hop.enter(at(now), step, frame(0, false), &mut out);
        let after = hop.link().counters.dropped;
        dropped.extend((seen..after).map(|_| now));
        seen = after;
    }
    assert!(dropped[1] - dropped[0] < 60 * MS, "{dropped:?}");
}

#[test]
fn a_full_queue_takes_no_more_whoever_manages_it() {
    let pie = Aqm::Pie(plan::Pie {
        target_ns: 15 * MS,
        update_ns: 15 * MS,
        ecn: false,
    });
    for aqm in [codel(false), pie] {
        let mut hop = hop(aqm, 10);
        let seen = overload(&mut hop, 1, 50, false);
        // One is on the line, ten wait.
        assert_eq!(seen.left.len(), 11);
        assert_eq!(hop.link().counters.overflowed, 39);
    }
}

fn fair() -> Aqm {
    Aqm::FqCodel(plan::FqCodel {
        target_ns: 5 * MS,
        interval_ns: 100 * MS,
        ecn: false,
        quantum_bytes: 1514,
    })
}

#[test]
fn flows_have_turns_and_a_new_one_goes_first() {
    let mut hop = hop(fair(), 1000);
    let mut left = Vec::new();
    let mut out = |_: Time, packet: u64, _: bool| left.push(packet);
    for number in 0..10 {
        hop.enter(at(0), number, frame(1, false), &mut out);
    }
    for number in 100..104 {
        hop.enter(at(10), number, frame(2, false), &mut out);
    }
    hop.take_turns(at(100 * MS), &mut out);
    // The first is on the line already, and of its flow's quantum 264 bytes are left: one more goes, as one that came late.
    assert_eq!(left[0], 0);
    let first_of = |packet| left.iter().position(|one| *one == packet).unwrap();
    assert!(first_of(100) <= 2 && first_of(103) <= 9, "{left:?}");
    let mut sorted = left.clone();
    sorted.sort_unstable();
    assert_eq!(sorted, (0..10).chain(100..104).collect::<Vec<_>>());
    for flow in [0..10, 100..104] {
        let own: Vec<_> = left.iter().filter(|one| flow.contains(*one)).collect();
        assert!(own.is_sorted());
    }
}

#[test]
fn a_sparse_flow_does_not_wait_behind_a_full_one() {
    for (aqm, most) in [(fair(), 2), (codel(false), 1000)] {
        let mut hop = hop(aqm, 10_000);
        let mut waits = Vec::new();
        let mut sent = std::collections::BTreeMap::new();
        for step in 0..400_u64 {
            let mut out = |leaves: Time, packet: u64, _: bool| {
                if let Some(entered) = sent.remove(&packet) {
                    waits.push((leaves.as_nanos() - entered) / MS);
                }
            };
            hop.enter(at(step * MS / 2), step, frame(1, false), &mut out);
            if step % 40 == 20 {
                sent.insert(10_000 + step, step * MS / 2);
                let sparse = frame(2, false);
                let mut none = |_: Time, _: u64, _: bool| {};
                // It cannot leave at once: the line is busy.
                hop.enter(at(step * MS / 2), 10_000 + step, sparse, &mut none);
            }
        }
        let longest = *waits.iter().max().unwrap();
        assert!(longest <= most, "{longest} ms");
        assert_eq!(longest > 50, most > 50);
    }
}

#[test]
fn without_room_the_longest_line_loses_from_its_head() {
    let mut hop = hop(fair(), 100);
    let mut out = |_: Time, _: u64, _: bool| {};
    for number in 0..101 {
        hop.enter(at(0), number, frame(1, false), &mut out);
    }
    hop.enter(at(0), 1000, frame(2, false), &mut out);
    // 100 wait of the first flow, one more of the second: half of the first goes.
    assert_eq!(hop.link().counters.overflowed, 50);
    let mut left = Vec::new();
    hop.take_turns(at(200 * MS), |_, packet, _| left.push(packet));
    assert!(left.contains(&1000) && left.contains(&100) && !left.contains(&1));
}

#[test]
fn pie_holds_the_wait_at_its_target() {
    for ecn in [false, true] {
        let mut hop = hop(
            Aqm::Pie(plan::Pie {
                target_ns: 15 * MS,
                update_ns: 15 * MS,
                ecn,
            }),
            10_000,
        );
        // A tenth more than fits, for 40 s.
        let gap = MS * 10 / 11;
        let seen = overload(&mut hop, gap, 40_000 * MS, ecn);
        // MAX_BURST passes.
        assert!(seen.hit[0] > 150 * MS, "{}", seen.hit[0]);
        let waits = seen
            .left
            .iter()
            .filter(|(leaves, ..)| *leaves > 20_000 * MS);
        let waits: Vec<u64> = waits
            .map(|(leaves, packet, _)| leaves - packet * gap)
            .collect();
        let mean = waits.iter().sum::<u64>() as f64 / waits.len() as f64 / MS as f64;
        let counters = hop.link().counters;
        assert_eq!(counters.marked > 0, ecn);
        // Marks do not make senders of equal gaps slower: beyond a tenth it drops all the same.
        assert!(counters.dropped > 0);
        assert!(ecn || (10.0..22.0).contains(&mean), "{mean} ms");
    }
}

#[test]
fn pie_lets_go_when_nothing_waits_any_more() {
    let mut hop = hop(
        Aqm::Pie(plan::Pie {
            target_ns: 15 * MS,
            update_ns: 15 * MS,
            ecn: false,
        }),
        10_000,
    );
    overload(&mut hop, MS / 2, 3_000 * MS, false);
    let before = hop.link().counters;
    assert!(before.dropped > 500);
    // A day later.
    let later = 86_400_000 * MS;
    for number in 0..60 {
        hop.enter(at(later + number), number, frame(0, false), |_, _, _| {});
    }
    assert_eq!(hop.link().counters.dropped, before.dropped);
}

fn red(ecn: bool) -> Aqm {
    Aqm::Red(plan::Red {
        least_packets: 5,
        most_packets: 15,
        most: 0.1,
        weight: 0.002,
        ecn,
    })
}

#[test]
fn red_drops_the_more_the_longer_the_queue_is_in_the_mean() {
    let shares: Vec<f64> = [20, 12, 8]
        .into_iter()
        .map(|more: u64| {
            let mut hop = hop(red(false), 10_000);
            let seen = overload(&mut hop, MS * more / (more + 1), 60_000 * MS, false);
            seen.hit.len() as f64 / (seen.hit.len() + seen.left.len()) as f64
        })
        .collect();
    // What is too much, 1/21, 1/13 and 1/9.
    for (share, more) in shares.iter().zip([21.0, 13.0, 9.0]) {
        assert!((share * more - 1.0).abs() < 0.1, "{shares:?}");
    }
}

#[test]
fn red_lets_a_burst_pass_and_marks_what_it_may() {
    let mut hop = hop(red(true), 10_000);
    let seen = overload(&mut hop, 1, 60, true);
    assert_eq!((seen.left.len(), seen.hit.len()), (60, 0));
    let mut hop = self::hop(red(true), 10_000);
    overload(&mut hop, MS * 30 / 31, 10_000 * MS, true);
    let counters = hop.link().counters;
    assert!(counters.marked > 0, "{counters:?}");
}

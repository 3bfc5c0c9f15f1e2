use rexmit_time::Streams;

use super::*;

fn link(settings: Settings) -> Link {
    Link::new(settings, || Streams::new(7).stream("link", 0))
}

fn micros(at: u64) -> Time {
    Time::from_nanos(at * 1000)
}

/// When frames of 1,000 bytes that enter at these microseconds leave, in nanoseconds.
fn leave(link: &mut Link, enter: &[u64]) -> Vec<Option<u64>> {
    enter
        .iter()
        .map(|at| link.enter(micros(*at), 1000)[0].map(Time::as_nanos))
        .collect()
}

const EIGHT_MEGABIT: Settings = Settings {
    rate_bps: 8_000_000,
    delay: Duration::from_micros(500),
    jitter: Duration::ZERO,
    queue_packets: 1000,
    trace: None,
    aqm: None,
    ecn_mark: 0.0,
    loss: Loss::None,
    reorder: 0.0,
    shaper: Shaper::Netem,
    reorder_gap: 1,
    duplicate: 0.0,
    outages: Vec::new(),
    path_mtu: None,
    policer: None,
    stalls: None,
    by_ordinal: false,
};

#[test]
fn a_packet_takes_the_delay_and_its_own_time() {
    // 1,000 bytes at 8 Mbit/s: a millisecond each.
    let mut link = link(EIGHT_MEGABIT);
    assert_eq!(
        leave(&mut link, &[0, 5_000]),
        [Some(1_500_000), Some(6_500_000)]
    );
}

#[test]
fn packets_wait_behind_each_other_and_the_wait_counts_as_delay() {
    let mut link = link(EIGHT_MEGABIT);
    let got = leave(&mut link, &[0, 0, 100, 3_400]);
    assert_eq!(got, [1_500_000, 2_500_000, 3_500_000, 4_900_000].map(Some));
}

#[test]
fn a_link_without_rate_only_delays() {
    let mut link = link(Settings {
        rate_bps: 0,
        ..EIGHT_MEGABIT
    });
    assert_eq!(
        leave(&mut link, &[0, 0, 1]),
        [500_000, 500_000, 501_000].map(Some)
    );
}

#[test]
fn the_limit_counts_what_waits_and_what_is_under_way() {
    let mut link = link(Settings {
        queue_packets: 2,
        ..EIGHT_MEGABIT
    });
    let got = leave(&mut link, &[0, 0, 0, 1_498, 1_499]);
    assert_eq!(
        got,
        [
            Some(1_500_000),
            Some(2_500_000),
            None,
            None,
            Some(3_500_000)
        ]
    );
    assert_eq!(link.counters.overflowed, 2);
}

#[test]
fn jitter_stays_within_bounds_and_reorders_only_without_a_rate() {
    let jitter = Settings {
        jitter: Duration::from_micros(100),
        queue_packets: 10_000,
        ..EIGHT_MEGABIT
    };
    let mut with_rate = link(jitter.clone());
    let mut without = link(Settings {
        rate_bps: 0,
        ..jitter
    });
    assert!(with_rate.keeps_order() && !without.keeps_order());
    let enter: Vec<u64> = (0..1_000).map(|n| n * 10).collect();
    let sorted = |times: &[Option<u64>]| times.is_sorted();
    assert!(sorted(&leave(&mut with_rate, &enter)));
    let left = leave(&mut without, &enter);
    assert!(!sorted(&left));
    for (entered, left) in enter.iter().zip(left) {
        let took = left.unwrap() - entered * 1000;
        assert!((400_000..600_000).contains(&took), "{took}");
    }
}

#[test]
fn losses_have_their_rates() {
    let count = |loss| {
        let mut link = link(Settings {
            loss,
            ..EIGHT_MEGABIT
        });
        let enter: Vec<u64> = (0..20_000).map(|n| n * 2_000).collect();
        let lost: Vec<bool> = leave(&mut link, &enter)
            .iter()
            .map(Option::is_none)
            .collect();
        let runs = lost.windows(2).filter(|w| !w[0] && w[1]).count();
        let lost = lost.iter().filter(|l| **l).count();
        assert_eq!(link.counters.lost, lost as u64);
        (lost as f64 / 20_000.0, lost as f64 / runs as f64)
    };
    let (share, run) = count(Loss::Random(0.02));
    assert!((share - 0.02).abs() < 0.004 && run < 1.1, "{share} {run}");
    // In the bad state 1/5 of the time, for 4 packets each.
    let bursts = LossBursts {
        to_bad: 0.0625,
        to_good: 0.25,
        when_bad: 1.0,
        when_good: 0.0,
    };
    let (share, run) = count(Loss::Bursts(bursts));
    assert!(
        (share - 0.2).abs() < 0.02 && (3.5..4.5).contains(&run),
        "{share} {run}"
    );
}

#[test]
fn a_packet_is_lost_and_delayed_by_its_ordinal_whatever_became_of_those_before_it() {
    let leave = |loss, queue_packets| {
        let mut link = link(Settings {
            rate_bps: 0,
            jitter: Duration::from_micros(100),
            loss: Loss::Random(loss),
            queue_packets,
            by_ordinal: true,
            ..EIGHT_MEGABIT
        });
        let enter: Vec<u64> = (0..2_000).map(|n| n * 10).collect();
        leave(&mut link, &enter)
    };
    let some = leave(0.01, 10_000);
    // What more loss, or a short queue, takes away changes nothing for the rest.
    for other in [leave(0.05, 10_000), leave(0.01, 40)] {
        let lost = |all: &[Option<u64>]| all.iter().filter(|time| time.is_none()).count();
        assert!(lost(&other) > lost(&some) && lost(&some) > 0);
        let both = some.iter().zip(&other);
        let both: Vec<_> = both.filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
        assert!(both.len() > 1_000 && both.iter().all(|(a, b)| a == b));
    }
}

#[test]
fn a_packet_in_so_many_passes_the_others() {
    let mut link = link(Settings {
        reorder: 0.5,
        reorder_gap: 3,
        ..EIGHT_MEGABIT
    });
    let (mut passed, mut since) = (0, 0);
    for n in 0..3_000 {
        let now = micros(n * 3_000);
        since += 1;
        if link.enter(now, 1000)[0] == Some(now + FIRST_STAGE) {
            assert!(since >= 3);
            (passed, since) = (passed + 1, 0);
        }
    }
    // Two that wait, then one in two: every fourth.
    assert!((700..800).contains(&passed), "{passed}");
}

#[test]
fn a_packet_may_come_twice() {
    let mut link = link(Settings {
        duplicate: 0.25,
        ..EIGHT_MEGABIT
    });
    let leaves = (0..3_000).map(|n| link.enter(micros(n * 3_000), 1000));
    let twice: Vec<_> = leaves
        .filter_map(|leaves| Some((leaves[0]?, leaves[1]?)))
        .collect();
    assert!((700..800).contains(&twice.len()), "{}", twice.len());
    // The copy goes behind the original.
    let millisecond = Duration::from_millis(1);
    assert!(twice
        .iter()
        .all(|(one, other)| *other == *one + millisecond));
}

#[test]
fn htb_lets_a_packet_go_at_once_and_the_next_when_the_line_has_carried_it() {
    let mut link = link(Settings {
        shaper: Shaper::Htb,
        ..EIGHT_MEGABIT
    });
    // A bucket of 1600 bytes holds 1.6 ms: the first packet leaves 0.6 ms in it, the second overdraws it by 0.4 ms.
    let got = leave(&mut link, &[0, 0, 0, 0]);
    let delay = EIGHT_MEGABIT.delay.as_nanos() as u64;
    let want = [0, 0, 400_000, 1_400_000].map(|nanos| Some(delay + nanos));
    assert_eq!(got, want);
}

#[test]
fn a_link_that_stalls_lets_all_go_at_the_end_of_it() {
    let seconds = |tenths: i64| Duration::from_millis(tenths * 100);
    let mut link = link(Settings {
        rate_bps: 0,
        queue_packets: 10_000,
        stalls: Some(Spells {
            every: seconds(20),
            least: seconds(3),
            most: seconds(5),
        }),
        ..EIGHT_MEGABIT
    });
    let enter: Vec<u64> = (0..30_000).map(|n| n * 10_000).collect();
    let left = leave(&mut link, &enter);
    assert!(left.is_sorted());
    let mut stalls = 0;
    let mut last = 0;
    for (entered, left) in enter.iter().zip(left) {
        let (left, took) = (left.unwrap(), left.unwrap() - entered * 1000);
        assert!((500_000..500_500_000).contains(&took), "{took}");
        // All that a stall held leave at one time.
        if took > 500_000 && left != last {
            stalls += 1;
            last = left;
        }
    }
    // In 300 s, one every 2.4 s.
    assert!((90..160).contains(&stalls), "{stalls}");
}

#[test]
fn an_outage_loses_what_enters_in_it_and_nothing_that_is_under_way() {
    let mut link = link(Settings {
        outages: vec![(micros(10), micros(20)), (micros(40), micros(50))],
        rate_bps: 0,
        ..EIGHT_MEGABIT
    });
    let got = leave(&mut link, &[9, 10, 19, 20, 39, 45, 50]);
    let lost: Vec<bool> = got.iter().map(Option::is_none).collect();
    assert_eq!(lost, [false, true, true, false, false, true, false]);
    assert_eq!(got[0], Some(509_000));
    assert_eq!(link.counters.lost, 3);
}

#[test]
fn a_policer_passes_its_bucket_and_then_its_rate() {
    let mut link = link(Settings {
        // A frame of 1,000 bytes each millisecond, and three at once.
        policer: Some(Policer {
            rate_bps: 8_000_000,
            burst_bytes: 3_000,
        }),
        rate_bps: 0,
        ..EIGHT_MEGABIT
    });
    let passed = |got: Vec<Option<u64>>| got.iter().flatten().count();
    assert_eq!(passed(leave(&mut link, &[0; 10])), 3);
    // After half a millisecond there is half a frame in it, and what was refused took nothing out.
    assert_eq!(passed(leave(&mut link, &[500, 999, 1_000, 1_001])), 1);
    let steady: Vec<u64> = (0..1_000).map(|n| 10_000 + n * 500).collect();
    assert!((500..504).contains(&passed(leave(&mut link, &steady))));
}

#[test]
fn a_link_that_fades_loses_all_of_a_time_and_none_of_the_rest() {
    let mut link = link(Settings {
        loss: Loss::Fades(Spells {
            every: Duration::from_millis(900),
            least: Duration::from_millis(50),
            most: Duration::from_millis(150),
        }),
        ..EIGHT_MEGABIT
    });
    let enter: Vec<u64> = (0..100_000).map(|n| n * 10_000).collect();
    let lost: Vec<bool> = leave(&mut link, &enter)
        .iter()
        .map(Option::is_none)
        .collect();
    let runs: Vec<usize> = lost
        .chunk_by(|a, b| a == b)
        .filter(|run| run[0])
        .map(<[bool]>::len)
        .collect();
    assert!(runs.iter().all(|run| *run >= 5));
    // Seldom does one begin as another ends.
    let long = runs.iter().filter(|run| **run > 15).count();
    assert!(long < 20, "{long}");
    // Of 1,000 s.
    assert!((900..1_100).contains(&runs.len()), "{}", runs.len());
}

/// A link whose packets leave by a trace.
fn by_trace(text: &str, settings: Settings) -> Hop<u64> {
    let trace = RateTrace::try_from(text.to_owned()).unwrap();
    let trace = Some((trace, Time::ZERO));
    Hop::new(Settings { trace, ..settings }, &Streams::new(7), 0)
}

/// When frames of 1,514 bytes leave that enter at these microseconds, in microseconds; 0 of one that does not.
fn leave_hop(hop: &mut Hop<u64>, enter: &[u64]) -> Vec<u64> {
    let mut left = vec![0; enter.len()];
    let mut out = |at: Time, number: u64, _| left[number as usize] = at.as_nanos() / 1000;
    let frame = hop::Frame {
        bytes: 1514,
        flow: 0,
        ect: false,
    };
    for (number, at) in (0..).zip(enter) {
        hop.enter(micros(*at), number, frame, &mut out);
    }
    hop.take_turns(micros(1_000_000), &mut out);
    left
}

#[test]
fn packets_leave_by_a_trace_and_then_take_the_delay() {
    let mut hop = by_trace("10x2 20", EIGHT_MEGABIT);
    // At 10, 10 and 30 ms; again at 40, 40 and 60 ms; at 70 ms.
    let got = leave_hop(&mut hop, &[0, 0, 0, 0, 40_000, 50_000]);
    assert_eq!(got, [10_500, 10_500, 30_500, 40_500, 40_500, 60_500]);
}

#[test]
fn of_a_trace_the_limit_counts_what_waits() {
    let settings = Settings {
        queue_packets: 2,
        delay: Duration::from_millis(500),
        ..EIGHT_MEGABIT
    };
    let mut hop = by_trace("10", settings);
    let got = leave_hop(&mut hop, &[0, 0, 0, 15_000, 15_001]);
    assert_eq!(got, [510_000, 520_000, 0, 530_000, 0]);
    assert_eq!(hop.link().counters.overflowed, 2);
}

#[test]
fn what_else_a_link_does_it_does_to_packets_that_wait() {
    let settings = Settings {
        duplicate: 1.0,
        outages: vec![(micros(1), micros(2))],
        stalls: Some(Spells {
            every: Duration::from_millis(1),
            least: Duration::from_millis(40),
            most: Duration::from_millis(40),
        }),
        jitter: Duration::from_micros(400),
        ..EIGHT_MEGABIT
    };
    let mut hop = by_trace("1", settings);
    let mut left = Vec::new();
    let frame = hop::Frame {
        bytes: 1514,
        flow: 0,
        ect: false,
    };
    for number in 0..20 {
        hop.enter(micros(number), number, frame, |at, number, _| {
            left.push((at, number));
        });
    }
    hop.take_turns(micros(10_000_000), |at, number, _| left.push((at, number)));
    assert_eq!(left.len(), 38);
    assert!(left.iter().all(|(_, number)| *number != 1));
    assert!(left.is_sorted_by_key(|(at, _)| *at));
    // It stands still for 40 ms in 41.
    let stood = left
        .windows(2)
        .filter(|two| two[1].0.since(two[0].0) > Duration::from_millis(38));
    assert!(stood.count() > 3);
}

#[test]
fn a_link_marks_by_chance_what_may_be_marked() {
    for ect in [false, true] {
        let settings = Settings {
            ecn_mark: 0.2,
            ..EIGHT_MEGABIT
        };
        let mut hop = Hop::new(settings, &Streams::new(7), 0);
        let frame = hop::Frame {
            bytes: 100,
            flow: 0,
            ect,
        };
        let mut marks = 0;
        for number in 0..1000 {
            hop.enter(micros(number * 1000), (), frame, |_, (), marked| {
                marks += u32::from(marked);
            });
        }
        assert_eq!(u64::from(marks), hop.link().counters.marked);
        assert_eq!((150..250).contains(&marks), ect, "{marks}");
    }
}

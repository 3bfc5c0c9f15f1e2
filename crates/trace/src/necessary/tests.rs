use super::*;
use rexmit_time::Duration;

fn ms(millis: i64) -> Duration {
    Duration::from_millis(millis)
}

/// A packet sent again `millis` after it was sent, beside its sender, with SACK and a round trip of 20 ms; and nothing else.
fn after(millis: i64) -> Witness {
    Witness {
        timed: Timed::Sender,
        since_sent: (ms(millis), ms(millis)),
        since_news: Some(ms(millis)),
        least_rtt: Some(ms(20)),
        sack: true,
        first: true,
        out: 10,
        ..Witness::default()
    }
}

/// The same with a change.
fn but(mut witness: Witness, change: impl FnOnce(&mut Witness)) -> Witness {
    change(&mut witness);
    witness
}

#[test]
fn the_page_of_the_reference_is_the_table() {
    let kept = include_str!("../../../../docs/reference/evidence.md");
    assert_eq!(
        kept,
        page(),
        "cargo run --package rexmit-trace --example evidence > docs/reference/evidence.md"
    );
}

#[test]
fn each_mechanism_has_its_row_and_silence_allows_timers_only() {
    for mechanism in Mechanism::ALL {
        let rows = TABLE.iter().filter(|row| row.mechanism == *mechanism);
        let expected = usize::from(*mechanism != Mechanism::Unknown);
        assert_eq!(rows.count(), expected, "{mechanism}");
        let timer = *mechanism == Mechanism::Rto;
        assert_eq!(look(*mechanism, &after(300)).is_ok(), timer, "{mechanism}");
    }
}

#[test]
fn acknowledgements_are_counted_up_to_the_threshold() {
    let with = |duplicates, sacked| Witness {
        duplicates,
        sacked,
        duplicate_at: Some(Time::from_nanos(7)),
        ..after(25)
    };
    let fast = |witness: Witness| look(Mechanism::FastRetransmit, &witness);
    assert_eq!(fast(with(0, 0)), Err(Missing::DuplicateAcks));
    let shown = Ok((Basis::DuplicateAcks, Some(Time::from_nanos(7))));
    assert_eq!([fast(with(3, 0)), fast(with(0, 3))], [shown, shown]);
    let partial = but(after(25), |it| it.partial_at = Some(Time::from_nanos(9)));
    assert_eq!(fast(partial), Ok((Basis::PartialAck, partial.partial_at)));
    // They made it, whatever time has passed; what a sender has learned of reordering may have raised its threshold.
    let late = but(after(300), |it| it.duplicates = 3);
    assert_eq!(look(Mechanism::Rto, &late), Err(Missing::NoAcks));
    let raised = but(late, |it| it.raised = true);
    assert!(look(Mechanism::Rto, &raised).is_ok());
}

#[test]
fn a_timer_takes_its_time() {
    let rto = |witness: Witness| look(Mechanism::Rto, &witness).err();
    assert_eq!(rto(after(15)), Some(Missing::Time));
    assert_eq!(rto(after(100)), Some(Missing::ShortTimerTwice));
    let twice = |witness| but(witness, |it| it.twice = true);
    assert_eq!(rto(twice(after(100))), None);
    assert_eq!(rto(after(121_000)), Some(Missing::LongTimer));
    // What came by 60 ms apart may have left 200 ms apart, what came by at once has not shown it.
    let arrival = |millis| but(after(millis), |it| it.timed = Timed::Arrival);
    assert_eq!(rto(arrival(60)), None);
    assert_eq!(rto(arrival(1)), Some(Missing::Time));
}

#[test]
fn a_probe_is_of_the_tail_and_one() {
    let tail = |millis| but(after(millis), |it| it.tail = true);
    let tlp = |witness: Witness| look(Mechanism::Tlp, &witness).err();
    assert_eq!(tlp(after(60)), Some(Missing::Tail));
    assert_eq!(tlp(tail(60)), None);
    assert_eq!(tlp(tail(5)), Some(Missing::Time));
    let probed = but(tail(60), |it| it.probed = true);
    assert_eq!(tlp(probed), Some(Missing::AckSinceProbe));
    let without = but(tail(60), |it| it.sack = false);
    assert_eq!(tlp(without), Some(Missing::Sack));
}

#[test]
fn rack_needs_something_later_and_a_recovery_after_a_timeout_that() {
    let rack = |witness: Witness| look(Mechanism::Rack, &witness).err();
    let later_at = Some(Time::from_nanos(5));
    let later = but(after(25), |it| it.later_at = later_at);
    assert_eq!(rack(after(25)), Some(Missing::LaterDelivered));
    assert_eq!(rack(later), None);
    // The round trip takes 20 ms, the reordering window a quarter of it, unless it is closed.
    let aged = |micros, sacked| {
        let since = Duration::from_micros(micros);
        let since_sent = (since, since);
        rack(Witness {
            since_sent,
            sacked,
            ..later
        })
    };
    assert_eq!(aged(20_500, 2), Some(Missing::ReorderWindow));
    assert_eq!(aged(20_500, 3), None);
    assert_eq!(aged(10_000, 3), Some(Missing::ReorderWindow));
    let elsewhere = but(later, |it| it.timed = Timed::Arrival);
    assert_eq!(rack(elsewhere), None);
    let without = but(later, |it| it.sack = false);
    assert_eq!(rack(without), Some(Missing::Sack));
    let after_timeout = but(after(25), |it| it.timeout_at = later_at);
    let recovery = |witness| look(Mechanism::RtoRecovery, &witness);
    assert_eq!(recovery(after(25)), Err(Missing::TimeoutBefore));
    assert_eq!(
        recovery(after_timeout),
        Ok((Basis::TimeoutBefore, later_at))
    );
}

#[test]
fn early_retransmit_needs_few_out_and_one_that_arrived() {
    let early = |out, duplicates| {
        let witness = Witness {
            out,
            duplicates,
            ..after(25)
        };
        look(Mechanism::EarlyRetransmit, &witness).err()
    };
    assert_eq!(early(4, 3), Some(Missing::FewOut));
    // RFC 5827 §3.1 has two for three outstanding; Linux takes one.
    assert_eq!([early(3, 1), early(3, 2), early(2, 1)], [None; 3]);
    assert_eq!(early(3, 0), Some(Missing::DuplicateAcks));
}

#[test]
fn a_host_shows_a_short_timer_twice() {
    let mut host = ShortTimers::default();
    host.note(ms(100));
    assert!(!host.show_twice(ms(100)), "itself");
    let mut other = ShortTimers::default();
    other.note(ms(30));
    other.note(ms(150));
    host.add(&other);
    assert!(!host.show_twice(ms(100)), "neither as long nor doubled");
    host.note(ms(104));
    assert!(host.show_twice(ms(100)) && host.show_twice(ms(52)));
}

#[test]
fn no_timer_is_shorter_than_a_tick() {
    let fits = |timer| {
        let witness = but(after(400), |it| it.since_news = Some(Duration::ZERO));
        witness.fits(timer)
    };
    assert!(!fits(Duration::from_micros(76)));
    assert!(fits(ms(200)));
    let heard_of = |least: i64| {
        let witness = Witness {
            twice: true,
            least_rtt: None,
            ..after(0)
        };
        let since_sent = (Duration::ZERO, Duration::from_micros(least));
        look(
            Mechanism::Rto,
            &but(witness, |it| it.since_sent = since_sent),
        )
    };
    assert_eq!(heard_of(999).err(), Some(Missing::Time));
    assert!(heard_of(1_000).is_ok());
}

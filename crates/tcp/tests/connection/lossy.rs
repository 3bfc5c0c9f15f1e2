//! Whatever a path loses, delays, overtakes and doubles, with whatever settings: all bytes come and both ends close.

use proptest::prelude::*;
use rexmit_sim::link::{Loss, LossBursts, Settings as Link};
use rexmit_sim::Packet;
use rexmit_tcp::connection::{Connection, State};
use rexmit_tcp::sender::Sender;
use rexmit_tcp::settings::AckOrder;
use rexmit_tcp::stacks;
use rexmit_testing::{settings, Fate, Lab, Plan};
use rexmit_time::Duration;

use crate::{page, states};

fn link() -> impl Strategy<Value = Link> {
    let loss = prop_oneof![
        2 => Just(Loss::None),
        1 => (0.0..0.08).prop_map(Loss::Random),
        1 => (0.0..0.02, 0.2..0.8).prop_map(|(to_bad, to_good)| Loss::Bursts(LossBursts {
            to_bad,
            to_good,
            when_bad: 0.8,
            when_good: 0.0,
        })),
    ];
    let rate = prop_oneof![Just(0), 1_000_000_u64..1_000_000_000];
    let chances = (
        prop_oneof![Just(0.0), 0.0..0.1],
        prop_oneof![Just(0.0), 0.0..0.1],
    );
    (
        rate,
        50..200_000_i64,
        0..5_000_i64,
        4..200_usize,
        loss,
        chances,
    )
        .prop_map(
            |(rate_bps, delay, jitter, queue_packets, loss, (reorder, duplicate))| Link {
                rate_bps,
                delay: Duration::from_micros(delay),
                jitter: Duration::from_micros(jitter),
                queue_packets,
                loss,
                reorder,
                duplicate,
                ..Link::default()
            },
        )
}

/// What becomes of the first packets, by the throw of a die.
fn fate(die: u8) -> Fate {
    match die {
        0..=2 => Fate::Lose,
        4..=6 => Fate::Late(Duration::from_micros(700 * i64::from(die))),
        7 => Fate::Late(Duration::from_millis(300)),
        _ => Fate::Pass,
    }
}

prop_compose! {
    fn plan()(
        stack in prop::sample::select(stacks::all().collect::<Vec<_>>()),
        (sack, timestamps, rack, frto, reno) in any::<(bool, bool, bool, bool, bool)>(),
        burst in prop::sample::select(vec!["1", "1", "3", "16"]),
        body in 1..200_000_u64,
        paths in (link(), link()),
        seed in prop_oneof![2 => Just(0), 1 => any::<u64>()],
    ) -> (Plan, u64) {
        let text = |on: bool| if on { "true" } else { "false" };
        let losses_first = stack.settings.loss.ack_order == AckOrder::LossesFirst;
        let settings = settings(stack.name, &[
            ("sack", text(sack)),
            ("timestamps", text(timestamps)),
            ("rack", text(rack && losses_first)),
            ("frto", text(frto)),
            ("gso_segments", burst),
            ("congestion_control", if reno { "reno" } else { "cubic" }),
        ]);
        let plan = Plan {
            client: settings.clone(),
            server: settings,
            paths: vec![[paths.0, paths.1]],
            seed,
            ..page(stack.name, body, 0.0)
        };
        (plan, body)
    }
}

fn run(plan: &Plan, fates: &[u8], seconds: f64) -> Lab {
    let mut fates = Vec::from(fates).into_iter();
    let next = move |_: &Packet| fates.next().map_or(Fate::Pass, fate);
    let mut lab: Lab = Lab::open(plan.clone()).with_fate(next);
    lab.run(seconds * 1e3);
    lab
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 384, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn all_bytes_come_and_both_ends_close((plan, body) in plan(), fates in prop::collection::vec(0_u8..20, 0..150)) {
        let lab = run(&plan, &fates, 100_000.0);
        // A segment may be lost too often, and then the connection is given up. Nor is a FIN known any more after TIME_WAIT, and
        // the client's reset then.
        let timed_out = |tcp: &Connection| tcp.sender().is_none_or(Sender::timed_out);
        let server = lab.world.machine(lab.server);
        let gave_up = server.is_none_or(timed_out) || timed_out(lab.client());
        if !gave_up {
            prop_assert_eq!(lab.read(), body + 230);
            prop_assert_eq!(states(&lab), (State::Closed, State::Closed));
        }
    }

    #[test]
    fn runs_repeat((plan, _) in plan(), fates in prop::collection::vec(0_u8..20, 0..150)) {
        let sent = || format!("{:?}", run(&plan, &fates, 100.0).log());
        prop_assert_eq!(sent(), sent());
    }
}

#[test]
fn a_window_that_two_undos_made_endless_is_no_overflow() {
    let settings = settings(
        "linux-2.4",
        &[
            ("sack", "false"),
            ("timestamps", "true"),
            ("frto", "true"),
            ("gso_segments", "3"),
            ("congestion_control", "reno"),
        ],
    );
    let up = Link {
        rate_bps: 0,
        delay: Duration::from_micros(62_033),
        jitter: Duration::from_micros(1_424),
        queue_packets: 4,
        loss: Loss::Bursts(LossBursts {
            to_bad: 0.0,
            to_good: 0.2,
            when_bad: 0.8,
            when_good: 0.0,
        }),
        reorder: 0.0,
        duplicate: 0.07200844892258788,
        ..Link::default()
    };
    let down = Link {
        rate_bps: 1_000_000,
        delay: Duration::from_micros(25_172),
        jitter: Duration::from_micros(0),
        queue_packets: 4,
        loss: Loss::None,
        reorder: 0.0,
        duplicate: 0.0,
        ..Link::default()
    };
    let plan = Plan {
        client: settings.clone(),
        server: settings,
        paths: vec![[up, down]],
        seed: 406907776426903394,
        ..page("linux-2.4", 14251, 0.0)
    };
    let fates = [
        3, 8, 0, 3, 8, 8, 3, 7, 3, 3, 0, 3, 3, 7, 0, 0, 3, 3, 0, 0, 0, 0,
    ];
    run(&plan, &fates, 100.0);
}

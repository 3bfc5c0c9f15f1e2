//! Whatever a path loses, delays and doubles, all bytes come and both ends close.

use proptest::prelude::*;
use rexmit_tcp::connection::{Event, State};
use rexmit_tcp::stacks;
use rexmit_time::Duration;

use crate::pair::{Fate, Pair};

#[derive(Clone, Debug)]
struct Path {
    stack: &'static str,
    body: u64,
    rtt_ms: f64,
    /// For the first packets; later ones pass.
    fates: Vec<u8>,
}

fn path() -> impl Strategy<Value = Path> {
    (
        prop::sample::select(stacks::all().map(|page| page.name).collect::<Vec<_>>()),
        1_u64..200_000,
        1.0..400.0,
        prop::collection::vec(0_u8..20, 0..150),
    )
        .prop_map(|(stack, body, rtt_ms, fates)| Path {
            stack,
            body,
            rtt_ms,
            fates,
        })
}

fn fate(die: u8) -> Fate {
    match die {
        0..=2 => Fate::Lose,
        3 => Fate::Twice,
        4..=6 => Fate::Late(Duration::from_micros(700 * i64::from(die))),
        7 => Fate::Late(Duration::from_millis(300)),
        _ => Fate::Pass,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn all_bytes_come_and_both_ends_close(path in path()) {
        let stack = path.stack;
        let mut fates = path.fates.clone().into_iter();
        let mut pair = Pair::new(stack, path.body, path.rtt_ms)
            .with_path(move |_| fates.next().map_or(Fate::Pass, fate));
        // A segment may be lost too often, and then the connection is given up.
        pair.run(100_000_000.0);
        // Nor is a FIN known any more after TIME_WAIT, and the client's reset then.
        let ends = [Some(&pair.client), pair.server.as_ref()];
        let gave_up = ends.into_iter().flatten().any(|end| end.saw(Event::TimedOut));
        if !gave_up {
            prop_assert_eq!(pair.client.read, path.body + 230, "{}", stack);
            prop_assert_eq!(pair.client.connection.state(), State::Closed);
            prop_assert_eq!(pair.server().connection.state(), State::Closed);
        }
    }

    #[test]
    fn runs_repeat(path in path()) {
        let run = || {
            let mut fates = path.fates.clone().into_iter();
            let mut pair = Pair::new(path.stack, path.body, path.rtt_ms)
                .with_path(move |_| fates.next().map_or(Fate::Pass, fate));
            pair.run(100_000.0);
            pair.log.iter().map(|logged| format!("{logged:?}")).collect::<Vec<_>>()
        };
        prop_assert_eq!(run(), run());
    }
}

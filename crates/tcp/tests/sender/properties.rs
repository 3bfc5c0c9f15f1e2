//! What holds for every stack, whatever is lost.

use proptest::prelude::*;
use rexmit_time::Duration;

use super::pipe::{stack, Pipe, MSS};

const STACKS: [&str; 8] = [
    "linux-6.1",
    "linux-6.12",
    "linux-3.10",
    "linux-2.4",
    "windows-xp",
    "freebsd-5",
    "solaris-10",
    "rfc",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_is_delivered_in_the_end(
        name in prop::sample::select(STACKS.to_vec()),
        iss in prop_oneof![Just(0_u32), Just(u32::MAX - 5_000), any::<u32>()],
        bytes in 1..60 * MSS,
        one_way_us in 100..100_000_i64,
        lose in prop::collection::btree_set(0..90_usize, 0..40),
        lose_acks in prop::collection::btree_set(0..90_usize, 0..30),
        sack in any::<bool>(),
        timestamps in any::<bool>(),
        rack in any::<bool>(),
        frto in any::<bool>(),
        reno in any::<bool>(),
        burst in prop::sample::select(vec!["1", "1", "3", "16"]),
    ) {
        let text = |on: bool| if on { "true" } else { "false" };
        let settings = stack(name, &[
            ("sack", text(sack)),
            ("timestamps", text(timestamps)),
            ("rack", text(rack && name.starts_with("linux-6"))),
            ("frto", text(frto)),
            ("gso_segments", burst),
            ("congestion_control", if reno { "reno" } else { "cubic" }),
        ]);
        let mut pipe = Pipe::new(settings, Duration::from_micros(one_way_us), iss)
            .lose(lose)
            .lose_acks(lose_acks);
        pipe.write(bytes / 2);
        pipe.write(bytes - bytes / 2);
        pipe.close();
        let done = pipe.run(20_000) || pipe.sender.timed_out();
        prop_assert!(done, "{:?}", pipe.log);
    }
}

//! What holds for every stack, whatever is lost.

use proptest::prelude::*;
use rexmit_tcp::settings::AckOrder;
use rexmit_tcp::stacks;
use rexmit_time::Duration;

use super::pipe::{stack, Pipe, MSS};

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn everything_is_delivered_in_the_end(
        page in prop::sample::select(stacks::all().collect::<Vec<_>>()),
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
        let losses_first = page.settings.loss.ack_order == AckOrder::LossesFirst;
        let settings = stack(page.name, &[
            ("sack", text(sack)),
            ("timestamps", text(timestamps)),
            ("rack", text(rack && losses_first)),
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

//! What the SACK option says, and when.

use rexmit_wire::Flags;

use crate::script::{Script, FULL};

const LINUX: [&str; 3] = ["linux-3.10", "linux-6.1", "linux-6.12"];

#[test]
fn the_newest_block_comes_first_and_three_fit_beside_timestamps() {
    for stack in LINUX {
        let mut script = Script::warm(stack);
        script.fulls([22, 24, 26]);
        assert_eq!(
            script.blocks(),
            [
                vec![(22, 23)],
                vec![(24, 25), (22, 23)],
                vec![(26, 27), (24, 25), (22, 23)],
            ],
            "{stack}"
        );
    }
}

#[test]
fn blocks_that_meet_become_one_and_filled_gaps_go() {
    for stack in LINUX {
        let mut script = Script::warm(stack);
        script.fulls([22, 24]).blocks();
        script.full(23);
        assert_eq!(script.blocks(), [vec![(22, 25)]], "{stack}");
        script.full(20);
        assert_eq!(script.blocks(), [vec![(22, 25)]], "{stack}");
        script.full(21);
        assert_eq!(script.blocks(), [vec![]], "{stack}");
    }
}

#[test]
fn a_duplicate_is_told_once_and_at_once() {
    for stack in LINUX {
        let mut script = Script::warm(stack);
        script.full(19);
        assert_eq!(script.blocks(), [vec![(19, 20)]], "{stack}");
        script.full(20);
        assert_eq!(
            script.blocks(),
            [vec![]],
            "{stack}: quick after a duplicate"
        );
    }
}

#[test]
fn a_duplicate_out_of_order_stands_before_its_block() {
    for stack in LINUX {
        let mut script = Script::warm(stack);
        script.fulls([22, 23]).blocks();
        script.full(22);
        assert_eq!(script.blocks(), [vec![(22, 23), (22, 24)]], "{stack}");
    }
}

#[test]
fn what_overlaps_is_told_in_part() {
    for stack in LINUX {
        let mut script = Script::warm(stack);
        script.segment(19 * FULL, 2 * FULL, Flags(0)).at(1200.0);
        assert_eq!(script.blocks(), [vec![(19, 20)]], "{stack}");
        script.fulls([23]).blocks();
        script.segment(22 * FULL, 3 * FULL, Flags(0));
        assert_eq!(script.blocks(), [vec![(23, 24), (22, 25)]], "{stack}");
    }
}

#[test]
fn a_stack_without_dsack_keeps_duplicates_to_itself() {
    let mut script = Script::with("linux-6.1", &[("dsack", "false")], 5);
    script.fulls([0]).blocks();
    script.full(0);
    assert_eq!(script.blocks(), [vec![]]);
}

#[test]
fn sacks_after_the_third_wait_for_more_of_them_in_6_x() {
    // In 6.12 the window grows a last time with the first, which is acknowledged quickly and not counted.
    for (stack, count) in [("linux-6.1", 3), ("linux-6.12", 4)] {
        let mut script = Script::warm(stack);
        script.at(1000.0).fulls(21..21 + count);
        assert_eq!(script.acks().len(), count as usize, "{stack}");
        script.at(1000.3).fulls(21 + count..23 + count);
        assert_eq!(script.acks(), [], "{stack}");
        // 5 % of 100 ms, but 1 ms at most, and the timer's slack.
        script.at(1010.0);
        let headers = script.headers();
        assert_eq!(headers.len(), 1, "{stack}");
        assert!((headers[0].0 - 1001.4).abs() < 0.01, "{stack}: {headers:?}");
        let told = headers[0].1.sack.as_slice()[0];
        assert_eq!(told.len(), (2 + count) * FULL);
    }
}

#[test]
fn at_most_44_sacks_wait() {
    let mut script = Script::warm("linux-6.1");
    script.fulls(21..24).acks();
    script.fulls((24..46).chain(24..46));
    assert_eq!(script.acks(), []);
    script.full(46);
    assert_eq!(script.acks().len(), 1);
}

#[test]
fn a_third_block_ends_the_wait_of_those_before() {
    let mut script = Script::warm("linux-6.1");
    script.fulls([21, 23, 25]).blocks();
    // Held back, as it changes a block that an option has room for.
    script.full(26);
    assert_eq!(script.blocks(), Vec::<Vec<_>>::new());
    // A fourth block would push the others out: what was held back leaves first.
    script.full(28);
    assert_eq!(script.blocks(), [vec![(25, 27), (23, 24), (21, 22)]]);
}

#[test]
fn the_end_of_a_gap_is_acknowledged_at_once() {
    for stack in ["linux-3.10", "linux-6.1", "linux-6.12", "rfc"] {
        let mut script = Script::warm(stack);
        script.full(21).acks();
        script.full(20);
        assert_eq!(script.acks(), [(1000.0, 22 * FULL)], "{stack}");
    }
}

#[test]
fn the_timestamp_before_the_gap_is_echoed_until_it_is_filled() {
    for stack in LINUX {
        let mut script = Script::warm(stack);
        let before = script.timestamp();
        script.full(21).full(22);
        let echoes: Vec<u32> = script.headers().iter().map(|(_, h)| h.echo).collect();
        // Of the two last segments in order, acknowledged together, the first counts.
        assert_eq!(echoes, [before - 1; 2], "{stack}");
        script.full(20);
        assert_eq!(
            script.headers()[0].1.echo,
            before + 3,
            "{stack}: the retransmission's own"
        );
    }
}

#[test]
fn numbers_may_wrap_anywhere() {
    for first in [0xffff_f000_u32, 0xffff_ffff, 0x7fff_f800, 0] {
        let mut script = Script::with("linux-6.1", &[], first);
        script.fulls([0, 2, 4, 3]);
        let blocks = script.blocks();
        assert_eq!(blocks[3], [(2, 5)], "from {first}");
        script.full(1);
        assert_eq!(script.acks(), [(0.0, 5 * FULL)], "from {first}");
    }
}

//! Emulations that wait, begin and end.

use super::super::left_out::MOST_TOLD;
use super::super::recycled::Recycled;
use super::*;
use crate::fingerprint::Hint;

/// Of a sender whose SYN is that of Linux 6.
fn facts() -> SenderFacts {
    SenderFacts {
        isn: Some(SeqNum::new(ISN)),
        mss: MSS,
        sack: true,
        handshake_rtt: Some(Duration::from_millis(50)),
        system: Hint::of_system("linux-6"),
        ..SenderFacts::default()
    }
}

/// Events before the first retransmission, of which each stack thinks alike.
fn begun(script: Script) -> Script {
    script.play("0 new 0-10; 50 ack 10; 50 new 10-12; 100 ack 12; 1000 new 12-15")
}

/// A retransmission that no Linux makes: no acknowledgement came, and no timer of its runs out so early.
fn unlike_linux(script: Script) -> Script {
    begun(script).again(1_020.0, 12).ack(1_050.0, 15, &[])
}

fn stacks(script: &Script) -> Vec<&'static str> {
    let mut stacks: Vec<_> = script.judges.standings().map(|(stack, ..)| stack).collect();
    stacks.sort_unstable();
    stacks.dedup();
    stacks
}

#[test]
fn stacks_that_the_syn_refutes_wait_while_another_explains_all() {
    let script =
        Script::of(&facts()).play("0 new 0-10; 50 ack 7; 156 again 9; 206 ack 7 sack 9-10");
    assert_eq!(stacks(&script), ["linux-6"]);
    assert_eq!(script.mechanisms(), ["tlp"]);
}

#[test]
fn they_begin_where_it_does_not_and_are_told_all() {
    let script = unlike_linux(Script::of(&facts()));
    assert!(stacks(&script).contains(&"windows-xp"));

    let mut all = Script::of(&facts());
    all.judges = Judges::of_all(&facts(), Chosen::default(), Recycled::default());
    let all = unlike_linux(all);
    let standings = |script: &Script| script.judges.standings().collect::<Vec<_>>();
    assert_eq!(standings(&script), standings(&all));
    assert_eq!(script.verdict(0), all.verdict(0));
}

#[test]
fn a_sender_that_was_explained_for_long_is_no_other() {
    let mut script = Script::of(&facts());
    let turns = u32::try_from(MOST_TOLD / 2 + 1).unwrap();
    for segment in 0..turns {
        let ms = f64::from(segment) * 100.0;
        script = script
            .new_data(ms, segment..segment + 1)
            .ack(ms + 50.0, segment + 1, &[]);
    }
    let ms = f64::from(turns) * 100.0;
    let script = script
        .new_data(ms, turns..turns + 3)
        .ack(ms + 50.0, turns, &[(turns + 1, turns + 2)])
        .ack(ms + 51.0, turns, &[(turns + 1, turns + 3)])
        .again(ms + 51.0, turns);
    assert_eq!(stacks(&script), ["linux-6"]);
}

#[test]
fn what_explains_far_less_than_another_ends() {
    let mut script = Script::new(50);
    let before = script.judges.standings().count();
    // A probe after two round-trip times and 2 ms, as nothing but Linux from 3.10 on sends one.
    for turn in 0..512_u32 {
        let ms = f64::from(turn) * 1_000.0;
        script = script
            .new_data(ms, turn * 2..turn * 2 + 2)
            .again(ms + 102.0, turn * 2 + 1)
            .ack(ms + 152.0, turn * 2 + 2, &[]);
    }
    let after = stacks(&script);
    assert!(script.judges.standings().count() < before);
    assert!(after.contains(&"linux-6") && !after.contains(&"windows-xp"));
}

//! What holds for every sender.

use super::*;

/// A random sender: flights of which some packets are lost, delayed or reordered, timers that run out at random.
fn sender(script: &mut Script, turns: &[(u32, u64, u8, bool)]) {
    let (mut at, mut next, mut episode) = (0, 0, 0);
    for (flight, delay, event, spurious) in turns {
        let need = if *spurious { SPURIOUS } else { NEEDED };
        script.send(at, next, next + flight);
        let first = u64::from(*flight > 3);
        match event % 6 {
            0 | 1 => {}
            2 => {
                script.retransmission(at + delay * 3, next, Rto, need, episode);
                at += delay * 3;
            }
            3 => {
                for late in 1..*flight {
                    script.ack(at + delay, next, Some((next + 1, next + 1 + late)));
                }
                script.retransmission(at + delay, next, FastRetransmit, need, episode);
                at += delay;
            }
            4 => {
                script.retransmission(at + delay * 2 + 2, next + flight - 1, Tlp, need, episode);
                script.retransmission(at + delay * 4 + first, next, Rto, need, episode);
                at += delay * 4 + 1;
            }
            _ => {
                script.ack(at + delay, next, Some((next + 1, next + 2)));
                script.retransmission(at + delay * 2, next, Rack, need, episode);
                script.retransmission(at + delay * 9, next, Rto, need, episode);
                at += delay * 9;
            }
        }
        episode += 1;
        at += delay;
        next += flight;
        script.ack(at, next, None);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]

    /// The sender's own setting changes nothing, whatever happened; and no replay panics.
    #[test]
    fn the_own_setting_changes_nothing(
        turns in prop::collection::vec((1_u32..12, 1_u64..900, any::<u8>(), any::<bool>()), 1..60),
        stack in 0..10_usize,
    ) {
        let stacks: Vec<&'static str> = rexmit_tcp::stacks::all().map(|page| page.name).collect();
        let page = rexmit_tcp::stacks::page(stacks[stack % stacks.len()]).unwrap();
        let own = &page.settings;
        let name = format!(
            "k={},min_rto={}ms,a=1/{},b=1/{},m={},d={},init_rto={}ms,sack",
            own.timers.rttvar_factor,
            own.timers.min_rto.as_nanos() / 1_000_000,
            1 << own.timers.rttvar_shift,
            1 << own.timers.srtt_shift,
            own.timers.srtt_factor,
            own.loss.dupack_threshold,
            own.timers.initial_rto.as_nanos() / 1_000_000,
        );
        let mut script = Script::new(page.name, &[&name, "default", "no-sack", "init_rto=5s", "grid"]);
        sender(&mut script, &turns);
        let rows = script.finish();
        prop_assert!(!rows.contains_key(&name), "{} {:?}", page.name, rows[&name]);
    }

    /// What is avoided and what is made otherwise are among the retransmissions that there were.
    #[test]
    fn no_more_changes_than_there_were_retransmissions(
        turns in prop::collection::vec((1_u32..12, 1_u64..900, any::<u8>(), any::<bool>()), 1..60),
    ) {
        let mut script = Script::new("linux-2.4", &["default", "no-sack", "grid"]);
        sender(&mut script, &turns);
        let made = u64::from(script.next);
        for (name, row) in script.finish() {
            prop_assert!(row.changes.avoided + row.changes.rto_to_fr + row.changes.fr_to_rto <= made, "{name}");
            prop_assert!(row.changes.spurious_rto_avoided + row.changes.spurious_fr_avoided <= made, "{name}");
            prop_assert!(row.change.as_secs_f64().is_finite());
        }
    }
}

//! Verdicts held against the model's causes.

use std::collections::BTreeMap;
use std::ops::Range;

use rexmit_tcp::settings::Settings;
use rexmit_tcp::Mechanism;
use rexmit_testing::settings;
use rexmit_time::{Duration, Streams};
use rexmit_trace::emulate::{Chosen, Explanation, Identity, Judges, Recycled};
use rexmit_trace::necessary::Witness;

use super::model::{self, Run};

const TODAY: [&str; 4] = ["windows-11", "freebsd-14", "freebsd-14-rack", "macos-15"];

/// How often which cause was told, and how the stack was named.
#[derive(Default)]
struct Score {
    /// Retransmissions by their cause, and those of them that were told.
    causes: BTreeMap<Mechanism, (u32, u32)>,
    right: u32,
    several: u32,
    wrong_and_sure: u32,
    connections: u32,
}

impl Score {
    /// All retransmissions, and those that were told.
    fn total(&self) -> (u32, u32) {
        let causes = self.causes.values();
        causes.fold((0, 0), |(all, told), (more, right)| {
            (all + more, told + right)
        })
    }

    fn note(&mut self, stack: &str, run: &Run, chosen: Chosen) {
        let (verdicts, identity) = judge(run, chosen);
        for (cause, verdict) in run.causes.iter().zip(&verdicts) {
            let told = verdict.as_ref().is_some_and(|verdict| {
                let judged = &verdict.judged;
                let next = judged
                    .runner_up
                    .filter(|_| judged.either)
                    .map(|(next, _)| next);
                judged.mechanism == *cause || next == Some(*cause)
            });
            let told = told || (verdict.is_none() && *cause == Mechanism::Unknown);
            let (all, right) = self.causes.entry(*cause).or_default();
            (*all, *right) = (*all + 1, *right + u32::from(told));
        }
        if run.causes.len() < 3 {
            return;
        }
        self.connections += 1;
        let said = identity.stack.unwrap_or("nothing");
        let truth = family(stack);
        if said == truth {
            self.right += 1;
        } else if said == "several" && identity.stacks.contains(&truth) {
            self.several += 1;
        } else if identity.confidence >= 0.9 {
            self.wrong_and_sure += 1;
        }
    }
}

/// The family that a page of settings belongs to.
fn family(stack: &str) -> &str {
    match stack {
        "linux-6.1" | "linux-6.12" => "linux-6",
        other => other,
    }
}

/// Everything that the judges say of a run.
fn judge(run: &Run, chosen: Chosen) -> (Vec<Option<Explanation>>, Identity) {
    let mut judges = Judges::within(&run.facts, chosen, Recycled::default());
    for event in &run.events {
        judges.event(event);
    }
    let numbers = 0..run.causes.len() as u32;
    let verdicts = numbers.map(|number| judges.verdict(number, &Witness::of_all()));
    (verdicts.collect(), judges.identity())
}

/// Runs a random transfer of `stack` for each seed, its constants off by up to a twentieth.
fn score(stack: &str, changes: &[(&str, &str)], seeds: Range<u64>) -> Score {
    let mut score = Score::default();
    for seed in seeds {
        let client = settings("linux-6.12", &[]);
        let plan = model::draw(seed, client, perturbed(stack, changes, seed));
        score.note(stack, &model::run(plan), Chosen::default());
    }
    score
}

/// Ticks a second that a stack is built with.
fn ticks(stack: &str) -> &'static [u32] {
    match stack {
        "linux-2.4" | "freebsd-5" | "freebsd-14" | "solaris-10" => &[100, 1_000],
        "linux-3.10" | "linux-6.12" => &[1_000, 250, 100],
        _ => &[],
    }
}

/// The stack's settings with `changes`, its constants off by up to a twentieth and perhaps other ticks.
fn perturbed(stack: &str, changes: &[(&str, &str)], seed: u64) -> Settings {
    let mut random = Streams::new(seed).stream("perturbed", 0);
    let mut settings = settings(stack, changes);
    let timers = &mut settings.timers;
    for value in [
        &mut timers.min_rto,
        &mut timers.rto_slop,
        &mut timers.initial_rto,
    ] {
        let nanos = value.as_nanos() as f64 * (0.95 + 0.1 * random.uniform());
        *value = Duration::from_nanos(nanos as i64);
    }
    let ticks = ticks(stack);
    if !ticks.is_empty() && random.uniform() < 0.4 {
        timers.hz = ticks[random.below(ticks.len() as u64) as usize];
    }
    settings
}

/// At least so many thousandths of `all`.
fn share_is((all, told): (u32, u32), thousandths: u32) -> bool {
    all > 0 && u64::from(told) * 1_000 >= u64::from(all) * u64::from(thousandths)
}

#[test]
fn causes_are_told_whichever_stack_it_was() {
    for stack in [
        "linux-6.12",
        "linux-3.10",
        "linux-2.4",
        "windows-xp",
        "freebsd-5",
        "solaris-10",
        "rfc",
    ]
    .into_iter()
    .chain(TODAY)
    {
        let score = score(stack, &[], 20_000..20_150);
        let total = score.total();
        assert!(total.0 > 1_000, "{stack}: {} retransmissions", total.0);
        assert!(share_is(total, 975), "{stack}: {total:?}");
        for cause in [Mechanism::Rto, Mechanism::RtoRecovery] {
            let told = score.causes[&cause];
            assert!(share_is(told, 970), "{stack} {cause}: {told:?}");
        }
    }
}

#[test]
fn senders_are_named_or_honestly_several() {
    for stack in ["linux-6.12", "windows-xp", "freebsd-5", "solaris-10", "rfc"] {
        let score = score(stack, &[], 30_000..30_150);
        let fair = score.right + score.several;
        let of = |count| (score.connections, count);
        assert!(share_is(of(score.right), 500), "{stack}: {}", score.right);
        assert!(share_is(of(fair), 900), "{stack}: {fair}");
        assert!(
            score.wrong_and_sure <= 1,
            "{stack}: {}",
            score.wrong_and_sure
        );
    }
}

/// Those that find losses by time look alike where no SYN tells them apart.
#[test]
fn senders_of_today_are_named_or_several_and_seldom_taken_for_another() {
    for stack in TODAY {
        let score = score(stack, &[], 30_000..30_150);
        let fair = (score.connections, score.right + score.several);
        assert!(share_is(fair, 900), "{stack}: {fair:?}");
        let wrong = score.wrong_and_sure;
        assert!(wrong * 12 <= score.connections, "{stack}: {wrong}");
    }
}

/// By its own emulation alone, as where its SYN names it.
#[test]
fn senders_of_today_explain_their_own() {
    for stack in TODAY {
        let chosen = Chosen::parse(&[stack]).unwrap();
        let mut score = Score::default();
        for seed in 50_000..50_150 {
            let client = settings("linux-6.12", &[]);
            let plan = model::draw(seed, client, perturbed(stack, &[], seed));
            score.note(stack, &model::run(plan), chosen);
        }
        let total = score.total();
        assert!(total.0 > 1_000, "{stack}: {} retransmissions", total.0);
        assert!(share_is(total, 980), "{stack}: {total:?}");
    }
}

#[test]
fn probes_and_rack_switched_off_are_seen() {
    for changes in [&[("tlp", "off")][..], &[("rack", "false")]] {
        let total = score("linux-6.12", changes, 40_000..40_150).total();
        assert!(share_is(total, 880), "{changes:?}: {total:?}");
    }
}

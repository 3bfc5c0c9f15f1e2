//! Verdicts held against the model's causes.

use std::collections::BTreeMap;

use rexmit_tcp::settings::Settings;
use rexmit_tcp::Mechanism;
use rexmit_time::{Duration, Streams};
use rexmit_trace::emulate::{Identity, Judges};
use rexmit_trace::necessary::Witness;

use super::model::{self, Run};

/// How often which cause was taken for which, and how the stack was named.
#[derive(Default)]
pub struct Score {
    pub matrix: BTreeMap<(Mechanism, Mechanism), u32>,
    pub stacks: BTreeMap<(String, String), u32>,
    pub right: u32,
    pub several: u32,
    pub wrong_and_sure: u32,
    pub connections: u32,
}

impl Score {
    /// Retransmissions of `cause`, and those of them that were told.
    pub fn of(&self, cause: Mechanism) -> (u32, u32) {
        let of = self.matrix.iter().filter(|((truth, _), _)| *truth == cause);
        let all = of.clone().map(|(_, count)| count).sum();
        let told = of
            .filter(|((truth, said), _)| truth == said)
            .map(|(_, count)| count)
            .sum();
        (all, told)
    }

    /// Retransmissions, and those of them that were told.
    pub fn total(&self) -> (u32, u32) {
        Mechanism::ALL.iter().fold((0, 0), |(all, told), cause| {
            let (more, right) = self.of(*cause);
            (all + more, told + right)
        })
    }

    pub fn print(&self) {
        for ((truth, said), count) in &self.matrix {
            let mark = if truth == said { ' ' } else { '*' };
            println!("{mark} {truth:>16} {said:>16} {count:>7}");
        }
        let (all, told) = self.total();
        println!(
            "{told} of {all}: {:.3} %",
            100.0 * f64::from(told) / f64::from(all.max(1))
        );
        for ((truth, said), count) in &self.stacks {
            println!("  {truth:>14} {said:>12} {count:>5}");
        }
        let n = f64::from(self.connections.max(1));
        println!(
            "connections {}: right {:.1} %, right or several {:.2} %, wrong and sure {}",
            self.connections,
            100.0 * f64::from(self.right) / n,
            100.0 * f64::from(self.right + self.several) / n,
            self.wrong_and_sure
        );
    }
}

/// The family that a page of settings belongs to.
fn family(stack: &str) -> &str {
    match stack {
        "linux-6.1" | "linux-6.12" => "linux-6",
        "windows-xp-unc2007" => "windows-xp",
        "freebsd-5-unc2007" => "freebsd-5",
        "solaris-10-unc2007" => "solaris-10",
        other => other,
    }
}

/// Everything that the judges say of a run; with `DEBUG` set, how the emulations stand.
pub fn judge(run: &Run) -> (Vec<Option<rexmit_trace::emulate::Verdict>>, Identity) {
    let mut judges = Judges::new(&run.facts);
    for event in &run.events {
        judges.event(event);
    }
    if std::env::var("SHOW").is_ok() {
        for (stack, score, worst) in judges.standings() {
            println!("{stack:>12} {score:>10.1} worst {worst:>6.1}");
        }
    }
    let verdicts = (0..run.causes.len() as u32)
        .map(|n| judges.verdict(n, &Witness::of_all()))
        .collect();
    (verdicts, judges.identity())
}

/// Runs `seeds` random transfers of `stack`, its constants off by up to a twentieth.
pub fn score(stack: &str, changes: &[(&str, &str)], seeds: std::ops::Range<u64>) -> Score {
    let mut score = Score::default();
    let show: Option<u64> = std::env::var("SHOW")
        .ok()
        .and_then(|text| text.parse().ok());
    let verbose = std::env::var("WRONG").is_ok();
    for seed in seeds {
        if show.is_some_and(|show| show != seed) {
            continue;
        }
        let (path, work) = model::draw(seed);
        let settings = perturbed(stack, changes, seed);
        let client = model::stack("linux-6.12", &[]);
        let run = model::run(settings, client, path.clone(), &work, seed);
        let (verdicts, identity) = judge(&run);
        let mut wrong = 0;
        for (number, (cause, verdict)) in run.causes.iter().zip(&verdicts).enumerate() {
            let said = match verdict {
                Some(v)
                    if v.judged.either && v.judged.runner_up.is_some_and(|(m, _)| m == *cause) =>
                {
                    *cause
                }
                Some(v) => v.judged.mechanism,
                None => Mechanism::Unknown,
            };
            if said != *cause {
                wrong += 1;
                if verbose {
                    println!("{stack} seed {seed} retransmission {number}: {cause} told as {said}");
                }
            }
            *score.matrix.entry((*cause, said)).or_default() += 1;
        }
        if show == Some(seed) {
            super::score::dump(&run, &verdicts);
            println!("{path:?} {work:?} wrong {wrong} {identity:?}");
        }
        if run.causes.len() >= 3 {
            score.connections += 1;
            let said = identity.stack.unwrap_or("nothing");
            let truth = family(stack);
            *score
                .stacks
                .entry((stack.to_owned(), said.to_owned()))
                .or_default() += 1;
            if said == truth {
                score.right += 1;
            } else if said == "several" && identity.stacks.contains(&truth) {
                score.several += 1;
            } else if identity.confidence >= 0.9 {
                score.wrong_and_sure += 1;
                if verbose {
                    println!("{stack} seed {seed}: {identity:?}");
                }
            }
        }
    }
    score
}

/// Prints what a sender saw and how its retransmissions were explained.
pub fn dump(run: &Run, verdicts: &[Option<rexmit_trace::emulate::Verdict>]) {
    use rexmit_trace::event::{SenderEvent, SentKind};
    let isn = run.facts.isn.unwrap_or_default();
    let origin = match run.events.first() {
        Some(SenderEvent::Sent(sent)) => sent.at,
        Some(SenderEvent::Acked(acked)) => acked.at,
        None => return,
    };
    println!("{:?}", run.facts);
    for event in &run.events {
        match event {
            SenderEvent::Sent(sent) => {
                let note = match sent.kind {
                    SentKind::Retransmission(number) => {
                        let cause = run.causes[number as usize];
                        match &verdicts[number as usize] {
                            Some(v) => format!(
                                "#{number} {cause}: {} {:.3} then {:?} {}timer {:?}{}",
                                v.judged.mechanism,
                                v.judged.confidence,
                                v.judged.runner_up,
                                if v.judged.either { "either " } else { "" },
                                v.judged.timer.map(|t| t.as_nanos() / 1_000),
                                if v.judged.mechanism == cause {
                                    ""
                                } else {
                                    " <<<<"
                                }
                            ),
                            None => format!("#{number} {cause}: nothing"),
                        }
                    }
                    other => format!("{other:?}"),
                };
                println!(
                    "{:>12.6} sent {}..{} {note}",
                    (sent.at - origin).as_secs_f64(),
                    sent.range.start.offset_from(isn),
                    sent.range.end.offset_from(isn),
                );
            }
            SenderEvent::Acked(acked) => {
                let sacks: Vec<String> = acked
                    .sacks
                    .as_slice()
                    .iter()
                    .map(|b| format!("{}-{}", b.start.offset_from(isn), b.end.offset_from(isn)))
                    .collect();
                let dsack = acked
                    .dsack
                    .map(|b| (b.start.offset_from(isn), b.end.offset_from(isn)));
                println!(
                    "{:>12.6}           ack {} {} {}",
                    (acked.at - origin).as_secs_f64(),
                    acked.ack.offset_from(isn),
                    sacks.join(" "),
                    dsack.map(|d| format!("dsack {d:?}")).unwrap_or_default()
                );
            }
        }
    }
}

/// Ticks a second that a stack is built with.
fn ticks(stack: &str) -> &'static [u32] {
    match stack {
        "linux-2.4" | "freebsd-5" | "freebsd-5-unc2007" | "solaris-10" | "solaris-10-unc2007" => {
            &[100, 1_000]
        }
        "linux-3.10" | "linux-6.1" | "linux-6.12" => &[1_000, 250, 100],
        _ => &[],
    }
}

/// The stack's settings with `changes`, its constants off by up to a twentieth and perhaps other ticks.
fn perturbed(stack: &str, changes: &[(&str, &str)], seed: u64) -> Settings {
    let mut random = Streams::new(seed).stream("perturbed", 0);
    let mut changes: Vec<(&str, String)> = changes
        .iter()
        .map(|(key, value)| (*key, (*value).to_owned()))
        .collect();
    let page = model::stack(stack, &changes);
    let mut off = |name: &'static str, value: Duration| {
        let nanos = (value.as_nanos() as f64 * (0.95 + 0.1 * random.uniform())) as i64;
        if !changes.iter().any(|(key, _)| *key == name) {
            changes.push((name, format!("{nanos}ns")));
        }
    };
    off("min_rto", page.timers.min_rto);
    off("rto_slop", page.timers.rto_slop);
    off("initial_rto", page.timers.initial_rto);
    let ticks = ticks(stack);
    if !ticks.is_empty() && random.uniform() < 0.4 {
        let hz = ticks[random.below(ticks.len() as u64) as usize];
        changes.push(("hz", hz.to_string()));
    }
    model::stack(stack, &changes)
}

/// The table of a stack, for a look at it: `STACK=linux-6.12 CHANGES=tlp=off SEEDS=500 cargo test -p rexmit-trace --release
/// table -- --ignored --nocapture`.
#[test]
#[ignore = "prints a table"]
fn table() {
    let stacks = std::env::var("STACK").unwrap_or_else(|_| "linux-6.12".to_owned());
    let seeds = std::env::var("SEEDS")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(200);
    let first = std::env::var("FIRST")
        .ok()
        .and_then(|text| text.parse().ok())
        .unwrap_or(0);
    let changes = std::env::var("CHANGES").unwrap_or_default();
    let changes: Vec<(&str, &str)> = changes
        .split(',')
        .filter_map(|c| c.split_once('='))
        .collect();
    for stack in stacks.split(',') {
        println!("== {stack}");
        score(stack, &changes, first..first + seeds).print();
    }
}

/// At least so many thousandths of `all`.
fn share_is(told: u32, all: u32, thousandths: u32) -> bool {
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
    ] {
        let score = score(stack, &[], 20_000..20_150);
        let (all, told) = score.total();
        assert!(all > 1_000, "{stack}: {all} retransmissions");
        assert!(share_is(told, all, 975), "{stack}: {told} of {all}");
        for cause in [Mechanism::Rto, Mechanism::RtoRecovery] {
            let (all, told) = score.of(cause);
            assert!(share_is(told, all, 970), "{stack} {cause}: {told} of {all}");
        }
    }
}

#[test]
fn senders_are_named_or_honestly_several() {
    for stack in ["linux-6.12", "windows-xp", "freebsd-5", "solaris-10", "rfc"] {
        let score = score(stack, &[], 30_000..30_150);
        let fair = score.right + score.several;
        assert!(
            share_is(score.right, score.connections, 500),
            "{stack}: {}",
            score.right
        );
        assert!(share_is(fair, score.connections, 900), "{stack}: {fair}");
        assert!(
            score.wrong_and_sure <= 1,
            "{stack}: {}",
            score.wrong_and_sure
        );
    }
}

#[test]
fn probes_and_rack_switched_off_are_seen() {
    for changes in [&[("tlp", "off")][..], &[("rack", "false")]] {
        let score = score("linux-6.12", changes, 40_000..40_150);
        let (all, told) = score.total();
        assert!(share_is(told, all, 880), "{changes:?}: {told} of {all}");
    }
}

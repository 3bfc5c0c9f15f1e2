//! Searches for packets that make the analysis panic: `hostile [--cases N] [--seconds S] [--seed SEED] [--jobs J] [--out FOLDER]`.
//!
//! What is found is written into the folder as pcap files, which `rexmit trace` reads, and the exit status is 1. `--from N` begins
//! with that case of the seed.

#![expect(
    clippy::disallowed_methods,
    reason = "it says how long it takes, and writes into a folder that its user names"
)]

use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use rexmit_fuzz_targets::hostile::{search, Case};

struct Arguments {
    cases: u64,
    seconds: u64,
    seed: u64,
    /// The first case.
    from: u64,
    jobs: u64,
    out: PathBuf,
}

impl Arguments {
    fn parse() -> Result<Self, String> {
        let mut arguments = Arguments {
            cases: 20_000,
            seconds: u64::MAX,
            seed: 1,
            from: 0,
            jobs: 2,
            out: PathBuf::from("."),
        };
        let mut words = std::env::args().skip(1);
        while let Some(word) = words.next() {
            let value = words.next().ok_or(format!("{word} needs a value"))?;
            let number = || {
                value
                    .parse()
                    .map_err(|_| format!("{word} {value}: not a number"))
            };
            match word.as_str() {
                "--cases" => arguments.cases = number()?,
                "--seconds" => arguments.seconds = number()?,
                "--seed" => arguments.seed = number()?,
                "--from" => arguments.from = number()?,
                "--jobs" => arguments.jobs = number()?,
                "--out" => arguments.out = PathBuf::from(value),
                _ => return Err(format!("{word}: there is no such option")),
            }
        }
        Ok(arguments)
    }
}

fn main() -> ExitCode {
    let arguments = match Arguments::parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            eprintln!("hostile: {error}");
            return ExitCode::from(2);
        }
    };
    if let Err(error) = std::fs::create_dir_all(&arguments.out) {
        eprintln!("hostile: {}: {error}", arguments.out.display());
        return ExitCode::from(2);
    }
    // What panics is told here, in short.
    std::panic::set_hook(Box::new(|_| {}));
    let (next, tried, found) = (
        AtomicU64::new(arguments.from),
        AtomicU64::new(0),
        AtomicU64::new(0),
    );
    let over = AtomicBool::new(false);
    let begun = Instant::now();
    let last = arguments.from.saturating_add(arguments.cases);
    println!("SEED={}: {} cases", arguments.seed, arguments.cases);
    std::thread::scope(|scope| {
        for _ in 0..arguments.jobs.max(1) {
            scope.spawn(|| loop {
                let number = next.fetch_add(1, Relaxed);
                if number >= last || over.load(Relaxed) {
                    break;
                }
                let case = Case::of(&search::choices(arguments.seed, number));
                if let Err(panic) = search::watched(|| case.analyse()) {
                    found.fetch_add(1, Relaxed);
                    tell(&arguments, number, &case, &panic);
                }
                let tried = tried.fetch_add(1, Relaxed) + 1;
                let seconds = begun.elapsed();
                if seconds > Duration::from_secs(arguments.seconds) {
                    over.store(true, Relaxed);
                }
                if tried % 10_000 == 0 {
                    let found = found.load(Relaxed);
                    println!("{tried} cases in {} s, {found} panicked", seconds.as_secs());
                }
            });
        }
    });
    let (tried, found) = (tried.into_inner(), found.into_inner());
    println!(
        "{tried} cases in {} s, {found} panicked",
        begun.elapsed().as_secs()
    );
    if found > 0 {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Writes what is left of a case that panics.
fn tell(arguments: &Arguments, number: u64, case: &Case, panic: &str) {
    let small = case.reduced();
    let files: Vec<String> = (1..)
        .zip(small.captures())
        .map(|(point, capture)| {
            let name = format!("hostile-{}-{number}-{point}.pcap", arguments.seed);
            let path = arguments.out.join(name);
            write(&path, &capture);
            path.display().to_string()
        })
        .collect();
    println!("case {number} of SEED={}: {panic}", arguments.seed);
    println!("  {}", files.join(" "));
    if let Some(settings) = small.unusual_settings() {
        println!("  with {settings}");
    }
}

fn write(path: &Path, bytes: &[u8]) {
    if let Err(error) = std::fs::write(path, bytes) {
        eprintln!("hostile: {}: {error}", path.display());
    }
}

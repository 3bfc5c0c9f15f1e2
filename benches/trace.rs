//! The analysis of a large capture against tcptrace and tshark on the same file, in processor time; two threads against
//! one; what replays cost; and a million idle connections.
//!
//! `cargo bench -p rexmit-benches --bench trace [-- CAPTURE]`
//!
//! Without a capture, `rexmit validate synth` makes one of five million packets: many short connections with 1 % loss.
#![allow(clippy::disallowed_methods, reason = "a benchmark reads clocks")]

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use rexmit_time::Time;
use rexmit_trace::analyzer::Analyzer;
use rexmit_trace::run::{Background, Next};
use rexmit_trace::settings::Settings;
use rexmit_trace::whatif::Plan;
use rexmit_wire::capture::Reader;
use rexmit_wire::headers::{Notes, Sack, SynOptions, Timestamps};
use rexmit_wire::{Flags, FlowKey, Headers, SeqNum};

const RUNS: u32 = 3;
/// The issue's aims.
const TIMES_TCPTRACE: f64 = 5.0;
const TIMES_TSHARK: f64 = 20.0;
const TWO_CORES: f64 = 1.7;
const GRID: f64 = 2.0;
const IDLE_BYTES: f64 = 1.5e9;

fn main() {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| arg != "--bench")
        .collect();
    match &args[..] {
        [what, path, jobs, whatif] if what == "analyse" => {
            return analyse(path, jobs.parse().expect("a number"), whatif);
        }
        [what] if what == "idle" => return idle(1_000_000),
        _ => {}
    }
    let path = args.first().map_or_else(make, PathBuf::from);
    let ours = |jobs: &str, whatif: &str| {
        let path = path.to_string_lossy();
        let run = || measure(&mut own(&["analyse", &path, jobs, whatif]));
        (1..RUNS).fold(run(), |best, _| best.or(&run()))
    };
    let plain = ours("1", "off");
    println!("{}", plain.output.trim_end());
    show("our analysis", &plain, &plain);
    let name = path.to_string_lossy().into_owned();
    let tcptrace = measure(Command::new("tcptrace").args(["-n", &name]));
    show("tcptrace", &tcptrace, &plain);
    let shark = [
        "-n",
        "-r",
        &name,
        "-Y",
        "tcp.analysis.retransmission",
        "-T",
        "fields",
        "-e",
        "frame.number",
    ];
    let tshark = measure(Command::new("tshark").args(shark));
    show("tshark", &tshark, &plain);
    aim(
        "times tcptrace",
        tcptrace.processor_s / plain.processor_s,
        TIMES_TCPTRACE,
    );
    aim(
        "times tshark",
        tshark.processor_s / plain.processor_s,
        TIMES_TSHARK,
    );
    let usual = ours("1", "default");
    show("with the usual replays", &usual, &plain);
    let grid = ours("1", "grid");
    show("with the grid of UNC 2007", &grid, &plain);
    at_most(
        "times the plain analysis, with the grid",
        grid.processor_s / plain.processor_s,
        GRID,
    );
    let two = ours("2", "off");
    show("two threads", &two, &plain);
    aim(
        "times one thread, by the clock on the wall",
        plain.wall_s / two.wall_s,
        TWO_CORES,
    );
    let idle = measure(&mut own(&["idle"]));
    let bytes: f64 = idle.output.trim().parse().expect("a number of bytes");
    at_most("bytes, a million idle connections", bytes, IDLE_BYTES);
}

/// What a program took.
struct Cost {
    processor_s: f64,
    wall_s: f64,
    output: String,
}

impl Cost {
    /// The better of two runs, which say the same.
    fn or(mut self, other: &Cost) -> Cost {
        assert_eq!(self.output, other.output);
        self.processor_s = self.processor_s.min(other.processor_s);
        self.wall_s = self.wall_s.min(other.wall_s);
        self
    }
}

fn show(what: &str, cost: &Cost, ours: &Cost) {
    let times = cost.processor_s / ours.processor_s;
    println!(
        "{what:28} {:7.2} s of processor, {:7.2} s on the wall, {times:6.2} times ours",
        cost.processor_s, cost.wall_s
    );
}

fn aim(what: &str, got: f64, least: f64) {
    let verdict = if got >= least { "reached" } else { "missed" };
    println!("{what}: {got:.2}; aim {least:.2} {verdict}");
}

fn at_most(what: &str, got: f64, most: f64) {
    let verdict = if got <= most { "reached" } else { "missed" };
    println!("{what}: {got:.2}; aim {most:.2} at most {verdict}");
}

/// This program again, as another process: its memory and time are its own.
fn own(args: &[&str]) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("this program has a path"));
    command.args(args);
    command
}

fn measure(command: &mut Command) -> Cost {
    let before = children_s();
    let began = Instant::now();
    let done = command.stderr(Stdio::null()).output();
    let done = done.unwrap_or_else(|error| panic!("{:?}: {error}", command.get_program()));
    assert!(
        done.status.success(),
        "{:?}: {}",
        command.get_program(),
        done.status
    );
    Cost {
        wall_s: began.elapsed().as_secs_f64(),
        processor_s: children_s() - before,
        output: String::from_utf8_lossy(&done.stdout).into_owned(),
    }
}

/// Processor time of all children that have ended, of both kinds, in seconds (proc(5)).
fn children_s() -> f64 {
    let stat = fs::read_to_string("/proc/self/stat").expect("there is a /proc");
    let fields = stat.rsplit(')').next().expect("a name in parentheses");
    let ticks = |field: usize| -> f64 {
        fields
            .split_whitespace()
            .nth(field)
            .and_then(|n| n.parse().ok())
            .expect("a number")
    };
    // cutime and cstime, fields 16 and 17; a hundred ticks are a second on every Linux.
    (ticks(13) + ticks(14)) / 100.0
}

/// Makes the capture, unless it was made before.
fn make() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let folder = root.join("target/bench-trace");
    let capture = folder.join("captures/bench-switch.pcap");
    if !capture.exists() {
        let status = Command::new(root.join(".venv/bin/rexmit"))
            .args([
                "validate",
                "synth",
                "--mix",
                "bench",
                "--connections",
                "130000",
                "--seed",
                "1",
            ])
            .args(["--at", "switch", "--format", "pcap", "--out"])
            .arg(&folder)
            .status();
        assert!(
            status.is_ok_and(|status| status.success()),
            "rexmit validate synth (make setup)"
        );
    }
    capture
}

/// Analyses a capture and says what came of it.
fn analyse(path: &str, jobs: usize, whatif: &str) {
    let plan = match whatif {
        "off" => None,
        words => Some(Plan::parse(&[words]).expect("settings to replay").into()),
    };
    let settings = Settings {
        whatif: plan,
        ..Settings::default()
    };
    let path = path.to_owned();
    let open = move || {
        let file = File::open(path).map_err(|error| error.to_string())?;
        Reader::new(file).map_err(|error| error.to_string())
    };
    let run = Background::new(open, &settings, jobs);
    let (mut connections, mut retransmissions, mut replays) = (0, 0, 0);
    loop {
        match run.next(Duration::from_secs(1)) {
            Next::Rows(rows) => {
                connections += rows.connections.len();
                retransmissions += rows.retransmissions.len();
                replays += rows.whatif.len();
            }
            Next::Wait => {}
            Next::End(summary, error) => {
                assert_eq!(error, None);
                println!(
                    "{} packets, {connections} connections, {retransmissions} retransmissions, {replays} replays",
                    summary.frames
                );
                return;
            }
        }
    }
}

/// Tells the memory of this process with so many connections that have had a handshake, a request and a response.
fn idle(connections: u32) {
    let mut analyzer = Analyzer::new(Settings::default());
    for number in 0..connections {
        let flow = FlowKey {
            src: std::net::Ipv4Addr::from(0x0a00_0000 + number / 50_000).into(),
            dst: std::net::Ipv4Addr::from(0xc612_0000).into(),
            src_port: 10_000 + (number % 50_000) as u16,
            dst_port: 443,
        };
        let (mut client, mut server) = (SeqNum::new(number), SeqNum::new(!number));
        let packets = [
            (true, Flags::SYN.0, 0),
            (false, Flags::SYN.0 | Flags::ACK.0, 0),
            (true, Flags::ACK.0, 0),
            (true, Flags::ACK.0 | Flags::PSH.0, 500),
            (false, Flags::ACK.0, 1_448),
            (false, Flags::ACK.0 | Flags::PSH.0, 800),
            (true, Flags::ACK.0, 0),
        ];
        for (step, (from_client, flags, payload_len)) in (0..).zip(packets) {
            let (seq, ack) = if from_client {
                (&mut client, server)
            } else {
                (&mut server, client)
            };
            let flags = Flags(flags);
            let headers = Headers {
                flow: if from_client { flow } else { flow.reversed() },
                seq: *seq,
                ack,
                payload_len,
                window: 500,
                flags,
                ttl: 64,
                ip_id: Some(step as u16),
                dont_fragment: true,
                ecn: 0,
                notes: Notes::default(),
                timestamps: Some(Timestamps {
                    value: step,
                    echo: step,
                }),
                sack: Sack::default(),
                syn: flags.syn().then(|| SynOptions {
                    mss: Some(1_460),
                    window_scale: Some(7),
                    sack_permitted: true,
                    timestamps: true,
                    ..SynOptions::default()
                }),
            };
            *seq += headers.seq_len();
            analyzer.packet(
                Time::from_nanos(u64::from(number) * 10_000 + u64::from(step) * 1_000_000),
                &headers,
            );
        }
    }
    assert_eq!(analyzer.connections(), connections as usize);
    let status = fs::read_to_string("/proc/self/status").expect("there is a /proc");
    let peak = status
        .lines()
        .find_map(|line| line.strip_prefix("VmHWM:"))
        .expect("a peak");
    let kilobytes: u64 = peak
        .trim()
        .trim_end_matches(" kB")
        .parse()
        .expect("a number");
    println!("{}", kilobytes * 1024);
}

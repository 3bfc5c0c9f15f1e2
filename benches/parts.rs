//! What it costs to analyse a capture in parts, against the plain analysis of the same capture in the same run: what each step
//! takes, how long what they write is, and what the step that does not divide
//! takes for each row.
//!
//! `cargo bench -p rexmit-benches --bench parts [-- CAPTURE [GROUPS]]`
//!
//! Without a capture, that which the bench `trace` makes.
#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark reads clocks and writes over what it wrote before"
)]

use std::fs::{self, File};
use std::io::{BufReader, BufWriter};
use std::path::{Path, PathBuf};

use rexmit_benches::processor_seconds;
use rexmit_trace::columns::tables;
use rexmit_trace::parts::{analyse, judge, most_groups, read, Part, PieceRows, Sink, Source};
use rexmit_trace::run::Inline;
use rexmit_trace::settings::Settings;
use rexmit_wire::capture::Reader;

/// In all, the steps take at most so many times as long as the plain analysis.
const IN_ALL: f64 = 1.25;
/// Bytes of a packet between the first two steps, at most.
const BYTES: f64 = 16.0;

fn main() {
    let mut args = std::env::args().skip(1).filter(|arg| arg != "--bench");
    let path = args.next().map_or_else(made, PathBuf::from);
    assert!(
        path.exists(),
        "{} is not there: run the bench `trace`, which makes it",
        path.display()
    );
    let settings = Settings {
        whatif: None,
        ..Settings::default()
    };
    let groups = args.next().map_or_else(
        || most_groups(&settings),
        |text| text.parse().expect("a number of groups"),
    );
    let folder = std::env::temp_dir().join(format!("rexmit-bench-parts-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for what the steps write");
    let cost = Cost::of(&path, &folder, groups, &settings);
    fs::remove_dir_all(&folder).expect("the folder that was made");
    cost.show();
}

/// What the bench `trace` makes.
fn made() -> PathBuf {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    root.join("target/bench-trace/captures/bench-switch.pcap")
}

/// Seconds of processor, and lengths.
struct Cost {
    packets: f64,
    rows: f64,
    plain_s: f64,
    decode_s: f64,
    read_s: f64,
    analyse_s: f64,
    judge_s: f64,
    merge_s: f64,
    packets_bytes: f64,
    rows_bytes: f64,
}

impl Cost {
    fn of(path: &Path, folder: &Path, groups: u16, settings: &Settings) -> Cost {
        let open = || Reader::new(File::open(path).expect("a capture")).expect("a capture");
        let packets = |group: u16| folder.join(format!("packets-{group}"));
        let detail = || folder.join("detail");
        let waiting = |group: u16| folder.join(format!("waiting-{group}"));
        let rows = |group: u16, piece: u32| folder.join(format!("rows-{group}-{piece}"));
        let create = |path: PathBuf| Ok(BufWriter::new(File::create(path)?));
        let opened = |path: PathBuf| {
            let file = File::open(path).expect("a file of the step before");
            (String::new(), BufReader::new(file))
        };

        let (plain_s, (frames, rows_of_run)) = timed(|| {
            let mut run = Inline::new(open(), settings);
            let mut count = 0;
            while let Some(rows) = run.next_rows() {
                count += rows.len();
                std::hint::black_box(tables(&rows, "", &[]));
            }
            (run.summary().frames, count)
        });
        // What the first step would take if it wrote nothing.
        let (decode_s, ()) = timed(|| {
            let mut capture = open();
            while let Some(frame) = capture.next_frame().expect("whole") {
                let headers =
                    rexmit_wire::Headers::decode(frame.link, frame.data, frame.original_len);
                let _ = std::hint::black_box(headers);
            }
        });
        let (read_s, part) = timed(|| {
            let writers: Vec<_> = (0..groups)
                .map(|group| BufWriter::new(File::create(packets(group)).expect("a file")))
                .collect();
            let (part, of_it) = read(open(), "a", settings, writers, |_| true).expect("a part");
            let to = create(detail()).expect("a file");
            of_it.write(to).expect("a detail");
            part
        });
        let parts: Vec<Part> = vec![part];
        let (analyse_s, ()) = timed(|| {
            for group in 0..groups {
                let from = Source {
                    packets: |_: usize, group: u16| Ok(opened(packets(group))),
                    detail: |_: usize| Ok(opened(detail())),
                };
                let to = Sink {
                    waiting: create(waiting(group)).expect("a file"),
                    piece: |piece| create(rows(group, piece)),
                };
                analyse(&parts, group, settings, from, to, |_| true).expect("rows");
            }
        });
        let (judge_s, judged) = timed(|| {
            let waits = (0..groups).map(|group| opened(waiting(group)));
            let open = |piece| create(rows(groups, piece));
            judge(&parts, settings, waits, open).expect("judged")
        });
        let (merge_s, merged) = timed(|| {
            let mut count = 0;
            for number in 0..judged.pieces() {
                let own = (0..groups).filter(|group| judged.has(*group, number));
                let files = own.chain([groups]).map(|group| opened(rows(group, number)));
                let mut piece = PieceRows::new(&judged, files).expect("rows");
                while let Some(rows) = piece.next_rows().expect("rows") {
                    count += rows.len();
                    std::hint::black_box(tables(&rows, "", &[]));
                }
            }
            count
        });
        assert_eq!(merged, rows_of_run);
        let judged = &judged;
        let length = |path: PathBuf| fs::metadata(path).expect("a file").len() as f64;
        Cost {
            packets: frames as f64,
            rows: merged as f64,
            plain_s,
            decode_s,
            read_s,
            analyse_s,
            judge_s,
            merge_s,
            packets_bytes: (0..groups).map(|group| length(packets(group))).sum(),
            rows_bytes: (0..groups)
                .flat_map(|group| {
                    let pieces =
                        (0..judged.pieces()).filter(move |piece| judged.has(group, *piece));
                    pieces
                        .map(move |piece| rows(group, piece))
                        .chain([waiting(group)])
                })
                .map(length)
                .sum(),
        }
    }

    fn show(&self) {
        println!("{:.0} packets, {:.0} rows", self.packets, self.rows);
        for (what, seconds) in [
            ("plain analysis", self.plain_s),
            ("headers alone", self.decode_s),
            ("read", self.read_s),
            ("analyse", self.analyse_s),
            ("judge", self.judge_s),
            ("merge", self.merge_s),
        ] {
            let nanos = seconds / self.packets * 1e9;
            println!("{what:16} {seconds:7.2} s of processor, {nanos:6.0} ns a packet");
        }
        println!(
            "judge: {:.2} µs a row, undivided; merge: {:.2} µs a row; rows: {:.0} bytes each",
            self.judge_s / self.rows * 1e6,
            self.merge_s / self.rows * 1e6,
            self.rows_bytes / self.rows
        );
        let in_all = self.read_s + self.analyse_s + self.judge_s + self.merge_s;
        at_most(
            "times the plain analysis, in all",
            in_all / self.plain_s,
            IN_ALL,
        );
        at_most("bytes a packet", self.packets_bytes / self.packets, BYTES);
    }
}

fn at_most(what: &str, got: f64, most: f64) {
    let verdict = if got <= most { "reached" } else { "missed" };
    println!("{what}: {got:.2}; aim {most:.2} at most {verdict}");
}

/// Seconds of processor that something takes.
fn timed<T>(work: impl FnOnce() -> T) -> (f64, T) {
    let before = processor_seconds();
    let done = work();
    (processor_seconds() - before, done)
}

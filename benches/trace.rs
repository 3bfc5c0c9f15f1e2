//! The core's analysis alone, for `benches/speed.py` and `benches/packed.py`, which measure it:
//!
//! - `analyse CAPTURE THREADS off|default|grid`: analyses a capture, with these replays, and says what came of it;
//! - `read CAPTURE`: reads its packets, and says how many there are;
//! - `unpack CAPTURE`: only takes its compression off, with the libraries that the core does it with;
//! - `long CAPTURE`: writes a capture of one long connection of which a fifth is lost;
//! - `idle`: has a million connections that were quiet after a request and a response.

#![allow(
    clippy::disallowed_methods,
    reason = "a benchmark writes over what it wrote before"
)]

use std::fs::File;
use std::hint::black_box;
use std::io::{BufReader, BufWriter, Read};
use std::path::Path;
use std::time::Duration;

use mimalloc::MiMalloc;
use rexmit_benches::write_long;
use rexmit_time::Time;
use rexmit_trace::analyzer::Analyzer;
use rexmit_trace::run::{Background, Next};
use rexmit_trace::settings::Settings;
use rexmit_trace::whatif::Plan;
use rexmit_wire::capture::Reader;
use rexmit_wire::headers::{Notes, Record, Sack, SynOptions, Timestamps};
use rexmit_wire::{Flags, FlowKey, Headers, SeqNum};

/// As in the Python extension.
#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() {
    let args: Vec<String> = std::env::args()
        .skip(1)
        .filter(|arg| arg != "--bench")
        .collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    match args[..] {
        ["analyse", path, jobs, whatif] => analyse(path, jobs.parse().expect("a number"), whatif),
        ["read", path] => read(path),
        ["unpack", path] => unpack(path),
        ["long", path] => long(Path::new(path)),
        ["idle"] => idle(1_000_000),
        _ => println!("measured by benches/speed.py"),
    }
}

/// Writes a capture of one connection of three million packets of which a fifth is lost.
fn long(path: &Path) {
    let file = BufWriter::new(File::create(path).expect("a folder that takes files"));
    write_long(file, 1_333_000, 0.2).expect("a disk that takes it");
}

/// Reads the packets of a capture.
fn read(path: &str) {
    let mut reader = Reader::new(File::open(path).expect("a file")).expect("a capture");
    let mut packets = 0;
    while let Some(frame) = reader.next_frame().expect("a whole capture") {
        black_box((frame.time, frame.data));
        packets += 1;
    }
    println!("{packets} packets");
}

/// Takes the compression off a file, as its name ends.
fn unpack(path: &str) {
    /// As much as the core has at hand of a capture.
    const AT_ONCE: usize = 1 << 19;
    let file = BufReader::with_capacity(AT_ONCE, File::open(path).expect("a file"));
    let ending = Path::new(path)
        .extension()
        .map(|ending| ending.to_string_lossy());
    let mut input: Box<dyn Read> = match ending.as_deref() {
        Some("gz") => Box::new(flate2::bufread::MultiGzDecoder::new(file)),
        Some("zst") => Box::new(zstd::stream::read::Decoder::with_buffer(file).expect("memory")),
        Some("lz4") => Box::new(lz4_flex::frame::FrameDecoder::new(file)),
        Some("xz") => Box::new(lzma_rust2::XzReader::new(file, true)),
        _ => Box::new(file),
    };
    let (mut buffer, mut bytes) = (vec![0; AT_ONCE], 0);
    loop {
        match input.read(&mut buffer).expect("a whole file") {
            0 => break,
            count => bytes += count,
        }
        black_box(&buffer);
    }
    println!("{bytes} bytes");
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

/// Has so many connections at once that have had a handshake, a request and a response.
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
                record: Record::None,
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
            let at = u64::from(number) * 10_000 + u64::from(step) * 1_000_000;
            analyzer.packet(Time::from_nanos(at), &headers);
        }
        // As often as a run looks at connections.
        if number % 4_096 == 0 {
            analyzer.expire(Time::from_nanos(u64::from(number) * 10_000), 8 * 4_096);
        }
    }
    assert_eq!(analyzer.connections(), connections as usize);
}

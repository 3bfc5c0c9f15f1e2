//! Packets a second that are read from captures in memory and whose headers are decoded, on one core: against
//! pcap-parser that walks the same records, and etherparse that parses the same headers.
//!
//! `cargo bench -p rexmit-benches --bench capture`

use std::hint::black_box;
use std::io::Write;

use etherparse::LaxSlicedPacket;
use pcap_parser::traits::PcapReaderIterator;
use pcap_parser::{LegacyPcapReader, PcapBlockOwned, PcapError};
use rexmit_benches::{best_of, Rate, Traffic};
use rexmit_time::Time;
use rexmit_wire::capture::{Batch, Reader};
use rexmit_wire::headers::Headers;
use rexmit_wire::pcapng::Writer;

const RUNS: u32 = 15;
/// Aims in packets a second: plain pcap read, and headers decoded.
const AIM_READ: f64 = 25e6;
const AIM_DECODE: f64 = 15e6;
/// Bytes captured of a packet: Ethernet, IPv4, TCP with timestamps, and a little more.
const SNAP: usize = 96;
/// Packets in a batch.
const BATCH: usize = 4096;

fn main() {
    let traffic = Traffic::responses(10_000, 50, 1_000, 0);
    let frames: Vec<Vec<u8>> = traffic.packets().map(ethernet).collect();
    let pcap = pcap(&frames);
    println!(
        "{} packets of 1,514 bytes, {SNAP} captured, {} MB",
        traffic.len(),
        pcap.len() / 1_000_000
    );
    let count = traffic.len();

    let walk = best_of(RUNS, count, || assert_eq!(walk_reference(&pcap), count));
    println!("  pcap-parser, records walked     {walk}");
    let read = best_of(RUNS, count, || assert_eq!(read_frames(&pcap), count));
    tell("capture::Reader, pcap", read, walk);
    let batches = best_of(RUNS, count, || assert_eq!(read_batches(&pcap), count));
    tell("the same into batches", batches, walk);
    let pcapng = pcapng(&frames);
    let read_ng = best_of(RUNS, count, || assert_eq!(read_frames(&pcapng), count));
    tell("capture::Reader, pcapng", read_ng, walk);

    let mut batch = Batch::default();
    let mut reader = Reader::new(&pcap[..]).expect("a capture");
    reader.fill(&mut batch, usize::MAX, SNAP).expect("whole");
    let parse = best_of(RUNS, count, || {
        for frame in batch.frames() {
            let sliced = LaxSlicedPacket::from_ethernet(frame.data).expect("Ethernet");
            black_box(sliced.transport);
        }
    });
    println!("  etherparse LaxSlicedPacket      {parse}");
    let decode = best_of(RUNS, count, || {
        for frame in batch.frames() {
            let headers = Headers::decode(frame.link, frame.data, frame.original_len);
            black_box(&headers);
        }
    });
    tell("Headers::decode", decode, parse);
    let both = best_of(RUNS, count, || {
        let mut reader = Reader::new(&pcap[..]).expect("a capture");
        while let Some(frame) = reader.next_frame().expect("whole") {
            let headers = Headers::decode(frame.link, frame.data, frame.original_len);
            black_box(&headers);
        }
    });
    println!("  read and decoded                {both}");
    for (name, packed) in [
        ("gzip", packed(&pcap, "gzip")),
        ("zstd", packed(&pcap, "zstd")),
        ("lz4", packed(&pcap, "lz4")),
        ("xz", packed(&pcap, "xz")),
    ] {
        let Some(packed) = packed else {
            println!("  {name} is not installed");
            continue;
        };
        let rate = best_of(3, count, || assert_eq!(read_frames(&packed), count));
        println!("  read, packed by {name:4}            {rate}");
    }
    for (what, rate, aim) in [("read", read, AIM_READ), ("decode", decode, AIM_DECODE)] {
        let verdict = if rate.per_second >= aim {
            "reached"
        } else {
            "missed"
        };
        println!("{what}: aim {:.0} M packets/s {verdict}", aim / 1e6);
    }
}

fn tell(what: &str, rate: Rate, reference: Rate) {
    let ratio = rate.per_second / reference.per_second;
    println!("  {what:32}{rate}  {ratio:.2} of the reference");
}

fn ethernet(packet: &[u8]) -> Vec<u8> {
    let mut frame = vec![2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 0x08, 0x00];
    frame.extend(packet);
    frame
}

fn pcap(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [0xa1b2_3c4d, 0x0004_0002, 0, 0, SNAP as u32, 1] {
        bytes.extend(u32::to_le_bytes(word));
    }
    for (n, frame) in frames.iter().enumerate() {
        let captured = frame.len().min(SNAP);
        for word in [
            n / 1_000_000,
            1_000 * (n % 1_000_000),
            captured,
            frame.len(),
        ] {
            bytes.extend((word as u32).to_le_bytes());
        }
        bytes.extend(&frame[..captured]);
    }
    bytes
}

fn pcapng(frames: &[Vec<u8>]) -> Vec<u8> {
    let mut writer = Writer::new(Vec::new()).expect("memory");
    let interface = writer.add_interface("eth0").expect("memory");
    for (n, frame) in frames.iter().enumerate() {
        let time = Time::from_nanos(1_000 * n as u64);
        let captured = &frame[..frame.len().min(SNAP)];
        let written = writer.packet(interface, time, captured, frame.len() as u32, None);
        written.expect("memory");
    }
    writer.into_inner().expect("memory")
}

/// What a program of the system makes of `bytes`; none when it is not there.
fn packed(bytes: &[u8], program: &str) -> Option<Vec<u8>> {
    let mut child = std::process::Command::new(program)
        .arg("-c")
        .stdin(std::process::Stdio::piped())
        .stdout(std::process::Stdio::piped())
        .spawn()
        .ok()?;
    let mut input = child.stdin.take()?;
    let output = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(bytes));
        child.wait_with_output()
    });
    Some(output.ok()?.stdout)
}

fn walk_reference(bytes: &[u8]) -> u64 {
    let mut reader = LegacyPcapReader::new(1 << 19, bytes).expect("a capture");
    let mut count = 0;
    loop {
        match reader.next() {
            Ok((used, block)) => {
                if let PcapBlockOwned::Legacy(packet) = &block {
                    black_box((packet.ts_sec, packet.data));
                    count += 1;
                }
                reader.consume(used);
            }
            Err(PcapError::Eof) => return count,
            Err(PcapError::Incomplete(_)) => reader.refill().expect("memory"),
            Err(_) => panic!("the capture is whole"),
        }
    }
}

fn read_frames(bytes: &[u8]) -> u64 {
    let mut reader = Reader::new(bytes).expect("a capture");
    let mut count = 0;
    while let Some(frame) = reader.next_frame().expect("whole") {
        black_box((frame.time, frame.data));
        count += 1;
    }
    count
}

fn read_batches(bytes: &[u8]) -> u64 {
    let mut reader = Reader::new(bytes).expect("a capture");
    let mut batch = Batch::default();
    let mut count = 0;
    loop {
        batch.clear();
        let more = reader.fill(&mut batch, BATCH, 128).expect("whole");
        count += batch.len() as u64;
        black_box(&batch);
        if !more {
            return count;
        }
    }
}

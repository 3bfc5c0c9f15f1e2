//! What connections cost that never get beyond their first packets, in bytes of memory.
//!
//! A counting allocator counts, so the numbers are the same on every machine.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use rexmit_testing::{bare, flow};
use rexmit_time::{Duration, Time};
use rexmit_trace::analyzer::Analyzer;
use rexmit_trace::settings::Settings;
use rexmit_wire::headers::{OptionLayout, SynOptions, Timestamps};
use rexmit_wire::{Flags, FlowKey, Headers, SeqNum};

thread_local! {
    /// Bytes that this thread has taken less those that it gave back, each block with what a usual allocator (glibc's) adds
    /// to it. Tests on other threads do not count here.
    static IN_USE: Cell<isize> = const { Cell::new(0) };
}

fn in_use() -> isize {
    IN_USE.get()
}

struct Counting;

fn with_header(size: usize) -> isize {
    (size + 8).next_multiple_of(16).max(32) as isize
}

// SAFETY: every call goes to the system's allocator as it is.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        IN_USE.set(IN_USE.get() + with_header(layout.size()));
        // SAFETY: as the caller says.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, block: *mut u8, layout: Layout) {
        IN_USE.set(IN_USE.get() - with_header(layout.size()));
        // SAFETY: as the caller says.
        unsafe { System.dealloc(block, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const SYN_ACK: Flags = Flags(Flags::SYN.0 | Flags::ACK.0);
const RST_ACK: Flags = Flags(Flags::RST.0 | Flags::ACK.0);

/// The first packet of connection `n`, as Linux makes it.
fn packet(n: u32, flags: Flags) -> Headers {
    let [a, b, c, d] = (0x0b00_0000 + n / 50_000).to_be_bytes();
    let mut layout = OptionLayout::default();
    for (kind, length) in [(2, 4), (4, 2), (8, 10), (1, 1), (3, 3)] {
        layout.push(kind, length);
    }
    Headers {
        seq: SeqNum::new(n.wrapping_mul(0x9e37_79b9)),
        window: 64_240,
        flags,
        ip_id: Some(n as u16),
        timestamps: Some(Timestamps { value: n, echo: 0 }),
        syn: flags.syn().then(|| SynOptions {
            mss: Some(1_460),
            window_scale: Some(7),
            sack_permitted: true,
            timestamps: true,
            layout,
            ip_header_len: 20,
            ..SynOptions::default()
        }),
        ..bare(FlowKey {
            src: [a, b, c, d].into(),
            ..flow(1_024 + (n % 50_000) as u16)
        })
    }
}

/// The other side's answer.
fn answer(n: u32, flags: Flags) -> Headers {
    let first = packet(n, Flags::SYN);
    Headers {
        flow: first.flow.reversed(),
        ack: first.seq + 1,
        ..packet(n, flags)
    }
}

/// Bytes that a connection takes up; `packets` gives the packets of each, a second apart.
fn bytes_each(packets: impl Fn(u32) -> Vec<Headers>) -> isize {
    bytes_among(Settings::default().most_connections, packets)
}

/// The same where so many are remembered at most, and nothing came for a while.
fn bytes_among(most_connections: usize, packets: impl Fn(u32) -> Vec<Headers>) -> isize {
    let run = |connections: u32| {
        let before = in_use();
        let mut analyzer = Analyzer::new(Settings {
            most_connections,
            ..Settings::default()
        });
        let mut now = Time::ZERO + Duration::from_secs(1_000);
        for n in 0..connections {
            for (packet, later) in packets(n).iter().zip(0..) {
                analyzer.packet(now + Duration::from_secs(later), packet);
            }
            now += Duration::from_nanos(1_000);
        }
        analyzer.expire(now + Duration::from_secs(15), u32::MAX);
        assert_eq!(analyzer.connections(), connections as usize);
        in_use() - before
    };
    // Of both the index has just doubled: it never takes up more for each.
    const FEW: u32 = (1 << 15) + 100;
    (run(2 * FEW) - run(FEW)) / FEW as isize
}

fn again(n: u32, times: u32) -> Vec<Headers> {
    let again = |k| Headers {
        ip_id: Some((n + k) as u16),
        timestamps: Some(Timestamps {
            value: n + 1_000 * k,
            echo: 0,
        }),
        ..packet(n, Flags::SYN)
    };
    (0..=times).map(again).collect()
}

#[test]
fn a_connection_that_nobody_answers_takes_up_300_bytes() {
    for (what, bytes) in [
        ("SYN", bytes_each(|n| vec![packet(n, Flags::SYN)])),
        ("SYN and three more", bytes_each(|n| again(n, 3))),
        ("SYN-ACK", bytes_each(|n| vec![packet(n, SYN_ACK)])),
        ("ACK", bytes_each(|n| vec![packet(n, Flags::ACK)])),
        (
            "SYN with data",
            bytes_each(|n| {
                vec![Headers {
                    payload_len: 100,
                    ..packet(n, Flags::SYN)
                }]
            }),
        ),
        (
            "data",
            bytes_each(|n| {
                vec![Headers {
                    payload_len: 100,
                    ..packet(n, Flags::ACK)
                }]
            }),
        ),
    ] {
        println!("{what}: {bytes} bytes");
        assert!(bytes <= 300, "{what}: {bytes}");
    }
}

#[test]
fn what_is_answered_without_data_takes_up_little_more() {
    for (what, bytes) in [
        (
            "SYN and SYN-ACK",
            bytes_each(|n| vec![packet(n, Flags::SYN), answer(n, SYN_ACK)]),
        ),
        (
            "SYN and RST",
            bytes_each(|n| vec![packet(n, Flags::SYN), answer(n, RST_ACK)]),
        ),
        ("SYN and ten more", bytes_each(|n| again(n, 10))),
    ] {
        println!("{what}: {bytes} bytes");
        assert!(bytes <= 450, "{what}: {bytes}");
    }
}

/// A handshake, a request and a response.
fn exchange(n: u32) -> Vec<Headers> {
    let numbers = |back: bool, seq: u32, ack: u32, payload_len: u32| {
        let like = if back {
            answer(n, Flags::ACK)
        } else {
            packet(n, Flags::ACK)
        };
        Headers {
            seq: like.seq + seq,
            ack: like.seq + ack,
            payload_len,
            ..like
        }
    };
    vec![
        packet(n, Flags::SYN),
        answer(n, SYN_ACK),
        numbers(false, 1, 1, 0),
        numbers(false, 1, 1, 500),
        numbers(true, 1, 501, 0),
        numbers(true, 1, 501, 800),
        numbers(false, 501, 801, 0),
    ]
}

#[test]
fn a_quiet_connection_among_many_takes_up_half_as_much() {
    let few = bytes_among(100_000_000, exchange);
    let many = bytes_among(100_000, exchange);
    println!("{few} bytes, among many {many}");
    assert!(many <= 520, "{many}");
    assert!(many * 2 <= few, "{many}, {few}");
}

#[test]
fn a_reset_of_nothing_takes_up_nothing() {
    let mut analyzer = Analyzer::new(Settings::default());
    let empty = in_use();
    for n in 0..10_000 {
        analyzer.packet(Time::ZERO, &packet(n, Flags::RST));
    }
    assert_eq!(in_use(), empty);
}

/// Each packet stands behind as many as are taken for missing at most; packets of all connections come in turn.
#[test]
fn what_a_capture_misses_takes_up_no_more_than_some_packets() {
    const CONNECTIONS: u32 = 20;
    const PACKETS: u32 = 400;
    let before = in_use();
    let mut analyzer = Analyzer::new(Settings::default());
    let mut now = Time::ZERO + Duration::from_secs(1_000);
    for number in 0..PACKETS {
        for n in 0..CONNECTIONS {
            let data = exchange(n)[5];
            let seq = data.seq + number * 200 * 1_460;
            let opening = exchange(n)
                .into_iter()
                .take(if number == 0 { 3 } else { 0 });
            for packet in opening.chain([Headers { seq, ..data }]) {
                now += Duration::from_micros(10);
                analyzer.packet(now, &packet);
            }
        }
    }
    let each = (in_use() - before) / (CONNECTIONS * PACKETS) as isize;
    println!("{each} bytes");
    assert!(each <= 2_500, "{each}");
}

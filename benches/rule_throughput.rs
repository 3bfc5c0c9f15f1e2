//! Packets a second that the tail rule judges on one core, headers parsed, against etherparse that
//! parses the same headers and judges nothing.
//!
//! `cargo bench -p rexmit-benches --bench rule_throughput`

use std::hint::black_box;

use etherparse::LaxSlicedPacket;
use rexmit_benches::{best_of, Rate, Traffic};
use rexmit_loss::{Drops, LossRule, Mode, PacketId, Settings, Verdict};
use rexmit_time::{Duration, Time};
use rexmit_wire::TcpPacket;

const RUNS: u32 = 15;
/// The aim, packets a second a core.
const AIM: f64 = 5e6;

fn main() {
    let mut worst = f64::INFINITY;
    for (about, connections, at_once, lost) in [
        ("1,000 transfers one by one, 5 lost", 1_000, 1, 5),
        ("2,000 transfers, 1,000 at once, 5 lost", 2_000, 1_000, 5),
        ("2,000 transfers, 1,000 at once, none lost", 2_000, 1_000, 0),
    ] {
        let traffic = Traffic::responses(connections, 100, at_once, lost);
        println!(
            "{about}: 100 segments of 1,448 bytes each, {} packets",
            traffic.len()
        );
        let reference = etherparse(&traffic);
        println!("  etherparse LaxSlicedPacket      {reference}");
        let parse = parse(&traffic);
        println!(
            "  our header decoder              {parse}  {:.2} of the reference",
            ratio(parse, reference)
        );
        for mode in [Mode::Sequence, Mode::Hold] {
            let rate = rule(&traffic, mode, lost, u64::from(connections));
            println!(
                "  tail rule, {mode:8}             {rate}  {:.2} of the reference",
                ratio(rate, reference)
            );
            worst = worst.min(rate.per_second);
        }
    }
    let verdict = if worst >= AIM { "reached" } else { "missed" };
    println!(
        "slowest {:.2} M packets/s; aim {:.0} M packets/s {verdict}",
        worst / 1e6,
        AIM / 1e6
    );
}

fn ratio(a: Rate, b: Rate) -> f64 {
    a.per_second / b.per_second
}

fn etherparse(traffic: &Traffic) -> Rate {
    best_of(RUNS, traffic.len(), || {
        for packet in traffic.packets() {
            let sliced = LaxSlicedPacket::from_ip(packet).expect("the traffic is IP");
            black_box(sliced.transport);
        }
    })
}

fn parse(traffic: &Traffic) -> Rate {
    best_of(RUNS, traffic.len(), || {
        for packet in traffic.packets() {
            let packet = TcpPacket::parse(packet).expect("the traffic is TCP");
            black_box((packet.flow(), packet.seq(), packet.payload_len()));
        }
    })
}

fn rule(traffic: &Traffic, mode: Mode, lost: u32, transfers: u64) -> Rate {
    best_of(RUNS, traffic.len(), || {
        let mut rule = LossRule::new(Settings {
            drops: Drops::Tail {
                segments: lost,
                mode,
                hold_limit: Duration::from_secs(3),
            },
            ..Settings::default()
        });
        let (mut dropped, mut rows, mut held) = (0, 0, 0);
        for (n, packet) in traffic.packets().enumerate() {
            let packet = TcpPacket::parse(packet).expect("the traffic is TCP");
            let now = Time::from_nanos(1_000 * n as u64);
            match rule.on_packet(PacketId(n as u64), &packet, now) {
                Verdict::Accept => {}
                Verdict::Drop => dropped += 1,
                Verdict::Hold => held += 1,
            }
            while let Some(release) = rule.poll_release() {
                black_box(release);
                held -= 1;
            }
            while let Some(event) = rule.poll_event() {
                rows += u64::from(matches!(event, rexmit_loss::Event::Finished(_)));
            }
            black_box(rule.deadline());
        }
        black_box(dropped);
        // A rate of wrong answers is worth nothing.
        let all = transfers * u64::from(lost + u32::from(lost > 0));
        assert_eq!(
            (held, rows, rule.counters().dropped),
            (0, transfers, all),
            "every transfer ran to its end"
        );
    })
}

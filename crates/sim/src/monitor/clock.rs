//! A clock that is set while it stamps packets: forward or back, by milliseconds or seconds. Packets stay in the order in
//! which they came.

use rexmit_time::{Duration, Streams, Time};

use super::packet::{chance, log_between, seconds};
use super::Captures;

/// Steps of one capture, at most.
const MOST: u64 = 4;

/// Sets the clock of every point at times of its own.
pub(super) fn step(captures: &mut Captures, streams: &Streams) {
    for seen in captures {
        let (Some(first), Some(last)) = (seen.packets.first(), seen.packets.last()) else {
            continue;
        };
        let (begin, span) = (first.time, last.time.since(first.time));
        let mut stream = streams.stream("clock", seen.point as u64);
        let mut steps: Vec<(Time, Duration)> = (0..=stream.below(MOST))
            .map(|_| {
                let within = span.as_nanos() as f64 * stream.uniform();
                let by = seconds(log_between(&mut stream, 0.001, 10.0));
                let forward = chance(&mut stream, 0.5);
                let by = if forward { by } else { -by };
                (begin + seconds(within / 1e9), by)
            })
            .collect();
        steps.sort();
        for packet in &mut seen.packets {
            let time = packet.time;
            for (_, by) in steps.iter().filter(|(at, _)| *at <= time) {
                packet.time += *by;
            }
        }
    }
}

//! Captures of several points, read side by side.

use rexmit_time::Time;
use rexmit_wire::Headers;

use super::{Clocks, Follow, Rows};
use crate::analyzer::Failures;
use crate::run::Source;

/// The next packet of a point.
#[derive(Debug)]
struct NextPacket {
    /// By the first point's clock, nanoseconds.
    at: i64,
    raw: Time,
    headers: Headers,
}

/// Captures of several points, one source each, whose packets are followed.
pub struct Merged<S> {
    sources: Vec<S>,
    heads: Vec<Option<NextPacket>>,
    clocks: Clocks,
    follow: Follow,
    packets: u64,
    ended: bool,
}

impl<S: Source> Merged<S> {
    /// Reads sources in the order of the points; `spans` are their captures' earliest and latest time stamps.
    #[must_use]
    pub fn new(mut sources: Vec<S>, clocks: Clocks, spans: &[Option<(Time, Time)>]) -> Self {
        let aligned = spans.iter().zip(&clocks.0).map(|(span, clock)| {
            let (first, last) = span.unwrap_or_default();
            let place = |time: Time| clock.time(time.as_nanos() as i64);
            (place(first), place(last))
        });
        let follow = Follow::new(aligned.collect());
        let heads = sources
            .iter_mut()
            .zip(&clocks.0)
            .map(|(source, clock)| next(source, clock))
            .collect();
        Merged {
            sources,
            heads,
            clocks,
            follow,
            packets: 0,
            ended: false,
        }
    }

    /// Follows so many packets; none when all were.
    pub fn some(&mut self, packets: usize) -> Option<Rows> {
        if self.ended {
            return None;
        }
        for _ in 0..packets {
            let heads = self.heads.iter().enumerate();
            let first = heads.filter_map(|(point, head)| Some((head.as_ref()?.at, point)));
            let Some((_, point)) = first.min() else {
                self.follow.finish();
                self.ended = true;
                break;
            };
            let following = next(&mut self.sources[point], &self.clocks.0[point]);
            if let Some(head) = core::mem::replace(&mut self.heads[point], following) {
                self.packets += 1;
                let raw = head.raw.as_nanos();
                self.follow.packet(point, head.at, raw, &head.headers);
            }
        }
        Some(self.follow.drain())
    }

    /// Connections that could not be followed, and are left out.
    #[must_use]
    pub const fn failures(&self) -> &Failures {
        self.follow.failures()
    }

    /// TCP packets followed so far.
    #[must_use]
    pub const fn packets(&self) -> u64 {
        self.packets
    }
}

/// The next TCP packet of a source. What cannot be read the analysis of the point's capture tells.
fn next(source: &mut impl Source, clock: &super::PointClock) -> Option<NextPacket> {
    while let Ok(Some(frame)) = source.next_frame() {
        if let Ok(headers) = Headers::decode(frame.link, frame.data, frame.original_len) {
            return Some(NextPacket {
                at: clock.time(frame.time.as_nanos() as i64),
                raw: frame.time,
                headers,
            });
        }
    }
    None
}

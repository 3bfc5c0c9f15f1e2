//! The row of a connection, as far as its running counters know it.

use rexmit_time::Duration;

use super::{Closed, Connection, BOTH};
use crate::event::Direction;
use crate::fingerprint::Known;
use crate::measures::Measures;
use crate::rows::{self, Position, SenderRow};

impl Connection {
    /// What the running counters know; sender views know more.
    pub(super) fn row(&self, evicted: bool, known: &mut Known) -> rows::Connection {
        let [forward, backward] = &self.sides;
        rows::Connection {
            flow: self.flow(),
            start: self.start,
            end: self.last,
            handshake_rtt: self.cold.syns.rtt(),
            mid_stream: self.cold.mid_stream,
            one_sided: forward.packets == 0 || backward.packets == 0,
            closed: match self.closed {
                Closed::Open => "open",
                Closed::Fin => "fin",
                Closed::Rst => "rst",
            },
            evicted,
            handshake: self.handshake(),
            reset: self.cold.reset(),
            alert: self.cold.measured.as_ref().and_then(|one| one.alert),
            forward: self.half_row(Direction::Forward, known),
            backward: self.half_row(Direction::Backward, known),
            multipath: None,
        }
    }

    /// Packets with payload that the wire carried, at least.
    fn wire_segments(&self, of: Direction) -> u64 {
        let side = &self.sides[of as usize];
        let [syn, answer] = BOTH.map(|of| self.cold.syns.get(of));
        let largest = self.terms(of).mss;
        if syn.is_some() && answer.is_some() && side.largest > largest {
            side.segments.max(side.bytes.div_ceil(u64::from(largest)))
        } else {
            side.segments
        }
    }

    fn half_row(&self, of: Direction, known: &mut Known) -> SenderRow {
        let side = &self.sides[of as usize];
        let delay = self.cold.syns.delay(of);
        let offers = self.cold.syns.offer(of).map(|syn| &syn.options);
        let signature = self.cold.syns.signature(of, self.pair.0);
        let mut row = SenderRow {
            packets: side.packets,
            bytes: side.bytes,
            unique_bytes: side.bytes,
            segments: side.segments,
            wire_segments: self.wire_segments(of),
            mss: offers.and_then(|syn| syn.mss),
            window_scale: offers.and_then(|syn| syn.window_scale),
            sack_permitted: offers.is_some_and(|syn| syn.sack_permitted),
            timestamps: offers.is_some_and(|syn| syn.timestamps),
            mptcp: offers.is_some_and(|syn| syn.mptcp.is_some()),
            syn_signature: signature.map(|signature| known.written(&signature).to_owned()),
            syn_system: self.cold.syns.hint(of).system(),
            monitor_delay: delay,
            position: self
                .cold
                .syns
                .rtt()
                .zip(delay)
                .map(|((whole, _), delay)| position(delay, whole)),
            measures: self.measures(of),
            ..SenderRow::default()
        };
        if !self.cold.views.has(of) {
            row.probes = self.cold.probes[of as usize];
            row.measures.window_probes = self.cold.window_probes[of as usize];
            // What lies between the monitor and the sender is the same for all, as far as is known.
            let delay = delay.unwrap_or(Duration::ZERO);
            row.rtt = side.rtt.summary().map(|[least, average, most]| {
                let count = side.rtt.count;
                (least + delay, average + delay, most + delay, count)
            });
        }
        row
    }
}

impl Connection {
    /// What the running counters have measured of a side.
    fn measures(&self, of: Direction) -> Measures {
        let mut measures = Measures {
            syns: self.cold.syns.count(of),
            ..Measures::default()
        };
        if let Some(measured) = &self.cold.measured {
            let mut closings = measured.closings[of as usize];
            closings.open(self.last);
            measures.zero_windows = closings.count;
            measures.zero_window = closings.length;
            measures.resets = measured.resets[of as usize];
        }
        measures
    }
}

/// Where a monitor stands whose way to the sender and back takes `delay` of a `whole` round trip.
fn position(delay: Duration, whole: Duration) -> Position {
    if whole <= Duration::ZERO {
        Position::Unknown
    } else if delay * 10 <= whole {
        Position::Sender
    } else if delay * 10 >= whole * 9 {
        Position::Receiver
    } else {
        Position::Midway
    }
}

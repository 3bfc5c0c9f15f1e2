//! The row of a connection, as far as its running counters know it.

use rexmit_time::Duration;

use super::{Closed, Connection};
use crate::event::Direction;
use crate::rows::{self, HalfRow, Position};

impl Connection {
    /// What the running counters know; halves know more.
    pub(super) fn row(&self, evicted: bool) -> rows::Connection {
        let [forward, backward] = &self.sides;
        rows::Connection {
            flow: self.flow(),
            start: self.start,
            end: self.last,
            handshake_rtt: self.handshake_rtt(),
            mid_stream: self.mid_stream,
            one_sided: forward.packets == 0 || backward.packets == 0,
            closed: match self.closed {
                Closed::Open => "open",
                Closed::Fin => "fin",
                Closed::Rst => "rst",
            },
            evicted,
            forward: self.half_row(Direction::Forward),
            backward: self.half_row(Direction::Backward),
        }
    }

    fn half_row(&self, of: Direction) -> HalfRow {
        let side = &self.sides[of as usize];
        let delay = match of {
            Direction::Forward => self.client_part,
            Direction::Backward => self.server_part,
        };
        let offers = side.syn.as_ref().map(|syn| &syn.options);
        let mut row = HalfRow {
            packets: side.packets,
            bytes: side.bytes,
            unique_bytes: side.bytes,
            segments: side.segments,
            mss: offers.and_then(|syn| syn.mss),
            window_scale: offers.and_then(|syn| syn.window_scale),
            sack_permitted: offers.is_some_and(|syn| syn.sack_permitted),
            timestamps: offers.is_some_and(|syn| syn.timestamps),
            mptcp: offers.is_some_and(|syn| syn.mptcp.is_some()),
            monitor_delay: delay,
            position: self
                .handshake_rtt()
                .zip(delay)
                .map(|((whole, _), delay)| position(delay, whole)),
            ..HalfRow::default()
        };
        if self.halves[of as usize].is_none() {
            row.probes = side.probes;
            let rtt = &side.rtt;
            // What lies between the monitor and the sender is the same for all, as far as is known.
            let delay = delay.unwrap_or(Duration::ZERO);
            row.rtt = (rtt.count > 0).then(|| {
                let average = rtt.sum / i64::from(rtt.count);
                (
                    rtt.least + delay,
                    average + delay,
                    rtt.most + delay,
                    rtt.count,
                )
            });
        }
        row
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

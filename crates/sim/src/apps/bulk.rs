//! Data one way.

use rexmit_tcp::connection::{Event, Socket};
use rexmit_time::Time;

use super::read_all;

/// Writes as much as the socket takes, then closes.
#[derive(Clone, Debug)]
pub struct Source {
    left: u64,
}

impl Source {
    /// Sends so many bytes; `u64::MAX` is for ever.
    #[must_use]
    pub const fn new(bytes: u64) -> Self {
        Self { left: bytes }
    }

    pub(super) fn on_event(&mut self, now: Time, event: Event, socket: &mut impl Socket) {
        if !matches!(event, Event::Established | Event::Writable) || self.left == 0 {
            return;
        }
        while self.left > 0 {
            let bytes = u32::try_from(self.left).unwrap_or(u32::MAX);
            match socket.write(now, bytes, false) {
                0 => return,
                taken => self.left -= u64::from(taken),
            }
        }
        socket.close(now);
    }
}

/// Reads all that comes; closes when the source has.
#[derive(Clone, Debug, Default)]
pub struct Sink {
    /// Bytes that came.
    pub received: u64,
    /// When the end was read.
    pub finished: Option<Time>,
}

impl Sink {
    pub(super) fn on_event(&mut self, now: Time, event: Event, socket: &mut impl Socket) {
        if matches!(event, Event::Readable | Event::PeerClosed) && self.finished.is_none() {
            self.received += read_all(now, socket);
            if socket.at_end() {
                self.finished = Some(now);
                socket.close(now);
            }
        }
    }
}

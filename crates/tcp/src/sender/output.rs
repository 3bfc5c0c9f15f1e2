//! What is on its way out of the host, and what holds it back.

use std::collections::VecDeque;

use rexmit_time::Time;

use super::host::Host;
use super::Transmit;

/// What is on its way out of the host.
#[derive(Clone, Debug)]
pub(super) struct Output {
    /// Packets to be taken, in order.
    pub packets: VecDeque<Transmit>,
    pub host: Host,
    /// When data last left (`lsndtime`).
    pub last_sent: Time,
    /// The tick since which a packet waits to become larger (`tso_deferred`).
    pub deferred: Option<i64>,
}

impl Output {
    /// Nothing is.
    pub fn new(now: Time) -> Self {
        Output {
            packets: VecDeque::new(),
            host: Host::default(),
            last_sent: now,
            deferred: None,
        }
    }

    /// Gives back the memory of the packets, of which there are none.
    pub fn rest(&mut self) {
        self.packets = VecDeque::new();
    }
}

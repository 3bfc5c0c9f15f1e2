//! What is on its way out of the host, and what holds it back.

use std::collections::VecDeque;

use rexmit_time::Time;

use super::host::{self, HostQueue};
use super::Transmit;
use crate::settings::Segments;

/// What is on its way out of the host.
#[derive(Clone, Debug)]
pub(super) struct Output {
    /// Packets to be taken, in order.
    pub packets: VecDeque<Transmit>,
    pub host: HostQueue,
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
            host: HostQueue::default(),
            last_sent: now,
            deferred: None,
        }
    }

    /// A packet waits at this tick to become larger, or does no more.
    pub fn defer(&mut self, waits: bool, tick: i64) {
        match waits {
            true => _ = self.deferred.get_or_insert(tick),
            false => self.deferred = None,
        }
    }

    /// Whether too much of ours is in the host for a packet of `len` bytes more, at this pacing rate; then sending goes on when a
    /// packet leaves (`tcp_small_queue_check`). `alone`: no more than one segment is out.
    pub fn is_full(
        &mut self,
        segments: &Segments,
        len: u32,
        retransmission: bool,
        rate: u64,
        alone: bool,
    ) -> bool {
        let Some(most) = segments.limit_output_bytes else {
            return false;
        };
        let limit = match segments.pacing_rate {
            true => host::limit(len + segments.packet_overhead, rate, most, retransmission),
            false if retransmission => return false,
            false => u64::from(most),
        };
        // The socket itself counts one (`sk_wmem_alloc`).
        if u64::from(self.host.bytes()) < limit || (segments.pacing_rate && alone) {
            return false;
        }
        self.host.throttle();
        true
    }

    /// Whether the packet of a transmission has not left the host yet; then nothing is sent again until one has
    /// (`skb_still_in_host_queue`).
    pub fn holds(&mut self, segments: &Segments, now: Time, transmission: u32) -> bool {
        let held = segments.limit_output_bytes.is_some()
            && segments.pacing_rate
            && self.host.holds(now, transmission);
        if held {
            self.host.throttle();
        }
        held
    }

    /// A packet of `len` bytes enters the host: what it counts there, and its number.
    pub fn enter(&mut self, segments: &Segments, len: u32) -> (u32, Option<u32>) {
        if segments.limit_output_bytes.is_none() {
            return (0, None);
        }
        let bytes = len + segments.packet_overhead;
        let number = (bytes > 0).then(|| self.host.enter(bytes));
        (bytes, number)
    }

    /// Gives back the memory of the packets, of which there are none.
    pub fn rest(&mut self) {
        self.packets = VecDeque::new();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks;

    #[test]
    fn a_host_that_holds_a_packet_holds_its_retransmission_back() {
        let segments = stacks::page("linux-6.12").unwrap().settings.segments;
        let now = Time::from_nanos(1_000_000_000);
        let mut output = Output::new(now);
        let (bytes, number) = output.enter(&segments, 1000);
        assert!(output.holds(&segments, now, number.unwrap()));
        assert!(output.host.leave(now, bytes), "sending waited for it");
        let later = now + rexmit_time::Duration::from_millis(1);
        assert!(!output.holds(&segments, later, number.unwrap()));
    }

    #[test]
    fn two_packets_are_let_in_and_a_third_where_only_one_segment_is_out() {
        let segments = stacks::page("linux-6.12").unwrap().settings.segments;
        let mut output = Output::new(Time::from_nanos(0));
        for _ in 0..2 {
            assert!(!output.is_full(&segments, 1000, false, 0, false));
            output.enter(&segments, 1000);
        }
        assert!(!output.is_full(&segments, 1000, false, 0, true));
        assert!(output.is_full(&segments, 1000, false, 0, false));
        assert!(
            !output.is_full(&segments, 1000, true, 0, false),
            "twice as much"
        );
    }
}

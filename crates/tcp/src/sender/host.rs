//! What of ours is still in the host: its own queues and those of its devices.

use rexmit_time::{Duration, Time};

/// How long a packet that counts no more is still taken for waiting: so long the lab's links keep its buffer in the
/// socket's name (docs/notes/leaving-the-host.md).
const HELD: Duration = Duration::from_micros(1);

/// Packets in the host (`sk_wmem_alloc`) and whether sending waits for them to leave (`TSQ_THROTTLED`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct HostQueue {
    bytes: u32,
    /// Transmissions so far.
    given: u32,
    /// Transmissions that left.
    left: u32,
    /// When the last of them left, and how many had before that time.
    last: Time,
    left_before: u32,
    throttled: bool,
}

impl HostQueue {
    /// Bytes in the host.
    pub fn bytes(&self) -> u32 {
        self.bytes
    }

    /// A packet enters; gives its number.
    pub fn enter(&mut self, bytes: u32) -> u32 {
        self.given = self.given.wrapping_add(1);
        self.bytes += bytes;
        self.given
    }

    /// The next packet leaves. Whether sending waited for that.
    pub fn leave(&mut self, now: Time, bytes: u32) -> bool {
        if now != self.last {
            (self.last, self.left_before) = (now, self.left);
        }
        self.bytes = self.bytes.saturating_sub(bytes);
        self.left = self.left.wrapping_add(1);
        core::mem::take(&mut self.throttled)
    }

    /// Whether the transmission with this number is still in the host (`skb_fclone_busy`).
    pub fn holds(&self, now: Time, transmission: u32) -> bool {
        let gone = if now < self.last + HELD {
            self.left_before
        } else {
            self.left
        };
        (transmission.wrapping_sub(gone) as i32) > 0
    }

    /// Whether sending waits for a packet to leave.
    pub fn is_throttled(&self) -> bool {
        self.throttled
    }

    /// Sending waits until a packet leaves.
    pub fn throttle(&mut self) {
        self.throttled = true;
    }
}

/// Bytes that may wait in the host before sending stops: a millisecond at the pacing rate, two packets at least, the
/// sysctl at most, twice as much for retransmissions (`tcp_small_queue_check`).
pub(super) fn limit(packet: u32, pacing_rate: u64, most: u32, retransmission: bool) -> u64 {
    let rate = (pacing_rate >> 10).max(2 * u64::from(packet));
    rate.min(u64::from(most)) << u32::from(retransmission)
}

//! What of ours is still in the host: its own queues and those of its devices.

/// Packets in the host (`sk_wmem_alloc`) and whether sending waits for them to leave (`TSQ_THROTTLED`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Host {
    bytes: u32,
    /// Transmissions so far.
    given: u32,
    /// Transmissions that left.
    left: u32,
    throttled: bool,
}

impl Host {
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
    pub fn leave(&mut self, bytes: u32) -> bool {
        self.bytes = self.bytes.saturating_sub(bytes);
        self.left = self.left.wrapping_add(1);
        core::mem::take(&mut self.throttled)
    }

    /// Whether the transmission with this number is still in the host (`skb_fclone_busy`).
    pub fn holds(&self, transmission: u32) -> bool {
        (transmission.wrapping_sub(self.left) as i32) > 0
    }

    /// Sending waits until a packet leaves.
    pub fn throttle(&mut self) {
        self.throttled = true;
    }
}

/// Bytes that may wait in the host before sending stops: a millisecond at the pacing rate, two packets at least, the
/// sysctl at most, twice as much for resends (`tcp_small_queue_check`).
pub(super) fn limit(packet: u32, pacing_rate: u64, most: u32, resend: bool) -> u64 {
    let rate = (pacing_rate >> 10).max(2 * u64::from(packet));
    rate.min(u64::from(most)) << u32::from(resend)
}

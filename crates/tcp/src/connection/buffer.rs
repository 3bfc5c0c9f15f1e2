//! The send buffer: how large it is, and when a writer that found it full is woken.

use crate::receiver::{truesize, DESCRIPTOR, SHARED_INFO};
use crate::sender::Sender;
use crate::settings::{SendBufferGrowth, Settings};

/// Segments that a send buffer holds at least (`TCP_INIT_CWND`).
const FIRST_SEGMENTS: u32 = 10;
/// Segments that one of Linux 2.4 holds at least (`tcp_fixup_sndbuf`).
const FIRST_SEGMENTS_2_4: u32 = 3;

/// A send buffer (`sk_sndbuf`, `SOCK_NOSPACE`). What is in it, the sender knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SendBuffer {
    limit: u32,
    largest: u32,
    /// What a full segment may cost.
    segment: u32,
    growth: SendBufferGrowth,
    /// Windows of segments that it is to hold.
    windows: u8,
    waits: bool,
}

impl SendBuffer {
    /// The buffer after a handshake in which the peer announced segments of `mss` bytes (`tcp_init_buffer_space`).
    pub fn new(settings: &Settings, mss: u32) -> Self {
        let growth = settings.segments.send_buffer_growth;
        let segment = match growth {
            SendBufferGrowth::WhenFreed => truesize(mss + settings.segments.header_room),
            // mss_clamp + MAX_TCP_HEADER + 16 + sizeof(struct sk_buff)
            SendBufferGrowth::Linux24 => mss + settings.segments.packet_overhead + 16,
            // The allocator has powers of two.
            SendBufferGrowth::WhenSent => {
                (mss + settings.segments.header_room + SHARED_INFO).next_power_of_two() + DESCRIPTOR
            }
        };
        let mut buffer = SendBuffer {
            limit: settings.segments.send_buffer[1],
            largest: settings.segments.send_buffer[2],
            segment,
            growth,
            windows: settings.congestion.congestion_control.buffered_windows(),
            waits: false,
        };
        let segments = match growth {
            SendBufferGrowth::WhenFreed => FIRST_SEGMENTS,
            SendBufferGrowth::Linux24 => FIRST_SEGMENTS_2_4,
            // As many as reordering may pass over, and one (`tcp_sndbuf_expand`).
            SendBufferGrowth::WhenSent => {
                u32::from(buffer.windows) * FIRST_SEGMENTS.max(settings.loss.dupack_threshold + 1)
            }
        };
        buffer.raise(segments);
        buffer
    }

    /// Bytes that the buffer holds, overhead counted.
    pub fn limit(&self) -> u32 {
        self.limit
    }

    /// A writer found the buffer full, and waits.
    pub fn wait(&mut self) {
        self.waits = true;
    }

    /// The buffer grows if the congestion window has room, whether a writer of its own waits or not; `sent` new segments left
    /// just now (`tcp_should_expand_sndbuf`).
    pub fn grow(&mut self, sender: &Sender, sent: u32) {
        let in_flight = match self.growth {
            SendBufferGrowth::WhenFreed | SendBufferGrowth::Linux24 => {
                sender.flight().packets_out()
            }
            // Asked after each new segment: the first left when the others had not.
            SendBufferGrowth::WhenSent => sender
                .flight()
                .in_flight()
                .saturating_sub(sent.saturating_sub(1)),
        };
        if in_flight < sender.window().cwnd {
            self.raise_for(sender);
        }
    }

    fn raise_for(&mut self, sender: &Sender) {
        let least = match self.growth {
            SendBufferGrowth::WhenFreed | SendBufferGrowth::Linux24 => 0,
            SendBufferGrowth::WhenSent => FIRST_SEGMENTS,
        };
        let segments = sender.window().cwnd.max(sender.reordering() + 1).max(least);
        self.raise(segments.saturating_mul(self.windows.into()));
    }

    /// It holds twice so many segments at least.
    fn raise_to(&mut self, segments: u32) {
        self.raise(segments.saturating_mul(2));
    }

    /// It holds what the congestion window lets go in `longest_ns`, the longest round trip of any subflow
    /// (`mptcp_check_snd_buf`).
    pub fn grow_for(&mut self, sender: &Sender, longest_ns: u64) {
        let own_ns = sender
            .timing()
            .srtt()
            .map_or(0, |srtt| srtt.as_nanos() as u64);
        let in_a_round_trip = match own_ns {
            0 => 0,
            own => u64::from(sender.window().cwnd) * longest_ns.max(own) / own,
        };
        let segments = u32::try_from(in_a_round_trip).unwrap_or(u32::MAX);
        self.raise_to(segments.max(sender.reordering() + 1));
    }

    fn raise(&mut self, segments: u32) {
        let wanted = segments.saturating_mul(self.segment).min(self.largest);
        self.limit = self.limit.max(wanted);
    }

    /// Room may have come up: an acknowledgement freed `freed` bytes, and `sent` new segments left since. The buffer
    /// grows if the congestion window has room, and a waiting writer is woken if a third of the buffer is free
    /// (`tcp_check_space`, `sk_stream_write_space`). True if it is woken.
    pub fn check(&mut self, sender: &Sender, sent: u32, freed: u32) -> bool {
        if !self.waits || (self.growth != SendBufferGrowth::WhenSent && freed == 0) {
            return false;
        }
        self.grow(sender, sent);
        let used = sender.buffered();
        let woken = used < self.limit && self.limit - used >= used / 2;
        self.waits &= !woken;
        woken
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stacks;

    fn first(stack: &str) -> SendBuffer {
        SendBuffer::new(&stacks::page(stack).unwrap().settings, 1460)
    }

    /// 2.4 reckons with three segments (`tcp_fixup_sndbuf`), which 16 kB hold; 3.10 with ten of `SKB_TRUESIZE`.
    #[test]
    fn the_buffer_of_2_4_begins_as_it_is_set() {
        assert_eq!(first("linux-2.4").limit(), 16_384);
        assert_eq!(first("linux-3.10").limit(), 10 * (1460 + 304 + 576));
        let mut settings = stacks::page("linux-2.4").unwrap().settings;
        settings.segments.send_buffer[1] = 4_096;
        let small = SendBuffer::new(&settings, 1460);
        assert_eq!(small.limit(), 3 * (1460 + 208 + 160 + 16));
    }

    /// `tcp_new_space`: twice what the window, or what reordering may pass over, holds.
    #[test]
    fn the_buffer_of_2_4_grows_by_its_own_charge() {
        let mut buffer = first("linux-2.4");
        buffer.raise_to(8);
        assert_eq!(buffer.limit(), 16 * (1460 + 208 + 160 + 16));
    }
}

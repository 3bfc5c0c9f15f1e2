//! What segments carry, how packets are built of what a program writes, and when they leave the host.

use super::reflect::group;
use super::value::choices;

group! {
    /// What segments carry, how packets are built of what a program writes, and when they leave the host.
    pub struct Segments {
        /// SACK (RFC 2018).
        pub sack: bool = false, "off";
        /// D-SACK (RFC 2883).
        pub dsack: bool = false, "off";
        /// The client asks for ECN, and the server takes it (RFC 3168; `tcp_ecn` = 1).
        pub ecn: bool = false, "off";
        /// A SYN that is sent again does not ask any more (`tcp_ecn_fallback`, 4.1).
        pub ecn_fallback: bool = false, "off";
        /// Timestamps (RFC 7323).
        pub timestamps: bool = false, "off";
        /// Window scaling (RFC 7323).
        pub window_scaling: bool = false, "off";
        /// A segment with a FIN leaves in spite of a full congestion window (`tcp_cwnd_test` before 6.10).
        pub fin_exempt: bool = true, "assumption: a FIN takes no room in the congestion window";
        /// A short unsent segment is filled up from the next one when it leaves (`tcp_grow_skb`, 6.10).
        pub fill_segments: bool = false, "off";
        /// A short segment waits while packets are in the host (`tcp_autocorking`, 3.14).
        pub autocorking: bool = false, "off";
        /// Bytes that a packet in a buffer counts besides its payload (`skb->truesize`).
        pub packet_overhead: u32 = 0, "buffers count payload";
        /// Packets gather pieces of pages (`NETIF_F_SG`); else each is one buffer, for which data of files are copied, too. A
        /// host that makes checksums in software cannot gather. No difference to TCP since 4.17.
        pub scatter_gather: bool = true, "no effect where buffers count payload";
        /// What a program writes lies in one buffer for a whole segment; since 4.17 in pages, whatever the device can.
        pub linear_writes: bool = false, "no effect where buffers count payload";
        /// Bytes that a packet's buffer reserves for headers of all layers (`MAX_TCP_HEADER`); buffers are sized by it.
        pub header_room: u32 = 0, "buffers count payload";
        /// Bytes of a socket that may wait in its host (`tcp_limit_output_bytes`); none where the stack has no such limit.
        pub limit_output_bytes: Option<u32> = None, "off";
        /// Retransmissions heed the limit as well, and go on when a packet leaves the host (since 4.10).
        pub small_queue_retransmits: bool = false, "no effect without limit_output_bytes";
        /// Since when the limit follows the pacing rate (3.12).
        pub pacing_rate: bool = false, "off";
        /// Segments a packet that leaves the host may hold; 1 without segmentation offload.
        pub gso_segments: u32 = 1, "a packet is a segment";
        /// What packets of several segments are sized by, and when one waits to become larger.
        pub packet_sizing: PacketSizing = PacketSizing::Window, "no effect where a packet is a segment";
        /// Small adjacent segments are joined when sent again (`tcp_retrans_collapse`).
        pub retrans_collapse: bool = false, "off";
        /// Only those whose payload lies in one buffer that nobody else holds (`tcp_can_collapse`, before 4.13 or so).
        pub collapse_linear: bool = true, "no effect unless segments are joined";
        /// Smallest, first and largest send buffer, bytes (`tcp_wmem`).
        pub send_buffer: [u32; 3] = [65_536, 1_048_576, 4_194_304], "assumption: room for any window of the scenarios";
        /// How it grows.
        pub send_buffer_growth: SendBufferGrowth = SendBufferGrowth::WhenFreed, "no effect where the buffer has one size";
    }

    rules(self) {
        vec![
            (
                (1..=65_535).contains(&self.gso_segments),
                "gso_segments must be 1 to 65535",
            ),
            (
                self.packet_overhead <= 65_536 && self.header_room <= 65_536,
                "packet_overhead and header_room must be at most 65536",
            ),
        ]
    }
}

choices! {
    /// What packets of several segments are sized by, and when one waits to become larger.
    pub enum PacketSizing ("size of packets") {
        /// The largest packet; one waits two ticks at most (`tcp_tso_should_defer`, 3.10).
        Window = "window",
        /// A millisecond at the pacing rate; one waits for an acknowledgement that is near (`tcp_tso_autosize`).
        PacingRate = "pacing-rate",
    }
}

choices! {
    /// How the send buffer grows.
    pub enum SendBufferGrowth ("growth of the send buffer") {
        /// With what is out, when an acknowledgement frees room, for the first window at least (`tcp_fixup_sndbuf`,
        /// `tcp_new_space`, 3.10).
        WhenFreed = "when-freed",
        /// The same, for three segments at least, each charged as asked for (`tcp_fixup_sndbuf`, `alloc_skb`, 2.4).
        Linux24 = "linux-2.4",
        /// With what is in flight, for twice the first window at least (`tcp_sndbuf_expand`).
        WhenSent = "when-sent",
    }
}

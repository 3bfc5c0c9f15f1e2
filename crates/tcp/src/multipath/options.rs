//! What a packet carries of Multipath TCP, as a value. Data are counted from 0 in each direction.

use crate::settings::MptcpOptions;

/// Which handshake a packet belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hello {
    /// Of the first subflow (MP_CAPABLE).
    Capable,
    /// Of a further one (MP_JOIN).
    Join,
}

/// The data acknowledged.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DataAck {
    /// The next byte of data awaited.
    pub next: u64,
    /// With all 64 bits on the wire.
    pub long: bool,
}

/// Which data a subflow's bytes are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Map {
    /// The first byte of data.
    pub data: u64,
    /// The first byte of the subflow's stream, from 1.
    pub subflow: u32,
    /// Bytes.
    pub len: u32,
}

/// The options of one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PacketOptions {
    /// Of a handshake's packets.
    pub hello: Option<Hello>,
    /// Data acknowledged.
    pub ack: Option<DataAck>,
    /// The mapping of the payload.
    pub map: Option<Map>,
}

/// Bytes that the options take on a segment with data, as the segment size is reckoned with them.
pub(super) const fn data_bytes(form: MptcpOptions, long_acks: bool) -> u32 {
    match form {
        // Four bytes of kind, length, subtype and flags; then each number of 4 bytes, the length and a checksum.
        MptcpOptions::Rfc6824 => 4 + 4 + 12,
        // 18 bytes with the mapping and 4 or 8 of the acknowledgement, rounded up to words.
        MptcpOptions::Rfc8684 if long_acks => 28,
        MptcpOptions::Rfc8684 => 24,
    }
}

/// Bytes that the options take on an acknowledgement.
pub(super) const fn ack_bytes(form: MptcpOptions, long_acks: bool) -> u32 {
    match form {
        MptcpOptions::Rfc8684 if long_acks => 12,
        _ => 8,
    }
}

impl PacketOptions {
    /// Bytes that the options take in the header of a packet of this generation. `syn` and `answers`: its flags SYN and
    /// ACK.
    #[must_use]
    pub const fn header_len(&self, form: MptcpOptions, syn: bool, answers: bool) -> u32 {
        match (self.hello, form) {
            (Some(Hello::Capable), MptcpOptions::Rfc8684) if syn && !answers => 4,
            (Some(Hello::Capable), _) if syn => 12,
            (Some(Hello::Capable), MptcpOptions::Rfc8684) if self.map.is_some() => 24,
            (Some(Hello::Capable), _) => 20,
            (Some(Hello::Join), _) if syn && answers => 16,
            (Some(Hello::Join), _) if syn => 12,
            (Some(Hello::Join), _) => 24,
            (None, _) => {
                let long = matches!(self.ack, Some(ack) if ack.long);
                let mapping = self.map.is_some();
                match (mapping, self.ack.is_some()) {
                    (true, _) => data_bytes(form, long),
                    (false, true) => ack_bytes(form, long),
                    (false, false) => 0,
                }
            }
        }
    }
}

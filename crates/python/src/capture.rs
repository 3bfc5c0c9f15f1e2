//! Packets of a capture as Python objects.

use std::fs::File;
use std::io;
use std::path::Path;

use pyo3::prelude::*;
use rexmit_wire::capture::{End, Frame, Reader};
use rexmit_wire::headers::Notes;
use rexmit_wire::{Headers, LinkType};

use crate::error::Error;

/// One TCP packet; numbers are as on the wire.
#[pyclass(frozen, get_all, module = "rexmit._core")]
pub struct Packet {
    /// Time stamp, nanoseconds.
    time_ns: u64,
    /// Source address as text.
    src: String,
    /// Destination address as text.
    dst: String,
    /// Source port.
    sport: u16,
    /// Destination port.
    dport: u16,
    /// Sequence number.
    seq: u32,
    /// Acknowledgement number; without meaning unless the flag ACK is set.
    ack: u32,
    /// The flags' bits, FIN lowest (RFC 9293 §3.1).
    flags: u8,
    /// Payload by the IP header's length, bytes.
    payload_len: u32,
    /// The window field, not scaled.
    window: u16,
    /// The shift of later windows that a SYN offers.
    window_scale: Option<u8>,
    /// The largest segment that a SYN offers, bytes.
    mss: Option<u16>,
    /// Whether a SYN permits selective acknowledgements.
    sack_permitted: bool,
    /// Value and echo of the timestamps.
    timestamps: Option<(u32, u32)>,
    /// Start and end of each SACK block.
    sack: Vec<(u32, u32)>,
    /// The packet's comment in the capture.
    comment: Option<String>,
}

impl Packet {
    /// A packet of a capture of any kind.
    pub fn of_headers(time_ns: u64, headers: &Headers) -> Self {
        let blocks = headers.sack.blocks().iter();
        Packet {
            time_ns,
            src: headers.flow.src.to_string(),
            dst: headers.flow.dst.to_string(),
            sport: headers.flow.src_port,
            dport: headers.flow.dst_port,
            seq: headers.seq.get(),
            ack: headers.ack.get(),
            flags: headers.flags.0,
            payload_len: headers.payload_len,
            window: headers.window,
            window_scale: headers.syn.and_then(|syn| syn.window_scale),
            mss: headers.syn.and_then(|syn| syn.mss),
            sack_permitted: headers.syn.is_some_and(|syn| syn.sack_permitted),
            timestamps: headers.timestamps.map(|stamps| (stamps.value, stamps.echo)),
            sack: blocks.map(|b| (b.start.get(), b.end.get())).collect(),
            comment: None,
        }
    }
}

/// Reads all TCP packets; others, and those cut short before the end of their headers, are left
/// out.
pub fn read(path: &Path) -> Result<Vec<Packet>, Error> {
    let mut reader = Reader::new(File::open(path)?)?;
    let mut packets = Vec::new();
    while reader.advance()? {
        let Some(frame) = reader.frame() else { break };
        if frame.link != LinkType::RAW {
            return Err(Error::LinkType(frame.link));
        }
        packets.extend(decode(&frame, reader.comment()));
    }
    match reader.end() {
        Some(End::Truncated { offset }) => {
            let what = rexmit_trace::run::cut(offset);
            Err(io::Error::new(io::ErrorKind::UnexpectedEof, what).into())
        }
        _ => Ok(packets),
    }
}

fn decode(frame: &Frame<'_>, comment: Option<String>) -> Option<Packet> {
    let headers = Headers::decode(frame.link, frame.data, frame.original_len).ok()?;
    let whole = !headers.notes.contains(Notes::OPTIONS_CUT);
    whole.then(|| Packet {
        comment,
        ..Packet::of_headers(frame.time.as_nanos(), &headers)
    })
}

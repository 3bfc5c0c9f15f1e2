//! The packets of one connection out of captures of any kind.

use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;

use rexmit_wire::capture::Rotation;
use rexmit_wire::{FlowKey, Headers};

use crate::capture::Packet;
use crate::error::Error;

/// All packets between the two ends from `since` to `until`, nanoseconds of the captures' clock, in
/// order of time. What cannot be read to its end gives what it has.
pub fn read(
    paths: &[PathBuf],
    ends: (SocketAddr, SocketAddr),
    (since, until): (i64, i64),
) -> Result<Vec<Packet>, Error> {
    let named = |error: rexmit_wire::capture::FileError| {
        let path = paths.get(error.file).map(|path| path.display().to_string());
        Error::Capture(format!("{}: {}", path.unwrap_or_default(), error.error))
    };
    let flow = FlowKey {
        src: ends.0.ip(),
        dst: ends.1.ip(),
        src_port: ends.0.port(),
        dst_port: ends.1.port(),
    };
    let both = [flow, flow.reversed()];
    let mut captures =
        Rotation::new(paths.len(), |file| File::open(&paths[file])).map_err(named)?;
    let mut packets = Vec::new();
    loop {
        let frame = match captures.next_frame() {
            Ok(Some(frame)) => frame,
            Ok(None) => return Ok(packets),
            Err(error) if packets.is_empty() => return Err(named(error)),
            Err(_) => return Ok(packets),
        };
        let at = frame.time.as_nanos();
        if i128::from(at) < i128::from(since) || i128::from(at) > i128::from(until) {
            continue;
        }
        match Headers::decode(frame.link, frame.data, frame.original_len) {
            Ok(headers) if both.contains(&headers.flow) => {
                packets.push(Packet::of_headers(at, &headers));
            }
            _ => {}
        }
    }
}

//! The packets of connections out of captures of any kind.

use std::collections::BTreeMap;
use std::fs::File;
use std::net::SocketAddr;
use std::path::PathBuf;

use rexmit_wire::capture::Rotation;
use rexmit_wire::{FlowKey, Headers};

use crate::capture::Packet;
use crate::error::Error;

/// A connection: its two ends, and from when to when, nanoseconds of the captures' clock.
pub struct Wanted {
    /// Either end first.
    pub ends: (SocketAddr, SocketAddr),
    /// Both included.
    pub times: (i64, i64),
}

/// Of each connection all packets between its two ends in its time, in order of time. The captures
/// are read once. What cannot be read to its end gives what it has.
pub fn read(paths: &[PathBuf], wanted: &[Wanted]) -> Result<Vec<Vec<Packet>>, Error> {
    let named = |error: rexmit_wire::capture::FileError| {
        let path = paths.get(error.file).map(|path| path.display().to_string());
        Error::Capture(format!("{}: {}", path.unwrap_or_default(), error.error))
    };
    let mut places: BTreeMap<FlowKey, Vec<usize>> = BTreeMap::new();
    for (place, one) in wanted.iter().enumerate() {
        let flow = FlowKey {
            src: one.ends.0.ip(),
            dst: one.ends.1.ip(),
            src_port: one.ends.0.port(),
            dst_port: one.ends.1.port(),
        };
        for key in [flow, flow.reversed()] {
            places.entry(key).or_default().push(place);
        }
    }
    let first = wanted.iter().map(|one| one.times.0).min().unwrap_or(0);
    let last = wanted.iter().map(|one| one.times.1).max().unwrap_or(0);
    let within = |(since, until): (i64, i64), at: u64| {
        (i128::from(since)..=i128::from(until)).contains(&i128::from(at))
    };
    let mut captures =
        Rotation::new(paths.len(), |file| File::open(&paths[file])).map_err(named)?;
    let mut found: Vec<Vec<Packet>> = wanted.iter().map(|_| Vec::new()).collect();
    loop {
        let frame = match captures.next_frame() {
            Ok(Some(frame)) => frame,
            Ok(None) => return Ok(found),
            Err(error) if found.iter().all(Vec::is_empty) => return Err(named(error)),
            Err(_) => return Ok(found),
        };
        let at = frame.time.as_nanos();
        if !within((first, last), at) {
            continue;
        }
        let Ok(headers) = Headers::decode(frame.link, frame.data, frame.original_len) else {
            continue;
        };
        for &place in places.get(&headers.flow).into_iter().flatten() {
            if within(wanted[place].times, at) {
                found[place].push(Packet::of_headers(at, &headers));
            }
        }
    }
}

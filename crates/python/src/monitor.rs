//! Captures of a corpus, rewritten as the world would have them.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::{Path, PathBuf};

use pyo3::prelude::*;
use rexmit_plan::Columns;
use rexmit_schema::truth;
use rexmit_sim::monitor::{rewrite, times, CapturedPacket, Captures, PointCapture, Rewriting};
use rexmit_sim::synth::Point;
use rexmit_wire::capture::Reader;
use rexmit_wire::{pcapng, Headers, LinkType};

use crate::arrow::Batch;
use crate::detached;
use crate::error::Error;

/// What the files say of how much of a packet is kept, as tcpdump's default; packets may be cut to less.
const SNAPLEN: u32 = 262_144;

/// What to rewrite; `crates/sim/src/monitor` says more.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Request {
    kind: String,
    seed: u64,
    /// Points, their captures, and the new files.
    captures: Vec<(String, PathBuf, PathBuf)>,
    /// Of the retransmissions of the truth the columns `flow`, `seq_start`, and the times in nanoseconds of each capture.
    flow: Vec<String>,
    seq_start: Vec<u32>,
    times_ns: Vec<Vec<Option<u64>>>,
}

/// The kinds that there are, and what they are.
#[pyfunction]
pub fn kind_names() -> Vec<(&'static str, &'static str)> {
    let kinds = Rewriting::ALL.iter();
    kinds.map(|kind| (kind.as_str(), kind.meaning())).collect()
}

/// Rewrites captures; the columns of the truth that say when each of the new ones has each row.
#[pyfunction]
pub fn rewrite_captures(py: Python<'_>, request: Request) -> Result<Batch, Error> {
    detached(py, || {
        let kind = request.kind.parse::<Rewriting>().map_err(Error::plan)?;
        let mut captures = Captures::new();
        for ((point, from, _), times) in request.captures.iter().zip(&request.times_ns) {
            let mut rows = BTreeMap::new();
            let heads = request.flow.iter().zip(&request.seq_start);
            for (row, ((flow, seq), at)) in heads.zip(times).enumerate() {
                if let Some(at) = at {
                    rows.insert((*at, flow.clone(), *seq), row as u32);
                }
            }
            captures.push(read(point, from, rows)?);
        }
        rewrite(&mut captures, kind, request.seed);
        let mut found = Vec::new();
        for (seen, (point, _, to)) in captures.iter().zip(&request.captures) {
            write(seen, to)?;
            found.push((format!("{point}_ns"), times(seen)));
        }
        let of_points = truth::RETRANSMISSIONS.columns().filter(|column| {
            let field = column.field();
            field.is_some_and(|(field, _)| found.iter().any(|(name, _)| *name == field))
        });
        let mut columns = Columns::of(truth::RETRANSMISSIONS.name, of_points);
        for row in 0..request.flow.len() as u32 {
            let times = found.iter();
            let times = times.map(|(name, of)| (name, of.get(&row).map(|time| time.as_nanos())));
            columns
                .push(&times.collect::<BTreeMap<_, _>>())
                .map_err(Error::plan)?;
        }
        Batch::new(columns.finish()).map_err(Error::plan)
    })
}

/// Reads a capture whose retransmissions are `rows`, by time, flow and first number.
fn read(
    point: &str,
    path: &Path,
    mut rows: BTreeMap<(u64, String, u32), u32>,
) -> Result<PointCapture, Error> {
    let point: Point = point
        .parse()
        .map_err(|error| Error::plan(format_args!("{}: {error}", path.display())))?;
    let mut reader = Reader::new(File::open(path)?)?;
    let (mut link, mut packets) = (None, Vec::new());
    while let Some(frame) = reader.next_frame()? {
        let known = [LinkType::ETHERNET, LinkType::RAW].contains(&frame.link);
        if !known || *link.get_or_insert(frame.link) != frame.link {
            let why = format!("{}: packets of link type {}", path.display(), frame.link);
            return Err(Error::Plan(why));
        }
        let mut packet = CapturedPacket::new(frame.time, frame.data.to_vec(), frame.original_len);
        let nanos = frame.time.as_nanos();
        // Most packets are at no retransmission's time.
        if rows
            .range((nanos, String::new(), 0)..)
            .next()
            .is_some_and(|(key, _)| key.0 == nanos)
        {
            let headers = Headers::decode(frame.link, frame.data, frame.original_len);
            if let Ok(Headers { flow, seq, .. }) = headers {
                packet
                    .rows
                    .extend(rows.remove(&(nanos, flow.to_string(), seq.get())));
            }
        }
        packets.push(packet);
    }
    if let Some(((nanos, flow, _), _)) = rows.first_key_value() {
        let why = format!("{}: no packet of {flow} at {nanos} ns", path.display());
        return Err(Error::Plan(why));
    }
    let link = link.unwrap_or(LinkType::RAW);
    Ok(PointCapture {
        point,
        link,
        packets,
    })
}

fn write(seen: &PointCapture, path: &Path) -> Result<(), Error> {
    let mut writer = pcapng::Writer::new(BufWriter::new(File::create_new(path)?))?;
    writer.add_interface_of(seen.point.as_str(), seen.link.0, SNAPLEN)?;
    for packet in &seen.packets {
        writer.packet(0, packet.time, &packet.bytes, packet.original, None)?;
    }
    Ok(writer.flush()?)
}

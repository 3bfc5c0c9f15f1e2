//! Corpora of the model, written to files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use pyo3::prelude::*;
use rexmit_sim::synth::{make, Corpus, FileCapture, Format, Made, Mix, Outputs, Point};
use rexmit_tcp::stacks;
use rexmit_time::Time;

use crate::detached;
use crate::error::Error;

/// What to make; `crates/sim/src/synth` says more.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Request {
    /// A mix as JSON.
    mix: String,
    /// Names of stacks.
    senders: Vec<String>,
    receivers: Vec<String>,
    /// What is put over the senders' settings.
    changes: BTreeMap<String, String>,
    seed: u64,
    connections: u64,
    perturb: f64,
    snaplen: u32,
    /// When the first connection may begin, nanoseconds since 1970.
    begin_ns: u64,
    jobs: usize,
    /// `pcapng` or `pcap`.
    format: String,
    /// Points and the files of their captures.
    captures: Vec<(String, PathBuf)>,
    /// Where comma-separated values go.
    retransmissions: PathBuf,
    connections_table: PathBuf,
}

/// Makes captures and their truth; `report` is called now and then with connections, retransmissions and the packets of
/// each capture so far, which it returns at the end.
#[pyfunction]
#[expect(
    clippy::needless_pass_by_value,
    reason = "made for the call from Python's objects"
)]
pub fn make_corpus(
    py: Python<'_>,
    request: Request,
    report: Py<PyAny>,
) -> PyResult<(u64, u64, Vec<u64>)> {
    let Request {
        mix,
        senders,
        receivers,
        changes,
        seed,
        connections,
        perturb,
        snaplen,
        begin_ns,
        jobs,
        format,
        captures,
        retransmissions,
        connections_table,
    } = request;
    let build = |names: &[String], changes: &BTreeMap<String, String>| {
        let settings = |name: &String| {
            let (settings, _) = stacks::build(name, changes, &BTreeMap::new())?;
            Ok((stacks::page(name)?.name, settings))
        };
        names.iter().map(settings).collect::<Result<_, Error>>()
    };
    let corpus = Corpus {
        seed,
        connections,
        mix: Mix::from_json(&mix).map_err(Error::Plan)?,
        senders: build(&senders, &changes)?,
        receivers: build(&receivers, &BTreeMap::new())?,
        perturb,
        snaplen,
        begin: Time::from_nanos(begin_ns),
        jobs,
    };
    let format = match format.as_str() {
        "pcap" => Format::Pcap,
        _ => Format::Pcapng,
    };
    let made = detached(py, || -> PyResult<Made> {
        let create = |path: &PathBuf| Ok::<_, PyErr>(BufWriter::new(File::create(path)?));
        let mut open = Vec::new();
        for (name, path) in &captures {
            let point = Point::ALL.into_iter().find(|point| point.as_str() == name);
            let point = point.ok_or_else(|| Error::Plan(format!("no point {name}")))?;
            let capture = FileCapture::new(create(path)?, format, point, snaplen)?;
            open.push((point, capture));
        }
        let outputs = Outputs {
            captures: open,
            retransmissions: &mut create(&retransmissions)?,
            connections: &mut create(&connections_table)?,
        };
        make(&corpus, outputs, |made: &Made| {
            Python::attach(|py| {
                let counts = (made.connections, made.retransmissions, made.packets.clone());
                report.call1(py, counts)?;
                py.check_signals()
            })
        })
    })?;
    Ok((made.connections, made.retransmissions, made.packets))
}

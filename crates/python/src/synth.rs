//! Corpora of the model, written to files.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, BufWriter};
use std::path::PathBuf;

use pyo3::prelude::*;
use pyo3::types::PyDict;
use rexmit_plan::Columns;
use rexmit_schema::{truth, Table};
use rexmit_sim::synth::{make, Corpus, FileCapture, Format, Made, Mix, Outputs, Point};
use rexmit_tcp::stacks;
use rexmit_time::Time;
use serde::Serialize;

use crate::arrow::Batch;
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
}

/// Rows in one batch.
const BATCH: usize = 16_384;

/// A table of the truth in batches.
struct Batches {
    declared: &'static Table,
    all: Vec<Columns>,
}

impl Batches {
    fn new(declared: &'static Table) -> Self {
        let all = vec![Columns::new(declared)];
        Self { declared, all }
    }

    fn push(&mut self, row: &impl Serialize) -> io::Result<()> {
        if self.all.last().is_none_or(|last| last.len() == BATCH) {
            self.all.push(Columns::new(self.declared));
        }
        let last = self.all.last_mut();
        last.map_or(Ok(()), |last| last.push(row))
            .map_err(io::Error::other)
    }

    fn finish(self) -> Result<Vec<Batch>, Error> {
        let batch = |columns: Columns| Batch::new(columns.finish()).map_err(Error::plan);
        self.all.into_iter().map(batch).collect()
    }
}

/// How much was made, and the batches of each table.
type Corpora<'py> = (u64, u64, Vec<u64>, Bound<'py, PyDict>);

/// Makes captures and their truth; `report` is called now and then with connections, retransmissions and the packets of
/// each capture so far, which it returns at the end with the tables of the truth.
#[pyfunction]
pub fn make_corpus<'py>(
    py: Python<'py>,
    request: Request,
    report: Py<PyAny>,
) -> PyResult<Corpora<'py>> {
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
    let mut retransmissions = Batches::new(&truth::RETRANSMISSIONS);
    let mut connection_rows = Batches::new(&truth::CONNECTIONS);
    let made = detached(py, || -> PyResult<Made> {
        let create = |path: &PathBuf| Ok::<_, PyErr>(BufWriter::new(File::create_new(path)?));
        let mut open = Vec::new();
        for (name, path) in &captures {
            let point = name.parse::<Point>().map_err(Error::plan)?;
            let capture = FileCapture::new(create(path)?, format, point, snaplen)?;
            open.push((point, capture));
        }
        let outputs = Outputs {
            captures: open,
            retransmissions: &mut |row| retransmissions.push(&row),
            connections: &mut |row| connection_rows.push(&row),
        };
        make(&corpus, outputs, |made: &Made| {
            Python::attach(|py| {
                let counts = (made.connections, made.retransmissions, made.packets.clone());
                report.call1(py, counts)?;
                py.check_signals()
            })
        })
    })?;
    let tables = PyDict::new(py);
    for rows in [retransmissions, connection_rows] {
        tables.set_item(rows.declared.name, rows.finish()?)?;
    }
    Ok((made.connections, made.retransmissions, made.packets, tables))
}

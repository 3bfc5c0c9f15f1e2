//! Captures of several points: what they have in common, and their packets followed from point to point.

use std::sync::atomic::AtomicU64;
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use rexmit_time::Time;
use rexmit_trace::points::{
    of_unlike_clocks, tables, Alignment, Clocks, Merged, PointClock, Sample, MOST_POINTS,
};
use rexmit_trace::run::Source;
use rexmit_wire::Headers;

use crate::arrow::Batch;
use crate::detached;
use crate::error::Error;
use crate::filter::Filter;
use crate::trace::{told, Capture, Files};

/// Packets between two looks for signals.
const SOME: usize = 1 << 16;

type Input = Box<dyn Source<Error = String>>;

/// Samples of the packets of captures.
#[pyclass(frozen, module = "rexmit._core")]
pub struct Samples(Mutex<Reading>);

#[derive(Default)]
struct Reading {
    captures: Vec<Capture>,
    samples: Vec<Sample>,
    source: Option<Input>,
    packets: u64,
    filter: Option<Filter>,
    /// Packets of each capture that are looked at, and how many of this one were.
    limit: Option<u64>,
    of_this: u64,
}

#[pymethods]
impl Samples {
    /// With a limit, of the first so many packets of each; with a filter, of those that pass it.
    #[new]
    #[pyo3(signature = (captures, *, limit=None, filter=None))]
    fn new(
        captures: Vec<Capture>,
        limit: Option<u64>,
        filter: Option<&str>,
    ) -> Result<Self, Error> {
        Ok(Samples(Mutex::new(Reading {
            captures,
            filter: filter.map(Filter::new).transpose()?,
            limit,
            ..Reading::default()
        })))
    }

    /// Reads on: packets read so far, None when all are.
    fn read(&self, py: Python<'_>) -> PyResult<Option<u64>> {
        detached(py, || {
            let mut reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            reading.some().map_err(PyValueError::new_err)
        })
    }

    /// Pairs of captures that have packets in common.
    fn in_common(&self, py: Python<'_>) -> Vec<(usize, usize)> {
        detached(py, || {
            let reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            Sample::in_common(&reading.samples)
        })
    }

    /// Further pairs of captures that are of two points, as no clock could be both of theirs; `pairs` are of two points each.
    fn unlike(&self, py: Python<'_>, pairs: Vec<(usize, usize)>) -> Vec<(usize, usize)> {
        detached(py, || {
            let reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            of_unlike_clocks(&reading.samples, &pairs)
        })
    }

    /// Of two captures: packets of both samples, and how many the smaller one has.
    fn overlap(&self, one: usize, other: usize) -> PyResult<(usize, usize)> {
        let reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (reading.samples.get(one), reading.samples.get(other)) {
            (Some(one), Some(other)) => Ok(one.overlap(other)),
            _ => Err(PyValueError::new_err("there is no such capture")),
        }
    }

    /// Of two captures: the least and the most that the other one's clock shows more at a packet of both, in nanoseconds.
    /// None without packets of both. And whether any of them has the same addresses and ports in both.
    fn apart(&self, one: usize, other: usize) -> PyResult<Option<(i64, i64, bool)>> {
        let reading = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match (reading.samples.get(one), reading.samples.get(other)) {
            (Some(one), Some(other)) => {
                let shared = one.shared(other);
                let ahead = || {
                    shared
                        .iter()
                        .map(|(here, there)| (there.at - here.at).as_nanos())
                };
                let same = shared.iter().any(|(here, there)| here.flow == there.flow);
                let span = ahead().min().zip(ahead().max());
                Ok(span.map(|(least, most)| (least, most, same)))
            }
            _ => Err(PyValueError::new_err("there is no such capture")),
        }
    }
}

impl Reading {
    fn some(&mut self) -> Result<Option<u64>, String> {
        if self.source.is_none() {
            let Some(capture) = self.captures.get(self.samples.len()) else {
                return Ok(None);
            };
            // What cannot be read, the analysis tells.
            self.source = opened(vec![capture.clone()], self.filter.clone()).ok();
            self.samples.push(Sample::default());
            self.of_this = 0;
        }
        let (Some(source), Some(sample)) = (&mut self.source, self.samples.last_mut()) else {
            return Ok(Some(self.packets));
        };
        for _ in 0..SOME {
            if self.limit.is_some_and(|limit| self.of_this >= limit) {
                self.source = None;
                break;
            }
            // What cannot be read, the analysis tells.
            let Ok(Some(frame)) = source.next_frame() else {
                self.source = None;
                break;
            };
            self.packets += 1;
            self.of_this += 1;
            if let Ok(headers) = Headers::decode(frame.link, frame.data, frame.original_len) {
                sample.add(frame.time, &headers);
            }
        }
        Ok(Some(self.packets))
    }
}

fn opened(captures: Vec<Capture>, filter: Option<Filter>) -> Result<Input, String> {
    let files =
        Files::new(captures, &Arc::new(AtomicU64::new(0))).map_err(|error| error.to_string())?;
    Ok(Box::new(files.filtered(filter).start()?))
}

/// The packets of several points, followed.
#[pyclass(frozen, module = "rexmit._core")]
pub struct Points {
    names: Vec<String>,
    clocks: Clocks,
    samples: Vec<Sample>,
    merged: Mutex<Merged<Input>>,
}

#[pymethods]
impl Points {
    /// `groups` are for each point the numbers of its captures in `samples`.
    #[new]
    fn new(
        py: Python<'_>,
        samples: &Samples,
        groups: Vec<Vec<usize>>,
        names: Vec<String>,
    ) -> PyResult<Self> {
        if groups.len() > MOST_POINTS || groups.len() != names.len() {
            return Err(PyValueError::new_err(format!(
                "{} points: at most {MOST_POINTS} can be followed",
                groups.len()
            )));
        }
        let reading = samples.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut of_points = Vec::new();
        let mut sources = Vec::new();
        for group in groups {
            let mut sample = Sample::default();
            let mut captures = Vec::new();
            for file in group {
                let (Some(one), Some(capture)) =
                    (reading.samples.get(file), reading.captures.get(file))
                else {
                    return Err(PyValueError::new_err("there is no such capture"));
                };
                sample.append(one);
                captures.push(capture.clone());
            }
            of_points.push(sample);
            let filter = reading.filter.clone();
            sources.push(opened(captures, filter).map_err(PyValueError::new_err)?);
        }
        let spans: Vec<Option<(Time, Time)>> = of_points.iter().map(Sample::span).collect();
        let clocks = detached(py, || Clocks::of(&of_points));
        let merged = Merged::new(sources, clocks.clone(), &spans);
        Ok(Points {
            names,
            clocks,
            samples: of_points,
            merged: Mutex::new(merged),
        })
    }

    /// The next rows by the table's name; none when there are no more.
    fn next_batch<'py>(&self, py: Python<'py>) -> PyResult<Option<Bound<'py, PyDict>>> {
        let made = detached(py, || {
            let mut merged = self.merged.lock().unwrap_or_else(PoisonError::into_inner);
            let rows = merged.some(SOME)?;
            Some(tables(&rows, &self.names).map(|table| (table.name, Batch::new(table))))
        });
        let Some(made) = made else {
            return Ok(None);
        };
        let batch = PyDict::new(py);
        for (name, table) in made {
            batch.set_item(name, table.map_err(Error::plan)?)?;
        }
        Ok(Some(batch))
    }

    /// TCP packets followed so far.
    fn progress(&self) -> u64 {
        let merged = self.merged.lock().unwrap_or_else(PoisonError::into_inner);
        merged.packets()
    }

    /// Connections that could not be followed, as `summary` of a trace has those that failed.
    fn failures<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let merged = self.merged.lock().unwrap_or_else(PoisonError::into_inner);
        let dict = PyDict::new(py);
        told::failures(&dict, merged.failures())?;
        Ok(dict)
    }

    /// Of each point how its clock stands to the first point's, and what its captures hold.
    fn clocks<'py>(&self, py: Python<'py>) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let each = self.clocks.0.iter().zip(&self.samples).enumerate();
        each.map(|(point, (clock, sample))| {
            let told = PyDict::new(py);
            let known = point > 0 && !clock.apart;
            let span = sample.span().map(|(first, last)| {
                let first = clock.time(first.as_nanos() as i64);
                first + (clock.time(last.as_nanos() as i64) - first) / 2
            });
            let offset = span
                .filter(|_| known)
                .map(|middle| clock.ahead(middle) / 1e9);
            let uncertainty = clock.sum(|one| one.uncertainty).filter(|_| known);
            let (stretches, contradicted) = clock.stretches();
            let sum = |of: fn(&rexmit_trace::points::Passage) -> f64| {
                clock.sum(|one| Some(of(one))).filter(|_| known)
            };
            told.set_item("packets", sample.packets())?;
            told.set_item("shared", clock.shared)?;
            told.set_item("apart", clock.apart)?;
            told.set_item("offset_s", offset)?;
            told.set_item("offset_uncertainty_s", uncertainty.map(|nanos| nanos / 1e9))?;
            told.set_item("drift_ppm", sum(|one| one.drift * 1e6))?;
            told.set_item("drift_low_ppm", sum(|one| one.drifts.0 * 1e6))?;
            told.set_item("drift_high_ppm", sum(|one| one.drifts.1 * 1e6))?;
            told.set_item("stretches", stretches)?;
            told.set_item("contradicted", contradicted)?;
            Ok(told)
        })
        .collect()
    }

    /// Of each point what tells its times by the first point's clock: [`aligned`] takes it.
    fn stretches(&self) -> Vec<Vec<ClockStep>> {
        let of = |clock: &PointClock| clock.steps().iter().map(Alignment::told).collect();
        self.clocks.0.iter().map(of).collect()
    }
}

/// A step from one point's clock to the next: see [`Alignment::told`].
pub type ClockStep = (i64, Vec<(i64, i64, f64, f64)>);

/// Times of a point's clock by the first point's, nanoseconds.
pub fn aligned(steps: &[ClockStep], times: Vec<i64>) -> Vec<i64> {
    let again = steps
        .iter()
        .map(|(base, each)| Alignment::again(*base, each));
    let clock = PointClock::again(again.collect());
    times.into_iter().map(|time| clock.time(time)).collect()
}

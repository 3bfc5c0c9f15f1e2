//! Captures copied with comments on packets.

use std::io::{self, BufWriter, Write};
use std::sync::atomic::AtomicU64;
use std::sync::Arc;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use rexmit_time::Time;
use rexmit_trace::frames::{Frames, RowFrames, RowKey};
use rexmit_trace::run::Source;
use rexmit_wire::capture::{Copy, End};
use rexmit_wire::{FlowKey, Headers, SeqNum};

use crate::detached;
use crate::error::Error;
use crate::filter::Filter;
use crate::trace::{Capture, Files};

/// Packets between two looks for signals.
const SOME: u64 = 1 << 16;

/// Bytes that are handed to Python at once.
const AT_ONCE: usize = 1 << 20;

/// The bits of a frame's number within its file, above which the file's number stands.
const OF_FILE: u32 = 48;

/// The columns that say which retransmissions are looked for; `crates/trace/src/frames.rs` says more.
#[derive(FromPyObject)]
#[pyo3(from_item_all)]
pub struct Wanted {
    flow: Vec<String>,
    time_ns: Vec<u64>,
    seq_start: Vec<u32>,
    since_ns: Vec<u64>,
    heard_by_ns: Vec<Option<u64>>,
}

impl Wanted {
    fn rows(&self) -> Result<Vec<RowKey>, Error> {
        let nanos = Time::from_nanos;
        (0..self.flow.len())
            .map(|at| {
                Ok(RowKey {
                    flow: flow(&self.flow[at])?,
                    time: nanos(self.time_ns[at]),
                    start: SeqNum::new(self.seq_start[at]),
                    since: nanos(self.since_ns[at]),
                    heard_by: self.heard_by_ns[at].map(nanos),
                })
            })
            .collect()
    }
}

/// A flow as tables name it: source > destination.
fn flow(text: &str) -> Result<FlowKey, Error> {
    let end = |end: &str| end.parse::<core::net::SocketAddr>().ok();
    let ends = text.split_once(" > ");
    let ends = ends.and_then(|(src, dst)| Some((end(src)?, end(dst)?)));
    let (src, dst) =
        ends.ok_or_else(|| Error::plan(format_args!("{text} is no flow: source > destination")))?;
    Ok(FlowKey {
        src: src.ip(),
        dst: dst.ip(),
        src_port: src.port(),
        dst_port: dst.port(),
    })
}

/// The files in the order in which they begin, with their numbers of packets, and three columns of frames: the
/// retransmission, the copy before it, what triggered it. Frames are counted from 1, file after file in that order.
type Places = (Vec<(usize, u64)>, [Vec<Option<u64>>; 3]);

/// Finds the frames of retransmissions, in captures that can be read again.
#[pyfunction]
#[pyo3(signature = (captures, wanted, *, filter=None, report=None))]
pub fn find_frames(
    py: Python<'_>,
    captures: Vec<Capture>,
    wanted: Wanted,
    filter: Option<&str>,
    report: Option<Py<PyAny>>,
) -> PyResult<Places> {
    let mut counts = vec![0_u64; captures.len()];
    let files = Files::new(captures, &Arc::new(AtomicU64::new(0))).map_err(Error::Io)?;
    let files = files.filtered(filter.map(Filter::new).transpose()?);
    let mut frames = Frames::new(wanted.rows()?);
    let mut order = Vec::new();
    let mut report = Report::new(report);
    detached(py, || -> PyResult<()> {
        let mut source = files.start().map_err(Error::Capture)?;
        while source.advance().map_err(Error::Capture)? {
            let (file, Some(frame)) = (source.file(), source.frame()) else {
                break;
            };
            if counts[file] == 0 {
                order.push(file);
            }
            counts[file] += 1;
            let number = (file as u64) << OF_FILE | counts[file];
            if let Ok(headers) = Headers::decode(frame.link, frame.data, frame.original_len) {
                frames.packet(number, frame.time, &headers);
            }
            report.packet()?;
        }
        Ok(())
    })?;
    // Files without a packet still have interfaces, names, and what else is said in them.
    order.extend((0..counts.len()).filter(|&file| counts[file] == 0));
    let mut before = vec![0; counts.len()];
    let mut sum = 0;
    for &file in &order {
        before[file] = sum;
        sum += counts[file];
    }
    let place =
        |number: u64| before[(number >> OF_FILE) as usize] + (number & ((1 << OF_FILE) - 1));
    let found = frames.finish();
    let column = |of: fn(&RowFrames) -> Option<u64>| -> Vec<Option<u64>> {
        found.iter().map(|one| of(one).map(place)).collect()
    };
    let columns = [
        column(|one| one.itself),
        column(|one| one.before),
        column(|one| one.trigger),
    ];
    let files = order.into_iter().map(|file| (file, counts[file]));
    Ok((files.collect(), columns))
}

/// Copies captures, of each so many packets, into one pcapng stream: `out` has a method `write`. `comments` are of frames,
/// counted from 1, in their order; comments of before that begin with `without` are left out. Returns the packets that
/// were written, the comments that found no room, and what is to be said of files.
#[pyfunction]
#[pyo3(signature = (captures, comments, out, *, without, filter=None, report=None))]
pub fn copy_commented(
    py: Python<'_>,
    captures: Vec<(Capture, u64)>,
    comments: Vec<(u64, Vec<String>)>,
    out: Py<PyAny>,
    without: String,
    filter: Option<&str>,
    report: Option<Py<PyAny>>,
) -> PyResult<(u64, u64, Vec<String>)> {
    let filter = filter.map(Filter::new).transpose()?;
    let out = Output {
        write: out.getattr(py, "write")?,
        raised: None,
    };
    let mut copied = Copied {
        comments: comments.into_iter().peekable(),
        report: Report::new(report),
        frames: 0,
        unplaced: 0,
        warnings: Vec::new(),
    };
    detached(py, || {
        let mut out = BufWriter::with_capacity(AT_ONCE, out);
        let mut made = Ok(());
        for (capture, packets) in captures {
            made = copied.file(&capture, packets, &mut out, filter.clone(), &without);
            if made.is_err() {
                break;
            }
        }
        if made.is_ok() {
            made = out.flush().map_err(PyErr::from);
        }
        let (out, _) = out.into_parts();
        // What Python raised says more than what became of it.
        match out.raised {
            Some(raised) => Err(raised),
            None => made,
        }
    })?;
    Ok((copied.frames, copied.unplaced, copied.warnings))
}

/// Files that are copied.
struct Copied<I: Iterator<Item = (u64, Vec<String>)>> {
    comments: core::iter::Peekable<I>,
    report: Report,
    frames: u64,
    unplaced: u64,
    warnings: Vec<String>,
}

impl<I: Iterator<Item = (u64, Vec<String>)>> Copied<I> {
    fn file(
        &mut self,
        capture: &Capture,
        packets: u64,
        out: &mut impl Write,
        mut filter: Option<Filter>,
        without: &str,
    ) -> PyResult<()> {
        let name = capture.name();
        let input = capture.open(&crate::trace::Stop::default())?;
        let mut copy = match Copy::new(input, &mut *out, without) {
            Ok(copy) => copy,
            // The analysis read nothing of it either.
            Err(error) if packets == 0 => {
                self.warnings
                    .push(format!("{name}: {error}; it is left out"));
                return Ok(());
            }
            Err(error) => return Err(Error::Capture(format!("{name}: {error}")).into()),
        };
        let mut written = 0;
        loop {
            match copy.advance() {
                Ok(true) => {}
                Ok(false) => {
                    if let End::Truncated { offset } = copy.end() {
                        let cut = rexmit_trace::run::cut(offset);
                        self.warnings
                            .push(format!("{name}: {cut}; the copy ends before it"));
                    }
                    break;
                }
                Err(error) if written == packets => {
                    self.warnings
                        .push(format!("{name}: {error}; the copy ends before that"));
                    break;
                }
                Err(error) => return Err(Error::Capture(format!("{name}: {error}")).into()),
            }
            let passes = match (&mut filter, copy.frame()) {
                (Some(filter), Some(frame)) => filter.passes(&frame),
                _ => true,
            };
            self.report.packet()?;
            if !passes {
                continue;
            }
            if written == packets {
                // It has grown since it was analysed.
                break;
            }
            written += 1;
            self.frames += 1;
            let mine = self.comments.next_if(|(frame, _)| *frame == self.frames);
            let mine = mine.map_or_else(Vec::new, |(_, comments)| comments);
            if !copy.write(&mine)? {
                self.unplaced += mine.len() as u64;
            }
        }
        if written == packets {
            return Ok(());
        }
        let what = format!(
            "{name}: {written} packets, but {packets} when it was analysed: it has changed"
        );
        Err(Error::Capture(what).into())
    }
}

/// Where the copy goes.
struct Output {
    write: Py<PyAny>,
    raised: Option<PyErr>,
}

impl Write for Output {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let written = Python::attach(|py| {
            py.check_signals()?;
            let bytes = PyBytes::new(py, bytes);
            let mut rest = bytes.clone().into_any();
            // A raw stream may take less than it is given.
            let mut left = bytes.as_bytes().len();
            while left > 0 {
                let taken: usize = self.write.bind(py).call1((&rest,))?.extract()?;
                if taken == 0 {
                    return Err(PyOSError::new_err("nothing more can be written"));
                }
                left = left.saturating_sub(taken);
                let from = bytes.as_bytes().len() - left;
                rest = PyBytes::new(py, &bytes.as_bytes()[from..]).into_any();
            }
            Ok(bytes.as_bytes().len())
        });
        written.map_err(|error| {
            let told = io::Error::other(crate::parts::words(&error));
            self.raised = Some(error);
            told
        })
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Tells Python now and then how far it is.
struct Report {
    callable: Option<Py<PyAny>>,
    packets: u64,
}

impl Report {
    fn new(callable: Option<Py<PyAny>>) -> Self {
        Report {
            callable,
            packets: 0,
        }
    }

    #[inline]
    fn packet(&mut self) -> PyResult<()> {
        self.packets += 1;
        if self.packets % SOME == 0 {
            return self.tell();
        }
        Ok(())
    }

    #[cold]
    fn tell(&self) -> PyResult<()> {
        Python::attach(|py| {
            py.check_signals()?;
            if let Some(callable) = &self.callable {
                callable.call1(py, (SOME,))?;
            }
            Ok(())
        })
    }
}

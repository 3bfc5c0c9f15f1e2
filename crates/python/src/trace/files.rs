//! The files of a rotation as one stream.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use rexmit_trace::parts::broken;
use rexmit_trace::run::Source;
use rexmit_wire::capture::{Drops, End, Frame, Rotation};

use super::pipe::Stop;

use super::capture::Capture;
use crate::filter::Filter;

/// Files that can be opened, not yet read.
pub struct Files {
    captures: Vec<Capture>,
    bytes: Arc<AtomicU64>,
    spans: Arc<[Span]>,
    lost: Arc<Lost>,
    left_out: Arc<AtomicU64>,
    stop: Stop,
    filter: Option<Filter>,
}

/// What the captures say was lost before it could be written. One thread writes.
#[derive(Debug, Default)]
pub struct Lost {
    interface: AtomicU64,
    system: AtomicU64,
}

impl Lost {
    fn set(&self, drops: Drops) {
        self.interface.store(drops.interface, Ordering::Relaxed);
        self.system.store(drops.system, Ordering::Relaxed);
    }

    /// As far as it has been read.
    pub fn told(&self) -> Drops {
        Drops {
            interface: self.interface.load(Ordering::Relaxed),
            system: self.system.load(Ordering::Relaxed),
        }
    }
}

/// After so many packets of a file it is looked what was lost.
const LOOKS_EVERY: u64 = 256;

/// What one file has held so far. One thread writes, so plain loads and stores do.
#[derive(Debug)]
pub struct Span {
    packets: AtomicU64,
    first_ns: AtomicU64,
    last_ns: AtomicU64,
}

impl Default for Span {
    fn default() -> Self {
        Span {
            packets: AtomicU64::new(0),
            first_ns: AtomicU64::new(u64::MAX),
            last_ns: AtomicU64::new(0),
        }
    }
}

impl Span {
    /// A packet; how many there are.
    #[inline]
    fn see(&self, time_ns: u64) -> u64 {
        let order = Ordering::Relaxed;
        let packets = self.packets.load(order) + 1;
        self.packets.store(packets, order);
        if time_ns < self.first_ns.load(order) {
            self.first_ns.store(time_ns, order);
        }
        if time_ns > self.last_ns.load(order) {
            self.last_ns.store(time_ns, order);
        }
        packets
    }

    /// Packets, and the earliest and the latest time stamp; none without packets.
    pub fn told(&self) -> (u64, Option<(u64, u64)>) {
        let order = Ordering::Relaxed;
        let packets = self.packets.load(order);
        let times = (self.first_ns.load(order), self.last_ns.load(order));
        (packets, (packets > 0).then_some(times))
    }
}

/// Counts what is read.
struct Counted {
    input: Box<dyn Read + Send>,
    bytes: Arc<AtomicU64>,
}

impl Read for Counted {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

impl Files {
    /// Files of which each is there; what is read of them is counted in `bytes`.
    pub fn new(captures: Vec<Capture>, bytes: &Arc<AtomicU64>) -> io::Result<Self> {
        captures.iter().try_for_each(Capture::check)?;
        let bytes = Arc::clone(bytes);
        let spans = captures.iter().map(|_| Span::default()).collect();
        Ok(Files {
            captures,
            bytes,
            spans,
            lost: Arc::default(),
            left_out: Arc::default(),
            stop: Stop::default(),
            filter: None,
        })
    }

    /// Of these only the packets that pass the filter, if there is one.
    pub fn filtered(self, filter: Option<Filter>) -> Self {
        Files { filter, ..self }
    }

    /// Packets that did not pass the filter; they grow while files are read.
    pub fn left_out(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.left_out)
    }

    /// What the captures say was lost; it grows while they are read.
    pub fn lost(&self) -> Arc<Lost> {
        Arc::clone(&self.lost)
    }

    /// Ends the reading of pipes.
    pub fn stop(&self) -> Stop {
        self.stop.clone()
    }

    /// What each file holds; it grows while they are read.
    pub fn spans(&self) -> Arc<[Span]> {
        Arc::clone(&self.spans)
    }

    /// Begins to read.
    pub fn start(self) -> Result<impl Source<Error = String>, String> {
        let names: Vec<String> = self.captures.iter().map(Capture::name).collect();
        let pipes: Vec<bool> = self.captures.iter().map(Capture::is_pipe).collect();
        let Files {
            captures,
            bytes,
            spans,
            lost,
            left_out,
            stop,
            filter,
        } = self;
        let count = captures.len();
        let stopped = stop.clone();
        let open = move |file: usize| {
            let input = captures[file].open(&stop)?;
            let bytes = Arc::clone(&bytes);
            Ok(Counted { input, bytes })
        };
        let rotation = Rotation::with_pipes(count, open, |file| pipes[file])
            .map_err(|error| format!("{}: {}", names[error.file], error.error))?;
        Ok(Stream {
            rotation,
            names,
            spans,
            lost,
            left_out,
            filter,
            stopped,
            errors: Vec::new(),
            any: false,
        })
    }
}

/// Captures as one.
struct Stream<F> {
    rotation: Rotation<'static, F>,
    names: Vec<String>,
    spans: Arc<[Span]>,
    lost: Arc<Lost>,
    left_out: Arc<AtomicU64>,
    filter: Option<Filter>,
    stopped: Stop,
    /// What is wrong with files that could not be read to their ends, and how many packets came of them.
    errors: Vec<(String, u64)>,
    any: bool,
}

impl<F> Source for Stream<F>
where
    F: FnMut(usize) -> io::Result<Counted> + Send,
{
    type Error = String;

    #[inline]
    fn advance(&mut self) -> Result<bool, String> {
        loop {
            match self.rotation.advance() {
                Ok(true) => {
                    self.any = true;
                    let frame = self.rotation.frame();
                    if let (Some(filter), Some(frame)) = (&mut self.filter, &frame) {
                        if !filter.passes(frame) {
                            self.left_out.store(filter.left_out(), Ordering::Relaxed);
                            continue;
                        }
                    }
                    if let (Some(file), Some(frame)) = (self.rotation.file(), &frame) {
                        if self.spans[file].see(frame.time.as_nanos()) % LOOKS_EVERY == 0 {
                            self.lost.set(self.rotation.drops());
                        }
                    }
                    return Ok(true);
                }
                Ok(false) if self.any || self.errors.is_empty() => {
                    if let Some(error) = self.filter.as_ref().and_then(Filter::error) {
                        return Err(error);
                    }
                    self.lost.set(self.rotation.drops());
                    return Ok(false);
                }
                // Nothing could be read at all.
                Ok(false) => return Err(self.errors.remove(0).0),
                // The other files go on.
                Err(error) => {
                    let name = &self.names[error.file];
                    let (packets, _) = self.spans[error.file].told();
                    self.errors
                        .push((format!("{name}: {}", error.error), packets));
                }
            }
        }
    }

    #[inline]
    fn frame(&self) -> Option<Frame<'_>> {
        self.rotation.frame()
    }

    #[inline]
    fn file(&self) -> usize {
        self.rotation.file().unwrap_or(0)
    }

    fn ended(&self, nth: usize) -> Option<usize> {
        self.rotation.ends().get(nth).map(|(file, _)| *file)
    }

    fn warnings(&self) -> Vec<String> {
        let cut = self.rotation.ends().iter().filter_map(|(file, end)| {
            let End::Truncated { offset } = end else {
                return None;
            };
            // It was we who ended it there.
            if self.stopped.is_asked() {
                return None;
            }
            let name = &self.names[*file];
            Some(format!("{name}: {}", rexmit_trace::run::cut(*offset)))
        });
        let undated = self.rotation.undated().iter().map(|(file, packets)| {
            let name = &self.names[*file];
            format!("{name}: {}", rexmit_trace::run::undated(*packets))
        });
        let misdated = self.rotation.misdated().iter().map(|(file, found)| {
            let name = &self.names[*file];
            format!("{name}: {}", rexmit_trace::run::misdated(*found))
        });
        let missing = self.rotation.missing().iter();
        let missing = missing.map(|(file, missing)| format!("{}: {missing}", self.names[*file]));
        let errors = self.errors.iter();
        let errors = errors.map(|(error, packets)| match packets {
            0 => format!("{error}; it is left out"),
            _ => broken(error, *packets),
        });
        let unjudged = self.filter.as_ref().and_then(Filter::warning);
        errors
            .chain(cut)
            .chain(undated)
            .chain(misdated)
            .chain(missing)
            .chain(unjudged)
            .collect()
    }
}

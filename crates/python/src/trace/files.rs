//! The files of a rotation as one stream.

use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use rexmit_trace::run::Source;
use rexmit_wire::capture::{End, Frame, Rotation};

/// The name of standard input.
const STDIN: &str = "-";

/// Files that can be opened, not yet read.
pub struct Files {
    paths: Vec<PathBuf>,
    bytes: Arc<AtomicU64>,
    spans: Arc<[Span]>,
}

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
    #[inline]
    fn see(&self, time_ns: u64) {
        let order = Ordering::Relaxed;
        self.packets.store(self.packets.load(order) + 1, order);
        if time_ns < self.first_ns.load(order) {
            self.first_ns.store(time_ns, order);
        }
        if time_ns > self.last_ns.load(order) {
            self.last_ns.store(time_ns, order);
        }
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
    pub fn new(paths: Vec<PathBuf>, bytes: &Arc<AtomicU64>) -> io::Result<Self> {
        for path in &paths {
            if path != Path::new(STDIN) {
                // With the path, which the system's own word leaves out.
                let named = |error: io::Error| {
                    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
                };
                // A pipe is opened once only, later.
                if fs::metadata(path).map_err(named)?.is_file() {
                    File::open(path).map_err(named)?;
                }
            }
        }
        let bytes = Arc::clone(bytes);
        let spans = paths.iter().map(|_| Span::default()).collect();
        Ok(Files {
            paths,
            bytes,
            spans,
        })
    }

    /// What each file holds; it grows while they are read.
    pub fn spans(&self) -> Arc<[Span]> {
        Arc::clone(&self.spans)
    }

    /// Begins to read.
    pub fn start(self) -> Result<impl Source<Error = String>, String> {
        let names: Vec<String> = self
            .paths
            .iter()
            .map(|path| path.display().to_string())
            .collect();
        let pipes: Vec<bool> = self
            .paths
            .iter()
            .map(|path| fs::metadata(path).map_or(true, |metadata| !metadata.is_file()))
            .collect();
        let Files {
            paths,
            bytes,
            spans,
        } = self;
        let count = paths.len();
        let open = move |file: usize| {
            let input: Box<dyn Read + Send> = if paths[file] == Path::new(STDIN) {
                Box::new(io::stdin())
            } else {
                Box::new(File::open(&paths[file])?)
            };
            let bytes = Arc::clone(&bytes);
            Ok(Counted { input, bytes })
        };
        let rotation = Rotation::with_pipes(count, open, |file| pipes[file])
            .map_err(|error| format!("{}: {}", names[error.file], error.error))?;
        Ok(Stream {
            rotation,
            names,
            spans,
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
    /// What is wrong with files that could not be read to their ends.
    errors: Vec<String>,
    any: bool,
}

impl<F> Source for Stream<F>
where
    F: FnMut(usize) -> io::Result<Counted> + Send,
{
    type Error = String;

    #[inline]
    fn next_frame(&mut self) -> Result<Option<Frame<'_>>, String> {
        loop {
            match self.rotation.advance() {
                Ok(true) => {
                    self.any = true;
                    let frame = self.rotation.frame();
                    if let (Some(file), Some(frame)) = (self.rotation.file(), &frame) {
                        self.spans[file].see(frame.time.as_nanos());
                    }
                    return Ok(frame);
                }
                Ok(false) if self.any || self.errors.is_empty() => return Ok(None),
                // Nothing could be read at all.
                Ok(false) => return Err(self.errors.remove(0)),
                // The other files go on.
                Err(error) => {
                    let name = &self.names[error.file];
                    self.errors.push(format!("{name}: {}", error.error));
                }
            }
        }
    }

    fn warnings(&self) -> Vec<String> {
        let cut = self.rotation.ends().iter().filter_map(|(file, end)| {
            let End::Truncated { offset } = end else {
                return None;
            };
            let name = &self.names[*file];
            Some(format!(
                "{name}: the capture ends in the middle of a packet, at byte {offset}"
            ))
        });
        let undated = self.rotation.undated().iter().map(|(file, packets)| {
            let name = &self.names[*file];
            format!("{name}: {}", rexmit_trace::run::undated(*packets))
        });
        let misdated = self.rotation.misdated().iter().map(|(file, found)| {
            let name = &self.names[*file];
            format!("{name}: {}", rexmit_trace::run::misdated(*found))
        });
        let broken = self.errors.iter();
        let broken = broken.map(|error| format!("{error}; what follows it is left out"));
        broken.chain(cut).chain(undated).chain(misdated).collect()
    }
}

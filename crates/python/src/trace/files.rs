//! The files of a rotation as one stream.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use rexmit_trace::run::Source;
use rexmit_wire::capture::{Frame, Reader};

/// The name of standard input.
const STDIN: &str = "-";

/// Files that are open, not yet read.
pub struct Files {
    inputs: Vec<(PathBuf, Counted)>,
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
    /// Opens every file; what is read of them is counted in `bytes`.
    pub fn open(paths: Vec<PathBuf>, bytes: &Arc<AtomicU64>) -> io::Result<Self> {
        let mut inputs = Vec::new();
        for path in paths {
            let input: Box<dyn Read + Send> = if path == Path::new(STDIN) {
                Box::new(io::stdin())
            } else {
                let file = File::open(&path).map_err(|error| {
                    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
                })?;
                Box::new(file)
            };
            let bytes = Arc::clone(bytes);
            inputs.push((path, Counted { input, bytes }));
        }
        Ok(Files { inputs })
    }

    /// Reads what tells the formats.
    pub fn start(self) -> Result<Stream, String> {
        let mut readers = Vec::new();
        for (path, input) in self.inputs {
            let name = path.display().to_string();
            let reader = Reader::new(input).map_err(|error| format!("{name}: {error}"))?;
            readers.push((name, reader));
        }
        Ok(Stream { readers, at: 0 })
    }
}

/// Captures one after the other.
pub struct Stream {
    readers: Vec<(String, Reader<'static>)>,
    at: usize,
}

impl Source for Stream {
    type Error = String;

    #[inline]
    fn next_frame(&mut self) -> Result<Option<Frame<'_>>, String> {
        while let Some((name, reader)) = self.readers.get_mut(self.at) {
            match reader.advance() {
                Ok(true) => break,
                Ok(false) => self.at += 1,
                Err(error) => return Err(format!("{name}: {error}")),
            }
        }
        Ok(self
            .readers
            .get(self.at)
            .and_then(|(_, reader)| reader.frame()))
    }

    fn warnings(&self) -> Vec<String> {
        let told = |(name, reader): &(String, Reader<'static>)| {
            let said = reader.warnings().into_iter();
            said.map(|what| format!("{name}: {what}"))
                .collect::<Vec<_>>()
        };
        self.readers.iter().flat_map(told).collect()
    }
}

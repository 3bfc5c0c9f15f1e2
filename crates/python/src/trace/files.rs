//! The files of a rotation as one stream.

use std::fs::File;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

use rexmit_trace::run::Source;
use rexmit_wire::capture::{End, FileError, Frame, Rotation};

/// The name of standard input.
const STDIN: &str = "-";

/// Files that can be opened, not yet read.
pub struct Files {
    inputs: Vec<Input>,
}

/// One file, or something that can be opened only once.
struct Input {
    path: PathBuf,
    bytes: Arc<AtomicU64>,
    pipe: Option<Counted>,
    is_pipe: bool,
    /// It is opened once more before it is read, only to look at its beginning.
    looked_at: bool,
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

impl Input {
    /// Tries whether the file can be opened. What cannot be opened again stays open.
    fn new(path: PathBuf, bytes: &Arc<AtomicU64>) -> io::Result<Self> {
        let mut input = Input {
            path,
            bytes: Arc::clone(bytes),
            pipe: None,
            is_pipe: false,
            looked_at: false,
        };
        let opened: Box<dyn Read + Send> = if input.path == Path::new(STDIN) {
            Box::new(io::stdin())
        } else {
            let file = File::open(&input.path)?;
            if file.metadata()?.is_file() {
                return Ok(input);
            }
            Box::new(file)
        };
        input.pipe = Some(input.counted(opened));
        input.is_pipe = true;
        Ok(input)
    }

    fn counted(&self, input: Box<dyn Read + Send>) -> Counted {
        Counted {
            input,
            bytes: Arc::clone(&self.bytes),
        }
    }

    fn open(&mut self) -> io::Result<Counted> {
        match self.pipe.take() {
            Some(pipe) => Ok(pipe),
            None => {
                let mut opened = self.counted(Box::new(File::open(&self.path)?));
                if core::mem::take(&mut self.looked_at) {
                    opened.bytes = Arc::default();
                }
                Ok(opened)
            }
        }
    }
}

impl Files {
    /// Looks at every file; what is read of them is counted in `bytes`.
    pub fn open(paths: Vec<PathBuf>, bytes: &Arc<AtomicU64>) -> io::Result<Self> {
        let mut inputs = Vec::new();
        for path in paths {
            let name = path.display().to_string();
            let input = Input::new(path, bytes)
                .map_err(|error| io::Error::new(error.kind(), format!("{name}: {error}")))?;
            inputs.push(input);
        }
        Ok(Files { inputs })
    }

    /// Reads what tells the formats and, of several files, when each begins.
    pub fn start(self) -> Result<Stream, String> {
        let told = |input: &Input| input.path.display().to_string();
        let names: Vec<String> = self.inputs.iter().map(told).collect();
        let pipes: Vec<bool> = self.inputs.iter().map(|input| input.is_pipe).collect();
        let mut inputs = self.inputs;
        let several = inputs.len() > 1;
        for input in &mut inputs {
            input.looked_at = several && !input.is_pipe;
        }
        let open: Open = Box::new(move |file| inputs[file].open());
        match Rotation::with_pipes(names.len(), open, |file| pipes[file]) {
            Ok(rotation) => Ok(Stream { names, rotation }),
            Err(failed) => Err(named(&names, &failed)),
        }
    }
}

/// Opens a file by its number.
type Open = Box<dyn FnMut(usize) -> io::Result<Counted> + Send>;

/// Captures as one, in the order of time.
pub struct Stream {
    names: Vec<String>,
    rotation: Rotation<'static, Open>,
}

fn named(names: &[String], failed: &FileError) -> String {
    format!("{}: {}", names[failed.file], failed.error)
}

impl Source for Stream {
    type Error = String;

    #[inline]
    fn next_frame(&mut self) -> Result<Option<Frame<'_>>, String> {
        match self.rotation.next_frame() {
            Ok(frame) => Ok(frame),
            Err(failed) => Err(named(&self.names, &failed)),
        }
    }

    fn warnings(&self) -> Vec<String> {
        let ends = self.rotation.ends().iter();
        let cut = ends.filter_map(|&(file, end)| match end {
            End::Truncated { offset } => Some((file, offset)),
            End::Complete | End::Failed => None,
        });
        cut.map(|(file, offset)| {
            let name = &self.names[file];
            format!("{name}: the capture ends in the middle of a packet, at byte {offset}")
        })
        .collect()
    }
}

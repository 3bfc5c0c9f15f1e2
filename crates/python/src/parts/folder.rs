//! Where parts lie.

use std::fs::{self, File};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::io::{self, BufReader, BufWriter};
use std::path::{Path, PathBuf};

use rexmit_trace::parts::Part;

use crate::error::Error;

/// Bytes that are written or read at a time.
const BUFFER: usize = 1 << 16;

/// The packets of a group.
pub fn packets(folder: &Path, group: u16) -> PathBuf {
    folder.join(format!("packets-{group:03}"))
}

/// What the file says of itself.
pub fn part(folder: &Path) -> PathBuf {
    folder.join("part")
}

/// The rows of a group that wait.
pub fn waiting(folder: &Path) -> PathBuf {
    folder.join("waiting")
}

/// The other rows of a group, or those that were judged.
pub fn rows(folder: &Path) -> PathBuf {
    folder.join("rows")
}

/// What the judging says of itself.
pub fn judged(folder: &Path) -> PathBuf {
    folder.join("judged")
}

/// A file that is written.
pub type Written = BufWriter<File>;

/// Begins to write a new file. [`atomically`] names it for errors.
pub fn written(path: &Path) -> io::Result<Written> {
    Ok(BufWriter::with_capacity(BUFFER, File::create_new(path)?))
}

/// A file that is read.
pub type Opened = BufReader<File>;

/// Begins to read a file, with its name for errors.
pub fn opened(path: &Path) -> io::Result<(String, Opened)> {
    let file = File::open(path).map_err(|error| named(path, &error))?;
    let name = path.display().to_string();
    Ok((name, BufReader::with_capacity(BUFFER, file)))
}

/// What is needed of it while its packets are read.
pub fn detail(folder: &Path) -> PathBuf {
    folder.join("detail")
}

/// Reads what each file says of itself.
pub fn parts(folders: &[PathBuf]) -> Result<Vec<Part>, Error> {
    let read = |folder: &PathBuf| {
        let (name, file) = opened(&part(folder))?;
        Ok(Part::read(&name, file)?)
    };
    folders.iter().map(read).collect()
}

/// An error with the path, which the system's own word leaves out.
pub fn named(path: &Path, error: &io::Error) -> io::Error {
    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
}

/// Has `write` make a folder, or a file, beside `out` that takes its place when it is whole.
///
/// `out` is replaced: whoever does a step again has what the last one wrote. Where it cannot be written that is told apart
/// from what cannot be read.
pub fn atomically<T>(
    out: &Path,
    write: impl FnOnce(&Path) -> Result<T, Error>,
) -> Result<T, Error> {
    let (Some(name), Some(parent)) = (out.file_name(), out.parent()) else {
        return Err(Error::plan(format_args!(
            "{} cannot be written to",
            out.display()
        )));
    };
    // In a folder of its own: two tasks may do the same step at a time, on hosts that share the disk.
    let unique = RandomState::new().build_hasher().finish();
    let unique = format!(".{}-{unique:016x}", name.to_string_lossy());
    let beside = parent.join(unique);
    let within = beside.join(name);
    // Nobody else has the name, or the task fails.
    let written = fs::create_dir(&beside)
        .map_err(Error::Io)
        .and_then(|()| write(&within))
        .and_then(|value| {
            remove(out)?;
            fs::rename(&within, out)?;
            Ok(value)
        });
    let _ = fs::remove_dir_all(&beside);
    written.map_err(|error| match error {
        // What is read has a name, and then the system's number no more.
        Error::Io(error) => match error.raw_os_error() {
            Some(number) => Error::Unwritable(out.to_owned(), number, error),
            None => Error::Io(error),
        },
        other => other,
    })
}

/// Removes a file or a folder, if it is there.
fn remove(path: &Path) -> io::Result<()> {
    let removed = match fs::symlink_metadata(path) {
        Ok(there) if there.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}

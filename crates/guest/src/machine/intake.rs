//! Takes what the guest sends and puts it into the shared folder.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, BufReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::fs::{symlink, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::thread;
use std::time::Duration;

use anyhow::{bail, Context, Result};
use nix::errno::Errno;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};

use super::frames::{self, Frame, Kind};
use crate::share::Share;

/// How long bytes may gather in the pipe, real time. The emulator writes each by itself; a reader that woke for each would
/// stop the machine's processor as often.
const GATHER: Duration = Duration::from_millis(2);
/// What a pipe holds.
const PIPE: usize = 64 << 10;

/// Reads what has gathered since the first byte came.
struct Gathered<R>(R);

impl<R: Read + AsFd> Read for Gathered<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut polled = [PollFd::new(self.0.as_fd(), PollFlags::POLLIN)];
        match poll(&mut polled, PollTimeout::NONE) {
            Ok(_) => thread::sleep(GATHER),
            Err(Errno::EINTR) => {}
            Err(error) => return Err(error.into()),
        }
        self.0.read(buffer)
    }
}

/// Takes frames until the sender ends. While much waits for the caller to read nothing is taken, and the machine, which
/// cannot write, stands still with its clock.
pub fn take_all(from: impl Read + AsFd, share: &Share, folder: &Path) -> Result<()> {
    let mut taker = Taker {
        share,
        folder,
        last: None,
    };
    let mut from = BufReader::with_capacity(PIPE, Gathered(from));
    while let Some(frame) = frames::decode(&mut from)? {
        share.wait_for_room();
        taker
            .take(&frame)
            .with_context(|| format!("the guest's {}", frame.name))?;
    }
    Ok(())
}

struct Taker<'a> {
    share: &'a Share,
    folder: &'a Path,
    last: Option<File>,
}

impl Taker<'_> {
    fn take(&mut self, frame: &Frame) -> Result<()> {
        let path = self.folder.join(&frame.name);
        let mode = u32::from(frame.mode) & 0o777;
        match frame.kind {
            Kind::Stream => {
                let Some(mut stream) = self.share.stream(&frame.name) else {
                    bail!("there is no such stream")
                };
                stream.write_all(&frame.data)?;
            }
            Kind::File => {
                // Never through what is there already, be it a link of the guest's.
                let mut options = OpenOptions::new();
                options.write(true).create_new(true).mode(mode | 0o600);
                self.last = Some(options.open(&path)?);
            }
            Kind::More => match &mut self.last {
                Some(file) => file.write_all(&frame.data)?,
                None => bail!("more of no file"),
            },
            Kind::Folder => {
                if !path.is_dir() {
                    fs::create_dir(&path)?;
                    fs::set_permissions(&path, Permissions::from_mode(mode | 0o700))?;
                }
            }
            Kind::Link => {
                use std::ffi::OsStr;
                use std::os::unix::ffi::OsStrExt;
                symlink(OsStr::from_bytes(&frame.data), &path)?;
            }
        }
        Ok(())
    }
}

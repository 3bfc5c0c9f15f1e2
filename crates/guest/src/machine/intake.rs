//! Takes what the guest sends and puts it into the shared folder.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{Read, Write};
use std::os::unix::fs::{symlink, OpenOptionsExt, PermissionsExt};
use std::path::Path;

use anyhow::{bail, Context, Result};

use super::frames::{self, Frame, Kind};
use crate::share::Share;

/// Takes frames until the sender ends. While much waits for the caller to read nothing is taken, and the machine, which
/// cannot write, stands still with its clock.
pub fn take_all(from: &mut impl Read, share: &Share, folder: &Path) -> Result<()> {
    let mut taker = Taker {
        share,
        folder,
        last: None,
    };
    while let Some(frame) = frames::decode(from)? {
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

//! Files that come in a cpio archive (`newc`, as an initramfs).

#![expect(
    clippy::disallowed_methods,
    reason = "the files are in the guest's own memory, or in the shared folder, which nobody else sees"
)]

use std::ffi::OsStr;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{symlink, PermissionsExt};
use std::path::Path;

use anyhow::{Context, Result};

use super::not_whole;

const HEAD: usize = 110;
const MAGIC: &[u8] = b"070701";
const END: &[u8] = b"TRAILER!!!";
const LINK: u32 = 0o120_000;
const FOLDER: u32 = 0o040_000;
const KIND: u32 = 0o170_000;

/// Unpacks an archive, which may be empty, below `root`. What is there is replaced.
pub fn unpack(archive: &[u8], root: &Path) -> Result<()> {
    let mut rest = archive;
    while !rest.is_empty() {
        let Some(entry) = Entry::read(rest) else {
            return not_whole("the archive of files");
        };
        if entry.name == END {
            break;
        }
        let name = Path::new(OsStr::from_bytes(entry.name));
        entry
            .write(&root.join(name))
            .with_context(|| format!("cannot unpack {}", name.display()))?;
        rest = rest.get(entry.length..).unwrap_or_default();
    }
    Ok(())
}

struct Entry<'a> {
    name: &'a [u8],
    mode: u32,
    data: &'a [u8],
    length: usize,
}

impl<'a> Entry<'a> {
    fn read(from: &'a [u8]) -> Option<Self> {
        let number = |field: usize| {
            let text = from.get(6 + field * 8..14 + field * 8)?;
            u32::from_str_radix(std::str::from_utf8(text).ok()?, 16).ok()
        };
        if !from.starts_with(MAGIC) {
            return None;
        }
        let (mode, size, name_size) = (number(1)?, number(6)? as usize, number(11)? as usize);
        let name = from.get(HEAD..HEAD + name_size.checked_sub(1)?)?;
        let begin = (HEAD + name_size).next_multiple_of(4);
        let data = from.get(begin..begin + size)?;
        Some(Self {
            name,
            mode,
            data,
            length: (begin + size).next_multiple_of(4),
        })
    }

    fn write(&self, to: &Path) -> Result<()> {
        if let Some(folder) = to.parent() {
            fs::create_dir_all(folder)?;
        }
        match self.mode & KIND {
            FOLDER => fs::create_dir_all(to)?,
            LINK => {
                let _ = fs::remove_file(to);
                symlink(OsStr::from_bytes(self.data), to)?;
            }
            _ => {
                let _ = fs::remove_file(to);
                fs::write(to, self.data)?;
                fs::set_permissions(to, fs::Permissions::from_mode(self.mode & 0o777))?;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(name: &str, mode: usize, data: &[u8]) -> Vec<u8> {
        let fields = [
            1,
            mode,
            0,
            0,
            1,
            0,
            data.len(),
            0,
            0,
            0,
            0,
            name.len() + 1,
            0,
        ]
        .map(|value: usize| format!("{value:08X}"));
        let mut bytes = [MAGIC, fields.concat().as_bytes(), name.as_bytes(), b"\0"].concat();
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend(data);
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes
    }

    #[test]
    fn what_was_packed_is_there() {
        let root = std::env::temp_dir().join(format!("rexmit-unpack-{}", std::process::id()));
        let archive = [
            entry("a", FOLDER as usize | 0o755, b""),
            entry("a/b/script", 0o100_755, b"#!/bin/sh\n"),
            entry("a/link", LINK as usize | 0o777, b"b/script"),
            entry("TRAILER!!!", 0, b""),
        ]
        .concat();
        unpack(&archive, &root).unwrap();
        assert_eq!(fs::read(root.join("a/link")).unwrap(), b"#!/bin/sh\n");
        let mode = fs::metadata(root.join("a/b/script"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o755);
        fs::remove_dir_all(&root).unwrap();
        unpack(b"", &root).unwrap();
        assert!(unpack(b"no archive", &root).is_err());
    }
}

//! What a guest without a shared folder sends in its place: pieces of files, one after the other.

use std::io::{self, Read};
use std::path::{Component, Path};

use anyhow::{bail, ensure, Context, Result};

/// The most that a frame carries: what is longer comes in several.
pub const LONGEST: usize = 64 << 10;
const LONGEST_NAME: usize = 4096;
const HEAD: usize = 12;

/// What a frame does to the file that it names.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Kind {
    /// Appends to one of the streams, which is there.
    Stream,
    /// Makes an empty file.
    File,
    /// Appends to the file made last.
    More,
    /// Makes a folder.
    Folder,
    /// Makes a link to what the frame carries.
    Link,
}

impl Kind {
    const ALL: [Self; 5] = [
        Self::Stream,
        Self::File,
        Self::More,
        Self::Folder,
        Self::Link,
    ];

    fn byte(self) -> u8 {
        self as u8 + 1
    }
}

/// A frame that has come.
#[derive(PartialEq, Eq, Debug)]
pub struct Frame {
    pub kind: Kind,
    /// A path below the shared folder.
    pub name: String,
    /// Permission bits, for a file or folder.
    pub mode: u16,
    pub data: Vec<u8>,
}

/// A frame as it is sent.
pub fn encode(kind: Kind, name: &str, mode: u16, data: &[u8]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + name.len() + data.len());
    bytes.extend([kind.byte(), 0]);
    bytes.extend(mode.to_le_bytes());
    bytes.extend(u32::try_from(name.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend(u32::try_from(data.len()).unwrap_or(u32::MAX).to_le_bytes());
    bytes.extend(name.as_bytes());
    bytes.extend(data);
    bytes
}

/// The next frame; `None` at the end. The sender is not to be trusted: what is no frame is an error, and no name leads out
/// of the folder.
pub fn decode(from: &mut impl Read) -> Result<Option<Frame>> {
    let mut head = [0; HEAD];
    match from.read_exact(&mut head[..1]) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    from.read_exact(&mut head[1..]).context("half a frame")?;
    let number = |at: usize| {
        u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]) as usize
    };
    let Some(kind) = Kind::ALL.into_iter().find(|kind| kind.byte() == head[0]) else {
        bail!("a frame of no known kind ({})", head[0])
    };
    ensure!(
        number(4) <= LONGEST_NAME && number(8) <= LONGEST,
        "a frame that is too long"
    );
    let mut name = vec![0; number(4)];
    let mut data = vec![0; number(8)];
    from.read_exact(&mut name).context("half a frame")?;
    from.read_exact(&mut data).context("half a frame")?;
    let name = String::from_utf8(name).context("a frame's name")?;
    let inside = |part: Component<'_>| matches!(part, Component::Normal(_));
    ensure!(
        !name.is_empty() && !name.contains('\0') && Path::new(&name).components().all(inside),
        "a frame's name leads out of the folder: {name:?}"
    );
    Ok(Some(Frame {
        kind,
        name,
        mode: u16::from_le_bytes([head[2], head[3]]),
        data,
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(mut bytes: &[u8]) -> Result<Vec<Frame>> {
        let mut found = Vec::new();
        while let Some(frame) = decode(&mut bytes)? {
            found.push(frame);
        }
        Ok(found)
    }

    #[test]
    fn what_is_sent_comes() {
        let mut bytes = encode(Kind::Stream, "events.jsonl", 0, b"{}\n");
        bytes.extend(encode(Kind::File, "captures/0-0.h1.pcapng", 0o640, b""));
        bytes.extend(encode(
            Kind::More,
            "captures/0-0.h1.pcapng",
            0,
            &[7; LONGEST],
        ));
        bytes.extend(encode(Kind::Link, "scratch/x", 0, b"/etc/passwd"));
        let found = all(&bytes).unwrap();
        let kinds: Vec<_> = found.iter().map(|frame| frame.kind).collect();
        assert_eq!(kinds, [Kind::Stream, Kind::File, Kind::More, Kind::Link]);
        assert_eq!((found[1].mode, found[2].data.len()), (0o640, LONGEST));
        assert_eq!(found[3].data, b"/etc/passwd");
    }

    #[test]
    fn names_that_lead_out_are_refused() {
        for name in ["", "/etc/passwd", "../x", "scratch/../../x", "a\0b"] {
            let bytes = encode(Kind::File, name, 0, b"");
            assert!(all(&bytes).is_err(), "{name:?}");
        }
    }

    #[test]
    fn what_is_no_frame_is_refused() {
        assert!(all(b"\x09           ").is_err());
        assert!(all(&encode(Kind::More, "x", 0, &vec![0; LONGEST + 1])).is_err());
        let whole = encode(Kind::File, "x", 0, b"abc");
        assert!(all(&whole[..whole.len() - 1]).is_err());
        assert!(all(b"").unwrap().is_empty());
    }
}

//! The little of netlink(7) that sock_diag and NFQUEUE need: messages, attributes, a socket.
//!
//! Ours: NFQUEUE sends many verdicts from one buffer, and netlink-packet-sock-diag reads no subflow's state and no
//! `tcp_info` of kernels before 5.4.

use std::os::fd::{AsRawFd, OwnedFd};

use anyhow::{bail, Context, Result};
use nix::errno::Errno;
use nix::sys::socket::{
    connect, recv, send, socket, AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol,
    SockType,
};

/// Bytes of `struct nlmsghdr`.
pub const HEADER: usize = 16;
const ALIGN: usize = 4;

/// Appends one message at a time to a buffer; several may be sent at once.
pub struct Message<'a> {
    buffer: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> Message<'a> {
    /// Begins a message of `kind` with `flags` (`NLM_F_…`; `NLM_F_REQUEST` is always set).
    pub fn begin(buffer: &'a mut Vec<u8>, kind: u16, flags: i32) -> Self {
        let start = buffer.len();
        buffer.extend([0; 4]);
        buffer.extend(kind.to_ne_bytes());
        buffer.extend(((libc::NLM_F_REQUEST | flags) as u16).to_ne_bytes());
        buffer.extend([0; 8]); // Sequence number and port: the kernel needs neither.
        Self { buffer, start }
    }

    /// Adds bytes of the family's own header.
    #[must_use]
    pub fn body(self, bytes: &[u8]) -> Self {
        self.buffer.extend(bytes);
        self
    }

    /// Adds an attribute.
    #[must_use]
    pub fn attribute(self, kind: u16, value: &[u8]) -> Self {
        add_attribute(self.buffer, kind, value);
        self
    }

    /// Writes the length; the message is whole.
    pub fn end(self) {
        let length = (self.buffer.len() - self.start) as u32;
        self.buffer[self.start..self.start + 4].copy_from_slice(&length.to_ne_bytes());
    }
}

/// Appends an attribute to others, which begin where `buffer` does or at a multiple of 4.
pub fn add_attribute(buffer: &mut Vec<u8>, kind: u16, value: &[u8]) {
    buffer.extend((4 + value.len() as u16).to_ne_bytes());
    buffer.extend(kind.to_ne_bytes());
    buffer.extend(value);
    buffer.resize(buffer.len().next_multiple_of(ALIGN), 0);
}

/// Attributes in `bytes`: kind without its flag bits, and value. Stops at what is no attribute.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = usize::from(u16_at(bytes, 0)?);
        let kind = u16_at(bytes, 2)? & 0x3fff;
        let value = bytes.get(4..length)?;
        bytes = bytes
            .get(length.next_multiple_of(ALIGN)..)
            .unwrap_or_default();
        Some((kind, value))
    })
}

/// Messages in `bytes`: kind and what follows the header. Stops at what is no message.
pub fn messages(mut bytes: &[u8]) -> impl Iterator<Item = (u16, &[u8])> {
    std::iter::from_fn(move || {
        let length = u32_at(bytes, 0)? as usize;
        let kind = u16_at(bytes, 4)?;
        let body = bytes.get(HEADER..length)?;
        bytes = bytes
            .get(length.next_multiple_of(ALIGN)..)
            .unwrap_or_default();
        Some((kind, body))
    })
}

/// The error that an `NLMSG_ERROR` message with this body reports, if any.
pub fn error(body: &[u8]) -> Result<(), Errno> {
    match u32_at(body, 0).unwrap_or(0) as i32 {
        0 => Ok(()),
        code => Err(Errno::from_raw(-code)),
    }
}

/// A native-endian 16-bit number.
pub fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes
        .get(at..at + 2)
        .map(|b| u16::from_ne_bytes([b[0], b[1]]))
}

/// A native-endian 32-bit number.
pub fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes
        .get(at..at + 4)
        .map(|b| u32::from_ne_bytes([b[0], b[1], b[2], b[3]]))
}

/// A netlink socket, connected to the kernel.
pub struct Socket {
    descriptor: OwnedFd,
}

impl Socket {
    /// A socket of the calling thread's network namespace.
    pub fn open(protocol: SockProtocol) -> Result<Self> {
        let descriptor = socket(
            AddressFamily::Netlink,
            SockType::Raw,
            SockFlag::SOCK_CLOEXEC,
            protocol,
        )
        .context("cannot open a netlink socket")?;
        connect(descriptor.as_raw_fd(), &NetlinkAddr::new(0, 0)).context("netlink")?;
        Ok(Self { descriptor })
    }

    /// The socket itself, for options.
    pub fn descriptor(&self) -> &OwnedFd {
        &self.descriptor
    }

    /// Sends whole messages.
    pub fn send(&self, messages: &[u8]) -> Result<()> {
        let sent =
            send(self.descriptor.as_raw_fd(), messages, MsgFlags::empty()).context("netlink")?;
        if sent != messages.len() {
            bail!("netlink took {sent} of {} bytes", messages.len());
        }
        Ok(())
    }

    /// Receives one datagram; returns its length.
    pub fn receive(&self, buffer: &mut [u8]) -> nix::Result<usize> {
        recv(self.descriptor.as_raw_fd(), buffer, MsgFlags::empty())
    }

    /// Sends messages of which the last asks for an acknowledgement, and waits for that.
    pub fn request(&self, messages_out: &[u8]) -> Result<Result<(), Errno>> {
        self.send(messages_out)?;
        let mut buffer = [0; 8192];
        loop {
            let length = match self.receive(&mut buffer) {
                Err(Errno::EINTR) => continue,
                other => other.context("netlink")?,
            };
            for (kind, body) in messages(&buffer[..length]) {
                if i32::from(kind) == libc::NLMSG_ERROR {
                    return Ok(error(body));
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let mut buffer = Vec::new();
        Message::begin(&mut buffer, 20, 0)
            .attribute(1, b"abc")
            .attribute(0x4002, b"")
            .end();
        Message::begin(&mut buffer, 21, libc::NLM_F_ACK)
            .body(&[7; 4])
            .end();
        let all: Vec<_> = messages(&buffer).collect();
        assert_eq!(all.len(), 2);
        assert_eq!(all[1], (21, [7; 4].as_slice()));
        assert_eq!(
            attributes(all[0].1).collect::<Vec<_>>(),
            [(1, b"abc".as_slice()), (2, b"".as_slice())]
        );
    }

    #[test]
    fn cut_messages_end_the_list() {
        let mut buffer = Vec::new();
        Message::begin(&mut buffer, 20, 0)
            .attribute(1, b"abcdef")
            .end();
        for length in 0..buffer.len() {
            assert_eq!(messages(&buffer[..length]).count(), 0);
            let _ = attributes(&buffer[..length]).count();
        }
        // A length of 0 must not loop.
        assert_eq!(attributes(&[0; 8]).count(), 0);
        assert_eq!(messages(&[0; 32]).count(), 0);
    }
}

//! The little of netlink(7) that is needed: messages, attributes, a socket.
//!
//! Ours: NFQUEUE sends many verdicts from one buffer, netlink-packet-sock-diag reads no subflow's state and no `tcp_info` of
//! kernels before 5.4, and no crate of messages without I/O has nf_tables.

use std::fmt;
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
/// Of attributes that hold others.
pub const NESTED: u16 = libc::NLA_F_NESTED as u16;
/// The kernel's own words for what is wrong.
const NLMSGERR_ATTR_MSG: u16 = 1;

/// Appends one message at a time to a buffer; several may be sent at once.
pub struct Message<'a> {
    buffer: &'a mut Vec<u8>,
    start: usize,
}

impl<'a> Message<'a> {
    /// Begins a message of `kind` with `flags` (`NLM_F_…`; `NLM_F_REQUEST` is always set). Its number is where it begins.
    pub fn begin(buffer: &'a mut Vec<u8>, kind: u16, flags: i32) -> Self {
        let start = buffer.len();
        buffer.extend([0; 4]);
        buffer.extend(kind.to_ne_bytes());
        buffer.extend(((libc::NLM_F_REQUEST | flags) as u16).to_ne_bytes());
        buffer.extend((start as u32).to_ne_bytes());
        buffer.extend([0; 4]); // The port, which the kernel knows.
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

/// An attribute alone; several in a row are what [`NESTED`] ones hold.
pub fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut buffer = Vec::new();
    add_attribute(&mut buffer, kind, value);
    buffer
}

/// An attribute that is a name or other text.
pub fn text(kind: u16, value: &str) -> Vec<u8> {
    attribute(kind, format!("{value}\0").as_bytes())
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
    refusal(body).map_err(|refusal| refusal.errno)
}

/// The same with what the kernel says of it.
fn refusal(body: &[u8]) -> Result<(), Refusal> {
    let errno = match u32_at(body, 0).unwrap_or(0) as i32 {
        0 => return Ok(()),
        code => Errno::from_raw(-code),
    };
    // The message itself stands there, and what the kernel has to say behind it.
    let length = u32_at(body, 4).unwrap_or(0) as usize;
    let words = body.get(4 + length.next_multiple_of(ALIGN)..);
    let mut words = attributes(words.unwrap_or_default());
    let words = words.find(|(kind, _)| *kind == NLMSGERR_ATTR_MSG);
    let words = words.map_or(&[][..], |(_, words)| words);
    let words = String::from_utf8_lossy(words);
    Err(Refusal {
        errno,
        said: words.trim_end_matches('\0').to_owned(),
    })
}

/// Why the kernel does not do what it was asked for.
#[derive(Debug)]
pub struct Refusal {
    pub errno: Errno,
    /// What it says in words, since Linux 4.12; nothing of most errors.
    said: String,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.errno.desc())?;
        match self.said.as_str() {
            "" => Ok(()),
            said => write!(f, " ({said})"),
        }
    }
}

impl std::error::Error for Refusal {}

/// Messages that are sent together, each with what it is called where the kernel refuses it.
#[derive(Default)]
pub struct Batch {
    messages: Vec<u8>,
    names: Vec<(usize, String)>,
}

impl Batch {
    /// Begins one more message; `flags` as in [`Message::begin`].
    pub fn add(&mut self, what: String, kind: u16, flags: i32) -> Message<'_> {
        self.names.push((self.messages.len(), what));
        Message::begin(&mut self.messages, kind, flags)
    }

    /// Has the kernel say that it is done with the last message that was added. It says what it does not do in any case.
    pub fn ask(&mut self) {
        if let Some(&(start, _)) = self.names.last() {
            self.messages[start + 6] |= libc::NLM_F_ACK as u8;
        }
    }

    /// Whether the message of this number is to make something.
    fn makes(&self, number: u32) -> bool {
        let flags = u16_at(&self.messages, number as usize + 6).unwrap_or_default();
        i32::from(flags) & libc::NLM_F_CREATE != 0
    }

    /// What the message of this number is called.
    fn name(&self, number: u32) -> &str {
        let mut names = self.names.iter();
        let name = names.find(|(start, _)| *start == number as usize);
        name.map_or("a batch of changes", |(_, name)| name)
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

    /// Sends a question, and the body of what the kernel answers first; or why it refuses.
    pub fn ask(&self, question: &[u8]) -> Result<Result<Vec<u8>, Errno>> {
        self.send(question)?;
        let mut answer = [0; 8192];
        let length = self.receive(&mut answer).context("netlink")?;
        let (kind, body) = messages(&answer[..length])
            .next()
            .context("netlink gives no answer")?;
        if i32::from(kind) == libc::NLMSG_ERROR {
            return Ok(error(body).map(|()| Vec::new()));
        }
        Ok(Ok(body.to_vec()))
    }

    /// Sends a question and tells `each` the bodies of all that the kernel answers, up to its end (`NLM_F_DUMP`).
    pub fn list(
        &self,
        question: &[u8],
        buffer: &mut [u8],
        mut each: impl FnMut(&[u8]),
    ) -> Result<()> {
        self.send(question)?;
        loop {
            let length = match self.receive(buffer) {
                Err(Errno::EINTR) => continue,
                other => other.context("netlink")?,
            };
            for (kind, body) in messages(&buffer[..length]) {
                match i32::from(kind) {
                    libc::NLMSG_DONE => return Ok(()),
                    libc::NLMSG_ERROR => error(body)?,
                    _ => each(body),
                }
            }
        }
    }

    /// Sends messages of which the last asks for an acknowledgement, and waits for that.
    pub fn request(&self, messages_out: &[u8]) -> Result<Result<(), Errno>> {
        self.send(messages_out)?;
        Ok(self.outcome()?.map_err(|(refusal, _)| refusal.errno))
    }

    /// Sends all of a batch that [asks](Batch::ask) and waits until it is carried out.
    ///
    /// # Errors
    /// Where the kernel refuses one of the messages. What came before it is done, and maybe what comes behind it.
    pub fn carry_out(&self, batch: &Batch) -> Result<()> {
        if batch.names.is_empty() {
            return Ok(());
        }
        // A protocol of Linux 4.12; what is said without is enough.
        let on: libc::c_int = 1;
        let length = size_of_val(&on) as libc::socklen_t;
        // SAFETY: an option of a live socket, with a live value of this length.
        let _ = unsafe {
            libc::setsockopt(
                self.descriptor.as_raw_fd(),
                libc::SOL_NETLINK,
                libc::NETLINK_EXT_ACK,
                (&raw const on).cast(),
                length,
            )
        };
        self.send(&batch.messages)?;
        let Err((refusal, number)) = self.outcome()? else {
            return Ok(());
        };
        let what = batch.name(number).to_owned();
        match refusal.errno {
            // What these are told that are no module, or of which one is missing.
            Errno::ENOENT | Errno::EOPNOTSUPP if batch.makes(number) => {
                Err(refusal).context(format!("this kernel cannot make {what}"))
            }
            _ => Err(refusal).context(what),
        }
    }

    /// The next error or acknowledgement; of an error the number of its message, too.
    fn outcome(&self) -> Result<Result<(), (Refusal, u32)>> {
        let mut buffer = [0; 8192];
        loop {
            let length = match self.receive(&mut buffer) {
                Err(Errno::EINTR) => continue,
                other => other.context("netlink")?,
            };
            for (kind, body) in messages(&buffer[..length]) {
                if i32::from(kind) == libc::NLMSG_ERROR {
                    // It repeats the header of what it is about.
                    let number = u32_at(body, 12).unwrap_or_default();
                    return Ok(refusal(body).map_err(|refusal| (refusal, number)));
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
    fn a_refusal_has_the_kernel_s_own_words() {
        let mut request = Vec::new();
        Message::begin(&mut request, 20, 0)
            .attribute(3, b"abc")
            .end();
        let mut body = (-(Errno::EINVAL as i32)).to_ne_bytes().to_vec();
        body.extend(&request);
        let refusal = |body: &[u8]| refusal(body).unwrap_err().to_string();
        assert_eq!(refusal(&body), "Invalid argument");
        body.extend(text(NLMSGERR_ATTR_MSG, "too long a name"));
        assert_eq!(refusal(&body), "Invalid argument (too long a name)");
        assert!(error(&[0; 20]).is_ok());
        for cut in 4..body.len() {
            assert!(refusal(&body[..cut]).starts_with("Invalid argument"));
        }
    }

    #[test]
    fn what_is_refused_is_named() {
        let socket = Socket::open(SockProtocol::NetlinkRoute).unwrap();
        let mut batch = Batch::default();
        let of_device = |index: i32| {
            let mut header = [0; 16];
            header[4..8].copy_from_slice(&index.to_ne_bytes());
            header
        };
        let mut ask = |name: &str, index| {
            let message = batch.add(name.to_owned(), libc::RTM_GETLINK, 0);
            message.body(&of_device(index)).end();
        };
        ask("the loopback", 1);
        ask("one that is not there", i32::MAX);
        ask("the loopback again", 1);
        batch.ask();
        let refused = format!("{:#}", socket.carry_out(&batch).unwrap_err());
        assert_eq!(refused, "one that is not there: No such device");
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

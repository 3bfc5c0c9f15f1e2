//! NFQUEUE: packets out of the kernel, verdicts back into it (linux/netfilter/nfnetlink_queue.h).

use std::os::fd::{AsFd, AsRawFd, BorrowedFd};
use std::time::Duration;

use anyhow::{bail, Context, Result};
use nix::errno::Errno;
use nix::sys::socket::{setsockopt, sockopt, SockProtocol};
use nix::sys::time::{TimeVal, TimeValLike};

use crate::interfaces;
use crate::netlink::{self, Message, Socket};
use crate::source::{Answers, Fate, Queued, Source};

const NFNL_SUBSYS_QUEUE: u16 = 3;
const NFQNL_MSG_PACKET: u16 = NFNL_SUBSYS_QUEUE << 8;
const NFQNL_MSG_VERDICT: u16 = NFNL_SUBSYS_QUEUE << 8 | 1;
const NFQNL_MSG_CONFIG: u16 = NFNL_SUBSYS_QUEUE << 8 | 2;

const NFQA_CFG_CMD: u16 = 1;
const NFQA_CFG_PARAMS: u16 = 2;
const NFQA_CFG_QUEUE_MAXLEN: u16 = 3;
const NFQNL_CFG_CMD_BIND: u8 = 1;
const NFQNL_CFG_CMD_PF_BIND: u8 = 3;
const NFQNL_COPY_PACKET: u8 = 2;

const NFQA_PACKET_HDR: u16 = 1;
const NFQA_VERDICT_HDR: u16 = 2;
const NFQA_PAYLOAD: u16 = 10;
const NFQA_CAP_LEN: u16 = 13;

/// `struct nfgenmsg`.
const GENERIC_HEADER: usize = 4;
/// Packets that one system call takes from the kernel at most.
const BATCH: usize = 16;
/// A packet of 64 KiB and its attributes.
const SLOT: usize = 68 << 10;
/// Packets that wait for a verdict in the kernel at most.
const QUEUE_PACKETS: u32 = 16_384;

/// Verdicts on their way to the kernel, which carries them out in this order.
pub struct Verdicts {
    header: [u8; GENERIC_HEADER],
    messages: Vec<u8>,
    /// Where the last begins.
    last: usize,
}

impl Verdicts {
    fn new(number: u16) -> Self {
        let [high, low] = number.to_be_bytes();
        Self {
            header: [libc::AF_UNSPEC as u8, 0, high, low],
            messages: Vec::new(),
            last: 0,
        }
    }
}

impl Answers for Verdicts {
    fn push(&mut self, id: u32, fate: Fate) {
        let mut value = [0; 8];
        value[..4].copy_from_slice(&u32::from(fate == Fate::Accept).to_be_bytes());
        value[4..].copy_from_slice(&id.to_be_bytes());
        self.last = self.messages.len();
        Message::begin(&mut self.messages, NFQNL_MSG_VERDICT, 0)
            .body(&self.header)
            .attribute(NFQA_VERDICT_HDR, &value)
            .end();
    }
}

/// A queue of the network namespace that it was opened in.
pub struct Queue {
    socket: Socket,
    number: u16,
    slots: Vec<u8>,
    verdicts: Verdicts,
}

impl Queue {
    /// Binds queue `number`. What nobody has judged when the queue is dropped is lost.
    ///
    /// # Errors
    /// Missing rights and a queue that another program holds are told apart.
    pub fn open(number: u16) -> Result<Self> {
        let socket = Socket::open(SockProtocol::NetlinkNetFilter)?;
        let queue = Self {
            socket,
            number,
            slots: Vec::new(),
            verdicts: Verdicts::new(number),
        };
        let mut message = Vec::new();
        if !interfaces::has((3, 8)) {
            // Until then address families had to be bound to queues, too. Who has done it before is told EEXIST.
            for family in [libc::AF_INET as u8, libc::AF_INET6 as u8] {
                message.clear();
                queue.config(
                    &mut message,
                    NFQA_CFG_CMD,
                    &[NFQNL_CFG_CMD_PF_BIND, 0, 0, family],
                );
                let _ = queue.socket.request(&message)?;
            }
            message.clear();
        }
        queue.config(&mut message, NFQA_CFG_CMD, &[NFQNL_CFG_CMD_BIND, 0, 0, 0]);
        match queue.socket.request(&message)? {
            Ok(()) => {}
            Err(Errno::EPERM) if !may_administer_the_network() => {
                bail!("queue {number} needs the right to administer the network: run it as root (CAP_NET_ADMIN)")
            }
            Err(Errno::EPERM | Errno::EBUSY) => {
                bail!("queue {number} is taken: another program listens there; end it or choose another --queue")
            }
            Err(Errno::EOPNOTSUPP | Errno::EINVAL | Errno::ENOENT) => {
                bail!("this kernel has no NFQUEUE (module nfnetlink_queue)")
            }
            Err(error) => bail!("queue {number}: {error}"),
        }
        let mut parameters = u32::from(u16::MAX).to_be_bytes().to_vec();
        parameters.push(NFQNL_COPY_PACKET);
        for (kind, value) in [
            (NFQA_CFG_PARAMS, parameters),
            (NFQA_CFG_QUEUE_MAXLEN, QUEUE_PACKETS.to_be_bytes().to_vec()),
        ] {
            message.clear();
            queue.config(&mut message, kind, &value);
            queue
                .socket
                .request(&message)?
                .with_context(|| format!("queue {number}"))?;
        }
        // The kernel drops what does not fit into the socket's buffer: make room for the whole queue.
        let descriptor = queue.socket.descriptor();
        let _ = setsockopt(descriptor, sockopt::RcvBufForce, &(64 << 20));
        Ok(queue)
    }

    fn config(&self, message: &mut Vec<u8>, kind: u16, value: &[u8]) {
        Message::begin(message, NFQNL_MSG_CONFIG, libc::NLM_F_ACK)
            .body(&self.verdicts.header)
            .attribute(kind, value)
            .end();
    }
}

impl Source for Queue {
    type Answers = Verdicts;

    fn set_wait(&mut self, wait: Duration) -> Result<()> {
        let wait =
            TimeVal::microseconds(i64::try_from(wait.as_micros()).unwrap_or(i64::MAX).max(1));
        Ok(setsockopt(
            self.socket.descriptor(),
            sockopt::ReceiveTimeout,
            &wait,
        )?)
    }

    fn receive(&mut self, mut judge: impl FnMut(Queued<'_>, &mut Verdicts)) -> Result<bool> {
        // Not before there is a use for it: fresh memory is zero, memory that was used before has to be made so.
        if self.slots.is_empty() {
            self.slots = vec![0; BATCH * SLOT];
        }
        let lengths = match receive_many(self.socket.descriptor().as_raw_fd(), &mut self.slots) {
            Err(Errno::EAGAIN | Errno::EINTR) => return Ok(false),
            other => other.with_context(|| format!("queue {}", self.number))?,
        };
        for (slot, &length) in self.slots.chunks(SLOT).zip(&lengths) {
            for (kind, body) in netlink::messages(&slot[..length]) {
                // An NLMSG_ERROR tells that a verdict came too late: the packet's interface is gone, and the packet.
                if let Some(packet) = (kind == NFQNL_MSG_PACKET).then(|| packet(body)).flatten() {
                    judge(packet, &mut self.verdicts);
                }
            }
        }
        Ok(true)
    }

    fn descriptor(&self) -> BorrowedFd<'_> {
        self.socket.descriptor().as_fd()
    }

    fn answers(&mut self) -> &mut Verdicts {
        &mut self.verdicts
    }

    fn flush_but_last(&mut self) -> Result<()> {
        let Verdicts { messages, last, .. } = &mut self.verdicts;
        if *last > 0 {
            self.socket.send(&messages[..*last])?;
            messages.drain(..*last);
            *last = 0;
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<()> {
        self.verdicts.last = 0;
        let messages = &mut self.verdicts.messages;
        if !messages.is_empty() {
            self.socket.send(messages)?;
            messages.clear();
        }
        Ok(())
    }
}

fn packet(body: &[u8]) -> Option<Queued<'_>> {
    let be32 = |value: &[u8]| {
        value
            .get(..4)
            .map(|b| u32::from_be_bytes([b[0], b[1], b[2], b[3]]))
    };
    let (mut id, mut bytes, mut original_len) = (None, &[][..], None);
    for (kind, value) in netlink::attributes(body.get(GENERIC_HEADER..)?) {
        match kind {
            NFQA_PACKET_HDR => id = be32(value),
            NFQA_PAYLOAD => bytes = value,
            NFQA_CAP_LEN => original_len = be32(value),
            _ => {}
        }
    }
    Some(Queued {
        id: id?,
        bytes,
        original_len: original_len.map_or(bytes.len(), |length| length as usize),
    })
}

/// recvmmsg(2) of up to [`BATCH`] datagrams, each into its slot; waits for the first only.
fn receive_many(descriptor: i32, slots: &mut [u8]) -> nix::Result<Vec<usize>> {
    let mut vectors: Vec<libc::iovec> = slots
        .chunks_mut(SLOT)
        .map(|slot| libc::iovec {
            iov_base: slot.as_mut_ptr().cast(),
            iov_len: slot.len(),
        })
        .collect();
    let mut headers: Vec<libc::mmsghdr> = vectors
        .iter_mut()
        .map(|vector| {
            // SAFETY: all-zero bytes are a valid mmsghdr.
            let mut header: libc::mmsghdr = unsafe { std::mem::zeroed() };
            header.msg_hdr.msg_iov = vector;
            header.msg_hdr.msg_iovlen = 1;
            header
        })
        .collect();
    // SAFETY: headers and the slots they point to are live and as long as they say.
    let result = unsafe {
        libc::recvmmsg(
            descriptor,
            headers.as_mut_ptr(),
            headers.len() as u32,
            libc::MSG_WAITFORONE as _,
            std::ptr::null_mut(),
        )
    };
    let count = Errno::result(result)? as usize;
    Ok(headers[..count]
        .iter()
        .map(|header| header.msg_len as usize)
        .collect())
}

/// CAP_NET_ADMIN is among the effective capabilities.
fn may_administer_the_network() -> bool {
    const CAP_NET_ADMIN: u64 = 1 << 12;
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let effective = status.lines().find_map(|line| line.strip_prefix("CapEff:"));
    effective
        .and_then(|hex| u64::from_str_radix(hex.trim(), 16).ok())
        .is_some_and(|bits| bits & CAP_NET_ADMIN != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_packet_is_found_in_its_message() {
        let mut message = Vec::new();
        let header = [0, 0, 0, 7, 8, 0, 3, 0];
        Message::begin(&mut message, NFQNL_MSG_PACKET, 0)
            .body(&[0; GENERIC_HEADER])
            .attribute(NFQA_PACKET_HDR, &header)
            .attribute(NFQA_PAYLOAD, b"E....")
            .attribute(NFQA_CAP_LEN, &1500_u32.to_be_bytes())
            .end();
        let (_, body) = netlink::messages(&message).next().unwrap();
        let found = packet(body).unwrap();
        assert_eq!(
            (found.id, found.bytes, found.original_len),
            (7, &b"E...."[..], 1500)
        );
        assert!(packet(&body[..3]).is_none());
        assert!(
            packet(&body[..8]).is_none(),
            "a packet without a number cannot be judged"
        );
    }

    #[test]
    fn verdicts_queue_up() {
        let mut verdicts = Verdicts::new(0);
        verdicts.push(1, Fate::Accept);
        verdicts.push(2, Fate::Drop);
        let values: Vec<_> = netlink::messages(&verdicts.messages)
            .map(|(_, body)| {
                netlink::attributes(&body[GENERIC_HEADER..])
                    .next()
                    .unwrap()
                    .1
                    .to_vec()
            })
            .collect();
        assert_eq!(values, [[0, 0, 0, 1, 0, 0, 0, 1], [0, 0, 0, 0, 0, 0, 0, 2]]);
    }
}

//! Keeps the packets of both hosts, a pcapng file of each for every transfer.
//!
//! What h1's TCP sends is kept by the loss filter, dropped packets included, with a comment on each drop and
//! retransmission; a packet socket on h1 would see only what was let pass. It adds what h1 receives, and one on h2 sees
//! both directions.

use std::net::IpAddr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use anyhow::{anyhow, Context, Result};
use nix::errno::Errno;
use nix::sys::socket::{
    recv, setsockopt, socket, sockopt, AddressFamily, MsgFlags, SockFlag, SockProtocol, SockType,
};
use nix::sys::time::TimeVal;
use rexmit_plan::{write_capture, Captured};
use rexmit_time::Time;

use crate::clock;
use crate::net::{Host, Namespace};
use crate::priority;

/// The packets of one host since the last [`Buffer::write`].
#[derive(Clone, Default)]
pub struct Buffer {
    packets: Arc<Mutex<Vec<Captured>>>,
}

impl Buffer {
    /// Keeps one packet, which passed the host's `interface`, counted from 0.
    pub fn push(&self, time: Time, interface: usize, bytes: &[u8], comment: Option<String>) {
        let packet = Captured {
            time,
            interface,
            bytes: bytes.to_vec(),
            comment,
        };
        self.packets
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(packet);
    }

    /// Forgets what was kept.
    pub fn clear(&self) {
        self.take();
    }

    /// Writes what was kept, in the order of time, to a file that appears only when it is whole; then forgets it.
    pub fn write<S: AsRef<str>>(&self, path: &Path, interfaces: &[S]) -> Result<()> {
        write_capture(self.take(), path, interfaces)
    }

    fn take(&self) -> Vec<Captured> {
        std::mem::take(&mut *self.packets.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Where a host's packets pass.
pub struct Interface<'a> {
    /// The host.
    pub host: &'a Namespace,
    /// The interface's name.
    pub device: &'a str,
    /// Its address.
    pub address: IpAddr,
    /// Its number among the host's interfaces, from 0.
    pub number: usize,
}

impl<'a> Interface<'a> {
    /// The interface of a host that has one.
    pub fn only(host: &'a Host) -> Self {
        Self {
            host: &host.namespace,
            device: host.device,
            address: host.address,
            number: 0,
        }
    }
}

/// A thread that watches a host's interface until it is dropped.
pub struct Tap {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Tap {
    /// Watches `at` and keeps its packets in `buffer`; `sent` says whether those that it sends too.
    pub fn start(at: &Interface<'_>, buffer: Buffer, sent: bool) -> Result<Self> {
        let (own, number) = (at.address, at.number);
        let socket = at.host.run(|| open(at.device))?;
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = thread::spawn(move || {
            // Where it is refused the order is the scheduler's.
            let _ = priority::CAPTURE.take();
            watch(&socket, &stopped, (own, number), sent, &buffer);
        });
        Ok(Self {
            stop,
            thread: Some(thread),
        })
    }
}

impl Drop for Tap {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// How long a tap waits before it looks whether it should stop, virtual time.
const LOOK: TimeVal = TimeVal::new(0, 100_000);

fn open(device: &str) -> Result<OwnedFd> {
    // SOCK_DGRAM: packets come without their link layer header.
    let socket = socket(
        AddressFamily::Packet,
        SockType::Datagram,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::EthAll,
    )
    .context("cannot open a packet socket")?;
    setsockopt(&socket, sockopt::ReceiveTimeout, &LOOK)?;
    setsockopt(&socket, sockopt::RcvBufForce, &(64 << 20))
        .or_else(|_| setsockopt(&socket, sockopt::RcvBuf, &(4 << 20)))?;
    bind(&socket, device)?;
    Ok(socket)
}

/// Starts a packet socket on all that passes `device`.
pub fn bind(socket: &OwnedFd, device: &str) -> Result<()> {
    let index = nix::net::if_::if_nametoindex(device).with_context(|| device.to_owned())?;
    // SAFETY: all-zero bytes are a valid sockaddr_ll.
    let mut address: libc::sockaddr_ll = unsafe { std::mem::zeroed() };
    address.sll_family = libc::AF_PACKET as u16;
    address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
    address.sll_ifindex = i32::try_from(index)?;
    // SAFETY: the address is a live sockaddr_ll and its size is given.
    let result = unsafe {
        libc::bind(
            socket.as_raw_fd(),
            (&raw const address).cast(),
            size_of::<libc::sockaddr_ll>() as u32,
        )
    };
    Errno::result(result)
        .map(drop)
        .map_err(|error| anyhow!("cannot watch {device}: {error}"))
}

fn watch(
    socket: &OwnedFd,
    stop: &AtomicBool,
    (own, interface): (IpAddr, usize),
    sent: bool,
    buffer: &Buffer,
) {
    let mut bytes = vec![0; 1 << 16];
    while !stop.load(Ordering::Relaxed) {
        // Anything but a packet is the time-out, or the interface going down with its network.
        if let Ok(length) = recv(socket.as_raw_fd(), &mut bytes, MsgFlags::empty()) {
            let packet = &bytes[..length];
            if sent || source(packet) != Some(own) {
                buffer.push(clock::now(), interface, packet, None);
            }
        }
    }
}

fn source(packet: &[u8]) -> Option<IpAddr> {
    match packet.first()? >> 4 {
        4 => Some(IpAddr::from(<[u8; 4]>::try_from(packet.get(12..16)?).ok()?)),
        6 => Some(IpAddr::from(<[u8; 16]>::try_from(packet.get(8..24)?).ok()?)),
        _ => None,
    }
}

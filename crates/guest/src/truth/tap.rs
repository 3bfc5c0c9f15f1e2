//! Captures one interface with the kernel's own time stamps, through a ring that it shares with the kernel.
//!
//! Nobody waits for single packets: the ring is emptied every few milliseconds. The stamp is taken where the packet
//! passes, one look at the clock for each.

#![expect(
    clippy::disallowed_methods,
    reason = "the files are in the guest's own memory, or in the shared folder, which nobody else sees"
)]

use std::fs::File;
use std::io::BufWriter;
use std::os::fd::{AsRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{fence, AtomicBool, Ordering};
use std::sync::Arc;
use std::thread::{self, JoinHandle};
use std::time::Duration;

use anyhow::{anyhow, bail, Context, Result};
use nix::errno::Errno;
use nix::poll::{poll, PollFd, PollFlags};
use nix::sys::socket::{socket, AddressFamily, SockFlag, SockType};
use rexmit_time::Time;
use rexmit_wire::pcapng::Writer;

use crate::net::Namespace;

/// How often the ring is emptied while packets come, virtual time.
const EVERY: Duration = Duration::from_millis(5);
/// How long nothing may come before the tap looks whether it should stop, ms of virtual time.
const LOOK_MS: u16 = 100;
/// More than a gigabit link brings in [`EVERY`], both ways, acknowledgements included.
const FRAMES: u32 = 8192;
const BLOCK_BYTES: u32 = 64 << 10;
/// Where a packet begins in its frame, at most: the ring's header and a socket address.
const HEADROOM: u32 = 96;

/// A running capture.
pub struct Tap {
    stop: Arc<AtomicBool>,
    thread: JoinHandle<Result<u64>>,
}

impl Tap {
    /// Captures what passes `device`, in both directions, into a pcapng file.
    pub fn start(
        namespace: &Namespace,
        device: &str,
        path: &Path,
        snap_bytes: u32,
    ) -> Result<Self> {
        let ring = namespace.run(|| Ring::open(device, snap_bytes))?;
        let stop = Arc::new(AtomicBool::new(false));
        let (stopped, path, device) = (Arc::clone(&stop), path.to_owned(), device.to_owned());
        let thread = thread::spawn(move || keep(ring, &path, &device, snap_bytes, &stopped));
        Ok(Self { stop, thread })
    }

    /// Ends it; the number of packets, all of those that passed.
    pub fn finish(self) -> Result<u64> {
        self.stop.store(true, Ordering::Relaxed);
        let ended = self.thread.join();
        ended.unwrap_or_else(|_| Err(anyhow!("a capture panicked")))
    }
}

fn keep(mut ring: Ring, path: &PathBuf, device: &str, snap: u32, stop: &AtomicBool) -> Result<u64> {
    let file = File::create(path).with_context(|| path.display().to_string())?;
    let mut writer = Writer::new(BufWriter::with_capacity(1 << 20, file))?;
    let interface = writer.add_interface(device)?;
    let mut count = 0;
    loop {
        let last = stop.load(Ordering::Relaxed);
        let before = count;
        while let Some(frame) = ring.next() {
            let bytes = &frame.bytes[..frame.bytes.len().min(snap as usize)];
            writer.packet(interface, frame.time, bytes, frame.length, None)?;
            ring.give_back();
            count += 1;
        }
        if last {
            break;
        }
        if count > before {
            thread::sleep(EVERY);
        } else {
            ring.wait(LOOK_MS)?;
        }
    }
    let lost = ring.lost()?;
    if lost > 0 {
        bail!("the capture at {device} missed {lost} packets");
    }
    writer.flush()?;
    Ok(count)
}

/// A packet socket and the ring that the kernel writes packets into (`TPACKET_V2`).
struct Ring {
    socket: OwnedFd,
    memory: *mut u8,
    length: usize,
    frame_bytes: u32,
    frames: u32,
    at: u32,
}

// SAFETY: the mapping belongs to this value alone, whatever thread has it.
unsafe impl Send for Ring {}

struct Frame<'a> {
    time: Time,
    bytes: &'a [u8],
    /// Of the packet, which may be more than what is kept.
    length: u32,
}

impl Ring {
    fn open(device: &str, snap_bytes: u32) -> Result<Self> {
        // SOCK_DGRAM: packets come without their link layer header. No protocol yet: it starts when bound.
        let flags = SockFlag::SOCK_CLOEXEC;
        let socket = socket(AddressFamily::Packet, SockType::Datagram, flags, None)
            .context("cannot open a packet socket")?;
        let version: libc::c_int = libc::tpacket_versions::TPACKET_V2 as libc::c_int;
        set(&socket, libc::PACKET_VERSION, &version)?;
        let frame_bytes = (HEADROOM + snap_bytes).next_multiple_of(16);
        if frame_bytes > BLOCK_BYTES {
            bail!("{snap_bytes} bytes of a packet cannot be kept");
        }
        let a_block = BLOCK_BYTES / frame_bytes;
        let blocks = FRAMES.div_ceil(a_block);
        let request = libc::tpacket_req {
            tp_block_size: BLOCK_BYTES,
            tp_block_nr: blocks,
            tp_frame_size: frame_bytes,
            tp_frame_nr: blocks * a_block,
        };
        set(&socket, libc::PACKET_RX_RING, &request)?;
        let length = BLOCK_BYTES as usize * blocks as usize;
        // SAFETY: a new mapping of the ring, of the size that was asked for.
        let memory = unsafe {
            libc::mmap(
                std::ptr::null_mut(),
                length,
                libc::PROT_READ | libc::PROT_WRITE,
                libc::MAP_SHARED,
                socket.as_raw_fd(),
                0,
            )
        };
        if memory == libc::MAP_FAILED {
            return Err(Errno::last()).context("cannot map the ring");
        }
        // Programs that are started while it is there have no business with it.
        // SAFETY: the mapping that was just made.
        Errno::result(unsafe { libc::madvise(memory, length, libc::MADV_DONTFORK) })?;
        let ring = Self {
            socket,
            memory: memory.cast(),
            length,
            frame_bytes,
            frames: blocks * a_block,
            at: 0,
        };
        crate::capture::bind(&ring.socket, device)?;
        Ok(ring)
    }

    fn header(&self) -> *mut libc::tpacket2_hdr {
        let a_block = BLOCK_BYTES / self.frame_bytes;
        let (block, index) = (self.at / a_block, self.at % a_block);
        let offset = (block * BLOCK_BYTES + index * self.frame_bytes) as usize;
        // SAFETY: the offset lies in the mapping; frames are aligned to 16 bytes.
        unsafe { self.memory.add(offset).cast() }
    }

    fn next(&mut self) -> Option<Frame<'_>> {
        let header = self.header();
        // SAFETY: the header of a frame in the mapping; the kernel writes the status last.
        unsafe {
            let status = (&raw const (*header).tp_status).read_volatile();
            if status & libc::TP_STATUS_USER == 0 {
                return None;
            }
            fence(Ordering::Acquire);
            let nanos = u64::from((*header).tp_sec) * 1_000_000_000 + u64::from((*header).tp_nsec);
            let start = header.cast::<u8>().add(usize::from((*header).tp_net));
            Some(Frame {
                time: Time::from_nanos(nanos),
                bytes: std::slice::from_raw_parts(start, (*header).tp_snaplen as usize),
                length: (*header).tp_len,
            })
        }
    }

    /// The frame at hand is the kernel's again.
    fn give_back(&mut self) {
        fence(Ordering::Release);
        // SAFETY: as in `next`.
        unsafe {
            let status = &raw mut (*self.header()).tp_status;
            status.write_volatile(libc::TP_STATUS_KERNEL);
        }
        self.at = (self.at + 1) % self.frames;
    }

    fn wait(&self, milliseconds: u16) -> Result<()> {
        use std::os::fd::AsFd;
        let mut which = [PollFd::new(self.socket.as_fd(), PollFlags::POLLIN)];
        match poll(&mut which, milliseconds) {
            Ok(_) | Err(Errno::EINTR) => Ok(()),
            Err(error) => Err(error).context("poll"),
        }
    }

    /// Packets that found no room.
    fn lost(&self) -> Result<u32> {
        // SAFETY: all-zero bytes are valid statistics.
        let mut found: libc::tpacket_stats = unsafe { std::mem::zeroed() };
        let mut length = size_of::<libc::tpacket_stats>() as libc::socklen_t;
        // SAFETY: a live struct and its size.
        let result = unsafe {
            libc::getsockopt(
                self.socket.as_raw_fd(),
                libc::SOL_PACKET,
                libc::PACKET_STATISTICS,
                (&raw mut found).cast(),
                &raw mut length,
            )
        };
        Errno::result(result).context("the capture's statistics")?;
        Ok(found.tp_drops)
    }
}

impl Drop for Ring {
    fn drop(&mut self) {
        // SAFETY: the mapping that `open` made, not used after this.
        unsafe { libc::munmap(self.memory.cast(), self.length) };
    }
}

fn set<T>(socket: &OwnedFd, option: libc::c_int, value: &T) -> Result<()> {
    // SAFETY: a live value and its size.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_PACKET,
            option,
            std::ptr::from_ref(value).cast(),
            size_of::<T>() as libc::socklen_t,
        )
    };
    Errno::result(result)
        .map(drop)
        .with_context(|| format!("packet socket option {option}"))
}

//! The kernel's randomness, from the seed that the host gives.

use std::fs::OpenOptions;
use std::os::fd::AsRawFd;

use anyhow::{Context, Result};
use nix::errno::Errno;

/// linux/random.h
const RNDADDENTROPY: libc::Ioctl = 0x4008_5203;
const RNDRESEEDCRNG: libc::Ioctl = 0x5207;

const WORDS: usize = 16;

#[repr(C)]
struct PoolInfo {
    entropy_count: libc::c_int,
    buf_size: libc::c_int,
    buf: [u32; WORDS],
}

/// Mixes `text` into the kernel's pool, and has it draw from that from here on. Until then all that was drawn is the same
/// at every boot: an emulated machine has no other source.
pub fn seed(text: &[u8]) -> Result<()> {
    let mut info = PoolInfo {
        entropy_count: (WORDS * 32) as libc::c_int,
        buf_size: (WORDS * 4) as libc::c_int,
        buf: [0; WORDS],
    };
    for (at, word) in text.chunks(4).take(WORDS).enumerate() {
        let mut bytes = [0; 4];
        bytes[..word.len()].copy_from_slice(word);
        info.buf[at] = u32::from_le_bytes(bytes);
    }
    let pool = OpenOptions::new()
        .write(true)
        .open("/dev/random")
        .context("/dev/random")?;
    // SAFETY: the structure is as RNDADDENTROPY reads it, and outlives the call.
    Errno::result(unsafe { libc::ioctl(pool.as_raw_fd(), RNDADDENTROPY, &raw const info) })
        .context("RNDADDENTROPY")?;
    // Linux 4.14; before that every draw takes from the pool.
    // SAFETY: takes no argument.
    let _ = unsafe { libc::ioctl(pool.as_raw_fd(), RNDRESEEDCRNG) };
    Ok(())
}

//! How much may come out of a packed capture.
//!
//! A file of a kilobyte can unpack to a terabyte, and who reads it is busy for hours. Captures whose payload is zeros pack
//! well, too: to 1/2500 in packets of 64 kB, to 1/5800 in those of 200 kB (zstd and xz at their best), for each packet has
//! numbers and a time of its own. So the limit is a ratio that no capture of packets comes near, and counts from a size on
//! that takes a moment to read.

use std::io::{self, Read};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::Arc;

/// So many bytes may come out of a capture of any size.
#[cfg(feature = "packed")]
const FREE_BYTES: u64 = 16 << 20;

/// So many times as many bytes as it has may come out of a capture, where nothing else is said.
const UNPACK_LIMIT: u64 = 10_000;

/// One for the whole process: captures are opened in many places, and what may come out of them is for the user to say.
static LIMIT: AtomicU64 = AtomicU64::new(UNPACK_LIMIT);

/// From here on so many times as many bytes may come out of captures.
pub fn set_unpack_limit(times: u64) {
    LIMIT.store(times, Ordering::Relaxed);
}

/// How many times as many bytes may come out of captures.
#[must_use]
pub fn unpack_limit() -> u64 {
    LIMIT.load(Ordering::Relaxed)
}

/// Counts what is read of a capture as it lies.
pub(super) struct Packed<R> {
    input: R,
    bytes: Arc<AtomicU64>,
}

impl<R> Packed<R> {
    /// With the count, which grows.
    pub fn new(input: R) -> (Self, Arc<AtomicU64>) {
        let bytes = Arc::default();
        let counted = Arc::clone(&bytes);
        (Packed { input, bytes }, counted)
    }
}

impl<R: Read> Read for Packed<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.bytes.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// What comes out of a layer of compression; it fails where that is more than the limit allows for the whole capture.
#[cfg(feature = "packed")]
pub(super) struct Unpacked<R> {
    pub input: R,
    pub packed: Arc<AtomicU64>,
    pub bytes: u64,
}

#[cfg(feature = "packed")]
impl<R: Read> Read for Unpacked<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.input.read(buffer)?;
        self.bytes += count as u64;
        let (packed, limit) = (self.packed.load(Ordering::Relaxed), unpack_limit());
        if self.bytes > FREE_BYTES && self.bytes / limit > packed {
            let (bytes, times) = (self.bytes, self.bytes / packed.max(1));
            return Err(io::Error::other(format!(
                "{packed} bytes have unpacked to {bytes} so far, {times} times as many, and the limit is {limit} times (if you trust it, \
                 raise --unpack-limit)"
            )));
        }
        Ok(count)
    }
}

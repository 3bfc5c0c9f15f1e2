//! What the emulator was given for the guest (QEMU's `fw_cfg`): the plan, the seed, files.
//!
//! A guest that was copied while it was paused reads here what its own emulator was given, not the other's.

use std::ffi::c_void;
use std::fs::File;
use std::num::NonZeroUsize;
use std::os::unix::fs::FileExt;

use anyhow::{anyhow, ensure, Context, Result};
use nix::sys::mman::{mlock, mmap_anonymous, MapFlags, ProtFlags};

use super::ports;

/// docs/specs/fw_cfg: where an item is chosen, where its bytes are read, and where a transfer to memory is asked for.
const SELECTOR: u16 = 0x510;
const DATA: u16 = 0x511;
const DMA_HIGH: u16 = 0x514;
const DMA_LOW: u16 = 0x518;
/// The item that lists those with a name.
const DIRECTORY: u16 = 0x19;
const ENTRY_BYTES: usize = 64;
const MOST_ENTRIES: u32 = 4096;

const CONTROL_ERROR: u32 = 1;
const CONTROL_READ: u32 = 2;
const CONTROL_SELECT: u32 = 8;

const PAGE: usize = 4096;

/// The content of the item `opt/rexmit/NAME`; nothing where there is none.
pub fn read(name: &str) -> Result<Vec<u8>> {
    let Some((key, length)) = find(&format!("opt/rexmit/{name}"))? else {
        return Ok(Vec::new());
    };
    Buffer::new()?
        .read(key, length)
        .with_context(|| format!("the emulator's item {name}"))
}

fn find(name: &str) -> Result<Option<(u16, usize)>> {
    let mut count = [0; 4];
    ports::out16(SELECTOR, DIRECTORY);
    ports::read(DATA, &mut count);
    let count = u32::from_be_bytes(count);
    ensure!(count <= MOST_ENTRIES, "there is no fw_cfg in this machine");
    for _ in 0..count {
        let mut entry = [0; ENTRY_BYTES];
        ports::read(DATA, &mut entry);
        let text = &entry[8..];
        let end = text
            .iter()
            .position(|byte| *byte == 0)
            .unwrap_or(text.len());
        if &text[..end] == name.as_bytes() {
            let length = u32::from_be_bytes([entry[0], entry[1], entry[2], entry[3]]);
            return Ok(Some((
                u16::from_be_bytes([entry[4], entry[5]]),
                length as usize,
            )));
        }
    }
    Ok(None)
}

/// A page of memory that the emulator writes to, at a known address of the machine: its first half has the request.
struct Buffer {
    at: *mut u8,
    physical: u64,
}

impl Buffer {
    const HALF: usize = PAGE / 2;

    fn new() -> Result<Self> {
        let length = NonZeroUsize::new(PAGE).expect("a page has a length");
        // SAFETY: a fresh mapping, which is never unmapped: a guest reads three items in its life.
        let at = unsafe {
            mmap_anonymous(
                None,
                length,
                ProtFlags::PROT_READ | ProtFlags::PROT_WRITE,
                MapFlags::MAP_PRIVATE,
            )?
        };
        let at: *mut u8 = at.cast::<c_void>().as_ptr().cast();
        // SAFETY: the page is there and ours. Written to, so that it is memory of its own, and kept where it is.
        unsafe {
            at.write_volatile(0);
            mlock(
                std::ptr::NonNull::new(at.cast()).ok_or_else(|| anyhow!("no page"))?,
                PAGE,
            )?;
        }
        let mut entry = [0; 8];
        let number = at as u64 / PAGE as u64;
        File::open("/proc/self/pagemap")?
            .read_exact_at(&mut entry, number * 8)
            .context("/proc/self/pagemap (CONFIG_PROC_PAGE_MONITOR)")?;
        let entry = u64::from_ne_bytes(entry);
        let frame = entry & ((1 << 55) - 1);
        ensure!(
            entry >> 63 == 1 && frame != 0,
            "the page has no place in memory"
        );
        Ok(Self {
            at,
            physical: frame * PAGE as u64,
        })
    }

    fn read(&self, key: u16, length: usize) -> Result<Vec<u8>> {
        let mut found = Vec::with_capacity(length);
        while found.len() < length {
            let part = (length - found.len()).min(Self::HALF);
            let select = if found.is_empty() {
                CONTROL_SELECT | u32::from(key) << 16
            } else {
                0
            };
            let mut request = [0; 16];
            request[..4].copy_from_slice(&(CONTROL_READ | select).to_be_bytes());
            request[4..8].copy_from_slice(&u32::try_from(part)?.to_be_bytes());
            request[8..].copy_from_slice(&(self.physical + Self::HALF as u64).to_be_bytes());
            // SAFETY: request and data lie in the page, which nothing else refers to; the emulator is done with both when
            // the second write to a port is.
            let control = unsafe {
                self.at.cast::<[u8; 16]>().write_volatile(request);
                ports::out32(DMA_HIGH, ((self.physical >> 32) as u32).swap_bytes());
                ports::out32(DMA_LOW, (self.physical as u32).swap_bytes());
                let control = u32::from_be_bytes(self.at.cast::<[u8; 4]>().read_volatile());
                let data = std::slice::from_raw_parts(self.at.add(Self::HALF), part);
                found.extend_from_slice(data);
                control
            };
            ensure!(control == 0, "read failed ({:#x})", control | CONTROL_ERROR);
        }
        Ok(found)
    }
}

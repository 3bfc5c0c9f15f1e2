//! The machine's ports, as far as the guest speaks to the emulator through them.
//!
//! A port is written and read by the processor itself, within an instruction: nothing arrives later, and no interrupt
//! tells of it. What the guest sees of its own output is the same at every boot, however slowly the host takes it.

use std::arch::asm;

use anyhow::{Context, Result};
use nix::errno::Errno;

/// Where a byte that is written is taken for output (`isa-debugcon`).
const OUTPUT: u16 = 0xe9;
/// Where a byte ends the emulator (`isa-debug-exit`); its status is twice the byte and one.
const EXIT: u16 = 0xf4;
/// Where a byte says that the guest has panicked, for which the emulator pauses (`pvpanic`).
const PAUSE: u16 = 0x505;

/// What the guest writes to [`EXIT`] where it switches off of its own will.
const SWITCHED_OFF: u8 = 0x10;
/// The emulator's exit status then.
pub const SWITCHED_OFF_STATUS: i32 = (SWITCHED_OFF as i32) << 1 | 1;

/// Lets this thread, and those that it starts, use the ports.
pub fn open() -> Result<()> {
    // SAFETY: changes what instructions this thread may use, and no memory.
    Errno::result(unsafe { libc::syscall(libc::SYS_iopl, 3) })
        .map(drop)
        .context("iopl (CONFIG_X86_IOPL_IOPERM)")
}

/// Writes output.
pub fn write(bytes: &[u8]) {
    // SAFETY: reads `bytes` and nothing else; the emulator takes any byte there.
    unsafe {
        asm!("rep outsb", in("dx") OUTPUT, inout("rsi") bytes.as_ptr() => _, inout("rcx") bytes.len() => _,
             options(nostack, readonly));
    }
}

/// Ends the emulator. Returns where there is none.
pub fn switch_off() {
    out8(EXIT, SWITCHED_OFF);
}

/// Pauses the emulator, if it was started to be paused; what follows runs when it goes on, there or in a copy.
pub fn pause() {
    out8(PAUSE, 1);
}

pub(super) fn out8(port: u16, value: u8) {
    // SAFETY: touches no memory.
    unsafe { asm!("out dx, al", in("dx") port, in("al") value, options(nomem, nostack)) }
}

pub(super) fn out16(port: u16, value: u16) {
    // SAFETY: touches no memory.
    unsafe { asm!("out dx, ax", in("dx") port, in("ax") value, options(nomem, nostack)) }
}

pub(super) fn out32(port: u16, value: u32) {
    // SAFETY: touches no memory of this program that is not handed over for it.
    unsafe { asm!("out dx, eax", in("dx") port, in("eax") value, options(nostack)) }
}

pub(super) fn read(port: u16, bytes: &mut [u8]) {
    // SAFETY: fills `bytes` and nothing else.
    unsafe {
        asm!("rep insb", in("dx") port, inout("rdi") bytes.as_mut_ptr() => _, inout("rcx") bytes.len() => _,
             options(nostack));
    }
}

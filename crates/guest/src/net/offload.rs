//! What an interface does to packets in its host's stead, switched as `ethtool -K` does (linux/ethtool.h).

use anyhow::{bail, Result};
use nix::errno::Errno;

use super::ioctl;
use super::namespace::Namespace;

const SIOCETHTOOL: u64 = 0x8946;

/// Something that an interface can do.
#[derive(Clone, Copy, Debug)]
pub enum Offload {
    /// Checksums of what is sent.
    Checksum = 0x17,
    /// Packets whose bytes lie in several places.
    ScatterGather = 0x19,
    /// Super-segments of TCP, cut by the interface.
    Tso = 0x1f,
    /// Super-segments, cut on their way to the interface.
    Gso = 0x24,
    /// Segments that came, joined to super-segments.
    Gro = 0x2c,
}

/// `struct ethtool_value`.
#[repr(C)]
struct Value {
    command: u32,
    data: u32,
}

/// Switches all of `offloads` of an interface on or off.
///
/// An interface that does not have one of them refuses to be told of it, which is as good as one that has it off.
pub fn switch(host: &Namespace, device: &str, offloads: &[Offload], on: bool) -> Result<()> {
    host.run(|| {
        for &offload in offloads {
            let refused = call(device, offload as u32, u32::from(on))?;
            if let Err(error) = refused {
                let off = error == Errno::EOPNOTSUPP && !on;
                if !off {
                    let word = if on { "on" } else { "off" };
                    bail!(
                        "cannot switch {offload:?} of {device} {word}: {}",
                        error.desc()
                    );
                }
            }
        }
        Ok(())
    })
}

fn call(device: &str, command: u32, data: u32) -> Result<Result<(), Errno>> {
    let mut value = Value { command, data };
    // SAFETY: ethtool's requests of a word read a value, and write one.
    unsafe { ioctl::about(device, SIOCETHTOOL, &mut value) }
}

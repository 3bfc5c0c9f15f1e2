//! What an interface does to packets in its host's stead, switched as `ethtool -K` does (linux/ethtool.h).

use std::os::fd::AsRawFd;

use anyhow::{bail, Context, Result};
use nix::errno::Errno;
use nix::sys::socket::{socket, AddressFamily, SockFlag, SockType};

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
pub fn switch(host: &Namespace, device: &str, offloads: &[Offload], on: bool) -> Result<()> {
    host.run(|| {
        let socket = socket(
            AddressFamily::Inet,
            SockType::Datagram,
            SockFlag::SOCK_CLOEXEC,
            None,
        )?;
        for &offload in offloads {
            let mut value = Value {
                command: offload as u32,
                data: u32::from(on),
            };
            // SAFETY: all-zero bytes are a valid ifreq.
            let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
            if device.len() >= request.ifr_name.len() {
                bail!("{device}: too long a name for an interface");
            }
            for (to, from) in request.ifr_name.iter_mut().zip(device.bytes()) {
                *to = from as libc::c_char;
            }
            request.ifr_ifru.ifru_data = (&raw mut value).cast();
            // SAFETY: a live request with a terminated name, which points to a live value.
            let result = unsafe {
                libc::ioctl(
                    socket.as_raw_fd(),
                    SIOCETHTOOL as libc::Ioctl,
                    &raw mut request,
                )
            };
            let word = if on { "on" } else { "off" };
            Errno::result(result)
                .with_context(|| format!("cannot switch {offload:?} of {device} {word}"))?;
        }
        Ok(())
    })
}

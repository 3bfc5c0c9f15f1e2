//! Requests about an interface that ioctl(2) takes (netdevice(7)).

use std::os::fd::AsRawFd;

use anyhow::{bail, Result};
use nix::errno::Errno;
use nix::sys::socket::{socket, AddressFamily, SockFlag, SockType};

/// Makes request `number` with `data` about an interface of the calling thread's network namespace; what the kernel says.
///
/// # Safety
/// The request must be one that takes a pointer to a `T`, and keeps to its bounds.
pub unsafe fn about<T>(device: &str, number: u64, data: &mut T) -> Result<Result<(), Errno>> {
    let socket = socket(
        AddressFamily::Inet,
        SockType::Datagram,
        SockFlag::SOCK_CLOEXEC,
        None,
    )?;
    // SAFETY: all-zero bytes are a valid ifreq.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    if device.len() >= request.ifr_name.len() {
        bail!("{device}: too long a name for an interface");
    }
    for (to, from) in request.ifr_name.iter_mut().zip(device.bytes()) {
        *to = from as libc::c_char;
    }
    request.ifr_ifru.ifru_data = std::ptr::from_mut(data).cast();
    // SAFETY: a live request with a terminated name, which points to live data of the kind that the caller vouches for.
    let result =
        unsafe { libc::ioctl(socket.as_raw_fd(), number as libc::Ioctl, &raw mut request) };
    Ok(Errno::result(result).map(drop))
}

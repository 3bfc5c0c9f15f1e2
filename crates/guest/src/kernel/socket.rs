//! What the kernel knows of one TCP socket, asked through sock_diag(7).

use std::net::{IpAddr, SocketAddr};

use anyhow::{bail, Context, Result};
use nix::errno::Errno;
use nix::sys::socket::SockProtocol;
use rexmit_plan::SocketInfo;

use crate::netlink::{self, Message, Socket};

const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_INFO: u16 = 2;
const TCPI_OPT_SACK: u8 = 2;

/// Asks about sockets of the network namespace that it was made in.
pub struct Inspector {
    socket: Socket,
    buffer: Vec<u8>,
}

impl Inspector {
    /// For the calling thread's network namespace.
    pub fn open() -> Result<Self> {
        Ok(Self {
            socket: Socket::open(SockProtocol::NetlinkSockDiag)?,
            buffer: vec![0; 8192],
        })
    }

    /// What the kernel knows of the socket with these ends; `None` if there is none.
    pub fn ask(&mut self, local: SocketAddr, remote: SocketAddr) -> Result<Option<SocketInfo>> {
        self.socket.send(&request(local, remote))?;
        let length = loop {
            match self.socket.receive(&mut self.buffer) {
                Err(Errno::EINTR) => {}
                other => break other.context("sock_diag")?,
            }
        };
        answer(&self.buffer[..length])
    }
}

/// `struct inet_diag_req_v2` for one socket.
fn request(local: SocketAddr, remote: SocketAddr) -> Vec<u8> {
    let address = |ip: IpAddr| match ip {
        IpAddr::V4(ip) => {
            let mut bytes = [0; 16];
            bytes[..4].copy_from_slice(&ip.octets());
            bytes
        }
        IpAddr::V6(ip) => ip.octets(),
    };
    let family = if local.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    let mut body = vec![
        family as u8,
        libc::IPPROTO_TCP as u8,
        1 << (INET_DIAG_INFO - 1),
        0,
    ];
    body.extend(u32::MAX.to_ne_bytes()); // Any state.
    body.extend(local.port().to_be_bytes());
    body.extend(remote.port().to_be_bytes());
    body.extend(address(local.ip()));
    body.extend(address(remote.ip()));
    body.extend(0_u32.to_ne_bytes()); // Any interface.
    body.extend([0xff; 8]); // INET_DIAG_NOCOOKIE.

    let mut message = Vec::new();
    Message::begin(&mut message, SOCK_DIAG_BY_FAMILY, 0)
        .body(&body)
        .end();
    message
}

/// Reads `struct inet_diag_msg` (72 bytes) and its attributes.
fn answer(message: &[u8]) -> Result<Option<SocketInfo>> {
    let Some((kind, body)) = netlink::messages(message).next() else {
        bail!("sock_diag: an answer of {} bytes", message.len());
    };
    if i32::from(kind) == libc::NLMSG_ERROR {
        return match netlink::error(body) {
            Ok(()) | Err(Errno::ENOENT) => Ok(None),
            Err(error) => bail!("sock_diag: {error}"),
        };
    }
    let mut attributes = netlink::attributes(body.get(72..).unwrap_or_default());
    Ok(attributes
        .find(|(kind, _)| *kind == INET_DIAG_INFO)
        .and_then(|(_, value)| tcp_info(value)))
}

/// `struct tcp_info` of include/uapi/linux/tcp.h: options at byte 5, rto at 8, rtt at 68.
fn tcp_info(info: &[u8]) -> Option<SocketInfo> {
    Some(SocketInfo {
        rto_us: netlink::u32_at(info, 8)?,
        srtt_us: netlink::u32_at(info, 68)?,
        sack: info.get(5)? & TCPI_OPT_SACK != 0,
    })
}

#[cfg(test)]
mod tests {
    use std::net::{TcpListener, TcpStream};

    use super::*;

    #[test]
    fn a_real_socket_is_found_and_a_missing_one_is_not() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let (local, remote) = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
        let mut inspector = Inspector::open().unwrap();
        let info = inspector.ask(local, remote).unwrap().unwrap();
        assert!(info.rto_us >= 200_000 && info.sack, "{info:?}");
        let mut nowhere = remote;
        nowhere.set_port(1);
        assert_eq!(inspector.ask(local, nowhere).unwrap(), None);
    }
}

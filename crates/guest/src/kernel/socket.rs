//! What the kernel knows of one TCP socket, asked through sock_diag(7).

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use anyhow::{bail, Context, Result};
use nix::errno::Errno;
use nix::sys::socket::SockProtocol;
use rexmit_plan::SocketInfo;

use crate::interfaces;
use crate::netlink::{self, Message, Socket};

const TCPDIAG_GETSOCK: u16 = 18;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const INET_DIAG_INFO: u16 = 2;
/// `tcp_info` is wanted, among the kinds of which bit N - 1 stands for kind N.
const INFO: u8 = 1 << (INET_DIAG_INFO - 1);
const TCPI_OPT_SACK: u8 = 2;

/// The states in which a socket is a connection's: ESTABLISHED, FIN_WAIT1, FIN_WAIT2, CLOSE_WAIT, LAST_ACK, CLOSING.
const CONNECTED: u32 = 1 << 1 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 9 | 1 << 11;
const ANY_STATE: u32 = u32::MAX;

const INET_DIAG_ULP_INFO: u16 = 19;
const INET_ULP_INFO_MPTCP: u16 = 3;
const MPTCP_SUBFLOW_ATTR_FLAGS: u16 = 8;
const MPTCP_SUBFLOW_FLAG_FULLY_ESTABLISHED: u32 = 1 << 6;

/// One connection or subflow of a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connected {
    /// This end.
    pub local: SocketAddr,
    /// The other end.
    pub remote: SocketAddr,
    /// What explains its recoveries.
    pub info: SocketInfo,
    /// Congestion window, segments.
    pub cwnd: u32,
    /// Bytes written and not acknowledged.
    pub outstanding: u32,
    /// Of a subflow of Multipath TCP: whether this end knows that the other has confirmed it.
    pub confirmed: Option<bool>,
}

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
        let one = Request {
            local,
            remote,
            states: ANY_STATE,
            flags: 0,
        };
        self.socket.send(&one.message())?;
        let length = self.receive()?;
        answer(&self.buffer[..length])
    }

    /// All connections of the namespace, of the address family of `like`, in no order of meaning.
    pub fn all(&mut self, like: IpAddr) -> Result<Vec<Connected>> {
        let any: IpAddr = if like.is_ipv4() {
            Ipv4Addr::UNSPECIFIED.into()
        } else {
            Ipv6Addr::UNSPECIFIED.into()
        };
        let any = SocketAddr::new(any, 0);
        let dump = Request {
            local: any,
            remote: any,
            states: CONNECTED,
            flags: libc::NLM_F_DUMP,
        };
        let mut all = Vec::new();
        self.socket
            .list(&dump.message(), &mut self.buffer, |body| {
                // Asked in the old way, the kernel tells of both families.
                all.extend(connected(body).filter(|one| one.local.is_ipv4() == like.is_ipv4()));
            })?;
        Ok(all)
    }

    fn receive(&mut self) -> Result<usize> {
        loop {
            match self.socket.receive(&mut self.buffer) {
                Err(Errno::EINTR) => {}
                other => return other.context("sock_diag"),
            }
        }
    }
}

/// What is asked about which sockets.
struct Request {
    local: SocketAddr,
    remote: SocketAddr,
    states: u32,
    flags: i32,
}

impl Request {
    /// In the words of sock_diag(7), or those that inet_diag had before it.
    fn message(&self) -> Vec<u8> {
        if interfaces::has((3, 3)) {
            self.by_family()
        } else {
            self.of_tcp()
        }
    }

    /// `struct inet_diag_req_v2`.
    fn by_family(&self) -> Vec<u8> {
        let protocol = libc::IPPROTO_TCP as u8;
        let mut body = vec![self.family(), protocol, INFO, 0];
        body.extend(self.states.to_ne_bytes());
        body.extend(self.ends());
        self.of_kind(SOCK_DIAG_BY_FAMILY, &body)
    }

    /// `struct inet_diag_req`, without filters by prefix or by program.
    fn of_tcp(&self) -> Vec<u8> {
        let mut body = vec![self.family(), 0, 0, INFO];
        body.extend(self.ends());
        body.extend(self.states.to_ne_bytes());
        body.extend(0_u32.to_ne_bytes());
        self.of_kind(TCPDIAG_GETSOCK, &body)
    }

    fn family(&self) -> u8 {
        if self.local.is_ipv4() {
            libc::AF_INET as u8
        } else {
            libc::AF_INET6 as u8
        }
    }

    /// `struct inet_diag_sockid`.
    fn ends(&self) -> Vec<u8> {
        let address = |ip: IpAddr| match ip {
            IpAddr::V4(ip) => {
                let mut bytes = [0; 16];
                bytes[..4].copy_from_slice(&ip.octets());
                bytes
            }
            IpAddr::V6(ip) => ip.octets(),
        };
        let mut bytes = Vec::new();
        bytes.extend(self.local.port().to_be_bytes());
        bytes.extend(self.remote.port().to_be_bytes());
        bytes.extend(address(self.local.ip()));
        bytes.extend(address(self.remote.ip()));
        bytes.extend(0_u32.to_ne_bytes()); // Any interface.
        bytes.extend([0xff; 8]); // INET_DIAG_NOCOOKIE.
        bytes
    }

    fn of_kind(&self, kind: u16, body: &[u8]) -> Vec<u8> {
        let mut message = Vec::new();
        Message::begin(&mut message, kind, self.flags)
            .body(body)
            .end();
        message
    }
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

/// Reads `struct inet_diag_msg`: family at byte 0, ports at 4, addresses at 8 and 24, wqueue at 60; and its attributes.
fn connected(message: &[u8]) -> Option<Connected> {
    let (mut info, mut cwnd, mut confirmed) = (None, None, None);
    for (kind, value) in netlink::attributes(message.get(72..)?) {
        match kind {
            INET_DIAG_INFO => (info, cwnd) = (tcp_info(value), netlink::u32_at(value, 80)),
            INET_DIAG_ULP_INFO => confirmed = ulp_says_confirmed(value),
            _ => {}
        }
    }
    let end = |port: usize, address: usize| -> Option<SocketAddr> {
        let port = u16::from_be_bytes([*message.get(port)?, *message.get(port + 1)?]);
        let bytes: [u8; 16] = message.get(address..address + 16)?.try_into().ok()?;
        let ip = if i32::from(*message.first()?) == libc::AF_INET {
            IpAddr::from([bytes[0], bytes[1], bytes[2], bytes[3]])
        } else {
            IpAddr::from(bytes)
        };
        Some(SocketAddr::new(ip, port))
    };
    Some(Connected {
        local: end(4, 8)?,
        remote: end(6, 24)?,
        info: info?,
        cwnd: cwnd?,
        outstanding: netlink::u32_at(message, 60)?,
        confirmed,
    })
}

/// What `subflow_get_info` of net/mptcp/diag.c tells of a subflow.
fn ulp_says_confirmed(ulp: &[u8]) -> Option<bool> {
    let of = |bytes, wanted| netlink::attributes(bytes).find(|(kind, _)| *kind == wanted);
    let (_, mptcp) = of(ulp, INET_ULP_INFO_MPTCP)?;
    let (_, flags) = of(mptcp, MPTCP_SUBFLOW_ATTR_FLAGS)?;
    Some(netlink::u32_at(flags, 0)? & MPTCP_SUBFLOW_FLAG_FULLY_ESTABLISHED != 0)
}

/// `struct tcp_info` of include/uapi/linux/tcp.h: options at byte 5, rto at 8, rtt at 68, cwnd at 80.
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
        let all = inspector.all(local.ip()).unwrap();
        let found = all.iter().find(|one| one.local == local).unwrap();
        assert_eq!((found.remote, found.confirmed), (remote, None));
        assert!(found.cwnd > 0 && found.info.sack, "{found:?}");
    }

    #[test]
    fn both_ways_to_ask_give_the_same_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let stream = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let of = |flags| Request {
            local: stream.local_addr().unwrap(),
            remote: stream.peer_addr().unwrap(),
            states: ANY_STATE,
            flags,
        };
        let (one, all) = (of(0), of(libc::NLM_F_DUMP));
        let mut inspector = Inspector::open().unwrap();
        let mut ask = |message: Vec<u8>| {
            inspector.socket.send(&message).unwrap();
            let length = inspector.receive().unwrap();
            netlink::messages(&inspector.buffer[..length])
                .filter_map(|(_, body)| connected(body))
                .find(|found| found.local == one.local)
        };
        let new = ask(one.by_family());
        assert!(new.is_some());
        assert_eq!(ask(one.of_tcp()), new);
        // A dump's end is a message of its own, which nobody takes here.
        let dump = |message: &[u8]| {
            let mut inspector = Inspector::open().unwrap();
            inspector.socket.send(message).unwrap();
            let length = inspector.receive().unwrap();
            let found = netlink::messages(&inspector.buffer[..length])
                .filter_map(|(_, body)| connected(body));
            found.collect::<Vec<_>>()
        };
        let old: Vec<_> = dump(&all.of_tcp());
        assert!(
            old.iter()
                .any(|found| found.local == one.local && found.remote == one.remote),
            "{old:?}"
        );
    }
}

//! Connections between h2 and h1: opened on the cell's first path, with a subflow on every other.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd};
use std::time::Duration;

use anyhow::{anyhow, bail, Context, Result};
use nix::errno::Errno;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use nix::sys::socket::{setsockopt, sockopt};
use nix::sys::time::{TimeVal, TimeValLike};
use rexmit_plan::{not_all_came_up, Protocol};

use crate::clock;
use crate::kernel::mptcp::{PathManager, IPPROTO_MPTCP};
use crate::kernel::socket::{Connected, Inspector};
use crate::net::Network;

/// Where the server listens.
pub const PORT: u16 = 80;

/// How long a connection and its subflows may take to come up, virtual time.
const COMING_UP: Duration = Duration::from_secs(10);

/// How often is looked at what has come up, virtual time.
const LOOK: Duration = Duration::from_millis(5);

/// What the client says first: the server's acknowledgement confirms the connection.
const HELLO: [u8; 1] = [b'?'];
/// What it says when all subflows are there. Its own acknowledgement goes with it and opens the connection's window:
/// without one the kernel drops the first data that overtakes the first subflow's (docs/notes/mptcp-first-window.md).
const READY: [u8; 1] = [b'!'];

/// How long is waited until nothing is left of a connection: longer than a server sends its SYN-ACK again, virtual time.
const GOING: Duration = Duration::from_secs(300);

/// Why a connection did not come up on a network that loses packets.
#[derive(Debug)]
struct NotUp(String);

impl std::fmt::Display for NotUp {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for NotUp {}

/// A connection that is ready for bursts.
pub struct Connection {
    /// The client's end.
    pub client: TcpStream,
    /// The server's end.
    pub server: TcpStream,
    /// The server's sockets, by path from the first on.
    pub subflows: Vec<Subflow>,
}

/// A subflow, or the one connection of plain TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subflow {
    /// Its path, from 1.
    pub path: u32,
    /// The client's end.
    pub client: SocketAddr,
}

/// Who opens connections; made in h2's namespace, as all calls are.
pub struct Opener {
    /// Where another program listens there is none.
    listener: Option<TcpListener>,
    /// The server's address.
    server: SocketAddr,
    protocol: Protocol,
    /// The server's and the client's sockets.
    inspectors: [Inspector; 2],
    /// The path on which connections are opened, from 1.
    first_path: usize,
}

impl Opener {
    /// Has h1 listen if it `listens`. With Multipath TCP the path managers of both hosts allow as many subflows as there are paths, and
    /// the client's opens one from each address but that of `first_path` as soon as a connection is confirmed.
    pub fn open(
        network: &Network,
        protocol: Protocol,
        first_path: usize,
        listens: bool,
    ) -> Result<Self> {
        let h1 = &network.h1;
        let further = network.clients.len() - 1;
        let multipath = protocol == Protocol::Mptcp;
        let address = SocketAddr::new(h1.address, PORT);
        let (listener, server) = h1.namespace.run(|| {
            if multipath {
                PathManager::open()?.allow(further)?;
            }
            let listener = listens.then(|| listen(address, protocol)).transpose()?;
            Ok((listener, Inspector::open()?))
        })?;
        let client = network.h2.namespace.run(|| {
            if multipath {
                let manager = PathManager::open()?;
                manager.allow(further)?;
                manager.forget_addresses()?;
                for (path, &address) in (1..).zip(&network.clients) {
                    if path != first_path {
                        manager.open_subflows_from(address)?;
                    }
                }
            }
            Inspector::open()
        })?;
        Ok(Self {
            listener,
            server: address,
            protocol,
            inspectors: [server, client],
            first_path,
        })
    }

    /// Opens a connection from the client's address on the first path, and waits until both hosts have confirmed all of
    /// its subflows.
    ///
    /// The client's kernel takes a connection for confirmed, and asks for further subflows, when the server has
    /// acknowledged data: so the client says something. `settling` passes before the connection is left to its bursts.
    ///
    /// Of a connection that does not come up, why: packets may be lost.
    pub fn connect(
        &mut self,
        network: &Network,
        settling: Duration,
    ) -> Result<std::result::Result<Connection, String>> {
        match self.bring_up(network, settling) {
            Ok(connection) => Ok(Ok(connection)),
            Err(error) if error.is::<NotUp>() => Ok(Err(format!("{error}"))),
            Err(error) => Err(error),
        }
    }

    fn bring_up(&mut self, network: &Network, settling: Duration) -> Result<Connection> {
        let (clients, first_path) = (&network.clients, self.first_path);
        let silent = |_| {
            let limit_s = COMING_UP.as_secs();
            NotUp(format!(
                "path {first_path} does not come up within {limit_s} s"
            ))
        };
        let client = self.dial(network, COMING_UP)?;
        let mut client = match client {
            Err(error) if is_silence(&error) => bail!(silent(error)),
            client => client.with_context(|| format!("to {}", self.server))?,
        };
        // Until all is up its end is to be that of the connection.
        end_at_once(&client, true)?;
        client.write_all(&HELLO).map_err(silent)?;
        let mut server = self
            .accept(COMING_UP)?
            .ok_or_else(|| silent(std::io::ErrorKind::TimedOut.into()))?;
        end_at_once(&server, true)?;
        wait_at_most(&server, COMING_UP)?;
        server.read_exact(&mut [0; HELLO.len()]).map_err(silent)?;
        // A burst is one write: what is left of it at its end is not to wait for more.
        server.set_nodelay(true)?;
        let paths: Vec<usize> = match self.protocol {
            Protocol::Tcp => vec![first_path],
            Protocol::Mptcp => (1..=clients.len()).collect(),
        };
        let subflows = self.confirmed(clients, &paths)?;
        let unheard = |_| {
            let limit_s = COMING_UP.as_secs();
            NotUp(format!("the client is not heard within {limit_s} s"))
        };
        client.write_all(&READY).map_err(unheard)?;
        server.read_exact(&mut [0; READY.len()]).map_err(unheard)?;
        for end in [&client, &server] {
            end_at_once(end, false)?;
        }
        std::thread::sleep(settling);
        Ok(Connection {
            client,
            server,
            subflows,
        })
    }

    /// A connection to the server from the client's address on the first path, or why there is none within `limit`.
    pub fn dial(&self, network: &Network, limit: Duration) -> Result<std::io::Result<TcpStream>> {
        let first_path = self.first_path;
        let from = *network
            .clients
            .get(first_path - 1)
            .ok_or_else(|| anyhow!("no path {first_path}"))?;
        connect(from, self.server, self.protocol, limit)
    }

    /// The server's end of a connection that came up within `limit`.
    ///
    /// A listening socket of Multipath TCP waits for ever in accept(2), whatever its SO_RCVTIMEO: that of its first subflow
    /// counts, which nothing sets (`mptcp_stream_accept`, 6.12).
    fn accept(&self, limit: Duration) -> Result<Option<TcpStream>> {
        let Some(listener) = &self.listener else {
            return Ok(None);
        };
        let mut waited = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
        let limit = PollTimeout::try_from(limit).unwrap_or(PollTimeout::MAX);
        if poll(&mut waited, limit).context("poll")? == 0 {
            return Ok(None);
        }
        Ok(Some(listener.accept().context("accept")?.0))
    }

    /// Waits until a subflow of each of `paths` is confirmed at both ends.
    fn confirmed(&mut self, clients: &[IpAddr], paths: &[usize]) -> Result<Vec<Subflow>> {
        let begin = clock::now();
        let limit = rexmit_time::Duration::from_nanos(COMING_UP.as_nanos() as i64);
        loop {
            let mut up = self.up(clients)?;
            up.retain(|subflow| paths.contains(&(subflow.path as usize)));
            if up.len() >= paths.len() {
                return Ok(up);
            }
            if clock::now().since(begin) > limit {
                let up: Vec<u32> = up.iter().map(|subflow| subflow.path).collect();
                let paths: Vec<u32> = paths.iter().map(|path| *path as u32).collect();
                bail!(NotUp(not_all_came_up(&up, &paths, COMING_UP.as_secs())));
            }
            std::thread::sleep(LOOK);
        }
    }

    /// The subflows that both hosts have confirmed, by path.
    fn up(&mut self, clients: &[IpAddr]) -> Result<Vec<Subflow>> {
        let [server, client] = self.sockets(clients)?;
        let is_up = |socket: &Connected| match self.protocol {
            Protocol::Tcp => true,
            Protocol::Mptcp => socket.confirmed == Some(true),
        };
        let mut up: Vec<Subflow> = server
            .iter()
            .filter(|socket| is_up(socket))
            .filter(|socket| {
                let other = client.iter().find(|other| other.local == socket.remote);
                other.is_some_and(is_up)
            })
            .filter_map(|socket| subflow(socket, clients))
            .collect();
        up.sort_by_key(|subflow| subflow.path);
        Ok(up)
    }

    fn sockets(&mut self, clients: &[IpAddr]) -> Result<[Vec<Connected>; 2]> {
        let like = clients[0];
        let [server, client] = &mut self.inspectors;
        Ok([server.all(like)?, client.all(like)?])
    }

    /// What the kernel says of the server's sockets of `connection`, in the order of its subflows.
    pub fn state(&mut self, connection: &Connection) -> Result<Vec<Option<Connected>>> {
        let like = self.server.ip();
        let all = self.inspectors[0].all(like)?;
        let of = |subflow: &Subflow| all.iter().find(|one| one.remote == subflow.client).copied();
        Ok(connection.subflows.iter().map(of).collect())
    }

    /// Ends `connection` at once, and waits `settling` more, so that nothing of it is left for the next.
    pub fn close(
        &mut self,
        connection: Connection,
        network: &Network,
        settling: Duration,
    ) -> Result<()> {
        for end in [&connection.client, &connection.server] {
            end_at_once(end, true)?;
        }
        drop(connection);
        self.wait_until_gone(network, settling)
    }

    /// Waits until no host has anything of a connection, and `settling` more.
    pub fn wait_until_gone(&mut self, network: &Network, settling: Duration) -> Result<()> {
        let begin = clock::now();
        let limit = rexmit_time::Duration::from_nanos(GOING.as_nanos() as i64);
        while !self.sockets(&network.clients)?.iter().all(Vec::is_empty) {
            if clock::now().since(begin) > limit {
                bail!("a connection does not go away");
            }
            // One that came up after its client had gone is nobody's.
            if let Some(left) = self.accept(Duration::ZERO)? {
                end_at_once(&left, true)?;
            }
            std::thread::sleep(LOOK);
        }
        std::thread::sleep(settling);
        Ok(())
    }
}

/// Has the closing of `end` reset its connection, or not.
fn end_at_once(end: &TcpStream, at_once: bool) -> Result<()> {
    let linger = libc::linger {
        l_onoff: at_once.into(),
        l_linger: 0,
    };
    Ok(setsockopt(end, sockopt::Linger, &linger)?)
}

fn subflow(socket: &Connected, clients: &[IpAddr]) -> Option<Subflow> {
    let path = clients.iter().position(|ip| *ip == socket.remote.ip())?;
    Some(Subflow {
        path: u32::try_from(path).ok()? + 1,
        client: socket.remote,
    })
}

/// A stream socket of the calling thread's network namespace, bound to `own`.
fn socket(own: SocketAddr, protocol: Protocol) -> Result<OwnedFd> {
    let family = if own.is_ipv4() {
        libc::AF_INET
    } else {
        libc::AF_INET6
    };
    let number = match protocol {
        Protocol::Tcp => libc::IPPROTO_TCP,
        Protocol::Mptcp => IPPROTO_MPTCP,
    };
    // SAFETY: makes a descriptor or fails.
    let result = unsafe { libc::socket(family, libc::SOCK_STREAM | libc::SOCK_CLOEXEC, number) };
    let descriptor = match Errno::result(result) {
        Ok(descriptor) => descriptor,
        Err(Errno::EPROTONOSUPPORT) => bail!("this kernel has no Multipath TCP"),
        Err(Errno::ENOPROTOOPT) => bail!("Multipath TCP is switched off (net.mptcp.enabled = 0)"),
        Err(error) => return Err(error).context("cannot open a socket"),
    };
    // SAFETY: the descriptor was just made, and nobody else has it.
    let socket = unsafe { OwnedFd::from_raw_fd(descriptor) };
    setsockopt(&socket, sockopt::ReuseAddr, &true)?;
    with_address(own, |address, length| {
        // SAFETY: a live address and its length.
        unsafe { libc::bind(socket.as_raw_fd(), address, length) }
    })
    .with_context(|| format!("cannot bind {own}"))?;
    Ok(socket)
}

/// A socket of the calling thread's network namespace that listens.
pub fn listen(own: SocketAddr, protocol: Protocol) -> Result<TcpListener> {
    let socket = socket(own, protocol)?;
    // SAFETY: a live descriptor.
    Errno::result(unsafe { libc::listen(socket.as_raw_fd(), 8) }).context("listen")?;
    Ok(TcpListener::from(socket))
}

/// Connects `from` an address, or says why that is not possible within `limit`.
fn connect(
    from: IpAddr,
    to: SocketAddr,
    protocol: Protocol,
    limit: Duration,
) -> Result<std::io::Result<TcpStream>> {
    let socket = socket(SocketAddr::new(from, 0), protocol)?;
    setsockopt(&socket, sockopt::SendTimeout, &time(limit))?;
    let connected = with_address(to, |address, length| {
        // SAFETY: a live address and its length.
        unsafe { libc::connect(socket.as_raw_fd(), address, length) }
    });
    Ok(match connected {
        Ok(_) => Ok(TcpStream::from(socket)),
        // SO_SNDTIMEO ran out (connect(2)).
        Err(Errno::EINPROGRESS) => Err(std::io::ErrorKind::TimedOut.into()),
        Err(error) => Err(error.into()),
    })
}

/// Whether nobody answered.
fn is_silence(error: &std::io::Error) -> bool {
    error.kind() == std::io::ErrorKind::TimedOut
}

/// Bounds how long reads wait.
pub fn wait_at_most(socket: &impl AsFd, limit: Duration) -> Result<()> {
    Ok(setsockopt(socket, sockopt::ReceiveTimeout, &time(limit))?)
}

fn time(duration: Duration) -> TimeVal {
    TimeVal::microseconds(
        i64::try_from(duration.as_micros())
            .unwrap_or(i64::MAX)
            .max(1),
    )
}

/// Calls `call` with `address` as the kernel takes it.
fn with_address(
    address: SocketAddr,
    call: impl Fn(*const libc::sockaddr, libc::socklen_t) -> libc::c_int,
) -> nix::Result<libc::c_int> {
    use nix::sys::socket::{SockaddrLike, SockaddrStorage};
    let storage = SockaddrStorage::from(address);
    Errno::result(call(storage.as_ptr(), storage.len()))
}

//! The two ends of every connection of a part: small programs that know from the plan what is said, so that nothing of
//! it need be said in the data.
//!
//! Each connection has a port of its own on its server. Its sockets are made in their host before the part starts; a
//! thread for each end does the rest.

use std::io::{ErrorKind, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{anyhow, bail, Context, Result};
use nix::errno::Errno;
use nix::sys::socket::{
    bind, connect, listen, setsockopt, socket, sockopt, AddressFamily, Backlog, SockFlag, SockType,
    SockaddrStorage,
};
use rexmit_plan::{Conversation, End, Exchange, Pace, Part, Side};
use rexmit_time::Time;
use serde::Serialize;

use super::behaviour::Line;
use crate::clock;
use crate::net::{Host, Network};

/// The first connection's port.
const FIRST_PORT: u16 = 20_000;
/// Programs write so much at a time, unless they go at a pace.
const CHUNK_BYTES: usize = 64 << 10;

/// All connections of a part, ready to start.
pub struct Traffic<'a> {
    part: &'a Part,
    ready: Vec<Ready>,
}

struct Ready {
    listener: TcpListener,
    client: OwnedFd,
    address: SocketAddr,
}

/// How a connection went.
#[derive(Debug, Serialize)]
pub struct Outcome {
    /// Its number in the part.
    connection: usize,
    /// The client's address and port, where it got so far.
    client: Option<SocketAddr>,
    /// The server's.
    server: SocketAddr,
    /// Everything was said and both ends have closed.
    complete: bool,
    /// It was to be cut.
    cut: bool,
    /// What went wrong.
    note: Option<String>,
}

impl<'a> Traffic<'a> {
    /// Makes all sockets.
    pub fn set_up(network: &Network, part: &'a Part) -> Result<Self> {
        let host = |side| match side {
            Side::H1 => &network.h1,
            Side::H2 => &network.h2,
        };
        let mut ready = Vec::new();
        for (index, plan) in part.connections.iter().enumerate() {
            let port = u16::try_from(index)
                .ok()
                .and_then(|n| FIRST_PORT.checked_add(n));
            let port = port.ok_or_else(|| anyhow!("too many connections for their ports"))?;
            let (server, client) = match plan.server {
                Side::H1 => (host(Side::H1), host(Side::H2)),
                Side::H2 => (host(Side::H2), host(Side::H1)),
            };
            let address = SocketAddr::new(server.address, port);
            ready.push(Ready {
                listener: listener(server, address, plan)?,
                client: client_socket(client, plan)?,
                address,
            });
        }
        Ok(Self { part, ready })
    }

    /// Runs all connections; `progress` is told how many of them are done.
    pub fn run(self, start_ns: u64, progress: impl Fn(usize, usize) + Sync) -> Vec<Outcome> {
        let (part, done) = (self.part, AtomicUsize::new(0));
        let of = self.ready.len();
        let patience = Duration::from_nanos(part.patience_ns);
        thread::scope(|scope| {
            let ends: Vec<_> = self
                .ready
                .into_iter()
                .zip(&part.connections)
                .map(|(ready, plan)| {
                    let Ready {
                        listener,
                        client,
                        address,
                    } = ready;
                    let server = scope.spawn(move || serve(&listener, plan, patience));
                    let (done, progress) = (&done, &progress);
                    let client = scope.spawn(move || {
                        clock::sleep_until(Time::from_nanos(start_ns + plan.start_ns));
                        let mut local = None;
                        let ended = call(client, address, plan, patience, &mut local);
                        progress(done.fetch_add(1, Ordering::Relaxed) + 1, of);
                        (local, ended)
                    });
                    (server, client, address)
                })
                .collect();
            ends.into_iter()
                .enumerate()
                .map(|(connection, (server, client, address))| {
                    let cut = part.connections[connection].cut.is_some();
                    let panicked = || Err(anyhow!("a thread panicked"));
                    let (local, called) = client.join().unwrap_or_else(|_| (None, panicked()));
                    let served = server.join().unwrap_or_else(|_| panicked());
                    let notes: Vec<String> = [("client", called.err()), ("server", served.err())]
                        .into_iter()
                        .filter_map(|(end, error)| error.map(|error| format!("{end}: {error:#}")))
                        .collect();
                    Outcome {
                        connection,
                        client: local,
                        server: address,
                        complete: notes.is_empty(),
                        cut,
                        note: (!notes.is_empty()).then(|| notes.join("; ")),
                    }
                })
                .collect()
        })
    }
}

fn new_socket(nodelay: bool, receive_buffer: Option<u32>) -> Result<OwnedFd> {
    let socket = socket(
        AddressFamily::Inet,
        SockType::Stream,
        SockFlag::SOCK_CLOEXEC,
        None,
    )?;
    setsockopt(&socket, sockopt::TcpNoDelay, &nodelay)?;
    if let Some(bytes) = receive_buffer {
        setsockopt(&socket, sockopt::RcvBuf, &(bytes as usize))?;
    }
    Ok(socket)
}

fn listener(host: &Host, address: SocketAddr, plan: &Conversation) -> Result<TcpListener> {
    let socket = host.namespace.run(|| {
        let socket = new_socket(plan.nodelay, plan.server_receive_buffer_bytes)?;
        setsockopt(&socket, sockopt::ReuseAddr, &true)?;
        if let Some(seconds) = plan.defer_accept_s {
            defer_accept(&socket, seconds)?;
        }
        bind(socket.as_raw_fd(), &SockaddrStorage::from(address))?;
        listen(&socket, Backlog::new(16)?)?;
        Ok(socket)
    });
    Ok(TcpListener::from(
        socket.with_context(|| format!("cannot listen on {address}"))?,
    ))
}

fn defer_accept(socket: &OwnedFd, seconds: u32) -> Result<()> {
    // SAFETY: a live value and its size.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::IPPROTO_TCP,
            libc::TCP_DEFER_ACCEPT,
            (&raw const seconds).cast(),
            size_of::<u32>() as libc::socklen_t,
        )
    };
    Errno::result(result).map(drop).context("TCP_DEFER_ACCEPT")
}

fn client_socket(host: &Host, plan: &Conversation) -> Result<OwnedFd> {
    // Bound at once, so that ports do not depend on which client connects first.
    let address = match host.address {
        IpAddr::V4(_) => SocketAddr::new(host.address, 0),
        IpAddr::V6(_) => bail!("parts speak IPv4"),
    };
    host.namespace.run(|| {
        let socket = new_socket(plan.nodelay, plan.client_receive_buffer_bytes)?;
        bind(socket.as_raw_fd(), &SockaddrStorage::from(address))?;
        Ok(socket)
    })
}

fn call(
    socket: OwnedFd,
    server: SocketAddr,
    plan: &Conversation,
    patience: Duration,
    local: &mut Option<SocketAddr>,
) -> Result<()> {
    let connected = connect(socket.as_raw_fd(), &SockaddrStorage::from(server));
    let stream = TcpStream::from(socket);
    *local = stream.local_addr().ok();
    connected.context("cannot connect")?;
    prepare(&stream, patience)?;
    let mut line = Line::new(&stream, plan, End::Client);
    for exchange in &plan.exchanges {
        pause(exchange.think_ns);
        if exchange.duplex {
            both_ways(
                line.stream(),
                exchange.request_bytes,
                exchange.response_bytes,
                None,
                plan.reading,
            )?;
        } else {
            write(&mut line, exchange.request_bytes, None)?;
            read(&mut line, exchange.response_bytes, plan.reading)?;
        }
    }
    close(&stream, plan, End::Client)
}

fn serve(listener: &TcpListener, plan: &Conversation, patience: Duration) -> Result<()> {
    // A client that never gets through ends in an error of its own, which nobody need wait for here.
    setsockopt(
        listener,
        sockopt::ReceiveTimeout,
        &time_value(plan.start_ns, patience),
    )?;
    let (stream, _) = listener.accept().context("nobody connected")?;
    prepare(&stream, patience)?;
    let mut line = Line::new(&stream, plan, End::Server);
    for exchange in &plan.exchanges {
        let Exchange {
            request_bytes,
            response_bytes,
            ..
        } = *exchange;
        if exchange.duplex {
            both_ways(
                line.stream(),
                response_bytes,
                request_bytes,
                plan.writing,
                None,
            )?;
        } else {
            read(&mut line, request_bytes, None)?;
            pause(exchange.serve_ns);
            write(&mut line, response_bytes, plan.writing)?;
        }
    }
    close(&stream, plan, End::Server)
}

fn time_value(start_ns: u64, patience: Duration) -> nix::sys::time::TimeVal {
    let whole = Duration::from_nanos(start_ns) + patience;
    nix::sys::time::TimeVal::new(whole.as_secs() as i64 + 1, 0)
}

fn prepare(stream: &TcpStream, patience: Duration) -> Result<()> {
    stream.set_read_timeout(Some(patience))?;
    stream.set_write_timeout(Some(patience))?;
    Ok(())
}

/// Does nothing for a while.
pub(super) fn pause(nanos: u64) {
    if nanos > 0 {
        thread::sleep(Duration::from_nanos(nanos));
    }
}

fn both_ways(
    stream: &TcpStream,
    out: u64,
    back: u64,
    writing: Option<Pace>,
    reading: Option<Pace>,
) -> Result<()> {
    thread::scope(|scope| {
        let (mut writer, mut reader) = (stream, stream);
        let writer = scope.spawn(move || write(&mut writer, out, writing));
        let was_read = read(&mut reader, back, reading);
        let written = writer
            .join()
            .unwrap_or_else(|_| Err(anyhow!("a thread panicked")));
        written.and(was_read)
    })
}

fn write(stream: &mut impl Write, bytes: u64, pace: Option<Pace>) -> Result<()> {
    let text: Vec<u8> = (0..CHUNK_BYTES).map(|at| b' ' + (at % 95) as u8).collect();
    let (chunk, rest) = pace.map_or((CHUNK_BYTES, 0), |pace| {
        (pace.chunk_bytes.max(1) as usize, pace.pause_ns)
    });
    let mut left = bytes;
    while left > 0 {
        let most = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .min(chunk)
            .min(CHUNK_BYTES);
        stream.write_all(&text[..most]).context("writing")?;
        left -= most as u64;
        if left > 0 {
            pause(rest);
        }
    }
    Ok(())
}

fn read(stream: &mut impl Read, bytes: u64, pace: Option<Pace>) -> Result<()> {
    let (chunk, rest) = pace.map_or((CHUNK_BYTES, 0), |pace| {
        (pace.chunk_bytes.max(1) as usize, pace.pause_ns)
    });
    let mut buffer = vec![0; chunk.min(1 << 20)];
    let mut left = bytes;
    while left > 0 {
        let most = usize::try_from(left)
            .unwrap_or(usize::MAX)
            .min(buffer.len());
        match stream.read(&mut buffer[..most]) {
            Ok(0) => bail!("the peer closed with {left} bytes to come"),
            Ok(length) => left -= length as u64,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error).context("reading"),
        }
        if left > 0 {
            pause(rest);
        }
    }
    Ok(())
}

/// Closes this end, first or after the peer.
fn close(stream: &TcpStream, plan: &Conversation, own: End) -> Result<()> {
    if plan.closer == own {
        pause(plan.close_ns);
        stream.shutdown(Shutdown::Write).context("closing")?;
        read_to_end(stream)
    } else {
        read_to_end(stream)?;
        stream.shutdown(Shutdown::Write).context("closing")
    }
}

fn read_to_end(mut stream: &TcpStream) -> Result<()> {
    let mut buffer = [0; 1024];
    while stream.read(&mut buffer).context("waiting for the end")? > 0 {}
    Ok(())
}

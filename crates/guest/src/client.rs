//! The clients: this program's own, `curl`, `lynx -dump`. Each fetches the page once, over a new connection.

use std::io::{ErrorKind, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::num::NonZeroU64;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{bail, Context, Result};
use nix::sys::socket::{
    connect, recv, setsockopt, socket, sockopt, AddressFamily, MsgFlags, SockFlag, SockProtocol,
    SockType, SockaddrStorage,
};

use crate::clock;
use crate::server::{Nginx, PAGE};
use crate::spawn::Program;
use rexmit_plan::{ClientKind, Ended, Fetched, Http, Page, Programs};

/// A client, ready to fetch.
pub enum Client {
    /// This program's own.
    Builtin {
        /// Bits a second that it works through; none: it takes no time.
        pace: Option<NonZeroU64>,
        /// Whether its request travels in the SYN.
        fast_open: bool,
    },
    /// `curl`, and what it is told besides what to fetch.
    Curl(PathBuf, Vec<&'static str>),
    /// `lynx`.
    Lynx(PathBuf),
}

impl Client {
    /// The client of this page, if its program is there.
    pub fn new(page: &Page, programs: &Programs) -> Result<Self> {
        let words: &[&str] = match page.http {
            Http::Plain => &[],
            Http::Tls => &["--tlsv1.3", "--http1.1"],
            Http::Two => &["--tlsv1.3", "--http2"],
        };
        Ok(match page.client {
            ClientKind::Builtin => Self::Builtin {
                pace: page.pace(),
                fast_open: page.fast_open,
            },
            ClientKind::Curl => {
                let opening = page.fast_open.then_some("--tcp-fastopen");
                let words = words.iter().copied().chain(opening).collect();
                Self::Curl(programs.curl()?.to_owned(), words)
            }
            ClientKind::Lynx => Self::Lynx(programs.lynx()?.to_owned()),
        })
    }

    /// Fetches the page from `server` in at most `limit`, from the network namespace of the calling thread.
    pub fn fetch(&self, server: &Nginx, page_bytes: usize, limit: Duration) -> Result<Fetched> {
        let url = url(server);
        let address = server.address;
        match self {
            Self::Builtin { pace, fast_open } => {
                let connect = || match fast_open {
                    true => connect_with_data(&address, limit),
                    false => TcpStream::connect_timeout(&address, limit),
                };
                Ok(builtin(connect, address.ip(), page_bytes, *pace, limit)?.0)
            }
            Self::Curl(program, words) => {
                let limit_s = limit.as_secs_f64().to_string();
                let mut all = vec!["-q", "-s", "-S", "-g", "--max-time", &limit_s];
                let certificate = server.certificate.as_ref().map(|path| path.display());
                let certificate = certificate.map(|path| path.to_string());
                all.extend(words);
                if let Some(certificate) = &certificate {
                    all.extend(["--cacert", certificate]);
                }
                all.push(&url);
                run(program, &all, Some(page_bytes), limit)
            }
            Self::Lynx(program) => {
                let timeout = format!("-read_timeout={}", limit.as_secs().max(1));
                run(program, &[&timeout, "-dump", &url], None, limit)
            }
        }
    }
}

/// A connection whose SYN bears what is written first, if the server has given out a cookie before; else one as usual
/// (TCP_FASTOPEN_CONNECT of tcp(7)).
fn connect_with_data(address: &SocketAddr, limit: Duration) -> std::io::Result<TcpStream> {
    let family = match address {
        SocketAddr::V4(_) => AddressFamily::Inet,
        SocketAddr::V6(_) => AddressFamily::Inet6,
    };
    let socket = socket(
        family,
        SockType::Stream,
        SockFlag::SOCK_CLOEXEC,
        SockProtocol::Tcp,
    )?;
    setsockopt(&socket, sockopt::TcpFastOpenConnect, &true)?;
    let stream = TcpStream::from(socket);
    // It bounds connect(2), too.
    stream.set_write_timeout(Some(limit))?;
    connect(stream.as_raw_fd(), &SockaddrStorage::from(*address))?;
    Ok(stream)
}

/// What a client that takes time reads at once, in bytes, as lynx does.
const PACED_READ: usize = 4096;

fn url(server: &Nginx) -> String {
    let scheme = match server.certificate {
        Some(_) => "https",
        None => "http",
    };
    match server.address.ip() {
        IpAddr::V4(ip) => format!("{scheme}://{ip}{PAGE}"),
        IpAddr::V6(ip) => format!("{scheme}://[{ip}]{PAGE}"),
    }
}

/// Fetches the page from `host` as this program's own client, over the connection that `connect` opens, and works through
/// `pace` bits a second. With the bytes of the response head, where that came.
pub fn builtin(
    connect: impl FnOnce() -> std::io::Result<TcpStream>,
    host: IpAddr,
    page_bytes: usize,
    pace: Option<NonZeroU64>,
    limit: Duration,
) -> Result<(Fetched, Option<u64>)> {
    let begin = clock::now();
    let mut head_bytes = None;
    let ended = exchange(
        connect,
        host,
        page_bytes,
        pace,
        begin,
        limit,
        &mut head_bytes,
    )?;
    let fetched = Fetched {
        duration_ns: clock::now().as_nanos() - begin.as_nanos(),
        ended,
        said: None,
    };
    Ok((fetched, head_bytes))
}

/// How the connection of a client that began at `begin` ends.
fn exchange(
    connect: impl FnOnce() -> std::io::Result<TcpStream>,
    host: IpAddr,
    page_bytes: usize,
    pace: Option<NonZeroU64>,
    begin: rexmit_time::Time,
    limit: Duration,
    head_bytes: &mut Option<u64>,
) -> Result<Ended> {
    let broken = "the client's connection broke";
    let mut stream = match connect() {
        Ok(stream) => stream,
        Err(error) => {
            return ending(&error)
                .ok_or(error)
                .context("the client cannot connect")
        }
    };
    stream.set_read_timeout(Some(limit))?;
    let request = format!(
        "GET {PAGE} HTTP/1.0\r\nHost: {host}\r\nAccept: text/html, text/plain, */*;q=0.01\r\n\
         Accept-Language: en\r\nUser-Agent: rexmit/{}\r\n\r\n",
        env!("CARGO_PKG_VERSION")
    );
    // In one piece: Nagle's algorithm would hold back a second one for a round trip.
    if let Err(error) = stream.write_all(request.as_bytes()) {
        return ending(&error).ok_or(error).context(broken);
    }
    let mut room = [0; 64 << 10];
    // A process that runs at every segment is most of what a transfer costs. To its peer it is all the same: the kernel
    // takes each segment from the queue as it comes (`tcp_recvmsg_locked`). One that takes time reads what is there.
    let (buffer, flags) = match pace {
        None => (&mut room[..], MsgFlags::MSG_WAITALL),
        Some(_) => (&mut room[..PACED_READ], MsgFlags::empty()),
    };
    let (mut head, mut body_bytes) = (Vec::new(), None);
    let until = begin + rexmit_time::Duration::from_nanos(i64::try_from(limit.as_nanos())?);
    loop {
        let read = recv(stream.as_raw_fd(), buffer, flags);
        let length = match read.map_err(std::io::Error::from) {
            Ok(0) if body_bytes == Some(page_bytes) => return Ok(Ended::Finished),
            Ok(0) => return Ok(Ended::Short),
            Ok(length) => length,
            Err(error) => {
                abort(&stream)?;
                return ending(&error).ok_or(error).context(broken);
            }
        };
        match &mut body_bytes {
            Some(bytes) => *bytes += length,
            None => {
                head.extend_from_slice(&buffer[..length]);
                if let Some(end) = head.windows(4).position(|four| four == b"\r\n\r\n") {
                    if !head.starts_with(b"HTTP/1.1 200") {
                        let line = head.split(|&byte| byte == b'\r').next().unwrap_or_default();
                        bail!("the server answered {:?}", String::from_utf8_lossy(line));
                    }
                    *head_bytes = Some(end as u64 + 4);
                    body_bytes = Some(head.len() - end - 4);
                }
            }
        }
        if let Some(bps) = pace {
            std::thread::sleep(Duration::from_nanos(length as u64 * 8_000_000_000 / bps));
        }
        // What is late and whole is no less there.
        if body_bytes != Some(page_bytes) && clock::now() > until {
            abort(&stream)?;
            return Ok(Ended::TimedOut);
        }
    }
}

/// Has `stream` reset its connection when it is closed: the server is not to go on in the time of the next transfer.
fn abort(stream: &TcpStream) -> Result<()> {
    let at_once = libc::linger {
        l_onoff: 1,
        l_linger: 0,
    };
    Ok(setsockopt(stream, sockopt::Linger, &at_once)?)
}

/// How a transfer ended in which a call failed with `error`; `None` where that is no way for one to end.
pub fn ending(error: &std::io::Error) -> Option<Ended> {
    // connect_timeout(3) makes up an error for a wait that was too long, without a number.
    match (error.kind(), error.raw_os_error()) {
        (ErrorKind::WouldBlock, _) | (ErrorKind::TimedOut, None) => Some(Ended::TimedOut),
        (ErrorKind::TimedOut, Some(_)) => Some(Ended::GaveUp),
        (ErrorKind::ConnectionReset | ErrorKind::BrokenPipe, _) => Some(Ended::Reset),
        (ErrorKind::ConnectionRefused, _) => Some(Ended::Refused),
        _ => None,
    }
}

/// Runs a client program that writes the page, or what it made of it (`None`), to its standard output.
fn run(
    program: &Path,
    arguments: &[&str],
    page_bytes: Option<usize>,
    limit: Duration,
) -> Result<Fetched> {
    let environment = [
        ("PATH", "/usr/bin:/bin"),
        ("HOME", "/run"),
        ("TERM", "dumb"),
        ("LANG", "C.UTF-8"),
    ];
    let environment = environment.map(|(name, value)| (name.into(), value.into()));
    let mut command = Program::new(program, environment)?;
    for word in arguments {
        command.argument(word)?;
    }
    let begin = clock::now();
    let (status, page, errors) = command.output()?;
    let duration_ns = clock::now().as_nanos() - begin.as_nanos();
    let whole = page_bytes.is_none_or(|bytes| page.len() == bytes);
    let mut said = None;
    let ended = match status.code() {
        Some(0) if whole => Ended::Finished,
        Some(0) => Ended::Short,
        // lynx has one status for all that can go wrong.
        Some(code) if page_bytes.is_some() => curl_ending(code),
        _ if duration_ns >= limit.as_nanos() as u64 => Ended::TimedOut,
        _ => Ended::Failed,
    };
    if ended == Ended::Failed {
        let errors = String::from_utf8_lossy(&errors);
        said = Some(format!(
            "{} failed ({status}): {}",
            program.display(),
            errors.trim()
        ));
    }
    Ok(Fetched {
        duration_ns,
        ended,
        said,
    })
}

/// How a transfer ended, by curl's exit status (curl(1), EXIT CODES).
fn curl_ending(status: i32) -> Ended {
    match status {
        28 => Ended::TimedOut,
        // It does not say why it could not connect: the lab's links lead everywhere and its server listens.
        7 => Ended::GaveUp,
        // Less than was promised; nothing at all.
        18 | 52 => Ended::Short,
        // It could not send, it could not receive.
        55 | 56 => Ended::Reset,
        _ => Ended::Failed,
    }
}

#[cfg(test)]
mod tests {
    use std::io;
    use std::net::TcpListener;

    use std::io::Read;

    use super::*;

    #[test]
    fn a_client_says_how_its_transfer_ended() {
        let limit = Duration::from_millis(200);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let server = listener.local_addr().unwrap();
        let fetch = || {
            let connect = || TcpStream::connect_timeout(&server, limit);
            let (fetched, _) = builtin(connect, server.ip(), 5, None, limit).unwrap();
            fetched.ended
        };
        let answer = |response: &'static [u8]| {
            let listener = listener.try_clone().unwrap();
            std::thread::spawn(move || {
                let (mut stream, _) = listener.accept().unwrap();
                let _ = stream.read(&mut [0; 1024]);
                stream.write_all(response).unwrap();
            })
        };
        let serving = answer(b"HTTP/1.1 200 OK\r\n\r\n12345");
        assert_eq!(fetch(), Ended::Finished);
        serving.join().unwrap();
        let serving = answer(b"HTTP/1.1 200 OK\r\n\r\n123");
        assert_eq!(fetch(), Ended::Short);
        serving.join().unwrap();
        assert_eq!(fetch(), Ended::TimedOut, "nobody answers");
        drop(listener);
        assert_eq!(fetch(), Ended::Refused);
    }

    #[test]
    fn a_kernel_that_gives_up_is_no_client_that_does() {
        let of = |number| ending(&io::Error::from_raw_os_error(number));
        assert_eq!(of(libc::ETIMEDOUT), Some(Ended::GaveUp));
        assert_eq!(of(libc::ECONNRESET), Some(Ended::Reset));
        assert_eq!(of(libc::EAGAIN), Some(Ended::TimedOut));
        assert_eq!(of(libc::EBADF), None);
    }
}

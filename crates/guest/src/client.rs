//! The clients: this program's own, `curl`, `lynx -dump`. Each fetches the page once, over a new connection.

use std::io::{Read, Write};
use std::net::{IpAddr, SocketAddr, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{bail, Context, Result};

use crate::clock;
use crate::server::PAGE;
use rexmit_plan::{ClientKind, Fetched, Programs};

/// A client, ready to fetch.
pub enum Client {
    /// This program's own.
    Builtin,
    /// `curl`.
    Curl(PathBuf),
    /// `lynx`.
    Lynx(PathBuf),
}

impl Client {
    /// The client of this kind, if its program is there.
    pub fn new(kind: ClientKind, programs: &Programs) -> Result<Self> {
        Ok(match kind {
            ClientKind::Builtin => Self::Builtin,
            ClientKind::Curl => Self::Curl(programs.curl()?.to_owned()),
            ClientKind::Lynx => Self::Lynx(programs.lynx()?.to_owned()),
        })
    }

    /// Fetches the page from `server` in at most `limit`, from the network namespace of the calling thread.
    pub fn fetch(&self, server: SocketAddr, page_bytes: usize, limit: Duration) -> Result<Fetched> {
        match self {
            Self::Builtin => builtin(server, page_bytes, limit),
            Self::Curl(program) => {
                let mut command = Command::new(program);
                command.args([
                    "-q",
                    "-s",
                    "-S",
                    "-g",
                    "--max-time",
                    &limit.as_secs_f64().to_string(),
                    &url(server),
                ]);
                run(command, program, Some(page_bytes))
            }
            Self::Lynx(program) => {
                let mut command = Command::new(program);
                let timeout = format!("-read_timeout={}", limit.as_secs().max(1));
                command.args([&timeout, "-dump", &url(server)]);
                run(command, program, None)
            }
        }
    }
}

fn url(server: SocketAddr) -> String {
    match server.ip() {
        IpAddr::V4(ip) => format!("http://{ip}{PAGE}"),
        IpAddr::V6(ip) => format!("http://[{ip}]{PAGE}"),
    }
}

fn builtin(server: SocketAddr, page_bytes: usize, limit: Duration) -> Result<Fetched> {
    let begin = clock::now();
    let mut stream =
        TcpStream::connect_timeout(&server, limit).context("the client cannot connect")?;
    stream.set_read_timeout(Some(limit))?;
    let host = server.ip();
    let request = format!(
        "GET {PAGE} HTTP/1.0\r\nHost: {host}\r\nAccept: text/html, text/plain, */*;q=0.01\r\n\
         Accept-Language: en\r\nUser-Agent: rexmit/{}\r\n\r\n",
        env!("CARGO_PKG_VERSION")
    );
    // In one piece: Nagle's algorithm would hold back a second one for a round trip.
    stream.write_all(request.as_bytes())?;
    let mut buffer = [0; 64 << 10];
    let (mut head, mut body_bytes) = (Vec::new(), None);
    let until = begin + rexmit_time::Duration::from_nanos(i64::try_from(limit.as_nanos())?);
    let mut reads = 0_u32;
    let complete = loop {
        // A look at the clock is not free, so not at every segment.
        reads += 1;
        if reads % 16 == 0 && clock::now() > until {
            break false;
        }
        let length = match stream.read(&mut buffer) {
            Ok(0) => break body_bytes == Some(page_bytes),
            Ok(length) => length,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => break false,
            Err(error) => return Err(error).context("the client's connection broke"),
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
                    body_bytes = Some(head.len() - end - 4);
                }
            }
        }
    };
    Ok(Fetched {
        duration_ns: clock::now().as_nanos() - begin.as_nanos(),
        complete,
    })
}

/// Runs a client program that writes the page, or what it made of it (`None`), to its standard output.
fn run(mut command: Command, program: &Path, page_bytes: Option<usize>) -> Result<Fetched> {
    let begin = clock::now();
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .env_clear()
        .env("PATH", "/usr/bin:/bin")
        .env("HOME", "/run")
        .env("TERM", "dumb")
        .env("LANG", "C.UTF-8");
    let child = command
        .spawn()
        .with_context(|| format!("cannot run {}", program.display()))?;
    let output = child.wait_with_output()?;
    let duration_ns = clock::now().as_nanos() - begin.as_nanos();
    if output.stdout.is_empty() && !output.status.success() {
        bail!(
            "{} failed ({}): {}",
            program.display(),
            output.status,
            String::from_utf8_lossy(&output.stderr).trim()
        );
    }
    let whole = page_bytes.is_none_or(|bytes| output.stdout.len() == bytes);
    Ok(Fetched {
        duration_ns,
        complete: output.status.success() && whole,
    })
}

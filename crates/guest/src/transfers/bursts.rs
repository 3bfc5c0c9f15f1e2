//! The bursts: the server writes them at their times or as it is asked for them, the client reads them.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{anyhow, Context, Result};
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use rexmit_plan::{BurstSeen, Bursts, Ended};
use rexmit_time::{Duration as Span, Time};

use crate::client::ending;
use crate::opener::{wait_at_most, Connection};
use crate::{clock, priority};

/// What is written when.
pub struct Schedule {
    pub bursts: Bursts,
    /// When the first burst is written, or asked for.
    pub first: Time,
    /// Bytes of each.
    pub bytes: usize,
    /// How long the client waits for anything to come.
    pub patience: Duration,
}

impl Schedule {
    /// When burst `index` is to be written, or the first to be asked for.
    pub fn time(&self, index: u32) -> Time {
        match self.bursts.request {
            Some(_) => self.first,
            None => self.first + Span::from_unsigned_nanos(u64::from(index) * self.bursts.gap_ns),
        }
    }

    /// When the last is.
    pub fn last(&self) -> Time {
        self.time(self.bursts.count - 1)
    }
}

/// What the client saw of the bursts.
struct Came {
    /// When it asked for each, if it did.
    asked: Vec<Time>,
    /// When it read the last byte of each.
    ends: Vec<Option<Time>>,
    ended: Ended,
}

/// Writes and reads all bursts of `schedule`, and how that ended. What did not come in time, and what was to come after
/// that, has no end.
///
/// The calling thread reads, one more writes: each burst as far as the socket takes it, and the rest whenever it takes more,
/// as servers of many connections do. A program that blocks in its write instead sleeps at random on 6.1 (see
/// docs/notes/mptcp-blocked-writer.md).
pub fn run(connection: &mut Connection, schedule: &Schedule) -> Result<(Vec<BurstSeen>, Ended)> {
    let Connection { client, server, .. } = connection;
    wait_at_most(client, schedule.patience)?;
    server.set_nonblocking(true)?;
    let gone = AtomicBool::new(false);
    let (starts, came) = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            // Where it is refused the order is the scheduler's.
            let _ = priority::SERVER.take();
            write(server, schedule, &gone)
        });
        let came = read(client, schedule);
        gone.store(true, Ordering::Relaxed);
        let starts = writer.join();
        (
            starts.unwrap_or_else(|_| Err(anyhow!("the server panicked"))),
            came,
        )
    });
    let (starts, came) = (starts?, came?);
    let starts = match schedule.bursts.request {
        Some(_) => came.asked,
        None => starts,
    };
    let bursts = starts.into_iter().zip(came.ends);
    let bursts = bursts
        .map(|(t_start, t_end)| BurstSeen {
            t_start,
            t_end,
            bytes: schedule.bytes as u64,
        })
        .collect();
    Ok((bursts, came.ended))
}

fn write(server: &mut TcpStream, schedule: &Schedule, gone: &AtomicBool) -> Result<Vec<Time>> {
    let burst = vec![b'x'; schedule.bytes];
    let pause = schedule.bursts.last_byte_after_ns;
    let (body, last_byte) = burst.split_at(burst.len() - usize::from(pause > 0));
    let mut starts = Vec::new();
    for index in 0..schedule.bursts.count {
        match schedule.bursts.request {
            None => clock::sleep_until(schedule.time(index)),
            Some(request) => {
                if !hear(server, request.bytes as usize, schedule.patience, gone)? {
                    break;
                }
                sleep(request.server_think_ns);
            }
        }
        starts.push(clock::now());
        if !write_all(server, body, schedule.patience, gone)? {
            break;
        }
        sleep(pause);
        if !write_all(server, last_byte, schedule.patience, gone)? {
            break;
        }
    }
    Ok(starts)
}

fn sleep(length_ns: u64) {
    if length_ns > 0 {
        clock::sleep_until(clock::now() + Span::from_unsigned_nanos(length_ns));
    }
}

/// Waits until a request of so many bytes is read; false if the connection ended, or the client is `gone` and nothing came
/// for as long as `patience`.
fn hear(
    server: &mut TcpStream,
    bytes: usize,
    patience: Duration,
    gone: &AtomicBool,
) -> Result<bool> {
    let mut buffer = [0; 4 << 10];
    let mut missing = bytes;
    while missing > 0 {
        let room = missing.min(buffer.len());
        match server.read(&mut buffer[..room]) {
            Ok(0) => return Ok(false),
            Ok(length) => missing -= length,
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                if !is_ready(server, PollFlags::POLLIN, patience)? && gone.load(Ordering::Relaxed) {
                    return Ok(false);
                }
            }
            Err(error) if ending(&error).is_some() => return Ok(false),
            Err(error) => return Err(error).context("the server cannot read"),
        }
    }
    Ok(true)
}

/// Whether `socket` can be read or written within `patience`.
fn is_ready(socket: &TcpStream, what: PollFlags, patience: Duration) -> Result<bool> {
    let mut waited = [PollFd::new(socket.as_fd(), what)];
    let limit = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
    Ok(poll(&mut waited, limit).context("poll")? > 0)
}

/// Writes all of `bytes`; false if the client is `gone` and the socket took nothing more for as long as `patience`. While
/// the client reads, a slow line may leave a large buffer without room for longer.
fn write_all(
    server: &mut TcpStream,
    bytes: &[u8],
    patience: Duration,
    gone: &AtomicBool,
) -> Result<bool> {
    let mut left = bytes;
    while !left.is_empty() {
        match server.write(left) {
            Ok(written) => left = &left[written..],
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                let room = is_ready(server, PollFlags::POLLOUT, patience)?;
                if !room && gone.load(Ordering::Relaxed) {
                    return Ok(false);
                }
            }
            // The connection has ended: what that was its client tells.
            Err(error) if ending(&error).is_some() => return Ok(false),
            Err(error) => return Err(error).context("the server cannot write"),
        }
    }
    Ok(true)
}

/// Asks for each burst if it is to, and reads it.
fn read(client: &mut TcpStream, schedule: &Schedule) -> Result<Came> {
    let mut came = Came {
        asked: Vec::new(),
        ends: vec![None; schedule.bursts.count as usize],
        ended: Ended::Finished,
    };
    let mut buffer = vec![0; 64 << 10];
    let request = schedule.bursts.request;
    let asks = request.map_or_else(Vec::new, |request| vec![b'?'; request.bytes as usize]);
    for index in 0..came.ends.len() {
        if request.is_some() {
            match index {
                0 => clock::sleep_until(schedule.first),
                _ => sleep(schedule.bursts.gap_ns),
            }
            came.asked.push(clock::now());
        }
        let read = client.write_all(&asks).and_then(|()| {
            let mut missing = schedule.bytes;
            while missing > 0 {
                let room = missing.min(buffer.len());
                match client.read(&mut buffer[..room])? {
                    0 => return Ok(false),
                    length => missing -= length,
                }
            }
            Ok(true)
        });
        match read {
            Ok(true) => came.ends[index] = Some(clock::now()),
            Ok(false) => came.ended = Ended::Short,
            Err(error) => {
                let ended = ending(&error).ok_or(error);
                came.ended = ended.context("the client's connection broke")?;
            }
        }
        if came.ended != Ended::Finished {
            break;
        }
    }
    Ok(came)
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const PATIENCE: Duration = Duration::from_millis(20);

    /// A server that does not block, and its client.
    fn pair() -> (TcpStream, TcpStream) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        let server = listener.accept().unwrap().0;
        server.set_nonblocking(true).unwrap();
        (server, client)
    }

    /// More than the buffers of both ends hold.
    fn burst() -> Vec<u8> {
        vec![0; 64 << 20]
    }

    #[test]
    fn a_server_waits_longer_than_its_client_while_that_reads() {
        let (mut server, mut client) = pair();
        let gone = AtomicBool::new(false);
        let bytes = burst();
        thread::scope(|scope| {
            scope.spawn(|| {
                thread::sleep(10 * PATIENCE);
                let mut all = vec![0; bytes.len()];
                // Whether all came is what the server is asked.
                let _ = client.read_exact(&mut all);
            });
            let written = write_all(&mut server, &bytes, PATIENCE, &gone);
            // A client that waits for the rest hears that there is none.
            drop(server);
            assert!(written.unwrap());
        });
    }

    #[test]
    fn a_server_gives_up_when_its_client_has() {
        let (mut server, _client) = pair();
        let gone = AtomicBool::new(true);
        assert!(!write_all(&mut server, &burst(), PATIENCE, &gone).unwrap());
    }
}

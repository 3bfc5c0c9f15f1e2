//! The bursts: the server writes them at their times, the client reads them.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{anyhow, Context, Result};
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use rexmit_plan::{BurstSeen, Ended};
use rexmit_time::Time;

use crate::client::ending;
use crate::opener::{wait_at_most, Connection};
use crate::{clock, priority};

/// What is written when.
pub struct Schedule {
    /// When each burst is written.
    pub times: Vec<Time>,
    /// Bytes of each.
    pub bytes: usize,
    /// How long the client waits for anything to come.
    pub patience: Duration,
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
    let (starts, ends) = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            // Where it is refused the order is the scheduler's.
            let _ = priority::SERVER.take();
            write(server, schedule, &gone)
        });
        let ends = read(client, schedule);
        gone.store(true, Ordering::Relaxed);
        let starts = writer.join();
        (
            starts.unwrap_or_else(|_| Err(anyhow!("the server panicked"))),
            ends,
        )
    });
    let (starts, (ends, ended)) = (starts?, ends?);
    let bursts = starts.into_iter().zip(ends);
    let bursts = bursts
        .map(|(t_start, t_end)| BurstSeen {
            t_start,
            t_end,
            bytes: schedule.bytes as u64,
        })
        .collect();
    Ok((bursts, ended))
}

fn write(server: &mut TcpStream, schedule: &Schedule, gone: &AtomicBool) -> Result<Vec<Time>> {
    let burst = vec![b'x'; schedule.bytes];
    let mut starts = Vec::new();
    for &time in &schedule.times {
        clock::sleep_until(time);
        starts.push(clock::now());
        if !write_all(server, &burst, schedule.patience, gone)? {
            break;
        }
    }
    Ok(starts)
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
                let mut waited = [PollFd::new(server.as_fd(), PollFlags::POLLOUT)];
                let limit = PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX);
                let room = poll(&mut waited, limit).context("poll")? > 0;
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

/// When the last byte of each burst was read, and how that ended.
fn read(client: &mut TcpStream, schedule: &Schedule) -> Result<(Vec<Option<Time>>, Ended)> {
    let mut buffer = vec![0; 64 << 10];
    let mut ends = vec![None; schedule.times.len()];
    for end in &mut ends {
        let mut missing = schedule.bytes;
        while missing > 0 {
            let room = missing.min(buffer.len());
            match client.read(&mut buffer[..room]) {
                Ok(0) => return Ok((ends, Ended::Short)),
                Ok(length) => missing -= length,
                Err(error) => {
                    let ended = ending(&error).ok_or(error);
                    return Ok((ends, ended.context("the client's connection broke")?));
                }
            }
        }
        *end = Some(clock::now());
    }
    Ok((ends, Ended::Finished))
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

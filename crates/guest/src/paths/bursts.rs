//! The bursts: the server writes them at their times, the client reads them.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use anyhow::{anyhow, Context, Result};
use rexmit_plan::BurstSeen;
use rexmit_time::Time;

use super::connection::{wait_at_most, Connection};
use crate::clock;
use crate::priority;

/// What is written when.
pub struct Schedule {
    /// When each burst is written.
    pub times: Vec<Time>,
    /// Bytes of each.
    pub bytes: usize,
    /// How long the client waits for anything to come.
    pub patience: Duration,
}

/// Writes and reads all bursts of `schedule`. What did not come in time, and what was to come after that, has no end.
///
/// The calling thread reads, one more writes: each burst in one piece, as a program does that has all of it.
pub fn run(connection: &mut Connection, schedule: &Schedule) -> Result<Vec<BurstSeen>> {
    let Connection { client, server, .. } = connection;
    wait_at_most(client, schedule.patience)?;
    // A client that gives up reads no more: the writer must not wait for it for ever.
    server.set_write_timeout(Some(schedule.patience))?;
    let (starts, ends) = thread::scope(|scope| {
        let writer = scope.spawn(|| {
            // Where it is refused the order is the scheduler's.
            let _ = priority::SERVER.take();
            write(server, schedule)
        });
        let ends = read(client, schedule);
        let starts = writer.join();
        (
            starts.unwrap_or_else(|_| Err(anyhow!("the server panicked"))),
            ends,
        )
    });
    let (starts, ends) = (starts?, ends?);
    let bursts = starts.into_iter().zip(ends);
    Ok(bursts
        .map(|(t_start, t_end)| BurstSeen {
            t_start,
            t_end,
            bytes: schedule.bytes as u64,
        })
        .collect())
}

fn write(server: &mut TcpStream, schedule: &Schedule) -> Result<Vec<Time>> {
    let burst = vec![b'x'; schedule.bytes];
    let mut starts = Vec::new();
    for &time in &schedule.times {
        clock::sleep_until(time);
        starts.push(clock::now());
        match server.write_all(&burst) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::WouldBlock => break,
            Err(error) => return Err(error).context("the server cannot write"),
        }
    }
    Ok(starts)
}

/// When the last byte of each burst was read.
fn read(client: &mut TcpStream, schedule: &Schedule) -> Result<Vec<Option<Time>>> {
    let mut buffer = vec![0; 64 << 10];
    let mut ends = vec![None; schedule.times.len()];
    for end in &mut ends {
        let mut missing = schedule.bytes;
        while missing > 0 {
            let room = missing.min(buffer.len());
            match client.read(&mut buffer[..room]) {
                Ok(0) => return Err(anyhow!("the server closed the connection")),
                Ok(length) => missing -= length,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(ends),
                Err(error) => return Err(error).context("the client's connection broke"),
            }
        }
        *end = Some(clock::now());
    }
    Ok(ends)
}

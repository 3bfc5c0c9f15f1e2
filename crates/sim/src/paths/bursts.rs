//! The programs: a server that writes bursts at their times, and a client that reads them.

use rexmit_plan::BurstSeen;
use rexmit_time::{Duration, Time};

/// Bytes that the client reads at a time.
pub const BUFFER: u64 = 64 << 10;

/// What is written when, and how far that is.
#[derive(Clone, Debug)]
pub struct Bursts {
    bytes: u64,
    /// How long the client waits for anything to come.
    patience: Duration,
    times: Vec<Time>,

    /// Bursts begun.
    begun: Vec<Time>,
    /// Bytes of the last one that the server has yet to write.
    pub left: u64,
    /// Bytes that the client read.
    read: u64,
    ends: Vec<Time>,
    /// When the client read last.
    last_read: Time,
    /// The client waited too long and reads no more.
    gave_up: bool,
}

impl Bursts {
    pub fn new(times: Vec<Time>, bytes: u64, patience: Duration, now: Time) -> Self {
        Bursts {
            bytes,
            patience,
            times,
            begun: Vec::new(),
            left: 0,
            read: 0,
            ends: Vec::new(),
            last_read: now,
            gave_up: false,
        }
    }

    /// When the server begins the next burst; not while it writes one.
    pub fn next(&self) -> Option<Time> {
        if self.left > 0 {
            return None;
        }
        self.times.get(self.begun.len()).copied()
    }

    /// The server begins the next burst.
    pub fn begin(&mut self, now: Time) {
        self.begun.push(now);
        self.left = self.bytes;
    }

    /// Bytes that the client reads with its next call; 0 when it has all or gave up.
    pub fn wanted(&self) -> u32 {
        let all = self.bytes * self.times.len() as u64;
        if self.gave_up || self.read >= all {
            return 0;
        }
        (self.bytes - self.read % self.bytes).min(BUFFER) as u32
    }

    /// The client read `bytes`.
    pub fn took(&mut self, now: Time, bytes: u32) {
        self.read += u64::from(bytes);
        self.last_read = now;
        while (self.ends.len() as u64 + 1) * self.bytes <= self.read {
            self.ends.push(now);
        }
    }

    /// Whether the client has read everything.
    pub fn is_complete(&self) -> bool {
        self.ends.len() == self.times.len()
    }

    /// Nothing came for so long that the client reads no more.
    pub fn give_up(&mut self) {
        self.gave_up = true;
    }

    /// When the client gives up if nothing comes.
    pub fn gives_up(&self) -> Time {
        let first = self.times.first().copied().unwrap_or(self.last_read);
        self.last_read.max(first) + self.patience
    }

    pub fn seen(&self) -> Vec<BurstSeen> {
        let ends = self.ends.iter().copied().map(Some);
        let ends = ends.chain(std::iter::repeat(None));
        let bursts = self.begun.iter().zip(ends);
        bursts
            .map(|(&t_start, t_end)| BurstSeen {
                t_start,
                t_end,
                bytes: self.bytes,
            })
            .collect()
    }

    /// What a reader of the rows should know of the bursts' times.
    pub fn notes(&self) -> Vec<String> {
        let late = Duration::from_millis(1);
        let times = self.begun.iter().zip(&self.times);
        (1..)
            .zip(times)
            .filter(|(_, (begun, time))| begun.since(**time) > late)
            .map(|(number, _)| {
                format!(
                    "burst {number} was written late: the one before it filled the server's buffer"
                )
            })
            .collect()
    }
}

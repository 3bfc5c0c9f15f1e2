//! Bursts: a server that writes them at their times, and a client that reads them.

use rexmit_tcp::connection::{Event, Socket};
use rexmit_time::{Duration, Time};

/// Bytes that the client reads at a time.
const BUFFER: u64 = 64 << 10;

/// The server: hears what its client says, and writes.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    /// Bytes that it has heard of its client.
    pub heard: u32,
    /// When it writes its bursts.
    times: Vec<Time>,
    /// Bytes of each.
    bytes: u64,
    /// When it began those that it began.
    begun: Vec<Time>,
    /// Bytes of the last one that it has yet to write.
    left: u64,
}

impl Writer {
    /// It is to write bursts of so many bytes at these times.
    pub fn plan(&mut self, times: Vec<Time>, bytes: u64) {
        (self.times, self.bytes) = (times, bytes);
    }

    /// When it wrote the first of each burst that it began.
    #[must_use]
    pub fn begun(&self) -> &[Time] {
        &self.begun
    }

    /// What a reader of the rows should know of the bursts' times.
    #[must_use]
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

    pub(super) fn on_event(&mut self, now: Time, event: Event, socket: &mut impl Socket) {
        match event {
            Event::Readable => loop {
                let taken = socket.read(now, 1);
                if taken == 0 {
                    break;
                }
                self.heard += taken;
            },
            Event::Writable => self.write(now, socket),
            _ => {}
        }
    }

    /// When it begins the next burst; not while it writes one.
    pub(super) fn deadline(&self) -> Option<Time> {
        if self.left > 0 {
            return None;
        }
        self.times.get(self.begun.len()).copied()
    }

    pub(super) fn on_deadline(&mut self, now: Time, socket: &mut impl Socket) {
        if self.deadline().is_some_and(|time| time <= now) {
            self.begun.push(now);
            self.left = self.bytes;
            self.write(now, socket);
        }
    }

    /// Writes what is left of the burst until nothing more is taken.
    fn write(&mut self, now: Time, socket: &mut impl Socket) {
        while self.left > 0 {
            let bytes = u32::try_from(self.left).unwrap_or(u32::MAX);
            let taken = socket.write(now, bytes, false);
            self.left -= u64::from(taken);
            if taken == 0 {
                break;
            }
        }
    }
}

/// The client: reads the bursts, once it knows of them.
#[derive(Clone, Debug, Default)]
pub struct Reader {
    /// Bytes of each burst.
    bytes: u64,
    /// How many there will be.
    count: usize,
    /// Bytes that it read.
    read: u64,
    /// When it read the last byte of each burst that came.
    ends: Vec<Time>,
    /// When it read last, or nothing was to be read before.
    last_read: Time,
    /// It waited too long and reads no more.
    gave_up: bool,
}

impl Reader {
    /// It is to read `count` bursts of so many bytes, none of which comes before `first`.
    pub fn plan(&mut self, count: usize, bytes: u64, first: Time) {
        (self.count, self.bytes, self.last_read) = (count, bytes, first);
    }

    /// When it read the last byte of each burst that came.
    #[must_use]
    pub fn ends(&self) -> &[Time] {
        &self.ends
    }

    /// Whether it has read everything.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.ends.len() == self.count
    }

    /// When it read last.
    #[must_use]
    pub fn last_read(&self) -> Time {
        self.last_read
    }

    /// Nothing came for so long that it reads no more.
    pub fn give_up(&mut self) {
        self.gave_up = true;
    }

    /// Bytes that it reads with its next call; 0 when it has all or gave up.
    fn wanted(&self) -> u32 {
        let all = self.bytes * self.count as u64;
        if self.gave_up || self.read >= all {
            return 0;
        }
        (self.bytes - self.read % self.bytes).min(BUFFER) as u32
    }

    pub(super) fn on_event(&mut self, now: Time, event: Event, socket: &mut impl Socket) {
        if event != Event::Readable {
            return;
        }
        loop {
            let wanted = self.wanted();
            let taken = if wanted == 0 {
                0
            } else {
                socket.read(now, wanted)
            };
            if taken == 0 {
                break;
            }
            self.read += u64::from(taken);
            self.last_read = self.last_read.max(now);
            while (self.ends.len() as u64 + 1) * self.bytes <= self.read {
                self.ends.push(now);
            }
        }
    }
}

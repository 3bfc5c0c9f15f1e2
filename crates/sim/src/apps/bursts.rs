//! Bursts: a server that writes them at their times or as it is asked for them, and a client that reads them.

use rexmit_plan::{Bursts, Request};
use rexmit_tcp::connection::{Event, Socket};
use rexmit_time::{Duration, Time};

use super::read_all;

/// Bytes that the client reads at a time.
const BUFFER: u64 = 64 << 10;

/// The server: hears what its client says, and writes.
#[derive(Clone, Debug, Default)]
pub struct Writer {
    /// Bytes that it has heard of its client.
    pub heard: u64,
    /// When it writes its bursts, as far as it knows.
    times: Vec<Time>,
    /// What it is asked with, and how much it had heard before the first request.
    request: Option<(Request, u64)>,
    /// Bytes of each.
    bytes: u64,
    /// When it began those that it began.
    begun: Vec<Time>,
    /// Bytes of the last one that it has yet to write.
    left: u64,
    /// How long a burst's last byte waits when the others are written.
    last_byte_after: Duration,
    /// The last byte is not to be written yet.
    holds: bool,
    /// When it is.
    releases: Option<Time>,
}

impl Writer {
    /// It is to write bursts of so many bytes, the first at `first` if it is not asked for it.
    pub fn plan(&mut self, bursts: &Bursts, bytes: u64, first: Time) {
        self.bytes = bytes;
        self.last_byte_after = Duration::from_unsigned_nanos(bursts.last_byte_after_ns);
        self.request = bursts.request.map(|request| (request, self.heard));
        if self.request.is_none() {
            self.times = (0..u64::from(bursts.count))
                .map(|burst| first + Duration::from_unsigned_nanos(burst * bursts.gap_ns))
                .collect();
        }
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
            Event::Readable => {
                self.heard += read_all(now, socket);
                if let Some((request, before)) = self.request {
                    let asked = (self.heard - before) / u64::from(request.bytes);
                    let answers = now + Duration::from_unsigned_nanos(request.server_think_ns);
                    self.times.resize(asked as usize, answers);
                    self.on_deadline(now, socket);
                }
            }
            Event::Writable => self.write(now, socket),
            _ => {}
        }
    }

    /// When it begins the next burst, or writes the last byte of one; not while it writes the others.
    pub(super) fn deadline(&self) -> Option<Time> {
        if self.left > 0 {
            return self.releases;
        }
        self.times.get(self.begun.len()).copied()
    }

    pub(super) fn on_deadline(&mut self, now: Time, socket: &mut impl Socket) {
        if self.deadline().is_none_or(|time| time > now) {
            return;
        }
        if self.releases.take().is_some() {
            self.holds = false;
        } else {
            self.begun.push(now);
            self.left = self.bytes;
            self.holds = self.last_byte_after > Duration::ZERO;
        }
        self.write(now, socket);
    }

    /// Writes what is left of the burst until nothing more is taken.
    fn write(&mut self, now: Time, socket: &mut impl Socket) {
        let held = u64::from(self.holds);
        while self.left > held {
            let bytes = u32::try_from(self.left - held).unwrap_or(u32::MAX);
            let taken = socket.write(now, bytes, false);
            self.left -= u64::from(taken);
            if taken == 0 {
                return;
            }
        }
        if self.holds && self.releases.is_none() {
            self.releases = Some(now + self.last_byte_after);
        }
    }
}

/// The client: reads the bursts, once it knows of them, and asks for each if it is to.
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
    request: Option<Request>,
    /// From the last byte of one burst to the request for the next.
    think: Duration,
    /// When it asks next.
    asks: Option<Time>,
    /// When it asked for each burst.
    asked: Vec<Time>,
    /// Bytes of its last request that the socket has not taken.
    owed: u32,
}

impl Reader {
    /// It is to read bursts of so many bytes, none of which comes before `first`, when it asks if it does.
    pub fn plan(&mut self, bursts: &Bursts, bytes: u64, first: Time) {
        (self.count, self.bytes, self.last_read) = (bursts.count as usize, bytes, first);
        (self.request, self.think) = (bursts.request, Duration::from_unsigned_nanos(bursts.gap_ns));
        self.asks = self.request.map(|_| first);
    }

    /// When it asked for each burst.
    #[must_use]
    pub fn asked(&self) -> &[Time] {
        &self.asked
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

    /// When it asks next.
    pub(super) fn deadline(&self) -> Option<Time> {
        self.asks.filter(|_| !self.gave_up)
    }

    pub(super) fn on_deadline(&mut self, now: Time, socket: &mut impl Socket) {
        let Some(request) = self.request else { return };
        if self.deadline().is_some_and(|time| time <= now) {
            self.asks = None;
            self.asked.push(now);
            self.owed = request.bytes;
            self.ask(now, socket);
        }
    }

    fn ask(&mut self, now: Time, socket: &mut impl Socket) {
        while self.owed > 0 {
            match socket.write(now, self.owed, false) {
                0 => break,
                taken => self.owed -= taken,
            }
        }
    }

    pub(super) fn on_event(&mut self, now: Time, event: Event, socket: &mut impl Socket) {
        match event {
            Event::Readable => self.take(now, socket),
            Event::Writable => self.ask(now, socket),
            _ => {}
        }
    }

    fn take(&mut self, now: Time, socket: &mut impl Socket) {
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
                if self.request.is_some() && !self.is_complete() {
                    self.last_read = now + self.think;
                    self.asks = Some(self.last_read);
                    self.on_deadline(now, socket);
                }
            }
        }
    }
}

//! A program that stops reading now and again.

use rexmit_tcp::connection::Socket;
use rexmit_time::{Duration, Time};

use super::BUFFER;

/// A time in which nothing is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Stop {
    /// It begins when so many bytes were read, all told.
    pub after: u64,
    /// How long it lasts.
    pub pause: Duration,
}

/// Reads what is there, but for its stops.
#[derive(Clone, Debug, Default)]
pub(super) struct Reader {
    /// In the order of their bytes.
    stops: Vec<Stop>,
    /// The stop that comes next, or is at hand.
    at: usize,
    read: u64,
    resumes: Option<Time>,
}

impl Reader {
    pub fn new(stops: &[Stop]) -> Self {
        Reader {
            stops: stops.to_vec(),
            ..Reader::default()
        }
    }

    /// Reads until nothing is there or a stop begins; how much that was.
    pub fn read(&mut self, now: Time, socket: &mut impl Socket) -> u64 {
        if self.resumes.is_some_and(|resumes| now < resumes) {
            return 0;
        }
        self.resumes = None;
        let mut total = 0;
        loop {
            let stop = self.stops.get(self.at);
            let room = stop.map_or(u64::MAX, |stop| stop.after.saturating_sub(self.read));
            if let Some(stop) = stop.filter(|_| room == 0) {
                self.resumes = Some(now + stop.pause);
                self.at += 1;
                return total;
            }
            let most = u32::try_from(room).map_or(BUFFER, |room| room.min(BUFFER));
            match socket.read(now, most) {
                0 => return total,
                bytes => {
                    self.read += u64::from(bytes);
                    total += u64::from(bytes);
                }
            }
        }
    }

    /// When it reads on.
    pub fn deadline(&self) -> Option<Time> {
        self.resumes
    }

    /// It reads on now.
    pub fn is_due(&self, now: Time) -> bool {
        self.resumes.is_some_and(|resumes| resumes <= now)
    }

    pub fn is_stopped(&self) -> bool {
        self.resumes.is_some()
    }
}

//! A program that ends its connection before all is said.

use rexmit_tcp::connection::Socket;
use rexmit_time::{Duration, Time};

/// How and when a program cuts its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// When it has read and written so many bytes, all told.
    pub after: u64,
    /// And has waited so long.
    pub wait: Duration,
    /// By a reset, else by closing the socket: what the peer says after that is answered by a reset.
    pub resets: bool,
}

/// Waits for the moment of a cut.
#[derive(Clone, Debug, Default)]
pub(super) struct Cutter {
    cut: Option<Cut>,
    passed: u64,
    due: Option<Time>,
}

impl Cutter {
    pub fn new(cut: Option<Cut>) -> Self {
        Cutter {
            cut,
            ..Cutter::default()
        }
    }

    /// So many bytes more were read or written.
    pub fn count(&mut self, now: Time, bytes: u64) {
        self.passed += bytes;
        if let Some(cut) = self.cut.filter(|cut| self.passed >= cut.after) {
            self.due.get_or_insert(now + cut.wait);
        }
    }

    pub fn deadline(&self) -> Option<Time> {
        self.due
    }

    /// Makes the cut if its time has come; whether it did.
    pub fn make(&mut self, now: Time, socket: &mut impl Socket) -> bool {
        let Some(cut) = self.cut.filter(|_| self.due.is_some_and(|due| due <= now)) else {
            return false;
        };
        self.due = None;
        if cut.resets {
            socket.abort(now);
        } else {
            socket.close(now);
        }
        true
    }
}

//! One direction of a connection as its sender goes through it: what was in flight, what was heard, and how long it waited
//! before it sent more.

use std::collections::VecDeque;

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::policer::Policer;
use super::rounds::Rounds;

/// Acknowledgements on their way to the sender that are remembered.
const MOST_HEARD: usize = 1 << 10;
/// A sender that reacts to an acknowledgement does so within this time, or an eighth of a round trip.
const AT_ONCE: Duration = Duration::from_millis(1);
/// A receiver that holds its acknowledgement back does so by this much at least (Linux: 40 ms; RFC 1122 §4.2.3.2).
const DELAYED: Duration = Duration::from_millis(10);
/// By so much a round trip is longer than the shortest, at least, where packets queue; and by a quarter of it.
const QUEUED: Duration = Duration::from_millis(2);

/// An acknowledgement that came by.
#[derive(Clone, Copy, Debug)]
struct Heard {
    at: Time,
    ack: SeqNum,
    window: u32,
    /// Its stamp, if the sender echoes that from when it has heard it on.
    stamp: Option<u32>,
}

/// A packet of new data.
#[derive(Clone, Copy, Debug)]
pub(super) struct New {
    pub at: Time,
    pub len: u32,
    pub end: SeqNum,
    /// The newest stamp of its peer that the sender had seen.
    pub echo: Option<u32>,
}

/// The time between two packets of new data of one sender, as it had it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wait {
    /// What was in flight while it waited, and what the receiver offered; none if the scale of windows is not known, unless
    /// that was nothing.
    pub flight: i64,
    pub window: Option<u32>,
    /// The largest window that was offered.
    pub largest_window: u32,
    /// What was in flight when it sent again.
    pub left: i64,
    /// It sent as soon as it heard an acknowledgement, which it may have waited for.
    pub clocked: bool,
    /// It took longer than a round trip.
    pub delayed: bool,
    /// It went on at once.
    pub together: bool,
    /// Payload of the packets before and after the wait, and of a full one.
    pub lens: [u32; 2],
    pub mss: u32,
    /// Packets queue on the way.
    pub queued: bool,
    /// Whether packets queue on the way can be seen from where the monitor stands.
    pub shows_queues: bool,
    /// It is no longer known to have lost anything, or all of it was repaired.
    pub repaired: bool,
    /// It lost something, and its flight has not been as large since.
    pub after_loss: bool,
    /// Its flight still grows from round trip to round trip.
    pub grows: bool,
}

/// One direction.
#[derive(Debug, Default)]
pub(super) struct Flow {
    known: bool,
    nxt: SeqNum,
    /// What the sender knows to have arrived.
    una: SeqNum,
    heard: VecDeque<Heard>,
    /// When it heard the newest that told it anything since it sent last.
    heard_at: Option<Time>,
    window: Option<u32>,
    largest_window: u32,
    /// The window was closed since it sent last.
    shut: bool,
    /// Before it heard anything.
    before: (i64, Option<u32>),
    sent: Option<Time>,
    last_len: u32,
    largest: u32,
    /// Bytes that it sent, and those between them that did not come by.
    bytes: u64,
    unseen: u64,
    /// When all was acknowledged last, as it came by, and up to where that was.
    pub empty_at: Option<Time>,
    shown: SeqNum,
    /// From the monitor to the receiver and back: shortest, by how much the newest was longer, and how many in a row showed
    /// a queue.
    beyond: Option<Duration>,
    longer: Duration,
    long: u8,
    /// Acknowledgements that came by long ago had not reached the sender, so much later than others do.
    held_back: Option<Duration>,
    /// The monitor does not stand beside the sender.
    away: bool,
    rounds: Rounds,
    pub policer: Policer,
    /// The end of what was sent when something was sent again last.
    repair: Option<SeqNum>,
}

impl Flow {
    /// Begins anew, in the same memory.
    pub fn begin(&mut self) {
        let mut heard = core::mem::take(&mut self.heard);
        heard.clear();
        let mut policer = core::mem::take(&mut self.policer);
        policer.begin();
        *self = Flow {
            heard,
            policer,
            ..Flow::default()
        };
    }

    /// When it sent data last.
    pub fn sent(&self) -> Option<Time> {
        self.sent
    }

    /// The largest payload that it sent at a time.
    pub fn largest(&self) -> u32 {
        self.largest
    }

    /// A tenth as many bytes as came by did not: what seems a silence may be none.
    pub fn is_thinned(&self) -> bool {
        10 * self.unseen > self.bytes
    }

    /// From the monitor to its receiver and back, at least.
    pub fn beyond(&self) -> Option<Duration> {
        self.beyond
    }

    /// From the monitor to its receiver and back it took so long, and takes `near` to its sender and back. Where little of the
    /// path lies beyond the monitor, what is long there is a delayed acknowledgement.
    pub fn sample(&mut self, rtt: Duration, near: Duration) {
        let least = self.beyond.unwrap_or(rtt).min(rtt);
        self.beyond = Some(least);
        self.longer = rtt - least;
        let long = rtt > least + QUEUED.max((least + near) / 4) && near <= least;
        self.long = if long { self.long.saturating_add(1) } else { 0 };
    }

    /// All before `seq` is acknowledged. A receiver echoes no stamp of a packet beyond that (RFC 7323 §4.3).
    pub fn is_acked(&self, seq: SeqNum) -> bool {
        let acked = self.policer.acked_to();
        !self.known || acked.is_some_and(|to| !seq.is_after(to))
    }

    /// An acknowledgement of it came by.
    pub fn acked(&mut self, at: Time, ack: SeqNum, window: u32, stamp: Option<u32>) {
        let open = self.known && self.nxt.is_after(self.shown);
        if open && !self.nxt.is_after(ack) {
            self.empty_at = Some(at);
            self.shown = ack;
        }
        if self.known && !ack.is_after(self.nxt) {
            self.policer.acked(at, ack, self.repair.is_none());
        }
        if self.heard.len() == MOST_HEARD {
            let first = self.heard.pop_front();
            first.into_iter().for_each(|first| self.hear(first, at));
        }
        self.heard.push_back(Heard {
            at,
            ack,
            window,
            stamp,
        });
    }

    fn hear(&mut self, one: Heard, at: Time) {
        let advances = self.known && one.ack.is_after(self.una) && !one.ack.is_after(self.nxt);
        let opens = self.window != Some(one.window);
        if advances || opens {
            if self.heard_at.is_none() {
                self.before = (self.flight(), self.window);
            }
            self.heard_at = Some(at);
        }
        if advances {
            self.una = one.ack;
            if self.repair.is_some_and(|end| !one.ack.is_before(end)) {
                self.repair = None;
            }
        }
        self.window = Some(one.window);
        self.shut |= one.window == 0;
        self.largest_window = self.largest_window.max(one.window);
    }

    /// Acknowledgements have reached the sender by the time at which a packet left that comes by at `at`: those that its
    /// stamp echoes, or those that came by one way to the sender and back, `near`, before.
    pub fn catch_up(&mut self, at: Time, echo: Option<u32>, near: Duration) {
        while let Some(&one) = self.heard.front() {
            let reached = match (one.stamp, echo) {
                (Some(stamp), Some(echo)) => stamp.wrapping_sub(echo) as i32 <= 0,
                _ => one.at + (near - near / 8) <= at,
            };
            if !reached {
                break;
            }
            self.heard.pop_front();
            self.hear(one, (one.at + near).min(at));
        }
        let least = near + self.beyond.unwrap_or(Duration::ZERO);
        let late = near + QUEUED.max(least / 4);
        let waiting = self.heard.front();
        let waiting = waiting.filter(|one| one.stamp.is_some() && one.at + late < at);
        self.held_back = waiting.map(|one| at.since(one.at + near));
        // Beside the sender that is its own queue, which it may pace.
        self.away = near > least / 8;
    }

    /// Packets queue on the path: how long.
    fn queue(&self) -> Option<Duration> {
        let beyond = (self.long >= 2).then_some(self.longer);
        beyond.max(self.held_back.filter(|_| self.away))
    }

    fn flight(&self) -> i64 {
        i64::from(self.nxt.offset_from(self.una).max(0))
    }

    /// Whether something is in flight as its sender knows.
    pub fn is_busy(&self) -> bool {
        self.known && self.flight() > 0
    }

    /// Sends new data. How it waited since it sent last.
    pub fn send(&mut self, new: New, near: Duration, mss: Option<u32>) -> Option<Wait> {
        if !self.known {
            self.known = true;
            self.una = new.end - new.len;
            self.nxt = self.una;
            self.shown = self.una;
        }
        self.largest = self.largest.max(new.len);
        let least = near + self.beyond.unwrap_or(Duration::ZERO);
        let at_once = AT_ONCE.max(least / 8);
        // What comes by far from its sender may have queued on the way, and the sender's stamps say what it had heard.
        let far = new.echo.is_some() && near > least / 2 && self.rounds.is_after_loss();
        let clocks = if far { least / 2 } else { at_once };
        let wait = self.sent.map(|from| {
            let heard = self.heard_at.take();
            let (flight, window) = match heard {
                Some(_) => self.before,
                None => (self.flight(), self.window),
            };
            let clocked = heard.is_some_and(|heard| new.at.since(heard) <= clocks);
            Wait {
                flight,
                window: if self.shut {
                    Some(0)
                } else {
                    window.filter(|_| mss.is_some())
                },
                largest_window: self.largest_window,
                left: self.flight(),
                clocked: clocked || self.held_back.is_some(),
                delayed: new.at.since(from) >= least + DELAYED,
                together: new.at.since(from) <= at_once.min(AT_ONCE * 5),
                lens: [self.last_len, new.len],
                mss: mss.unwrap_or(self.largest),
                queued: self.queue().is_some(),
                shows_queues: new.echo.is_some() || near <= least / 2,
                repaired: self.repair.is_none(),
                after_loss: self.rounds.is_after_loss(),
                grows: self.rounds.grows(),
            }
        });
        self.bytes += u64::from(new.len);
        self.unseen += (new.end - new.len).offset_from(self.nxt).max(0) as u64;
        self.nxt = new.end;
        self.sent = Some(new.at);
        self.last_len = new.len;
        self.heard_at = None;
        self.shut = self.window == Some(0);
        if self.repair.is_none() {
            self.rounds.note(self.flight(), self.una, self.nxt);
        }
        wait
    }

    /// Sends `len` bytes again, or what did not come by before. Since when it had sent nothing, and whether by a timer.
    pub fn resend(&mut self, at: Time, len: u32) -> Option<(Time, bool)> {
        let from = self.sent;
        self.unseen = self.unseen.saturating_sub(u64::from(len));
        self.sent = Some(at);
        if !self.known {
            return None;
        }
        if self.repair.is_none() {
            let queue = self.queue().unwrap_or(Duration::ZERO);
            self.policer.loses(queue);
        }
        self.policer.again(len);
        self.repair = Some(self.nxt);
        self.rounds.loses(self.flight());
        let trip = self.beyond.unwrap_or(Duration::ZERO);
        from.map(|from| (from, at.since(from) > (trip + trip / 2).max(AT_ONCE * 180)))
    }
}

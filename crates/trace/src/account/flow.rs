//! One direction of a connection as its sender goes through it: what was in flight, what was heard, and how long it waited
//! before it sent more.

use std::collections::VecDeque;

use rexmit_time::{Duration, Time};
use rexmit_wire::{SeqNum, SeqRange};

use super::bottleneck::{AckSeen, Bottleneck};
use super::deciders::rate;
use super::newest::Newest;
use super::owner::Owner;
use super::path::{Path, QUEUED};
use super::policer::Policer;
use super::rounds::Rounds;
use super::scale::Scale;
use super::sizes::Sizes;
use super::timeline::Cover;
use super::wait::{New, Wait};
use super::Step;

/// Acknowledgements on their way to the sender that are remembered.
const MOST_HEARD: usize = 1 << 10;
/// A sender that reacts to an acknowledgement does so within this time, or an eighth of a round trip.
const AT_ONCE: Duration = Duration::from_millis(1);
/// A receiver that holds its acknowledgement back does so by this much at least (Linux: 40 ms; RFC 1122 §4.2.3.2).
const DELAYED: Duration = Duration::from_millis(10);
/// A probe waits for a receiver that holds the acknowledgement of a single packet back, no longer than a timeout takes (Linux:
/// 200 ms beyond a round trip).
const LEAST_TIMEOUT: Duration = Duration::from_millis(200);
/// Acknowledgements of a queue that drains, at least: a single one may be held back.
const LATE: u8 = 2;

/// An acknowledgement that came by.
#[derive(Clone, Copy, Debug)]
struct Heard {
    at: Time,
    ack: SeqNum,
    window: u32,
    /// Its stamp, if the sender echoes that from when it has heard it on.
    stamp: Option<u32>,
    /// It echoes a congestion mark (RFC 3168 §6.1.3).
    marked: bool,
}

/// What told a direction anything since it sent last.
#[derive(Debug, Default)]
struct News {
    /// When it heard the newest.
    at: Option<Time>,
    /// What was in flight, and its window, before it heard any.
    before: (i64, Option<u32>),
}

/// What a direction sent last.
#[derive(Debug, Default)]
struct Sent {
    at: Option<Time>,
    len: u32,
    /// What was in flight then, and how many acknowledgements have come since that all were too late for a path without a queue.
    flight: i64,
    late: u8,
}

/// What its sender hears of what has arrived.
#[derive(Debug, Default)]
struct Acks {
    /// What the sender knows to have arrived.
    una: SeqNum,
    /// Those on their way to it.
    heard: VecDeque<Heard>,
    /// What it has surely heard of, and later acknowledgements by when it has: it may have heard of them a little sooner.
    sure: SeqNum,
    unsure: VecDeque<(Time, SeqNum)>,
}

impl Acks {
    /// Begins anew, in the same memory.
    fn begin(&mut self) {
        let (mut heard, mut unsure) = (
            core::mem::take(&mut self.heard),
            core::mem::take(&mut self.unsure),
        );
        heard.clear();
        unsure.clear();
        *self = Acks {
            heard,
            unsure,
            ..Acks::default()
        };
    }
}

/// What it sends to hear anything (RFC 9293 §3.8.4, §3.8.6.1).
#[derive(Debug, Default)]
struct Probes {
    /// It has probed a closed window since it sent last.
    of_window: bool,
    /// When it probed last, if no answer has reached it.
    newest: Option<Time>,
    /// Since when nothing answers, and how many probes.
    unanswered: Option<(Time, u32)>,
}

/// Congestion marks that its sender heard of.
#[derive(Debug, Default)]
pub(super) struct Marks {
    /// Once for each flight.
    pub count: u32,
    /// The end of what was sent at the last.
    until: Option<SeqNum>,
}

/// One direction.
#[derive(Debug, Default)]
pub(super) struct Flow {
    known: bool,
    /// Its first byte's, if its SYN was seen.
    first: Option<SeqNum>,
    nxt: SeqNum,
    acks: Acks,
    news: News,
    window: Option<u32>,
    largest_window: u32,
    scale: Scale,
    /// The window was closed since it sent last.
    shut: bool,
    sent: Sent,
    largest: u32,
    /// Bytes that it sent, and those between them that did not come by.
    bytes: u64,
    unseen: u64,
    /// Up to where it says to have sent data, if they did not come by.
    hidden: Option<SeqNum>,
    probes: Probes,
    /// When more was acknowledged last, as it came by, that no receiver holds back, and when all was; and up to where.
    pub acked_at: [Option<Time>; 2],
    shown: SeqNum,
    pub path: Path,
    rounds: Rounds,
    pub policer: Policer,
    pub sizes: Sizes,
    pub newest: Newest,
    /// The end of what was sent when something was sent again last.
    repair: Option<SeqNum>,
    pub marks: Marks,
    /// What let it send last, a window or a full path, and the end of what it sent then.
    bound: Option<(Owner, SeqNum)>,
}

impl Flow {
    /// Begins anew, in the same memory.
    pub fn begin(&mut self) {
        let mut acks = core::mem::take(&mut self.acks);
        acks.begin();
        let mut policer = core::mem::take(&mut self.policer);
        policer.begin();
        let mut sizes = core::mem::take(&mut self.sizes);
        sizes.begin();
        *self = Flow {
            acks,
            policer,
            sizes,
            ..Flow::default()
        };
    }

    /// Its first byte has this number.
    pub fn begins(&mut self, first: SeqNum) {
        self.first = Some(first);
    }

    /// The largest payload that it sent at a time.
    pub fn largest(&self) -> u32 {
        self.largest
    }

    /// A tenth as many bytes as came by did not: what seems a silence may be none.
    pub fn is_thinned(&self) -> bool {
        10 * self.unseen > self.bytes
    }

    /// A packet without data has this number: what is before was sent (RFC 9293 §3.10.7.4).
    pub fn says(&mut self, seq: SeqNum) {
        if self.known && seq.is_after(self.nxt) {
            self.hidden = Some(seq);
        }
    }

    /// A packet of no more than one byte, which probes a window that is closed (RFC 9293 §3.8.6.1): as of a keep-alive its number
    /// is below the next one, or its byte is the next.
    /// Who probes a window that was closed since it sent last has not heard that it opened.
    pub fn probe(&mut self, at: Time, seq: SeqNum) {
        let closed = self.scale.newest.is_some_and(|(_, window)| window == 0);
        let probes = self.known && seq.offset_from(self.nxt) == -1;
        if probes {
            self.probes.of_window |= closed;
            self.probes.newest = Some(at);
            let (_, count) = self.probes.unanswered.get_or_insert((at, 0));
            *count = count.saturating_add(1);
        }
        if self.shut && probes {
            self.window = Some(0);
        }
    }

    /// Since when so many probes in a row have no answer.
    pub fn is_not_answered(&self, least: u32) -> Option<Time> {
        let unanswered = self.probes.unanswered.filter(|(_, count)| *count >= least);
        unanswered.map(|(since, _)| since)
    }

    /// It sends at once when a window opens that was closed since it sent last, or from the start.
    pub fn was_shut(&self, at: Time) -> bool {
        self.shut
            && self.window != Some(0)
            && self.news.at.is_some_and(|heard| at.since(heard) <= AT_ONCE)
    }

    /// Whether it waits for its receiver to open the window.
    pub fn waits_for_window(&self) -> bool {
        self.probes.of_window && self.scale.newest.is_some_and(|(_, window)| window == 0)
    }

    /// Whether it has sent more than came by, a FIN apart.
    pub fn hides(&self) -> bool {
        self.hidden.is_some_and(|seq| seq.is_after(self.nxt + 1))
    }

    /// Up to where it has sent.
    pub fn sent(&self) -> SeqNum {
        self.nxt
    }

    /// Whether its peer had all that came by when it sent this acknowledgement.
    pub fn is_all_acked(&self, ack: SeqNum) -> bool {
        !self.known || !self.nxt.is_after(ack)
    }

    /// From the monitor to its receiver and back, at least.
    pub fn beyond(&self) -> Option<Duration> {
        self.path.beyond
    }

    /// One of its packets came by.
    #[inline]
    pub fn stamped(&mut self, step: &Step) {
        if let Some((stamp, _)) = step.stamps {
            self.path.stamps.glance(stamp, step.at);
        }
    }

    /// For how long a packet had waited when it came by, by its stamp.
    pub fn late(&self, step: &Step) -> Option<Duration> {
        let (stamp, _) = step.stamps?;
        self.path.stamps.late(stamp, step.at)
    }

    /// This acknowledges several segments at once.
    pub fn is_of_several(&self, ack: SeqNum, mss: Option<u32>) -> bool {
        let segment = mss.unwrap_or(self.largest) as i32;
        self.known && ack.offset_from(self.shown) >= segment * 2
    }

    /// All before `seq` is acknowledged. A receiver echoes no stamp of a packet beyond that (RFC 7323 §4.3).
    pub fn is_acked(&self, seq: SeqNum) -> bool {
        let acked = self.policer.acked_to();
        !self.known || acked.is_some_and(|to| !seq.is_after(to))
    }

    /// An acknowledgement of it came by, with data of the other direction or `alone`; `marked`: it echoes a congestion mark;
    /// `several`: of [several segments](Flow::is_of_several).
    pub fn acked(
        &mut self,
        step: &Step,
        ack: SeqNum,
        stamp: Option<u32>,
        marked: bool,
        several: bool,
    ) {
        let (at, window) = (step.at, step.window);
        self.probes.unanswered = None;
        let alone = step.payload_len == 0 && !step.flags.fin();
        // RFC 5681 §2: a duplicate.
        let open = self.known && self.nxt.is_after(ack);
        let duplicate = open && alone && self.scale.newest == Some((ack, window));
        self.rounds.hears(duplicate);
        let open = self.known && self.nxt.is_after(self.shown);
        if open && ack.is_after(self.shown) {
            let all = !self.nxt.is_after(ack);
            // RFC 5681 §4.2: at the latest the second full segment is acknowledged at once. Beside the receiver it is known when
            // they came.
            let far = self.path.beyond.is_some_and(|beyond| beyond > AT_ONCE);
            if !all || (far && several) {
                self.acked_at[0] = Some(at);
            }
            if all {
                self.acked_at[1] = Some(at);
            }
            self.shown = ack;
            let since = self.sent.at.map(|sent| at.since(sent));
            if since.is_some_and(|length| self.path.is_late(length)) {
                self.sent.late = self.sent.late.saturating_add(1);
            }
        }
        if self.known && !ack.is_after(self.nxt) {
            let queue = self.path.queue().unwrap_or(Duration::ZERO);
            self.policer.acked(at, ack, self.repair.is_none(), queue);
            self.arrives(at, ack);
            self.sizes.acked(at, ack);
        }
        if self.acks.heard.len() == MOST_HEARD {
            let first = self.acks.heard.pop_front();
            first.into_iter().for_each(|first| self.hear(first, at));
        }
        self.scale.newest = Some((ack, window));
        self.acks.heard.push_back(Heard {
            at,
            ack,
            window,
            stamp,
            marked,
        });
    }

    /// All before `ack` has arrived.
    fn arrives(&mut self, at: Time, ack: SeqNum) {
        let arrival = AckSeen {
            at,
            ack,
            whole: self.repair.is_none(),
            queue: self.path.queue(),
            trip: self.path.near + self.path.beyond.unwrap_or(Duration::ZERO),
            segment: self.largest.into(),
            sent: (!self.path.away).then_some(self.nxt),
        };
        self.path.bottleneck.acked(arrival);
    }

    /// Where its flight had stopped to grow before that was known.
    pub fn flat(&self) -> &[Cover] {
        self.rounds.flat()
    }

    /// The slowest link on its way.
    pub fn bottleneck(&self) -> &Bottleneck {
        &self.path.bottleneck
    }

    fn hear(&mut self, one: Heard, at: Time) {
        let advances = self.known && one.ack.is_after(self.acks.una) && !one.ack.is_after(self.nxt);
        // Whoever probes has not heard before that the window is open.
        let probed = self.probes.newest.take_if(|probed| *probed <= at).is_some();
        let opens = self.window != Some(one.window) || (probed && self.shut);
        if advances || opens {
            if self.news.at.is_none() {
                let flight = self.nxt.offset_from(self.acks.sure).max(0);
                self.news.before = (i64::from(flight), self.window);
            }
            self.news.at = Some(at);
        }
        if advances {
            self.acks.una = one.ack;
            if self.repair.is_some_and(|end| !one.ack.is_before(end)) {
                self.repair = None;
            }
            self.bound = self.bound.filter(|(_, end)| one.ack.is_before(*end));
        }
        if one.marked && self.marks.until.is_none_or(|end| !one.ack.is_before(end)) {
            self.marks.count += 1;
            self.marks.until = Some(self.nxt);
            self.rounds.loses(self.flight());
        }
        self.window = Some(one.window);
        self.shut |= one.window == 0;
        self.largest_window = self.largest_window.max(one.window);
    }

    /// When a packet would have come by, no earlier than `since`, had it been on its way no longer than the fastest one.
    pub fn left(&mut self, step: &Step, since: Time) -> Time {
        let stamp = step.stamps.map(|(value, _)| value);
        stamp.map_or(step.at, |stamp| self.path.left(stamp, step.at, since))
    }

    /// How long ago that came by whose stamp its sender echoes with what comes by `at` then: from the monitor to it and back, and
    /// what it waited meanwhile.
    pub fn echoed(&self, at: Time, echo: Option<u32>) -> Option<Duration> {
        let first = self
            .acks
            .heard
            .iter()
            .find(|one| one.stamp.is_some() && one.stamp == echo)?;
        Some(at.since(first.at))
    }

    /// Acknowledgements have reached the sender by the time at which a packet left that comes by at `at`: those that its
    /// stamp echoes, or those that came by one way to the sender and back, `near`, before.
    pub fn catch_up(&mut self, at: Time, echo: Option<u32>, near: Duration) {
        // Beside the sender, which takes less time for what it sends than for the answer that was the shortest.
        let near = if near <= AT_ONCE {
            Duration::ZERO
        } else {
            near
        };
        while let Some(&(_, ack)) = self.acks.unsure.front().filter(|one| one.0 <= at) {
            self.acks.unsure.pop_front();
            self.acks.sure = ack;
        }
        while let Some(&one) = self.acks.heard.front() {
            let reached = match (one.stamp, echo) {
                (Some(stamp), Some(echo)) => stamp.wrapping_sub(echo) as i32 <= 0,
                _ => one.at + (near - near / 8) <= at,
            };
            if !reached {
                break;
            }
            self.acks.heard.pop_front();
            self.hear(one, (one.at + near).min(at));
            if self.acks.una == one.ack && one.at + near > at && one.stamp.is_none() {
                self.acks.unsure.push_back((one.at + near, one.ack));
            }
        }
        if self.acks.unsure.is_empty() {
            self.acks.sure = self.acks.una;
        }
        let least = near + self.path.beyond.unwrap_or(Duration::ZERO);
        let late = near + QUEUED.max(least / 4);
        let waiting = self.acks.heard.front();
        let waiting = waiting.filter(|one| one.stamp.is_some() && one.at + late < at);
        self.path.held_back = waiting.map(|one| at.since(one.at + near));
        // Beside the sender that is its own queue, which it may pace.
        self.path.away = near > least / 8;
    }

    /// Whether what it sent last queued on the way: it came bit by bit.
    pub fn drains(&self, mss: Option<u32>) -> bool {
        let segment = i64::from(mss.unwrap_or(self.largest));
        self.sent.late >= LATE && self.sent.flight >= segment * rate::LEAST
    }

    /// This let it send what it sent last.
    pub fn bind(&mut self, owner: Owner) {
        if matches!(owner, Owner::ReceiverWindow | Owner::PathRate) {
            self.bound = Some((owner, self.nxt));
        }
    }

    /// Whether something was sent again, and its sender had not heard of all that was sent before when it sent last.
    pub fn is_repairing(&self) -> bool {
        self.repair.is_some()
    }

    fn flight(&self) -> i64 {
        i64::from(self.nxt.offset_from(self.acks.una).max(0))
    }

    /// Whether so many bytes more are all that its window takes.
    fn fills(&self, len: u32, mss: Option<u32>) -> bool {
        let window = match mss {
            Some(_) => self.window,
            None => self.window.and_then(|window| self.scale.scaled(window)),
        };
        window
            .is_some_and(|window| window > 0 && i64::from(window) == self.flight() + i64::from(len))
    }

    /// Whether something is in flight as its sender knows.
    pub fn is_busy(&self) -> bool {
        self.known && self.flight() > 0
    }

    /// Sends new data. How it waited since it sent last.
    pub fn send(&mut self, new: New, near: Duration, mss: Option<u32>) -> Option<Wait> {
        if !self.known {
            self.known = true;
            let start = new.end - new.len;
            let lost = self.first.filter(|first| first.is_before(start));
            self.acks.una = lost.unwrap_or(start);
            self.acks.sure = self.acks.una;
            self.nxt = self.acks.una;
            self.shown = self.acks.una;
        }
        let least = near + self.path.beyond.unwrap_or(Duration::ZERO);
        if !self.is_busy() {
            self.path.bottleneck.rests();
            let idle = |from| new.at.since(from) > least + LEAST_TIMEOUT;
            if self.sent.at.is_some_and(idle) {
                self.rounds.restarts();
            }
        }
        self.largest = self.largest.max(new.len);
        let at_once = AT_ONCE.max(least / 8);
        // What comes by far from its sender may have queued on the way, and the sender's stamps say what it had heard.
        let unsure = self.rounds.is_after_loss() || self.first.is_none();
        let far = new.echo.is_some() && near > least / 2 && unsure;
        let clocks = if far { least / 2 } else { at_once };
        let wait = self.sent.at.map(|from| {
            let heard = self.news.at.take();
            let (flight, window) = match heard {
                Some(_) => self.news.before,
                None => (self.flight(), self.window),
            };
            let clocked = heard.is_some_and(|heard| new.at.since(heard) <= clocks);
            if !self.is_busy() && (new.turn || !clocked) {
                self.rounds.runs_short();
            }
            let (mut scaled, mut largest_window) = (window, self.largest_window);
            if mss.is_none() {
                scaled = window.and_then(|window| self.scale.scaled(window));
                largest_window = self.scale.at_least(largest_window);
                if let Some(window) = window.filter(|_| clocked) {
                    self.scale.held_up(window, flight, self.largest);
                }
            }
            let full = mss.unwrap_or(self.largest);
            let timeout = if flight > i64::from(full) {
                least * 2
            } else {
                least + LEAST_TIMEOUT
            };
            let waited = new.at.since(from);
            let queued = self.path.queue_of_both().is_some();
            let full_path = queued && self.flight() >= i64::from(full) * rate::LEAST;
            let paced = self.bound.map(|(owner, _)| owner);
            let paced = paced.or(full_path.then_some(Owner::PathRate));
            Wait {
                flight,
                window: if self.shut { Some(0) } else { scaled },
                largest_window,
                left: self.flight(),
                fills: self.fills(new.len, mss),
                clocked: clocked || self.path.held_back.is_some(),
                delayed: waited >= least + DELAYED,
                probes: heard.is_none() && self.sent.len >= full && waited >= timeout,
                together: waited <= at_once.min(AT_ONCE * 5),
                paced: paced.filter(|_| waited < least),
                gap: (new.end - new.len).is_after(self.nxt),
                lens: [self.sent.len, new.len],
                mss: full,
                queued,
                back: self.path.queues_back(),
                own_queue: self.path.held_back.is_some() && !self.path.away,
                shows_queues: new.echo.is_some() || near <= least / 2,
                repaired: self.repair.is_none(),
                after_loss: self.rounds.is_after_loss(),
                grows: self.rounds.grows() && (self.first.is_some() || self.rounds.has_doubled()),
                steady: self.rounds.is_steady(),
                lost: self.rounds.has_lost(),
                whole: self.first.is_some(),
            }
        });
        self.scale.sent(new.end);
        let missing = (new.end - new.len).offset_from(self.nxt).max(0) as u32;
        if missing > 0 {
            self.newest.misses(new.at, self.nxt, new.end - new.len);
        }
        self.sizes
            .sends(new.end, new.len, mss.unwrap_or(self.largest), missing);
        self.bytes += u64::from(new.len);
        self.unseen += u64::from(missing);
        self.nxt = new.end;
        self.sent = Sent {
            at: Some(new.at),
            len: new.len,
            flight: self.flight(),
            late: 0,
        };
        self.probes.of_window = false;
        if new.len == 1 {
            self.probe(new.at, new.end - 1);
        }
        self.news.at = None;
        self.shut = self.window == Some(0);
        if self.repair.is_none() {
            let segment = mss.unwrap_or(self.largest);
            let known = wait.is_some_and(|wait| wait.shows_queues && wait.window.is_some());
            let other = if known { Owner::Sender } else { Owner::Unknown };
            let flight = [self.acks.una, self.nxt];
            self.rounds.note(new.at, flight, segment, other);
        }
        wait
    }

    /// This did not come by before and comes now, sooner than its sender can have heard that it is missing: it was overtaken.
    pub fn is_overtaken(&mut self, at: Time, range: SeqRange, near: Duration) -> bool {
        let trip = near + self.path.beyond.unwrap_or(Duration::ZERO);
        let missing = self.newest.missing_since(range.start);
        let overtaken = missing.is_some_and(|since| at.since(since) < trip);
        if overtaken {
            self.unseen = self.unseen.saturating_sub(range.len().into());
        }
        overtaken
    }

    /// Sends this again, or what did not come by before, with `more` behind it. Whether by a timer, if it had sent anything.
    pub fn resend(
        &mut self,
        at: Time,
        range: SeqRange,
        mss: Option<u32>,
        more: bool,
    ) -> Option<bool> {
        let from = self.sent.at;
        self.unseen = self.unseen.saturating_sub(range.len().into());
        self.sent.at = Some(at);
        if !self.known {
            return None;
        }
        if self.repair.is_none() {
            let queue = self.path.queue().unwrap_or(Duration::ZERO);
            self.policer.loses(queue);
        }
        self.policer.again(range.len());
        self.repair = Some(self.nxt);
        self.rounds.loses(self.flight());
        let trip = self.path.beyond.unwrap_or(Duration::ZERO);
        let from = from?;
        self.sizes
            .again(range, mss.unwrap_or(self.largest), from, more);
        Some(at.since(from) > (trip + trip / 2).max(AT_ONCE * 180))
    }
}

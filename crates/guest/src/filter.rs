//! A loss rule behind queues of packets: gives the rule each packet and carries out what it says.

use std::collections::BTreeMap;
use std::os::fd::BorrowedFd;
use std::time::Duration;

use anyhow::{Context, Result};
use nix::errno::Errno;
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use rexmit_loss::{Decision, Event, LossRule, PacketId, Verdict};
use rexmit_time::Time;
use rexmit_wire::TcpPacket;

use crate::clock;
use crate::firewall::shortcut::Shortcut;
use crate::source::{Answers, Fate, Source};

/// How long a filter waits for packets before it looks up again, if its rule has nothing to do sooner. Virtual time is
/// free, but each look is not.
const LOOK: Duration = Duration::from_millis(500);

/// How long a filter that ends lets pass what waits in the kernel.
const DRAIN: rexmit_time::Duration = rexmit_time::Duration::from_millis(50);

/// The queue of the sending side.
const SENDER: usize = 0;

/// Is told what a filter does.
pub trait Observer {
    /// Something happened; called before the fate of the packet that made it happen.
    fn event(&mut self, event: &Event) -> Result<()>;

    /// A packet that came through queue `from`, sent at `time`, meets its fate.
    fn fate(&mut self, from: usize, time: Time, bytes: &[u8], fate: Fate);
}

/// Packets that the rule holds: the kernel's number for each, when it was sent and what it is.
type Held = BTreeMap<PacketId, (Time, Vec<u8>)>;

/// A rule and its queues: that of the sending side, and where the rule sees both directions the other's after it.
pub struct Filter<Q> {
    queues: Vec<Q>,
    rule: LossRule,
    held: Held,
    wait: Duration,
    /// What of the sending side's packets the kernel lets pass without the rule.
    shortcut: Option<Shortcut>,
    /// Bytes of headers of the sending side's last packet with data.
    headers: u64,
}

impl<Q: Source> Filter<Q> {
    /// Puts `rule` behind `queue`.
    pub fn new(mut queue: Q, rule: LossRule) -> Result<Self> {
        queue.set_wait(LOOK)?;
        Ok(Self {
            wait: LOOK,
            queues: vec![queue],
            rule,
            held: Held::new(),
            shortcut: None,
            headers: 0,
        })
    }

    /// Has the kernel let packets of the sending side pass that the rule need not see: nobody is told of them.
    pub fn set_shortcut(&mut self, shortcut: Option<Shortcut>) {
        self.shortcut = shortcut;
    }

    /// Lets go what the old rule holds and goes on with a new one.
    pub fn replace_rule(&mut self, rule: LossRule, observer: &mut impl Observer) -> Result<()> {
        self.finish(observer)?;
        self.rule = rule;
        Ok(())
    }

    /// The rule.
    pub fn rule(&self) -> &LossRule {
        &self.rule
    }

    /// Puts the rule behind a further queue, of the other direction. No packet of it is ever held.
    pub fn add_queue(&mut self, queue: Q) {
        self.queues.push(queue);
    }

    /// Waits for packets, a short while at most, and deals with those that come.
    pub fn step(&mut self, observer: &mut impl Observer) -> Result<()> {
        self.set_wait()?;
        self.judge(SENDER, observer)?;
        self.look_at_deadline(observer)
    }

    /// As [`Filter::step`] for several queues, without a limit but the rule's deadline: returns when packets came or
    /// `waker` can be read.
    ///
    /// Waiting for ever does not look at the clock, which would take time.
    pub fn step_all(&mut self, waker: BorrowedFd<'_>, observer: &mut impl Observer) -> Result<()> {
        let wait = match self.rule.deadline() {
            None => PollTimeout::NONE,
            Some(deadline) => {
                let nanos = deadline.since(clock::now()).as_nanos().max(0);
                PollTimeout::try_from(nanos.div_euclid(1_000_000) + 1).unwrap_or(PollTimeout::MAX)
            }
        };
        let descriptors = self.queues.iter().map(Source::descriptor).chain([waker]);
        let mut polled: Vec<_> = descriptors
            .map(|descriptor| PollFd::new(descriptor, PollFlags::POLLIN))
            .collect();
        match poll(&mut polled, wait) {
            Ok(_) | Err(Errno::EINTR) => {}
            Err(error) => return Err(error).context("poll"),
        }
        let ready: Vec<bool> = polled.iter().map(|fd| fd.any().unwrap_or(true)).collect();
        for queue in (0..self.queues.len()).filter(|queue| ready[*queue]) {
            self.judge(queue, observer)?;
        }
        self.look_at_deadline(observer)
    }

    /// Takes packets from one queue and deals with them.
    fn judge(&mut self, from: usize, observer: &mut impl Observer) -> Result<()> {
        self.take(from, observer)?;
        if from == SENDER {
            self.look_at_shortcut(observer)?;
        }
        self.queues[from].flush()
    }

    /// Opens the shortcut where there are quiet packets to come, closes it where there are none.
    fn look_at_shortcut(&mut self, observer: &mut impl Observer) -> Result<()> {
        let Some(shortcut) = &mut self.shortcut else {
            return Ok(());
        };
        match self.rule.quiet() {
            None => shortcut.close(),
            Some(_) if !shortcut.is_open() => {
                // What passes must overtake nothing. With each verdict TCP may send more at once (`tcp_tsq_handler`): until
                // one packet alone waits for its own.
                loop {
                    self.queues[SENDER].flush_but_last()?;
                    if !is_readable(self.queues[SENDER].descriptor())? {
                        break;
                    }
                    self.take(SENDER, observer)?;
                }
                let quiet = self.rule.quiet().filter(|_| self.held.is_empty());
                if let (Some(shortcut), Some(quiet)) = (&mut self.shortcut, quiet) {
                    shortcut.let_pass(quiet)?;
                }
            }
            Some(_) => {}
        }
        Ok(())
    }

    /// Takes packets from one queue and judges them.
    fn take(&mut self, from: usize, observer: &mut impl Observer) -> Result<()> {
        let Self {
            queues,
            rule,
            held,
            shortcut,
            headers,
            ..
        } = self;
        let (mut now, mut failed) = (None, Ok(()));
        queues[from].receive(|packet, verdicts| {
            // Packets that come together were sent together: one look at the clock is enough.
            let now = *now.get_or_insert_with(clock::now);
            let Ok(tcp) = TcpPacket::parse_captured(packet.bytes, packet.original_len) else {
                observer.fate(from, now, packet.bytes, Fate::Accept);
                verdicts.push(packet.id, Fate::Accept);
                return;
            };
            if let Some(shortcut) = shortcut.as_mut().filter(|_| from == SENDER) {
                let told = catch_up(shortcut, rule, *headers, now);
                if failed.is_ok() {
                    failed = told;
                }
                if tcp.payload_len() > 0 {
                    *headers = packet.original_len as u64 - u64::from(tcp.payload_len());
                }
            }
            let id = PacketId(u64::from(packet.id));
            let verdict = rule.on_packet(id, &tcp, now);
            let told = drain_events(rule, observer);
            if failed.is_ok() {
                failed = told;
            }
            let mut decide = |fate| {
                observer.fate(from, now, packet.bytes, fate);
                verdicts.push(packet.id, fate);
            };
            match verdict {
                Verdict::Accept => decide(Fate::Accept),
                Verdict::Drop => decide(Fate::Drop),
                Verdict::Hold => {
                    held.insert(id, (now, packet.bytes.to_vec()));
                }
            }
            release(rule, held, verdicts, observer);
        })?;
        failed
    }

    fn look_at_deadline(&mut self, observer: &mut impl Observer) -> Result<()> {
        if let Some(deadline) = self.rule.deadline() {
            let now = clock::now();
            if deadline <= now {
                self.rule.on_deadline(now);
                self.settle(observer)?;
            }
        }
        Ok(())
    }

    fn set_wait(&mut self) -> Result<()> {
        let until_deadline = |deadline: Time| {
            let nanos = deadline.since(clock::now()).as_nanos().max(1);
            Duration::from_nanos(nanos.unsigned_abs())
        };
        let wait = self.rule.deadline().map_or(LOOK, until_deadline).min(LOOK);
        if wait != self.wait {
            self.queues[SENDER].set_wait(wait)?;
            self.wait = wait;
        }
        Ok(())
    }

    /// Ends all transfers and lets go all that is held.
    pub fn finish(&mut self, observer: &mut impl Observer) -> Result<()> {
        let now = clock::now();
        if let Some(shortcut) = &mut self.shortcut {
            catch_up(shortcut, &mut self.rule, self.headers, now)?;
            shortcut.close();
        }
        self.rule.finish(now);
        self.settle(observer)
    }

    /// Ends as [`Filter::finish`] does, lets pass what still waits in the kernel, and gives the queue back.
    pub fn close(mut self, observer: &mut impl Observer) -> Result<()> {
        self.finish(observer)?;
        let queue = &mut self.queues[SENDER];
        queue.set_wait(Duration::from_millis(1))?;
        // Under load there is always one more: what comes after this is the firewall rule's affair.
        let until = clock::now() + DRAIN;
        while queue.receive(|packet, verdicts| verdicts.push(packet.id, Fate::Accept))? {
            queue.flush()?;
            if clock::now() >= until {
                break;
            }
        }
        Ok(())
    }

    fn settle(&mut self, observer: &mut impl Observer) -> Result<()> {
        let told = drain_events(&mut self.rule, observer);
        release(
            &mut self.rule,
            &mut self.held,
            self.queues[SENDER].answers(),
            observer,
        );
        self.queues[SENDER].flush()?;
        told
    }
}

/// Whether something can be read without waiting.
fn is_readable(descriptor: BorrowedFd<'_>) -> Result<bool> {
    let mut polled = [PollFd::new(descriptor, PollFlags::POLLIN)];
    match poll(&mut polled, PollTimeout::ZERO) {
        Ok(ready) => Ok(ready > 0),
        Err(Errno::EINTR) => Ok(false),
        Err(error) => Err(error).context("poll"),
    }
}

/// Tells the rule what passed without it.
fn catch_up(shortcut: &mut Shortcut, rule: &mut LossRule, headers: u64, now: Time) -> Result<()> {
    if let Some((quiet, [packets, bytes])) = shortcut.passed()? {
        let payload = bytes.saturating_sub(packets * headers);
        rule.passed(&quiet.flow, (packets, payload), now);
    }
    Ok(())
}

/// Carries out what the rule has decided on packets that it held.
fn release(
    rule: &mut LossRule,
    held: &mut Held,
    verdicts: &mut impl Answers,
    observer: &mut impl Observer,
) {
    while let Some((id, decision)) = rule.poll_release() {
        let fate = match decision {
            Decision::Accept => Fate::Accept,
            Decision::Drop => Fate::Drop,
        };
        if let Some((time, bytes)) = held.remove(&id) {
            observer.fate(SENDER, time, &bytes, fate);
        }
        verdicts.push(id.0 as u32, fate);
    }
}

fn drain_events(rule: &mut LossRule, observer: &mut impl Observer) -> Result<()> {
    while let Some(event) = rule.poll_event() {
        observer.event(&event)?;
    }
    Ok(())
}

//! A loss rule behind an NFQUEUE: gives the rule each packet and carries out what it says.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use rexmit_loss::{Decision, Event, PacketId, Rule, Verdict};
use rexmit_time::Time;
use rexmit_wire::TcpPacket;

use crate::clock;
use crate::nfqueue::{Fate, Queue, Verdicts};

/// How long a filter waits for packets before it looks up again, if its rule has nothing to do sooner. Virtual time is
/// free, but each look is not.
const LOOK: Duration = Duration::from_millis(500);

/// How long a filter that ends lets pass what waits in the kernel.
const DRAIN: rexmit_time::Duration = rexmit_time::Duration::from_millis(50);

/// Is told what a filter does.
pub trait Observer {
    /// Something happened; called before the fate of the packet that made it happen.
    fn event(&mut self, event: &Event) -> Result<()>;

    /// A packet sent at `time` meets its fate.
    fn fate(&mut self, time: Time, bytes: &[u8], fate: Fate);
}

/// Packets that the rule holds: the kernel's number for each, when it was sent and what it is.
type Held = BTreeMap<PacketId, (Time, Vec<u8>)>;

/// A queue and its rule.
pub struct Filter<R> {
    queue: Queue,
    rule: R,
    held: Held,
    wait: Duration,
}

impl<R: Rule> Filter<R> {
    /// Puts `rule` behind `queue`.
    pub fn new(queue: Queue, rule: R) -> Result<Self> {
        queue.set_wait(LOOK)?;
        Ok(Self {
            wait: LOOK,
            queue,
            rule,
            held: Held::new(),
        })
    }

    /// Lets go what the old rule holds and goes on with a new one.
    pub fn replace_rule(&mut self, rule: R, observer: &mut impl Observer) -> Result<()> {
        self.finish(observer)?;
        self.rule = rule;
        Ok(())
    }

    /// Waits for packets, a short while at most, and deals with those that come.
    pub fn step(&mut self, observer: &mut impl Observer) -> Result<()> {
        self.set_wait()?;
        let Self {
            queue, rule, held, ..
        } = self;
        let (mut now, mut failed) = (None, Ok(()));
        queue.receive(|packet, verdicts| {
            // Packets that come together were sent together: one look at the clock is enough.
            let now = *now.get_or_insert_with(clock::now);
            let Ok(tcp) = TcpPacket::parse_captured(packet.bytes, packet.original_len) else {
                observer.fate(now, packet.bytes, Fate::Accept);
                verdicts.push(packet.id, Fate::Accept);
                return;
            };
            let id = PacketId(u64::from(packet.id));
            let verdict = rule.on_packet(id, &tcp, now);
            let told = drain_events(rule, observer);
            if failed.is_ok() {
                failed = told;
            }
            let mut decide = |fate| {
                observer.fate(now, packet.bytes, fate);
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
        failed?;
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
            self.queue.set_wait(wait)?;
            self.wait = wait;
        }
        Ok(())
    }

    /// Ends all transfers and lets go all that is held.
    pub fn finish(&mut self, observer: &mut impl Observer) -> Result<()> {
        self.rule.finish(clock::now());
        self.settle(observer)
    }

    /// Ends as [`Filter::finish`] does, lets pass what still waits in the kernel, and gives the queue back.
    pub fn close(mut self, observer: &mut impl Observer) -> Result<()> {
        self.finish(observer)?;
        self.queue.set_wait(Duration::from_millis(1))?;
        // Under load there is always one more: what comes after this is the firewall rule's affair.
        let until = clock::now() + DRAIN;
        while self
            .queue
            .receive(|packet, verdicts| verdicts.push(packet.id, Fate::Accept))?
            && clock::now() < until
        {}
        Ok(())
    }

    fn settle(&mut self, observer: &mut impl Observer) -> Result<()> {
        let told = drain_events(&mut self.rule, observer);
        release(
            &mut self.rule,
            &mut self.held,
            self.queue.verdicts(),
            observer,
        );
        self.queue.flush()?;
        told
    }
}

/// Carries out what the rule has decided on packets that it held.
fn release(
    rule: &mut impl Rule,
    held: &mut Held,
    verdicts: &mut Verdicts,
    observer: &mut impl Observer,
) {
    while let Some((id, decision)) = rule.poll_release() {
        let fate = match decision {
            Decision::Accept => Fate::Accept,
            Decision::Drop => Fate::Drop,
        };
        if let Some((time, bytes)) = held.remove(&id) {
            observer.fate(time, &bytes, fate);
        }
        verdicts.push(id.0 as u32, fate);
    }
}

fn drain_events(rule: &mut impl Rule, observer: &mut impl Observer) -> Result<()> {
    while let Some(event) = rule.poll_event() {
        observer.event(&event)?;
    }
    Ok(())
}

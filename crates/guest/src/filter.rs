//! A loss rule behind an NFQUEUE: gives the rule each packet and carries out what it says.

use std::collections::BTreeMap;
use std::time::Duration;

use anyhow::Result;
use rexmit_loss::{Decision, Event, PacketId, Rule, Verdict};
use rexmit_time::Time;
use rexmit_wire::TcpPacket;

use crate::clock;
use crate::nfqueue::{Fate, Queue};

/// How long a filter waits for packets before it looks up again.
const LOOK: Duration = Duration::from_millis(100);

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
}

impl<R: Rule> Filter<R> {
    /// Puts `rule` behind `queue`.
    pub fn new(queue: Queue, rule: R) -> Result<Self> {
        queue.set_wait(LOOK)?;
        Ok(Self {
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
        let Self { queue, rule, held } = self;
        let mut released = Vec::new();
        let mut failed = Ok(());
        queue.receive(|packet| {
            let Ok(tcp) = TcpPacket::parse_captured(packet.bytes, packet.original_len) else {
                observer.fate(clock::now(), packet.bytes, Fate::Accept);
                return Some(Fate::Accept);
            };
            let (id, now) = (PacketId(u64::from(packet.id)), clock::now());
            let fate = match rule.on_packet(id, &tcp, now) {
                Verdict::Accept => Some(Fate::Accept),
                Verdict::Drop => Some(Fate::Drop),
                Verdict::Hold => {
                    held.insert(id, (now, packet.bytes.to_vec()));
                    None
                }
            };
            released.extend(std::iter::from_fn(|| rule.poll_release()));
            let told = drain_events(rule, observer);
            if failed.is_ok() {
                failed = told;
            }
            if let Some(fate) = fate {
                observer.fate(now, packet.bytes, fate);
            }
            fate
        })?;
        failed?;
        self.release(released, observer)?;
        if self
            .rule
            .deadline()
            .is_some_and(|deadline| deadline <= clock::now())
        {
            self.rule.on_deadline(clock::now());
            self.settle(observer)?;
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
        while self.queue.receive(|_| Some(Fate::Accept))? {}
        Ok(())
    }

    fn settle(&mut self, observer: &mut impl Observer) -> Result<()> {
        let released = std::iter::from_fn(|| self.rule.poll_release()).collect();
        self.release(released, observer)?;
        drain_events(&mut self.rule, observer)
    }

    fn release(
        &mut self,
        released: Vec<(PacketId, Decision)>,
        observer: &mut impl Observer,
    ) -> Result<()> {
        for (id, decision) in released {
            let fate = match decision {
                Decision::Accept => Fate::Accept,
                Decision::Drop => Fate::Drop,
            };
            if let Some((time, bytes)) = self.held.remove(&id) {
                observer.fate(time, &bytes, fate);
            }
            self.queue.decide(id.0 as u32, fate);
        }
        self.queue.flush()
    }
}

fn drain_events(rule: &mut impl Rule, observer: &mut impl Observer) -> Result<()> {
    while let Some(event) = rule.poll_event() {
        observer.event(&event)?;
    }
    Ok(())
}

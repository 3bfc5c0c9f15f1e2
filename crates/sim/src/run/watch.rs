//! The loss rule between a host and its network, and all that is told of its packets.

use std::collections::BTreeMap;

use rexmit_loss::{Decision, PacketId, Retransmitted, Rule, Verdict};
use rexmit_plan::{
    self as plan, comment, Captured, Counts, Direction, Label, PacketLog, SocketInfo, Story,
};
use rexmit_tcp::connection::Connection;
use rexmit_tcp::sender::Sender;
use rexmit_tcp::Mechanism;
use rexmit_time::{Duration, Time};
use rexmit_wire::{FlowKey, SeqNum, TcpPacket};

use super::page::Stream;
use crate::bytes;
use crate::world::{Gate, Packet};

/// The packets of both hosts, in the order of time.
#[derive(Default)]
pub struct Captures {
    pub server: Vec<Captured>,
    pub client: Vec<Captured>,
}

/// What rows tell of a TCP.
pub trait Inspect {
    /// Its state at a drop.
    fn info(&self) -> SocketInfo;
    /// What it has counted.
    fn counts(&self) -> Counts;
}

impl Inspect for Connection {
    fn info(&self) -> SocketInfo {
        let micros = |length: Duration| u32::try_from(length.as_nanos() / 1000).unwrap_or(0);
        SocketInfo {
            rto_us: self.sender().map_or(0, |sender| micros(sender.rto())),
            srtt_us: self.sender().and_then(Sender::srtt).map_or(0, micros),
            sack: self.sender().is_some_and(Sender::has_sack),
        }
    }

    fn counts(&self) -> Counts {
        let counters = self.counters();
        Counts {
            retransmissions: u64::from(counters.retransmissions),
            timeouts: u64::from(counters.timeouts),
            probes: u64::from(counters.probes),
            dsacks: u64::from(counters.dsacks),
            host_queue: u64::from(counters.held_in_host),
        }
    }
}

/// The gate of one transfer.
pub struct Watch {
    rule: Box<dyn Rule + Send>,
    /// The rule judges the client's packets too.
    both: bool,
    pub story: Story,
    pub log: Option<PacketLog>,
    pub captures: Option<Captures>,
    /// What server and client send.
    streams: [Stream; 2],
    held: BTreeMap<PacketId, (Direction, Held)>,
    /// Initial sequence numbers, in the same order.
    isns: [SeqNum; 2],
    /// The packet at hand.
    bytes: Vec<u8>,
    /// The first thing that went wrong.
    pub failed: Option<anyhow::Error>,
}

struct Held {
    time: Time,
    bytes: Vec<u8>,
    told: Option<Label>,
}

/// What is wanted besides rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wants {
    pub both: bool,
    pub lossy: bool,
    pub log: bool,
    pub captures: bool,
}

impl Watch {
    /// Puts `rule` between the hosts, whose server sends `response` and whose client `request`.
    pub fn new(
        rule: Box<dyn Rule + Send>,
        wants: Wants,
        response: Stream,
        request: Stream,
    ) -> Self {
        Self {
            rule,
            both: wants.both,
            story: Story::new(wants.lossy),
            log: wants.log.then(PacketLog::default),
            captures: wants.captures.then(Captures::default),
            streams: [response, request],
            held: BTreeMap::new(),
            isns: [SeqNum::default(); 2],
            bytes: Vec::new(),
            failed: None,
        }
    }

    /// Ends the measurement: whatever is still open is told of as it is.
    pub fn finish(&mut self, now: Time) {
        self.rule.finish(now);
        while self.rule.poll_release().is_some() {}
        self.tell(&mut Nobody);
    }

    /// Takes what the rule has to say, asking `sender` about it.
    fn tell(&mut self, sender: &mut impl plan::Sender) -> Option<Label> {
        let mut told = None;
        while let Some(event) = self.rule.poll_event() {
            match self.story.event(&event, sender) {
                Ok(Some(retransmission)) => told = Some(retransmission),
                Ok(None) => {}
                Err(error) => {
                    self.failed.get_or_insert(error);
                }
            }
        }
        told
    }

    /// Makes the bytes of `packet`: all of them for a capture, else headers and the response head, which is all that
    /// rules look at.
    fn render(&mut self, packet: &Packet, key: &FlowKey) {
        let segment = packet.segment();
        let sender = usize::from(packet.from.is_client());
        if segment.flags.syn() {
            self.isns[sender] = segment.seq;
        }
        self.bytes.clear();
        bytes::packet(&mut self.bytes, key, segment, &[]);
        if segment.len == 0 {
            return;
        }
        let stream = &self.streams[sender];
        let text = stream.text.len() as u64;
        let start = u64::from(
            (segment.seq - 1)
                .get()
                .wrapping_sub(self.isns[sender].get()),
        );
        let end = start + u64::from(segment.len);
        if self.captures.is_some() {
            stream.copy(start, end, &mut self.bytes);
        } else if start < text {
            stream.copy(start, end.min(text), &mut self.bytes);
        }
    }

    /// A packet meets its fate.
    fn fate(&mut self, direction: Direction, held: &Held, dropped: bool) {
        let Held { time, bytes, told } = held;
        let is_handshake = direction == Direction::Data && told.is_none();
        if self.log.is_some() || is_handshake {
            if let Ok(packet) = TcpPacket::parse_captured(bytes, bytes.len()) {
                if direction == Direction::Data {
                    self.story.packet(&packet);
                }
                if let Some(log) = &mut self.log {
                    log.push(&packet, direction, *time, dropped, *told);
                }
            }
        }
        if let Some(captures) = &mut self.captures {
            let host = match direction {
                Direction::Data => &mut captures.server,
                Direction::Ack => &mut captures.client,
            };
            host.push(captured(*time, bytes, comment(dropped, *told)));
        }
    }
}

impl<M: Inspect> Gate<M> for Watch {
    fn on_sent(
        &mut self,
        now: Time,
        id: PacketId,
        packet: &Packet,
        key: &FlowKey,
        machine: &M,
    ) -> Verdict {
        let direction = direction(packet);
        let judged = self.both || direction == Direction::Data;
        if !judged && self.log.is_none() && self.captures.is_none() {
            return Verdict::Accept;
        }
        self.render(packet, key);
        let (mut verdict, mut told) = (Verdict::Accept, None);
        if judged {
            let length = self.bytes.len() + packet.segment().len as usize;
            if let Ok(view) = TcpPacket::parse_captured(&self.bytes, length) {
                verdict = self.rule.on_packet(id, &view, now);
                told = self.tell(&mut Asked { machine, packet });
            }
        }
        let held = Held {
            time: now,
            bytes: std::mem::take(&mut self.bytes),
            told,
        };
        if verdict == Verdict::Hold {
            self.held.insert(id, (direction, held));
        } else {
            self.fate(direction, &held, verdict == Verdict::Drop);
            self.bytes = held.bytes;
        }
        verdict
    }

    fn on_received(&mut self, now: Time, packet: &Packet, key: &FlowKey) {
        if self.captures.is_none() {
            return;
        }
        self.render(packet, key);
        if let Some(captures) = &mut self.captures {
            let host = match direction(packet) {
                Direction::Data => &mut captures.client,
                Direction::Ack => &mut captures.server,
            };
            host.push(captured(now, &self.bytes, None));
        }
    }

    fn poll_release(&mut self) -> Option<(PacketId, Decision)> {
        let (id, decision) = self.rule.poll_release()?;
        if let Some((direction, held)) = self.held.remove(&id) {
            self.fate(direction, &held, decision == Decision::Drop);
        }
        Some((id, decision))
    }

    fn deadline(&self) -> Option<Time> {
        self.rule.deadline()
    }

    fn on_deadline(&mut self, now: Time) {
        self.rule.on_deadline(now);
        self.tell(&mut Nobody);
    }
}

fn direction(packet: &Packet) -> Direction {
    if packet.from.is_client() {
        Direction::Ack
    } else {
        Direction::Data
    }
}

fn captured(time: Time, packet: &[u8], comment: Option<String>) -> Captured {
    let mut bytes = packet.to_vec();
    bytes::fill_in_checksums(&mut bytes);
    Captured {
        time,
        interface: 0,
        bytes,
        comment,
    }
}

/// The sender of the packet at hand.
struct Asked<'a, M> {
    machine: &'a M,
    packet: &'a Packet,
}

impl<M: Inspect> plan::Sender for Asked<'_, M> {
    fn socket(&mut self, _: FlowKey) -> anyhow::Result<Option<SocketInfo>> {
        Ok(Some(self.machine.info()))
    }

    fn mechanism(&mut self, _: &Retransmitted) -> anyhow::Result<Mechanism> {
        Ok(self.packet.sent.mechanism.unwrap_or(Mechanism::Unknown))
    }
}

/// Where no packet is at hand.
struct Nobody;

impl plan::Sender for Nobody {
    fn socket(&mut self, _: FlowKey) -> anyhow::Result<Option<SocketInfo>> {
        Ok(None)
    }

    fn mechanism(&mut self, _: &Retransmitted) -> anyhow::Result<Mechanism> {
        Ok(Mechanism::Unknown)
    }
}

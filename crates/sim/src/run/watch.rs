//! The loss rule between a host and its network, and all that is told of its packets.

use std::collections::BTreeMap;
use std::net::IpAddr;

use rexmit_loss::{Carried, Decision, Event, LossRule, PacketId, Verdict};
use rexmit_plan::{
    self as plan, comment, Again, Captured, Direction, Label, LoggedPacket, PacketLog, SocketInfo,
    Story,
};
use rexmit_tcp::Mechanism;
use rexmit_time::Time;
use rexmit_wire::{FlowKey, SeqNum, TcpPacket};

use super::inspect::{self, Inspect};
use super::options::Keys;
use super::text::Stream;
use crate::bytes::{self, Style};
use crate::world::{Gate, Packet};

/// The packets of both hosts, in the order of time.
#[derive(Default)]
pub struct Captures {
    pub server: Vec<Captured>,
    pub client: Vec<Captured>,
}

/// The gate of one transfer.
pub struct Watch {
    rule: LossRule,
    /// The rule judges the client's packets too.
    both: bool,
    pub story: Story,
    log: Option<PacketLog>,
    captures: Option<Captures>,
    /// What server and client send.
    streams: [Stream; 2],
    /// Where the connection is one of Multipath TCP.
    keys: Option<Keys>,
    /// The client's address on each path, where the rule minds paths.
    clients: Vec<IpAddr>,
    /// How the packets of their system are written.
    style: Style,
    held: BTreeMap<PacketId, (Direction, Held)>,
    /// Initial sequence numbers, in the same order.
    isns: [SeqNum; 2],
    /// The packet at hand, as far as it is made.
    bytes: Vec<u8>,
    /// Its whole length.
    length: usize,
    /// The first thing that went wrong.
    pub failed: Option<anyhow::Error>,
}

struct Held {
    time: Time,
    key: FlowKey,
    bytes: Vec<u8>,
    told: Notice,
}

/// What was told of a packet.
#[derive(Default)]
struct Notice {
    label: Option<Label>,
    carried: Option<Box<Carried>>,
}

/// What is wanted besides rows.
#[derive(Clone, Copy, Debug, Default)]
pub struct Wants {
    pub both: bool,
    pub log: bool,
    pub captures: bool,
}

/// Who speaks on the connection.
pub struct Speakers {
    /// What server and client send.
    pub streams: [Stream; 2],
    /// Where the connection is one of Multipath TCP.
    pub keys: Option<Keys>,
    /// The client's address on each path, where the rule minds paths.
    pub clients: Vec<IpAddr>,
    /// How the packets of their system are written.
    pub style: Style,
}

impl Watch {
    /// Puts `rule` between the hosts.
    pub fn new(rule: LossRule, wants: Wants, story: Story, speakers: Speakers) -> Self {
        Self {
            rule,
            both: wants.both,
            story,
            log: wants.log.then(PacketLog::default),
            captures: wants.captures.then(Captures::default),
            streams: speakers.streams,
            keys: speakers.keys,
            clients: speakers.clients,
            style: speakers.style,
            held: BTreeMap::new(),
            isns: [SeqNum::default(); 2],
            bytes: Vec::new(),
            length: 0,
            failed: None,
        }
    }

    /// Ends the measurement: whatever is still open is told of as it is.
    pub fn finish(&mut self, now: Time) {
        self.rule.finish(now);
        while self.rule.poll_release().is_some() {}
        self.tell(&mut Nobody);
    }

    /// What was logged and captured.
    pub fn kept(&mut self) -> (Option<Vec<LoggedPacket>>, Option<Captures>) {
        let log = self.log.as_mut().map(PacketLog::take);
        (log, self.captures.take())
    }

    /// Takes what the rule has to say, asking `sender` about it.
    fn tell(&mut self, sender: &mut impl plan::Sender) -> Notice {
        let mut told = Notice::default();
        while let Some(event) = self.rule.poll_event() {
            match self.story.event(&event, sender) {
                Ok(Some(retransmission)) => told.label = Some(retransmission),
                Ok(None) => {}
                Err(error) => {
                    self.failed.get_or_insert(error);
                }
            }
            if let Event::Carried(carried) = event {
                told.carried = Some(carried);
            }
        }
        told
    }

    /// Makes the bytes of `packet`: all of them for a capture, else headers and the response head, which is all that
    /// rules look at.
    fn render<M: Inspect>(&mut self, packet: &Packet<M::Options>, key: &FlowKey) {
        let segment = packet.segment();
        let sender = usize::from(packet.from.is_client());
        if segment.flags.syn() {
            self.isns[sender] = segment.seq;
        }
        let mut options = Vec::new();
        if let Some(keys) = &self.keys {
            let path = usize::from(packet.path);
            M::write_options(keys, &mut options, sender, path, segment, &packet.options);
        }
        self.bytes.clear();
        bytes::headers(&mut self.bytes, key, segment, &self.style, &options);
        self.length = self.bytes.len() + segment.len as usize;
        if segment.len == 0 {
            return;
        }
        let stream = &self.streams[sender];
        let text = stream.text.len() as u64;
        let in_flow = (segment.seq - 1)
            .get()
            .wrapping_sub(self.isns[sender].get());
        let start = M::place(&packet.options).unwrap_or(u64::from(in_flow));
        let end = start + u64::from(segment.len);
        if self.captures.is_some() {
            stream.copy(start, end, &mut self.bytes);
        } else if start < text {
            stream.copy(start, end.min(text), &mut self.bytes);
        }
    }

    /// The path of a flow between the hosts, from 1, where the rule minds paths.
    fn path(&self, key: &FlowKey) -> Option<u32> {
        let is_client = |own: &IpAddr| *own == key.src || *own == key.dst;
        let path = self.clients.iter().position(is_client)?;
        Some(path as u32 + 1)
    }

    /// A packet meets its fate.
    fn fate(&mut self, direction: Direction, held: &Held, dropped: bool) {
        let Held {
            time,
            key,
            bytes,
            told,
        } = held;
        let is_handshake = direction == Direction::Data && told.label.is_none();
        if self.log.is_some() || is_handshake {
            let path = self.path(key);
            if let Ok(packet) = TcpPacket::parse_captured(bytes, bytes.len()) {
                if direction == Direction::Data {
                    self.story.packet(&packet);
                }
                if let Some(log) = &mut self.log {
                    let mechanism = told.label.map(|(mechanism, _)| mechanism);
                    let carried = told.carried.as_deref();
                    let fate = (dropped, mechanism);
                    log.push(&packet, direction, path, *time, carried, fate);
                }
            }
        }
        self.capture(*time, key, direction, comment(dropped, told.label), bytes);
    }

    /// Keeps a packet of the host that sends in `direction`.
    fn capture(
        &mut self,
        time: Time,
        key: &FlowKey,
        direction: Direction,
        comment: Option<String>,
        packet: &[u8],
    ) {
        let path = self.path(key).unwrap_or(1) as usize;
        let Some(captures) = &mut self.captures else {
            return;
        };
        let mut bytes = packet.to_vec();
        bytes::fill_in_checksums(&mut bytes);
        // The client has an interface a path, the server one in all.
        let (host, interface) = match direction {
            Direction::Data => (&mut captures.server, 0),
            Direction::Ack => (&mut captures.client, path - 1),
        };
        host.push(Captured {
            time,
            interface,
            bytes,
            comment,
        });
    }
}

impl<M: Inspect> Gate<M> for Watch {
    fn on_sent(
        &mut self,
        now: Time,
        id: PacketId,
        packet: &Packet<M::Options>,
        key: &FlowKey,
        machine: &M,
    ) -> Verdict {
        let direction = direction(packet);
        let judged = self.both || direction == Direction::Data;
        if !judged && self.log.is_none() && self.captures.is_none() {
            return Verdict::Accept;
        }
        self.render::<M>(packet, key);
        let (mut verdict, mut told) = (Verdict::Accept, Notice::default());
        if judged {
            if let Ok(view) = TcpPacket::parse_captured(&self.bytes, self.length) {
                verdict = self.rule.on_packet(id, &view, now);
                told = self.tell(&mut Asked { machine, packet });
            }
        }
        let held = Held {
            time: now,
            key: *key,
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

    fn on_received(&mut self, now: Time, packet: &Packet<M::Options>, key: &FlowKey) {
        if self.captures.is_none() {
            return;
        }
        self.render::<M>(packet, key);
        let at = match direction(packet) {
            Direction::Data => Direction::Ack,
            Direction::Ack => Direction::Data,
        };
        let bytes = std::mem::take(&mut self.bytes);
        self.capture(now, key, at, None, &bytes);
        self.bytes = bytes;
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

fn direction<O>(packet: &Packet<O>) -> Direction {
    if packet.from.is_client() {
        Direction::Ack
    } else {
        Direction::Data
    }
}

/// The sender of the packet at hand.
struct Asked<'a, M: Inspect> {
    machine: &'a M,
    packet: &'a Packet<M::Options>,
}

impl<M: Inspect> plan::Sender for Asked<'_, M> {
    fn socket(&mut self, _: FlowKey) -> anyhow::Result<Option<SocketInfo>> {
        let connection = self.machine.connection(usize::from(self.packet.path));
        Ok(connection.map(inspect::info))
    }

    fn mechanism(&mut self, _: &Again) -> anyhow::Result<Mechanism> {
        Ok(self.packet.sent.mechanism.unwrap_or(Mechanism::Unknown))
    }
}

/// Where no packet is at hand.
struct Nobody;

impl plan::Sender for Nobody {
    fn socket(&mut self, _: FlowKey) -> anyhow::Result<Option<SocketInfo>> {
        Ok(None)
    }

    fn mechanism(&mut self, _: &Again) -> anyhow::Result<Mechanism> {
        Ok(Mechanism::Unknown)
    }
}

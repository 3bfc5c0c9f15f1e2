//! All connections of a rule: finds each packet's, and keeps their deadlines.

use std::collections::{BTreeSet, VecDeque};

use rexmit_time::Time;
use rexmit_wire::table::{Hashed, Slot, Table};
use rexmit_wire::{FlowKey, SeqNum, SeqRange, TcpPacket};

use crate::connection::carriers::{Met, Subflows};
use crate::connection::flow::Flow;
use crate::connection::out::Out;
use crate::connection::segment::Segment;
use crate::pattern::{is_pure_ack, Pattern};
use crate::{Bare, BareDropped, Counters, Drops, Event, Note, Settings, Stretches};

/// SYNs that are remembered: the newest.
const SYNS: usize = 4096;

/// The caller's name for a packet, unique among the packets that are held at the same time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PacketId(pub u64);

/// What happens to a packet now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It goes on.
    Accept,
    /// It is lost.
    Drop,
    /// It waits; [`LossRule::poll_release`] names it later.
    Hold,
}

/// What happens to a held packet in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// It goes on.
    Accept,
    /// It is lost.
    Drop,
}

/// Packets at which nothing can happen: they lie in the middle of the one response that its connection has open, far from
/// the tail, and are the next to be sent. Their sender's kernel may let them pass and count them
/// ([`LossRule::passed`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Quiet {
    /// Whose.
    pub flow: FlowKey,
    /// The first byte of the first of them.
    pub from: SeqNum,
    /// Where the first byte of the last of them lies at most.
    pub until: SeqNum,
}

/// Decides which packets are lost.
///
/// # Order of calls
/// After every [`on_packet`](LossRule::on_packet), [`on_deadline`](LossRule::on_deadline) and
/// [`finish`](LossRule::finish) the caller carries out the verdict, then drains
/// [`poll_release`](LossRule::poll_release), then [`poll_event`](LossRule::poll_event), then looks at
/// [`deadline`](LossRule::deadline). `now` never goes back from one call to the next.
/// A packet answered with [`Verdict::Hold`] may be released by the very same call.
///
/// # Packets
/// The rule is given every TCP packet of the sending side (the server's OUTPUT), and, where acknowledgements are dropped,
/// of the other side as they leave. It knows a packet's direction by its connection's handshake: who sent the
/// SYN-ACK is the server.
/// Packets that [`TcpPacket::parse`] skips are not for it: they pass.
///
/// # Randomness
/// There is none: its verdicts depend on its packets alone.
#[derive(Debug)]
pub struct LossRule {
    table: Table<Box<Flow>>,
    out: Out,
    deadlines: BTreeSet<(Time, Slot)>,
    /// Where paths are minded.
    subflows: Option<Subflows>,
    /// Of a pattern that drops SYNs, those of late: from whom, with which number, how often.
    syns: VecDeque<(FlowKey, SeqNum, u32)>,
    /// The connection that a packet was last given of.
    last: Option<Slot>,
}

impl LossRule {
    /// A rule that knows no connection yet.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        let Settings {
            mut drops,
            stretches,
            linger,
            max_flows,
        } = settings;
        let (rehearsal, clients) = match &stretches {
            Stretches::Found => (false, None),
            Stretches::Told(told) => (told.lossless.is_none(), Some(told.clients.clone())),
            Stretches::Whole(whole) => (whole.lossless.is_none(), None),
        };
        if rehearsal {
            drops = Drops::Pattern(Pattern::default());
        }
        let scopes = matches!(&drops, Drops::Pattern(pattern) if pattern.has_scopes());
        let clients = clients.or_else(|| scopes.then(Vec::new));
        let subflows = clients.map(|clients| Subflows::new(max_flows.saturating_mul(4), clients));
        LossRule {
            table: Table::new(max_flows),
            out: Out::new(drops, stretches, linger),
            deadlines: BTreeSet::new(),
            subflows,
            syns: VecDeque::new(),
            last: None,
        }
    }

    /// What it has counted so far.
    #[must_use]
    pub fn counters(&self) -> Counters {
        self.out.counters
    }

    /// Packets with data of which the rule cannot tell where they belong. They pass, and count nowhere.
    #[must_use]
    pub fn unmapped(&self) -> u64 {
        self.subflows
            .as_ref()
            .map_or(0, |subflows| subflows.unmapped)
    }

    /// Packets that it need not be given now, if there are such.
    pub fn quiet(&mut self) -> Option<Quiet> {
        self.table.get(self.last?)?.quiet()
    }

    /// So many packets of `flow` with so many bytes in all passed by `now` that were [`quiet`](LossRule::quiet), in order.
    pub fn passed(&mut self, flow: &FlowKey, (packets, bytes): (u64, u64), now: Time) {
        if let Some(slot) = self.find(flow).filter(|_| packets > 0) {
            self.with(slot, |flow, out| flow.passed(packets, bytes, now, out));
        }
    }

    /// Packets that were given after others had passed, and that it would have told otherwise had it been given those: what
    /// it tells of their transfers is not known to be right.
    #[must_use]
    pub fn unfollowed(&self) -> u64 {
        self.out.unfollowed
    }

    fn find(&self, flow: &FlowKey) -> Option<Slot> {
        self.table.find(Hashed::of(flow), flow)
    }

    fn remove(&mut self, slot: Slot, note: Note) {
        if let Some(mut flow) = self.table.remove(slot) {
            if let Some(deadline) = flow.due {
                self.deadlines.remove(&(deadline, slot));
            }
            flow.end(note, &mut self.out);
        }
    }

    /// A packet of the client's, who sends no responses, on the connection in slot `server`.
    fn on_client_packet(
        &mut self,
        server: Slot,
        path: u32,
        packet: &TcpPacket<'_>,
        now: Time,
    ) -> Verdict {
        let pure_ack = is_pure_ack(packet);
        let data = SeqRange::new(packet.seq(), packet.payload_len());
        let lost = self.with(server, |flow, out| {
            flow.judge_client(pure_ack, data, path, out)
        });
        self.bare(packet, lost.flatten(), now)
    }

    /// The packet is lost, if it is one that the pattern names.
    fn bare(&mut self, packet: &TcpPacket<'_>, named: Option<Bare>, now: Time) -> Verdict {
        let Some(named) = named else {
            return Verdict::Accept;
        };
        self.out.events.push_back(Event::BareDropped(BareDropped {
            flow: packet.flow(),
            packet: named,
            at: now,
        }));
        Verdict::Drop
    }

    /// What happens to a SYN.
    fn on_syn(&mut self, packet: &TcpPacket<'_>, now: Time) -> Verdict {
        let Drops::Pattern(pattern) = &self.out.drops else {
            return Verdict::Accept;
        };
        if !pattern.needs_client() {
            return Verdict::Accept;
        }
        let (flow, isn) = (packet.flow(), packet.seq());
        let mut again = self.syns.iter_mut().rev();
        let again = again.find(|(from, number, _)| (*from, *number) == (flow, isn));
        let transmission = match again {
            Some((.., sent)) => {
                *sent += 1;
                *sent
            }
            None => {
                if self.syns.len() == SYNS {
                    self.syns.pop_front();
                }
                self.syns.push_back((flow, isn, 1));
                1
            }
        };
        let named = pattern.drops_syn(transmission);
        self.bare(packet, named.then_some(Bare::Syn(transmission)), now)
    }

    fn insert(&mut self, flow: Flow) -> Slot {
        while self.table.is_full() {
            let Some(idle) = self.table.unused() else {
                break;
            };
            self.out.counters.evicted_flows += 1;
            self.remove(idle, Note::Evicted);
        }
        self.table.insert(Hashed::of(&flow.key), Box::new(flow))
    }

    /// Does `act` on a connection and keeps its deadline up to date.
    fn with<T>(&mut self, slot: Slot, act: impl FnOnce(&mut Flow, &mut Out) -> T) -> Option<T> {
        let flow = self.table.get(slot)?;
        let before = flow.due;
        let result = act(flow, &mut self.out);
        let after = flow.due;
        if before != after {
            if let Some(before) = before {
                self.deadlines.remove(&(before, slot));
            }
            if let Some(after) = after {
                self.deadlines.insert((after, slot));
            }
        }
        Some(result)
    }
}

impl LossRule {
    /// What happens to a packet where the pattern minds paths; `None` for one that goes on as any other.
    fn on_subflow(&mut self, id: PacketId, packet: &TcpPacket<'_>, now: Time) -> Option<Verdict> {
        let piece = match self.subflows.as_mut()?.meet(packet) {
            Met::Stranger | Met::Goes => return None,
            Met::Passes => return Some(Verdict::Accept),
            Met::Client(connection, path) => {
                let slot = self.find(&connection)?;
                return Some(self.on_client_packet(slot, path, packet, now));
            }
            Met::Carries(piece) => piece,
        };
        let Some(slot) = self.find(&piece.connection) else {
            return Some(Verdict::Accept);
        };
        let len = packet.payload_len();
        let judged = self.with(slot, |flow, out| {
            // The end of data is repeated with what is sent behind it: once is enough.
            let fin = piece.fin && (len > 0 || !piece.mptcp || flow.fin.is_none());
            if len == 0 && !fin {
                return (Verdict::Accept, None);
            }
            let segment = Segment {
                seq: flow.seq_at(piece.data),
                payload: packet.payload(),
                len,
                fin,
                carrier: Some(piece.carrier),
            };
            flow.place = None;
            let verdict = flow.on_packet(id, &segment, now, out);
            (verdict, flow.place)
        });
        let (verdict, place) = judged?;
        if let Some(subflows) = self.subflows.as_mut().filter(|_| len > 0) {
            subflows.sent(&piece, place);
        }
        Some(verdict)
    }
}

impl LossRule {
    /// Judges one packet that is being sent at `now`.
    pub fn on_packet(&mut self, id: PacketId, packet: &TcpPacket<'_>, now: Time) -> Verdict {
        if let Some(verdict) = self.on_subflow(id, packet, now) {
            return verdict;
        }
        let flags = packet.flags();
        let mut slot = self.find(&packet.flow());
        if flags.rst() {
            if let Some(slot) = slot {
                self.remove(slot, Note::Reset);
            }
            return Verdict::Accept;
        }
        if flags.syn() {
            if let Some(known) = slot {
                // A SYN-ACK sent again begins nothing new.
                let again = self
                    .table
                    .get(known)
                    .is_some_and(|f| flags.ack() && f.isn == Some(packet.seq()));
                if !again {
                    self.remove(known, Note::Replaced);
                    slot = None;
                }
            }
            // A SYN alone makes this side the client, which sends no responses.
            if !flags.ack() {
                return self.on_syn(packet, now);
            }
            let known = slot.unwrap_or_else(|| {
                let flow = Flow::from_handshake(packet, &self.out);
                self.insert(flow)
            });
            slot = Some(known);
            let named = self.with(known, Flow::judge_syn_ack).flatten();
            if named.is_some() {
                return self.bare(packet, named, now);
            }
        }
        if self.out.told.is_some() {
            return Verdict::Accept;
        }
        if slot.is_none() {
            if let Some(server) = self.find(&packet.flow().reversed()) {
                return self.on_client_packet(server, 1, packet, now);
            }
        }
        if packet.payload_len() == 0 && !flags.fin() {
            return Verdict::Accept;
        }
        let slot = slot.unwrap_or_else(|| self.insert(Flow::from_the_middle(packet)));
        let segment = Segment::of(packet);
        self.last = Some(slot);
        self.with(slot, |flow, out| flow.on_packet(id, &segment, now, out))
            .unwrap_or(Verdict::Accept)
    }

    /// The next held packet whose fate is settled, in the order in which they are to leave.
    pub fn poll_release(&mut self) -> Option<(PacketId, Decision)> {
        self.out.releases.pop_front()
    }

    /// The next event.
    pub fn poll_event(&mut self) -> Option<Event> {
        self.out.events.pop_front()
    }

    /// When [`on_deadline`](LossRule::on_deadline) is due, if at all.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.deadlines.first().map(|(time, _)| *time)
    }

    /// Acts on every deadline up to `now`; does nothing when none is due.
    pub fn on_deadline(&mut self, now: Time) {
        while let Some(&(due, slot)) = self.deadlines.first() {
            if due > now {
                break;
            }
            self.with(slot, |flow, out| flow.on_deadline(now, out));
            // Acting on a deadline moves it; a connection that kept it would hang this loop.
            self.deadlines.remove(&(due, slot));
        }
    }

    /// Ends everything: releases all held packets and closes all transfers. Connections stay known, so
    /// that their late packets pass; the rule may go on with new ones.
    pub fn finish(&mut self, _now: Time) {
        for slot in 0..self.table.slots() {
            self.with(slot, |flow, out| flow.end(Note::Ended, out));
        }
    }
}

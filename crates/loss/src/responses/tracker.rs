//! All connections of a rule: finds each packet's, and keeps their deadlines.

use std::collections::BTreeSet;

use rexmit_time::Time;
use rexmit_wire::table::{Hashed, Slot, Table};
use rexmit_wire::{FlowKey, TcpPacket};

use super::choice::Choice;
use super::flow::Flow;
use super::out::Out;
use super::segment::Segment;
use super::subflows::{Met, Subflows};
use crate::pattern::is_pure_ack;
use crate::tail::Counters;
use crate::{AckDropped, Decision, Event, Note, PacketId, Rule, Verdict};

/// A rule's connections.
#[derive(Debug)]
pub(crate) struct Tracker {
    table: Table<Box<Flow>>,
    out: Out,
    deadlines: BTreeSet<(Time, Slot)>,
    /// Where the pattern minds paths.
    subflows: Option<Subflows>,
}

impl Tracker {
    /// Knows no connection yet, and `max_flows` at most.
    pub fn new(max_flows: usize, out: Out) -> Self {
        let minds_paths = matches!(&out.choice, Choice::Pattern(p) if p.has_scopes());
        Tracker {
            table: Table::new(max_flows),
            out,
            deadlines: BTreeSet::new(),
            subflows: minds_paths.then(|| Subflows::new(max_flows.saturating_mul(4))),
        }
    }

    /// What it has counted so far.
    pub fn counters(&self) -> Counters {
        self.out.counters
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
        let data = packet.payload_len() > 0;
        let pure_ack = is_pure_ack(packet);
        let lost = self
            .with(server, |flow, out| {
                flow.judge_client(pure_ack, data, path, out)
            })
            .flatten();
        let Some(number) = lost else {
            return Verdict::Accept;
        };
        self.out.events.push_back(Event::AckDropped(AckDropped {
            flow: packet.flow(),
            number,
            at: now,
        }));
        Verdict::Drop
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

impl Tracker {
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
            subflows.sent(&packet.flow(), &piece, len, place);
        }
        Some(verdict)
    }
}

impl Rule for Tracker {
    fn on_packet(&mut self, id: PacketId, packet: &TcpPacket<'_>, now: Time) -> Verdict {
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
                return Verdict::Accept;
            }
            slot = slot.or_else(|| Some(self.insert(Flow::from_handshake(packet))));
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
        self.with(slot, |flow, out| flow.on_packet(id, &segment, now, out))
            .unwrap_or(Verdict::Accept)
    }

    fn poll_release(&mut self) -> Option<(PacketId, Decision)> {
        self.out.releases.pop_front()
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.out.events.pop_front()
    }

    fn deadline(&self) -> Option<Time> {
        self.deadlines.first().map(|(time, _)| *time)
    }

    fn on_deadline(&mut self, now: Time) {
        while let Some(&(due, slot)) = self.deadlines.first() {
            if due > now {
                break;
            }
            self.with(slot, |flow, out| flow.on_deadline(now, out));
            // Acting on a deadline moves it; a connection that kept it would hang this loop.
            self.deadlines.remove(&(due, slot));
        }
    }

    fn finish(&mut self, _now: Time) {
        for slot in 0..self.table.slots() {
            self.with(slot, |flow, out| flow.end(Note::Ended, out));
        }
    }
}

/// Makes a type with a `tracker` a [`Rule`].
macro_rules! is_a_rule {
    ($name:ty) => {
        impl $crate::Rule for $name {
            fn on_packet(
                &mut self,
                id: $crate::PacketId,
                packet: &rexmit_wire::TcpPacket<'_>,
                now: rexmit_time::Time,
            ) -> $crate::Verdict {
                self.tracker.on_packet(id, packet, now)
            }

            fn poll_release(&mut self) -> Option<($crate::PacketId, $crate::Decision)> {
                self.tracker.poll_release()
            }

            fn poll_event(&mut self) -> Option<$crate::Event> {
                self.tracker.poll_event()
            }

            fn deadline(&self) -> Option<rexmit_time::Time> {
                self.tracker.deadline()
            }

            fn on_deadline(&mut self, now: rexmit_time::Time) {
                self.tracker.on_deadline(now);
            }

            fn finish(&mut self, now: rexmit_time::Time) {
                self.tracker.finish(now);
            }
        }
    };
}

pub(crate) use is_a_rule;

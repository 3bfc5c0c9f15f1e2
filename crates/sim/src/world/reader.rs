//! Programs that wait in `recv` where work takes time.
//!
//! Such a program takes in itself what comes while it waits or works on what came (`tcp_prequeue`, `sk_add_backlog`), a
//! packet at a time: between two of them it lets the filter go first (`cond_resched`). Once it has nothing left it returns
//! from `recv`, and until it waits there again TCP takes in all that comes, at once and one after another.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use rexmit_time::Time;

use super::{EndId, Event, Gate, Packet, World};
use crate::apps::App;
use crate::machine::Machine;

/// What the readers have before them.
#[derive(Debug)]
pub(super) struct Readers<O> {
    /// Packets of those that are awake.
    kept: BTreeMap<EndId, Kept<O>>,
    /// Those that will have their turn.
    armed: BTreeSet<EndId>,
}

#[derive(Debug)]
struct Kept<O> {
    packets: VecDeque<Packet<O>>,
    /// The data of the first of them are taken.
    taken: bool,
}

impl<O> Default for Readers<O> {
    fn default() -> Self {
        Self {
            kept: BTreeMap::new(),
            armed: BTreeSet::new(),
        }
    }
}

impl<M: Machine, G: Gate<M>> World<M, G> {
    /// Whether a program of a host where work takes time waits in `recv` rather than for all that may happen.
    pub(super) fn reads(&self, id: EndId) -> bool {
        self.processor.works && matches!(self.ends[id.index()].app, App::Browser(_))
    }

    /// Whether the packet is left to a reader, who is woken if need be.
    pub(super) fn keep_for_reader(
        &mut self,
        now: Time,
        id: EndId,
        packet: &Packet<M::Options>,
    ) -> bool {
        if let Some(kept) = self.readers.kept.get_mut(&id) {
            kept.packets.push_back(*packet);
            return true;
        }
        let waits = |machine: &M| machine.reader_waits();
        let machine = self.ends[id.index()].machine.as_deref();
        if packet.segment().len == 0 || !self.reads(id) || !machine.is_some_and(waits) {
            return false;
        }
        let kept = Kept {
            packets: VecDeque::from([*packet]),
            taken: false,
        };
        self.readers.kept.insert(id, kept);
        self.arm_reader(self.processor.free(now), id);
        true
    }

    pub(super) fn arm_reader(&mut self, at: Time, id: EndId) {
        if self.readers.armed.insert(id) {
            self.queue.push(at, Event::Reader(id));
        }
    }

    /// A reader has its turn.
    pub(super) fn reader(&mut self, now: Time, id: EndId) {
        let filter = self.filter_at.unwrap_or(now);
        if self.processor.is_busy(now) || self.filter_at.is_some() {
            let turn = self.processor.free(now).max(filter);
            self.queue.push(turn, Event::Reader(id));
            return;
        }
        self.readers.armed.remove(&id);
        let Some(kept) = self.readers.kept.get_mut(&id) else {
            self.run_program(now, id);
            return;
        };
        if !std::mem::replace(&mut kept.taken, true) {
            self.processor.take(now);
            self.arm_reader(self.processor.free(now), id);
            return;
        }
        kept.taken = false;
        let packet = kept.packets.pop_front();
        if kept.packets.is_empty() {
            self.readers.kept.remove(&id);
        }
        if let Some(machine) = &mut self.ends[id.index()].machine {
            machine.reader_stays();
        }
        if let Some(packet) = packet {
            self.take_in(now, id, &packet);
        }
        self.arm_reader(self.processor.free(now), id);
    }
}

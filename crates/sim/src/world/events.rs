//! What happens, one event at a time: a packet arrives, a timer is due, a program has its turn.

use std::collections::BTreeSet;

use rexmit_loss::Decision;
use rexmit_tcp::connection::{Event as Happened, Local};
use rexmit_tcp::sender::Metrics;
use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::network::Arrival;
use super::{ip_header, End, EndId, Event, Gate, Packet, Turn, World};
use crate::machine::Machine;

/// Bytes of a TCP header without options.
const TCP_HEADER: u32 = 20;

/// Packets that the filter takes together at most (`recvmmsg`).
const FILTER_TAKES: usize = 16;

impl<M: Machine, G: Gate<M>> World<M, G> {
    pub(super) fn deliver(&mut self, now: Time, arrival: Arrival) {
        let Some((node, packet, next)) = self.network.leave(arrival) else {
            return;
        };
        if let Some((time, event)) = next {
            self.queue.push(time, event);
        }
        let to = packet.from.peer();
        let home = self.ends[to.index()].way(usize::from(packet.path)).node;
        if home == node {
            self.arrive(now, to, &packet);
        } else {
            self.gate.on_passed(now, &packet, node);
            self.forward(now, node, home, packet);
        }
    }

    fn arrive(&mut self, now: Time, to: EndId, packet: &Packet<M::Options>) {
        self.delivered += 1;
        if self.filter_wakes.is_some_and(|at| at < now) {
            self.late.push_back((to, *packet));
        } else {
            self.receive(now, to, packet);
        }
    }

    fn receive(&mut self, now: Time, to: EndId, packet: &Packet<M::Options>) {
        self.processor.receive(now);
        if !self.keep_for_reader(now, to, packet) {
            self.take_in(now, to, packet);
        }
    }

    /// A packet comes to its TCP.
    pub(super) fn take_in(&mut self, now: Time, to: EndId, packet: &Packet<M::Options>) {
        let path = usize::from(packet.path);
        let segment = packet.segment();
        let opens = segment.flags.syn() && !segment.flags.ack();
        let end = &mut self.ends[to.index()];
        let key = end.way(path).key.reversed();
        self.gate.on_received(now, packet, &key);
        match &mut end.machine {
            Some(machine) if !opens || machine.is_open_on(path) => {
                machine.on_segment(now, path, segment, &packet.options);
            }
            _ if opens => {
                let local = self.local(to, path);
                let end = &mut self.ends[to.index()];
                let host = self.network.host(end.way(path).node);
                match (&mut end.machine, host) {
                    (Some(machine), _) => machine.join(now, path, &local, Some(segment)),
                    (None, Some(host)) => {
                        let machine = M::accept(&host.stack, path, &local, segment, now);
                        end.machine = Some(Box::new(machine));
                    }
                    (None, None) => {}
                }
            }
            // A packet that is late for its connection: the reset that it would get changes nothing.
            _ => return,
        }
        self.settle(now, to);
    }

    pub(super) fn connect(&mut self, now: Time, id: EndId) {
        let path = self.ends[id.index()].opens_on;
        let local = self.local(id, path);
        let end = &mut self.ends[id.index()];
        if let Some(host) = self.network.host(end.way(path).node) {
            end.machine = Some(Box::new(M::connect(&host.stack, path, &local, now)));
        }
        self.settle(now, id);
    }

    pub(super) fn local(&mut self, end: EndId, path: usize) -> Local {
        let random = self.numbers.next_u64();
        let way = self.ends[end.index()].way(path);
        let host = self.network.host(way.node);
        Local {
            iss: SeqNum::new(random as u32),
            timestamp_offset: (random >> 32) as u32,
            mtu: host.map_or(1500, |host| host.mtu),
            ip_header: ip_header(&way.key),
            window_clamp: host.and_then(|host| host.window_clamp),
            metrics: host.map_or_else(Metrics::default, |host| host.metrics),
            look: host.map_or(Duration::ZERO, |host| host.look),
            defer_accept: host.and_then(|host| host.defer_accept),
            subflow: None,
        }
    }

    pub(super) fn timer(&mut self, now: Time, id: EndId) {
        let End {
            machine: Some(machine),
            app,
            armed,
            ..
        } = &mut self.ends[id.index()]
        else {
            return;
        };
        if *armed != now {
            return;
        }
        *armed = Time::MAX;
        if machine.deadline().is_some_and(|due| due <= now) {
            machine.on_deadline(now);
        }
        if !self.processor.is_busy(now) && app.deadline().is_some_and(|due| due <= now) {
            let before = app.written();
            app.on_deadline(now, machine.as_mut());
            self.write(now, id, before);
        }
        self.settle(now, id);
    }

    /// The program at an end wrote, and has written `before` until then.
    fn write(&mut self, now: Time, id: EndId, before: u64) {
        let bytes = self.ends[id.index()].app.written() - before;
        if bytes > 0 && self.processor.works {
            let way = self.ends[id.index()].way(0);
            let mtu = self.network.host(way.node).map_or(0, |host| host.mtu);
            let headers = ip_header(&way.key) + TCP_HEADER;
            self.processor
                .write(now, bytes, mtu.saturating_sub(headers));
        }
    }

    /// Lets an end's TCP and program go on until both wait, or until the program's turn; sends what they made, and sets the
    /// timer.
    pub(super) fn settle(&mut self, now: Time, id: EndId) {
        let host = self.network.host(self.ends[id.index()].first.node);
        let filtered = host.is_some_and(|host| host.filtered);
        match host.map_or(Turn::AtOnce, |host| host.turn) {
            Turn::AtOnce => self.go_on(now, id, filtered),
            Turn::Last(late) => self.go_on_later(now, id, filtered, late),
        }
        self.arm(id);
        self.arm_gate();
    }

    fn go_on(&mut self, now: Time, id: EndId, filtered: bool) {
        loop {
            let End {
                machine: Some(machine),
                app,
                ..
            } = &mut self.ends[id.index()]
            else {
                return;
            };
            if let Some(out) = machine.poll_transmit(now) {
                self.transmit(now, id, out, filtered);
            } else if let Some(event) = machine.poll_event() {
                if self.processor.works {
                    self.tell(now, id, event, Duration::ZERO);
                } else {
                    app.on_event(now, event, machine.as_mut());
                }
            } else if self.processor.works {
                self.arm_filter(now);
                return;
            } else if let Some(packet) = self.outbox.pop_front() {
                self.send(now, packet);
            } else {
                return;
            }
        }
    }

    /// The same where programs and filter wait for their turn.
    fn go_on_later(&mut self, now: Time, id: EndId, filtered: bool, late: Duration) {
        while let Some(out) = self.machine_mut(id).and_then(|one| one.poll_transmit(now)) {
            self.transmit(now, id, out, filtered);
        }
        while let Some(event) = self.machine_mut(id).and_then(M::poll_event) {
            self.tell(now, id, event, late);
        }
        self.arm_filter(now);
    }

    /// Tells a program of something when it has its turn.
    fn tell(&mut self, now: Time, id: EndId, event: Happened, late: Duration) {
        let reads = self.reads(id);
        let happened = self.happened.entry(id).or_default();
        let first = happened.is_empty();
        happened.push(event);
        let turn = self.processor.free(now) + late;
        if first && reads {
            self.arm_reader(turn, id);
        } else if first {
            self.queue.push(turn, Event::Program(id));
        }
    }

    fn arm_filter(&mut self, now: Time) {
        if !self.outbox.is_empty() && self.filter_at.is_none() {
            let awake = now < self.filter_works;
            let begins = if awake {
                self.processor.free(now)
            } else {
                self.processor.filter_begins(now)
            };
            let reader = |packet: &Packet<M::Options>| self.reads(packet.from);
            if self.processor.works && !awake && self.outbox.iter().all(reader) {
                self.filter_wakes = Some(self.processor.reader_leaves(now));
            }
            self.filter_at = Some(begins);
            self.queue.push(begins, Event::Filter);
        }
    }

    /// Whether the processor is busy; `event` then happens when it is free.
    fn put_off(&mut self, now: Time, event: Event) -> bool {
        let busy = self.processor.is_busy(now);
        if busy {
            self.queue.push(self.processor.free(now), event);
        }
        busy
    }

    fn machine_mut(&mut self, id: EndId) -> Option<&mut M> {
        self.ends[id.index()].machine.as_deref_mut()
    }

    pub(super) fn program(&mut self, now: Time, id: EndId) {
        if self.put_off(now, Event::Program(id)) {
            return;
        }
        if self.processor.works && self.awake.insert(id) {
            let written = self.ends[id.index()].app.written() > 0;
            self.processor.wake(now, written);
            if self.put_off(now, Event::Program(id)) {
                return;
            }
        }
        self.awake.remove(&id);
        self.run_program(now, id);
    }

    pub(super) fn run_program(&mut self, now: Time, id: EndId) {
        let happened = self.happened.remove(&id).unwrap_or_default();
        let End { machine, app, .. } = &mut self.ends[id.index()];
        let before = app.written();
        if let Some(machine) = machine {
            for event in happened {
                app.on_event(now, event, machine.as_mut());
            }
        }
        self.write(now, id, before);
        self.settle(now, id);
    }

    /// What leaves may make room in the host for more, which then has to pass as well.
    pub(super) fn filter(&mut self, now: Time) {
        if self.put_off(now, Event::Filter) {
            self.filter_at = Some(self.processor.free(now));
            return;
        }
        if self.processor.works && self.fetched.is_empty() {
            let count = self.outbox.len().min(FILTER_TAKES);
            self.fetched.extend(self.outbox.drain(..count));
            self.processor.fetch(now, self.fetched.iter());
            if self.put_off(now, Event::Filter) {
                self.filter_at = Some(self.processor.free(now));
                return;
            }
        }
        self.filter_at = None;
        self.filter_wakes = None;
        if self.processor.works {
            self.judge(now);
            return;
        }
        let mut senders = BTreeSet::new();
        while let Some(packet) = self.outbox.pop_front() {
            senders.insert(packet.from);
            self.send(now, packet);
        }
        for sender in senders {
            self.settle(now, sender);
        }
    }

    /// Judges what the filter has fetched, and lets come what waited for it to begin.
    fn judge(&mut self, now: Time) {
        let fetched = std::mem::take(&mut self.fetched);
        self.processor.judge(now, fetched.iter());
        self.filter_works = self.processor.free(now);
        let senders: BTreeSet<EndId> = fetched.iter().map(|packet| packet.from).collect();
        for packet in fetched {
            self.send(now, packet);
        }
        for (to, packet) in std::mem::take(&mut self.late) {
            self.receive(now, to, &packet);
        }
        for sender in senders {
            self.settle(now, sender);
        }
        self.arm_filter(now);
    }

    fn arm(&mut self, id: EndId) {
        let end = &mut self.ends[id.index()];
        let machine = end.machine.as_deref().and_then(Machine::deadline);
        let now = self.queue.now();
        let app = end
            .app
            .deadline()
            .map(|due| due.max(self.processor.free(now)));
        let due = machine.into_iter().chain(app).min();
        let Some(due) = due else { return };
        // A timer that is overdue fires now, not in the past.
        let due = due.max(now);
        if due < end.armed {
            end.armed = due;
            self.queue.push(due, Event::Timer(id));
        }
    }

    fn arm_gate(&mut self) {
        if let Some(due) = self.gate.deadline() {
            let due = due.max(self.queue.now());
            if self.gate_armed.is_none_or(|armed| due < armed) {
                self.gate_armed = Some(due);
                self.queue.push(due, Event::Gate);
            }
        }
    }

    pub(super) fn gate_deadline(&mut self, now: Time) {
        if self.gate_armed != Some(now) {
            return;
        }
        self.gate_armed = None;
        self.gate.on_deadline(now);
        // Whoever's packets go may send more.
        while let Some((id, decision)) = self.gate.poll_release() {
            if let Some(packet) = self.held.remove(&id) {
                self.leave_host(now, packet, decision == Decision::Accept);
                self.settle(now, packet.from);
            }
        }
        self.arm_gate();
    }
}

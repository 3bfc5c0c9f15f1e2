//! Packets are logged until somebody wants to know more, then given to the sender views.
//!
//! Trouble in a direction makes a sender view due. It is made from the log when the connection ends, or before when the log
//! is full or retransmissions are to be settled: few sender views are there at a time, and most work in the same room one
//! after the other.

use rexmit_time::{Duration, Time};
use rexmit_wire::{Headers, SeqRange};

use super::late::doubt;
use super::log::{self, Log};
use super::{Common, Connection, BOTH};
use crate::account::Ending;
use crate::cost::{count_once, Waits};
use crate::event::{Direction, Event};
use crate::facts::SenderFacts;
use crate::fault::Moment;
use crate::measures::ConnectionState;
use crate::rows;
use crate::sender_view::{Returned, SenderView};

/// Packets between two looks for retransmissions that are settled.
const SETTLE: u32 = 256;

impl Connection {
    /// Logs a packet, and gives it to the sender views that there are.
    #[inline]
    pub(super) fn keep(
        &mut self,
        at: Time,
        direction: Direction,
        headers: &Headers,
        common: &mut Common,
    ) {
        if self.logging {
            if self.log.len() >= common.settings.most_events || !Log::can_hold(self.start, at) {
                self.end_log(common);
            } else {
                if headers.record.tells() {
                    let place = self.log.len() as u32;
                    let message = common.message.take();
                    self.cold.messages.extend(message.map(|one| (place, one)));
                }
                let spare = &mut common.spare;
                self.log.push(self.start, at, direction, headers, spare);
            }
        }
        if self.trouble != [false; 2] || !self.logging {
            self.feed(at, direction, headers, common);
        }
    }

    /// A packet of a connection with trouble, or without a log.
    #[inline(never)]
    fn feed(&mut self, at: Time, direction: Direction, headers: &Headers, common: &mut Common) {
        let event = log::event(at, direction, headers);
        let sacks = headers.sack.blocks();
        let marked = self.is_marked();
        if let Some(replay) = &mut self.cold.replay {
            let message = headers.record.tells().then(|| common.message.take());
            replay.packet(&event, message.flatten());
            common.requests.extend(replay.account.ready());
        }
        if self.logging {
            self.cold.sacks.extend_from_slice(sacks);
        }
        if !marked {
            self.cold.doubles.remember(at, direction, headers);
        }
        for of in BOTH {
            if let Some(view) = &mut self.cold.views.made[of as usize] {
                give(view, of, &event, sacks);
                self.cold.views.unsettled += 1;
            } else if self.cold.views.due[of as usize].is_some() {
                self.cold.views.unsettled += 1;
            } else if !self.logging && self.sides[of as usize].sent {
                let mut view = SenderView::new(of, &self.facts(of), &common.settings);
                self.cold.views.give_returned(of, &mut view);
                give(&mut view, of, &event, sacks);
                self.cold.views.made[of as usize] = Some(Box::new(view));
            } else if self.trouble[of as usize] && !headers.flags.syn() {
                // What the sides agreed on is known when the handshake is over.
                self.have_viewed(of);
            }
        }
        if marked && !self.is_marked() {
            self.cold.doubles.remember_latest(&self.log, self.start);
        }
        if self.cold.views.unsettled >= SETTLE {
            self.cold.views.unsettled = 0;
            self.make_due(common);
            for view in self.cold.views.made.iter_mut().flatten() {
                view.settled(&mut common.retransmissions);
            }
        }
    }

    /// What its sender views keep.
    pub fn kept(&self) -> usize {
        if self.logging && self.trouble == [false; 2] {
            return 0;
        }
        let views = self.cold.views.made.iter().flatten();
        views.map(|view| view.kept()).sum()
    }

    /// A router returned one of its packets, as too large, or as one that cannot be delivered.
    #[cold]
    pub fn returned(&mut self, at: Time, headers: &Headers) {
        let of = self.direction(&headers.flow);
        if headers.flags.rst() {
            // Once a connection is open, it goes on (RFC 9293 §3.9.2.2).
            if of == Direction::Forward && self.state() == ConnectionState::SynSent {
                self.cold.measured().unreachable = true;
                self.last = self.last.max(at);
            }
            return;
        }
        self.cold
            .views
            .take_returned(of, Returned::new(at, headers));
    }

    /// A direction is to have a sender view, if it sent anything and has none.
    pub(super) fn have_viewed(&mut self, of: Direction) {
        if !self.cold.views.has(of) && self.sides[of as usize].sent {
            self.cold.views.due[of as usize] = Some(Box::new(self.facts(of)));
        }
    }

    /// Whether the log tells the latest packets: as long as a direction has no sender view.
    pub(super) fn is_marked(&self) -> bool {
        self.logging && !BOTH.into_iter().all(|of| self.cold.views.has(of))
    }

    /// Makes the sender views that are missing, and keeps no log any more.
    #[cold]
    fn end_log(&mut self, common: &mut Common) {
        if self.is_marked() {
            self.cold.doubles.remember_latest(&self.log, self.start);
        }
        BOTH.into_iter().for_each(|of| self.have_viewed(of));
        self.make_due(common);
        self.drop_log(common);
    }

    fn drop_log(&mut self, common: &mut Common) {
        if !self.logging {
            return;
        }
        self.cold.replay = Some(self.replayed(common));
        common.spare.give(core::mem::take(&mut self.log));
        self.cold.sacks = Vec::new();
        self.logging = false;
    }

    /// Makes the sender views that are due; with both, no log is needed any more.
    #[cold]
    fn make_due(&mut self, common: &mut Common) {
        self.view_both_if_moved();
        for of in BOTH {
            if let Some(facts) = self.cold.views.due[of as usize].take() {
                let view = self.make_view(of, &facts, common);
                self.cold.views.made[of as usize] = Some(Box::new(view));
            }
        }
        if self.logging && self.cold.views.made.iter().all(Option::is_some) {
            self.drop_log(common);
        }
    }

    /// Makes a sender view and gives it what is in the log.
    #[cold]
    fn make_view(&self, of: Direction, facts: &SenderFacts, common: &mut Common) -> SenderView {
        let recycled = core::mem::take(&mut common.recycled);
        let mut facts = *facts;
        facts.late = self.cold.lateness.by.unwrap_or_default();
        let packets = || self.log.iter(self.start, &self.cold.sacks);
        facts.look_through(of, packets().map(|(event, _)| event));
        let mut view = SenderView::within(of, &facts, &common.settings, recycled);
        self.cold.views.give_returned(of, &mut view);
        for (event, sacks) in self.log.iter(self.start, &self.cold.sacks) {
            give(&mut view, of, &event, sacks);
        }
        if let Some(fault) = &common.settings.fault {
            fault.happen(&self.pair.0, Moment::View);
        }
        view
    }

    /// The connection is over: its row, and all others that are left.
    pub fn finish(mut self, evicted: bool, common: &mut Common) -> Box<rows::Connection> {
        for of in BOTH {
            // Trouble before the handshake was over.
            if self.trouble[of as usize] && self.logging {
                self.have_viewed(of);
            }
        }
        let late = !self.view_both_if_moved()
            && self.cold.lateness.longest(self.cold.syns.late()).is_some();
        self.count_late(common);
        let mut row = Box::new(self.row(evicted, &mut common.known));
        let mut waits = [Waits::default(), Waits::default()];
        let mut set = (0, Duration::ZERO);
        let before = common.whatif.len();
        let whole = &mut *row;
        let mut replay = match self.cold.replay.take() {
            Some(replay) => replay,
            None => self.replayed(common),
        };
        let measures = [&mut whole.forward.measures, &mut whole.backward.measures];
        replay.measure(&self, measures);
        for (of, row) in BOTH
            .into_iter()
            .zip([&mut whole.forward, &mut whole.backward])
        {
            let view = match self.cold.views.due[of as usize].take() {
                Some(facts) => Some(self.make_view(of, &facts, common)),
                None => self.cold.views.made[of as usize].take().map(|view| *view),
            };
            if let Some(view) = view {
                let (retransmissions, whatif) = (&mut common.retransmissions, &mut common.whatif);
                let steps;
                (common.recycled, waits[of as usize], steps) =
                    view.finish(retransmissions, whatif, row);
                set = steps.max(set);
                if late {
                    doubt(of, retransmissions, row, &mut waits[of as usize]);
                }
            }
            row.capture_duplicates += self.cold.doubles.packets(of);
        }
        if set.0 > 0 {
            common.set = (common.set.0 + 1, common.set.1.max(set.1));
        }
        let [forward, backward] = &waits;
        let of = |waits, row: &rows::SenderRow| (waits, row.measures.unacked, row.position);
        let senders = [of(forward, &row.forward), of(backward, &row.backward)];
        [row.forward.account, row.backward.account] = replay.account.finish(&Ending {
            end: row.end,
            one_sided: row.one_sided,
            senders,
            spurious: [&row.forward, &row.backward].map(rows::SenderRow::has_lost_nothing),
        });
        common.requests.extend(replay.account.requests());
        common.replay = Some(replay);
        let counted = count_once([forward, backward], row.start, row.end);
        [row.forward.waited, row.backward.waited] = counted;
        for whatif in &mut common.whatif[before..] {
            // Where both ends waited, the time is one's alone, and so is what is saved of it.
            let all = counted[whatif.direction as usize].iter();
            let waited = all.fold(Duration::ZERO, |sum, of| sum + *of);
            whatif.waited = whatif.waited.max(-waited);
        }
        if let Some(fault) = &common.settings.fault {
            fault.happen(&row.flow, Moment::End);
        }
        common.spare.give(self.log);
        row
    }
}

/// Gives a packet to the view of the sender in direction `of`.
#[inline]
fn give(view: &mut SenderView, of: Direction, event: &Event, sacks: &[SeqRange]) {
    if event.direction == of {
        view.data(event);
    } else {
        view.ack(event, sacks);
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use rexmit_wire::headers::{Notes, Record, Sack, SynOptions};
    use rexmit_wire::message::Message;
    use rexmit_wire::{Flags, FlowKey, SeqNum};

    use super::*;
    use crate::settings::Settings;

    /// A packet: the wait before it, its side, its number and acknowledgement, payload, one SACK block, time to live.
    type Draft = (i64, bool, (u32, u32), u32, Option<(u32, u32)>, u8);

    fn draft() -> impl Strategy<Value = Draft> {
        (
            prop_oneof![9 => 0i64..40_000_000, 1 => 0i64..3_000_000_000],
            any::<bool>(),
            (0u32..8, 0u32..8),
            prop_oneof![Just(0), Just(500)],
            proptest::option::weighted(0.1, (0u32..8, 1u32..3)),
            prop_oneof![20 => Just(64), 1 => Just(63)],
        )
    }

    fn headers((_, back, (seq, ack), len, block, _): &Draft, number: usize, syn: bool) -> Headers {
        let address = core::net::IpAddr::V4(core::net::Ipv4Addr::LOCALHOST);
        let flow = FlowKey {
            src: address,
            dst: address,
            src_port: 40_000,
            dst_port: 80,
        };
        // Numbers go on slowly, so that some come again.
        let place = |n: u32| SeqNum::new(n.wrapping_add(number as u32 / 4).wrapping_mul(500));
        let flags = match (syn, back) {
            (true, false) => Flags::SYN,
            (true, true) => Flags(Flags::SYN.0 | Flags::ACK.0),
            _ => Flags::ACK,
        };
        Headers {
            flow: if *back { flow.reversed() } else { flow },
            seq: place(*seq),
            ack: place(*ack),
            payload_len: if syn { 0 } else { *len },
            window: 60_000,
            flags,
            ttl: 64,
            ip_id: Some(number as u16 / 2 + 1),
            dont_fragment: true,
            ecn: 0,
            record: if ack % 2 == 1 {
                Record::Request
            } else {
                Record::None
            },
            notes: Notes::default(),
            timestamps: None,
            sack: block
                .iter()
                .map(|(start, len)| SeqRange::new(place(*start), len * 500))
                .collect::<Sack>(),
            syn: syn.then(SynOptions::default),
        }
    }

    proptest! {
        #[test]
        fn it_is_the_same_when_a_half_is_made(
            drafts in proptest::collection::vec(draft(), 1..400),
            most_events in prop_oneof![2 => Just(512usize), 1 => 1usize..40],
        ) {
            let run = |at_once: bool, frozen: bool| {
                let mut common = Common::new(Settings { most_events, ..Settings::default() });
                let mut now = Time::from_nanos(1_000_000_000_000);
                let first = headers(&drafts[0], 0, true);
                let mut connection = Connection::new(0, now, &first);
                let mut settled = Vec::new();
                for (number, draft) in drafts.iter().enumerate() {
                    now += Duration::from_nanos(draft.0);
                    // One that was routed comes once more.
                    let doubles = draft.5 < 64 && number > 2;
                    let number = number - usize::from(doubles);
                    let headers = Headers { ttl: draft.5, ..headers(&drafts[number], number, number < 2) };
                    connection.thaw(&mut common);
                    common.message = Some(Message::Hello(Some(number.to_string())));
                    connection.packet(now, &headers, &mut common);
                    if at_once {
                        connection.make_due(&mut common);
                    }
                    settled.push(common.retransmissions.len());
                    if frozen {
                        connection.freeze(&mut common.offers, &mut common.spare);
                    }
                }
                connection.thaw(&mut common);
                let row = connection.finish(false, &mut common);
                let moved = common.moved.0 > 0;
                let made = (common.retransmissions, common.whatif, common.requests);
                ((row, settled, made), moved)
            };
            let (at_end, moved) = run(false, false);
            prop_assert_eq!(&run(false, true).0, &at_end);
            // A direction is moved by what is known when the first sender view is made.
            let (at_once, moved_at_once) = run(true, false);
            if !moved && !moved_at_once {
                prop_assert_eq!(at_once, at_end);
            }
        }
    }
}

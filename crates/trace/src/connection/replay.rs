//! What a connection's packets tell, one after the other: the account of its time, and what is measured of directions without
//! trouble.

use rexmit_time::{Duration, Time};
use rexmit_wire::message::Message;
use rexmit_wire::SeqNum;

use super::side::Side;
use super::{Common, Connection, BOTH};
use crate::account::{Account, Step};
use crate::event::Event;
use crate::measures::percentiles::Percentiles;
use crate::measures::window::Full;
use crate::measures::{Extent, Measures};

/// One direction of a log that is gone through again.
#[derive(Debug, Default)]
struct Replayed {
    side: Side,
    /// The number of its SYN.
    isn: Option<SeqNum>,
    rtts: Percentiles,
    full: Full,
    data: Extent,
}

/// A connection gone through packet by packet: from its log when it is over, from when its log is dropped on as packets come.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    views: [Replayed; 2],
    /// Of each side: how far its window is shifted, and what it offered last.
    shifts: [u8; 2],
    windows: [u32; 2],
    /// Of each side: the largest payload it may send, and how far it is from the monitor and back.
    segments: [u32; 2],
    delays: [Duration; 2],
    /// What both sides offered is known.
    agreed: bool,
    pub account: Account,
}

impl Connection {
    /// Goes through the log, in memory that another connection has left.
    pub(super) fn replayed(&mut self, common: &mut Common) -> Box<Replay> {
        let mut replay = common.replay.take().unwrap_or_default();
        let terms = BOTH.map(|of| self.terms(of));
        for of in BOTH {
            replay.shifts[of.reversed() as usize] = terms[of as usize].window_shift.min(14);
            replay.segments[of as usize] = terms[of as usize].mss;
            replay.delays[of as usize] = self.cold.syns.delay(of).unwrap_or(Duration::ZERO);
        }
        replay.agreed = terms[0].agreed;
        replay.begin(self.start, common.settings.timeline);
        let mut messages = core::mem::take(&mut self.cold.messages)
            .into_iter()
            .peekable();
        let events = self.log.iter(self.start, &self.cold.sacks);
        for (number, (event, _)) in events.enumerate() {
            let message = messages.next_if(|(at, _)| *at as usize == number);
            replay.packet(&event, message.map(|(_, message)| message));
        }
        replay
    }
}

impl Replay {
    /// Gives what the log tells to the measures of the directions of its connection that have no sender view.
    pub(super) fn measure(&self, connection: &Connection, measures: [&mut Measures; 2]) {
        for (of, measures) in BOTH.into_iter().zip(measures) {
            measures.marks = self.account.marks(of);
            if !connection.logging
                || connection.cold.views.has(of)
                || !connection.sides[of as usize].sent
            {
                continue;
            }
            let view = &self.views[of as usize];
            measures.window_full = self.agreed.then(|| view.full.length());
            measures.data = view.data.length();
            // As in the other columns of round-trip times: what lies between the monitor and the sender is the same for
            // all.
            let delay = self.delays[of as usize];
            measures.rtt =
                connection.sides[of as usize]
                    .rtt
                    .summary()
                    .and_then(|[least, _, most]| {
                        let rtt = view.rtts.summary(least, most)?;
                        Some(rtt.map(|rtt| rtt + delay))
                    });
        }
    }

    fn begin(&mut self, start: Time, timeline: bool) {
        for view in &mut self.views {
            view.side = Side::default();
            view.isn = None;
            view.rtts.clear();
            view.full = Full::default();
            view.data = Extent::default();
        }
        self.windows = [0; 2];
        let mss = self.segments.map(|mss| self.agreed.then_some(mss));
        self.account.begin(start, mss, timeline);
    }

    /// As [`Connection::packet`] has it, as far as it matters here.
    pub fn packet(&mut self, event: &Event, message: Option<Message>) {
        let (me, peer) = (
            event.direction as usize,
            event.direction.reversed() as usize,
        );
        let flags = event.flags;
        let range = event.range();
        let mut step = Step {
            at: event.at,
            of: event.direction,
            flags,
            payload_len: event.payload_len,
            record: event.record,
            seq: event.seq,
            end: range.end,
            new: false,
            ack: None,
            window: 0,
            id: event.ip_id.filter(|id| *id != 0),
            stamps: event.timestamps,
            sample: None,
        };
        if flags.rst() && !flags.syn() {
            return self.account.step(&step, None);
        }
        let Replayed { side, isn, .. } = &mut self.views[me];
        if flags.syn() {
            if isn.replace(event.seq) != Some(event.seq) {
                side.begin(range);
            }
            if flags.rst() {
                return;
            }
        } else if !range.is_empty() {
            step.new = !side.sent || range.end.is_after(side.nxt());
            side.advance(event.at, range);
        }
        if event.payload_len > 0 {
            self.views[me].data.note(event.at);
            self.note_flight(me, event.at, true);
        }
        if flags.ack() {
            let view = &mut self.views[peer];
            let before = view.side.rtt;
            view.side.acked(event.at, event.ack, false);
            if view.side.rtt.count != before.count {
                let sample = view.side.rtt.sum - before.sum;
                view.rtts.add(sample);
                step.sample = Some(sample);
            }
            let shift = if flags.syn() { 0 } else { self.shifts[me] };
            self.windows[me] = u32::from(event.window) << shift;
            step.ack = Some(event.ack);
            step.window = self.windows[me];
            // Its answer comes by so much later.
            self.note_flight(peer, event.at + self.delays[peer], false);
        }
        self.account.step(&step, message);
    }

    fn note_flight(&mut self, of: usize, at: Time, new: bool) {
        let view = &mut self.views[of];
        let (flight, window) = (view.side.flight(), self.windows[1 - of]);
        view.full.note(at, flight, window, self.segments[of], new);
    }
}

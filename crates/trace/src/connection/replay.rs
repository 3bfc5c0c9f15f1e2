//! What the log tells of directions without trouble when their connection is over.

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::side::Side;
use super::{Common, Connection, BOTH};
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

/// Recycled for going through logs.
#[derive(Debug, Default)]
pub(crate) struct Replay {
    views: [Replayed; 2],
    /// Of each side: how far its window is shifted, and what it offered last.
    shifts: [u8; 2],
    windows: [u32; 2],
    /// Of each side: the largest payload it may send, and how far it is from the monitor and back.
    segments: [u32; 2],
    delays: [Duration; 2],
}

impl Connection {
    /// Goes through the log again for the directions that have no sender view, and gives what it tells to their measures.
    pub(super) fn replay(&self, common: &mut Common, measures: [&mut Measures; 2]) {
        let wanted = BOTH.map(|of| !self.has_half(of) && self.sides[of as usize].sent);
        if wanted == [false; 2] || !self.logging {
            return;
        }
        let replay = &mut common.replay;
        replay.begin();
        let terms = BOTH.map(|of| self.terms(of));
        for of in BOTH {
            replay.shifts[of.reversed() as usize] = terms[of as usize].window_shift.min(14);
            replay.segments[of as usize] = terms[of as usize].mss;
            replay.delays[of as usize] = self.delay(of).unwrap_or(Duration::ZERO);
        }
        for (event, _) in self.log.iter(self.start, &self.cold.sacks) {
            replay.packet(&event);
        }
        for ((of, measures), terms) in BOTH.into_iter().zip(measures).zip(&terms) {
            if !wanted[of as usize] {
                continue;
            }
            let view = &replay.views[of as usize];
            measures.window_full = terms.agreed.then(|| view.full.length());
            measures.data = view.data.length();
            // As in the other columns of round-trip times: what lies between the monitor and the sender is the same for
            // all.
            let delay = replay.delays[of as usize];
            measures.rtt = self.sides[of as usize]
                .rtt
                .summary()
                .and_then(|[least, _, most]| {
                    let rtt = view.rtts.summary(least, most)?;
                    Some(rtt.map(|rtt| rtt + delay))
                });
        }
    }
}

impl Replay {
    fn begin(&mut self) {
        for view in &mut self.views {
            view.side = Side::default();
            view.isn = None;
            view.rtts.clear();
            view.full = Full::default();
            view.data = Extent::default();
        }
        self.windows = [0; 2];
    }

    /// As [`Connection::packet`] has it, as far as it matters here.
    fn packet(&mut self, event: &Event) {
        let (me, peer) = (
            event.direction as usize,
            event.direction.reversed() as usize,
        );
        let flags = event.flags;
        if flags.rst() && !flags.syn() {
            return;
        }
        let range = event.range();
        let Replayed { side, isn, .. } = &mut self.views[me];
        if flags.syn() {
            if isn.replace(event.seq) != Some(event.seq) {
                side.begin(range);
            }
            if flags.rst() {
                return;
            }
        } else if !range.is_empty() {
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
                view.rtts.add(view.side.rtt.sum - before.sum);
            }
            let shift = if flags.syn() { 0 } else { self.shifts[me] };
            self.windows[me] = u32::from(event.window) << shift;
            // Its answer comes by so much later.
            self.note_flight(peer, event.at + self.delays[peer], false);
        }
    }

    fn note_flight(&mut self, of: usize, at: Time, new: bool) {
        let view = &mut self.views[of];
        let (flight, window) = (view.side.flight(), self.windows[1 - of]);
        view.full.note(at, flight, window, self.segments[of], new);
    }
}

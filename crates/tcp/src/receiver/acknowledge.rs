//! Whether what came is acknowledged at once (`__tcp_ack_snd_check`, `tcp_send_dupack`).

use rexmit_time::Time;
use rexmit_wire::SeqRange;

use super::{Header, Receiver, Sending};
use crate::segment::Segment;
use crate::settings::DelayedAck;

impl Receiver {
    /// A segment outside the window came: it is answered by an acknowledgement of what is there (`tcp_send_dupack`).
    pub fn reject(&mut self, segment: &Segment) -> Header {
        if segment.space() > 0 && segment.seq.is_before(self.next) {
            self.enter_quick();
            let end = segment.end();
            self.sacks.set_duplicate(SeqRange {
                start: segment.seq,
                end: if end.is_after(self.next) {
                    self.next
                } else {
                    end
                },
            });
        }
        self.header()
    }

    /// All that a segment brought is worked through and our data have left: what is to be acknowledged is so now, or later
    /// (`tcp_ack_snd_check`).
    pub fn acknowledge(&mut self, now: Time, sending: &Sending) -> Option<Header> {
        if !self.delay.pending.scheduled {
            return None;
        }
        let at_once = match self.settings.receiver.delayed_ack {
            DelayedAck::Rfc => self.plainly_at_once(),
            form => self.at_once(now, sending, form),
        };
        match at_once {
            Some(true) => Some(self.header()),
            Some(false) => None,
            None => self.delay.wait(now, sending).then(|| self.header()),
        }
    }

    /// Now, not now, or after the delay (`__tcp_ack_snd_check`).
    fn at_once(&mut self, now: Time, sending: &Sending, form: DelayedAck) -> Option<bool> {
        let more_than_one = self.unacknowledged() > self.peer_mss
            && ((form != DelayedAck::Linux3
                && self.next == self.copied
                && !self.leaves_to_reader())
                || self.candidate_window() >= self.window.offered);
        if more_than_one || self.delay.is_quick() || self.delay.pending.now {
            return Some(true);
        }
        if !self.queues.has_gap() {
            return None;
        }
        if form == DelayedAck::Linux3 || !self.sack {
            return Some(true);
        }
        let mut rtt = self.rtt.eightfold();
        if let Some(srtt) = sending.srtt {
            rtt = rtt.min(srtt.as_nanos().max(0) as u64 * 8 / 1000);
        }
        Some(self.delay.sack_now(now, self.next, rtt, &self.settings))
    }

    /// RFC 5681 §4.2: at least every second full-sized segment, and at once while data are missing.
    fn plainly_at_once(&self) -> Option<bool> {
        let two_full = self.unacknowledged() >= 2 * self.peer_mss;
        let at_once = two_full || self.queues.has_gap() || self.delay.pending.now || self.fin;
        at_once.then_some(true)
    }

    pub(super) fn unacknowledged(&self) -> u32 {
        self.next.offset_from(self.window.offered_at).max(0) as u32
    }
}

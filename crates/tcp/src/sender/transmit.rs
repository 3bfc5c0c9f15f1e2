//! Segments on their way out: for the first time, and again.

use rexmit_wire::SeqRange;

use super::flight::{packets, Marks, SentSegment};
use super::{Sender, Transmit};
use crate::recovery::machine::{self, Actor as _};
use crate::recovery::Job;
use crate::settings::IdleRestart;
use crate::words::Mechanism;

impl Sender {
    /// Sends the first unsent segment; returns the packets it makes (`tcp_transmit_skb`, `tcp_event_new_data_sent`).
    pub(super) fn transmit_new(&mut self, probe: bool) -> u32 {
        let Some(head) = self.written.backlog.pop() else {
            return 0;
        };
        let mut marks = Marks::default();
        if head.fin {
            marks.set(Marks::FIN);
        }
        if head.push {
            marks.set(Marks::PUSH);
        }
        let len = head.len();
        let mut segment = SentSegment::new(
            head.seq,
            head.end,
            packets(len, self.flight.sizes.mss),
            marks,
        );
        self.put_out(&mut segment, None, probe);
        self.timing.time(head.seq);
        // New data turn the timer back to the timeout, from what it was set for in between.
        let job = self.timing.job();
        let converts = matches!(job, Some(Job::Probe | Job::EarlyRetransmit));
        let nothing_out = self.flight.counts().out == 0;
        self.flight.push(segment);
        if nothing_out || converts {
            machine::rearm(self);
        }
        // tcp_minshall_update
        if len < segment.count() * self.flight.sizes.mss {
            self.written.nagle.last_short = head.end;
        }
        segment.count()
    }

    /// Hands a packet out and notes when.
    fn put_out(&mut self, segment: &mut SentSegment, mechanism: Option<Mechanism>, probe: bool) {
        let len = segment.len();
        if len > 0 {
            let last_sent = self.output.last_sent;
            if self.flight.settings.congestion.idle_restart == IdleRestart::WhenSent {
                self.window_mut().restart_after_idle(last_sent);
            }
            self.window_mut().tell_sent(last_sent);
            self.output.last_sent = self.timing.moment.now;
        }
        let (in_host_bytes, number) = self.output.enter(&self.flight.settings.segments, len);
        segment.transmission = number.unwrap_or(segment.transmission);
        segment.at = self.timing.moment.micros();
        segment.delivered = self.flight.delivered();
        segment.marks.clear(Marks::SAMPLED | Marks::ALONE);
        self.congestion
            .depart(segment, &self.flight, &mut self.timing);
        let ect = self.ecn && len > 0 && mechanism.is_none();
        let cwr = ect && std::mem::take(&mut self.congestion.tells_reduction);
        self.output.packets.push_back(Transmit {
            range: SeqRange::new(segment.seq, len),
            fin: segment.marks.any(Marks::FIN),
            psh: segment.marks.any(Marks::PUSH),
            mechanism,
            probe,
            ect,
            cwr,
            in_host_bytes,
            buffer: self.flight.memory.find(segment.seq),
        });
    }

    /// Sends a segment again as far as the peer's window and what the host still holds allow; `most` bounds its packets.
    /// Whether it went out (`__tcp_retransmit_skb`).
    pub(super) fn transmit_again(
        &mut self,
        index: usize,
        most: u32,
        mechanism: Mechanism,
        probe: bool,
    ) -> bool {
        if self.is_in_host(self.flight.at(index).transmission) {
            return false;
        }
        let now = self.timing.moment.now;
        let paces = self.flight.settings.segments.pacing_rate;
        let window = self.peer.window_end(self.flight.una());
        let host = &self.output.host;
        let in_host = |one: &SentSegment| paces && host.holds(now, one.transmission);
        if !self.flight.ready_again(index, most, window, in_host) {
            return false;
        }
        let mut segment = *self.flight.at(index);
        self.counters.retransmissions += segment.count();
        self.episode.causes.note(mechanism);
        self.put_out(&mut segment, Some(mechanism), probe);
        let marked = !probe || self.flight.settings.loss.tlp_marks_retransmission;
        self.flight.left_again(index, segment, marked);
        true
    }

    /// Whether the packet of a transmission has not left the host yet.
    pub(super) fn is_in_host(&mut self, transmission: u32) -> bool {
        let segments = &self.flight.settings.segments;
        let held = self
            .output
            .holds(segments, self.timing.moment.now, transmission);
        self.counters.held_in_host += u32::from(held);
        held
    }

    /// Sends a segment again and counts the retransmission as in flight; the first of them starts the clock of undo and give-up
    /// (`tcp_retransmit_skb`).
    pub(super) fn retransmit(&mut self, index: usize, most: u32, mechanism: Mechanism) -> bool {
        let sent = self.transmit_again(index, most, mechanism, false);
        if sent {
            self.flight.count_retransmission(index);
            self.timing.forget_timed();
        }
        if sent || self.flight.settings.congestion.attempts_count {
            let segment = self.flight.at(index);
            let stamp = self.timing.stamp(segment.at);
            self.episode
                .undo
                .note_retransmission(Some(stamp), segment.count());
        }
        sent
    }
}

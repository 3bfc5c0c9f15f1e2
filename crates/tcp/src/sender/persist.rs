//! Probing a window that is shut (RFC 9293 §3.8.6.1; `ICSK_TIME_PROBE0`).

use rexmit_wire::SeqRange;

use super::{Sender, Transmit};
use crate::recovery::machine::Clock as _;
use crate::recovery::Job;

impl Sender {
    /// Nothing is out and nothing may be sent: the window is to be probed (`tcp_check_probe_timer`).
    pub(super) fn check_persist(&mut self) {
        if self.queue.counts.out == 0 && self.timing.timer.job().is_none() {
            self.set_timer(Job::Persist, self.timing.persist_base(&self.moment.clock));
        }
    }

    /// An acknowledgement came while nothing was out (`tcp_ack_probe`).
    pub(super) fn acknowledge_persist(&mut self) {
        let Some(head) = self.written.backlog.head() else {
            return;
        };
        if head.end.is_after(self.window_end()) {
            let longest = self.settings.timers.max_rto;
            let wait = self.timing.persist_wait(&self.moment.clock, longest);
            self.set_timer(Job::Persist, wait);
        } else {
            self.timing.backoff = 0;
            self.timing.timer.clear();
        }
    }

    /// `tcp_probe_timer`
    pub(super) fn on_persist_timer(&mut self) {
        if self.queue.counts.out > 0 || self.written.backlog.is_empty() {
            self.timing.window_probes = 0;
            return;
        }
        let most = if self.orphan {
            8
        } else {
            self.settings.timers.retries
        };
        if self.timing.window_probes >= most {
            self.timed_out = true;
            return;
        }
        self.send_window_probe();
    }

    /// Sends what the window takes of the first segment, else a segment that the peer must answer
    /// (`tcp_send_probe0`, `tcp_write_wakeup`).
    fn send_window_probe(&mut self) {
        let room = self.window_end();
        match self.written.backlog.head() {
            Some(head) if head.seq.is_before(room) => {
                if self.written.nagle.pushed.is_before(head.end) {
                    self.written.nagle.pushed = head.end;
                }
                let most = room
                    .offset_from(head.seq)
                    .unsigned_abs()
                    .min(self.sizes.mss);
                if most < head.len() {
                    self.written.cut_head(&head, most, &self.settings);
                }
                self.written.backlog.push_head();
                self.transmit_new(false);
            }
            _ => self.output.packets.push_back(Transmit {
                range: SeqRange::new(self.una - 1, 0),
                fin: false,
                psh: false,
                mechanism: None,
                probe: false,
                in_host_bytes: 0,
                buffer: None,
            }),
        }
        if self.queue.counts.out > 0 || self.written.backlog.is_empty() {
            self.timing.window_probes = 0;
            self.timing.backoff = 0;
            return;
        }
        self.timing.window_probes += 1;
        if u32::from(self.timing.backoff) < self.settings.timers.retries {
            self.timing.backoff += 1;
        }
        let longest = self.settings.timers.max_rto;
        let wait = self.timing.persist_wait(&self.moment.clock, longest);
        self.set_timer(Job::Persist, wait);
    }
}

//! Probing a window that is shut (RFC 9293 §3.8.6.1; `ICSK_TIME_PROBE0`).

use rexmit_wire::SeqRange;

use super::{Sender, Transmit};

impl Sender {
    /// An acknowledgement came while nothing was out (`tcp_ack_probe`).
    pub(super) fn acknowledge_persist(&mut self) {
        let Some(head) = self.written.backlog.head() else {
            return;
        };
        if head.end.is_after(self.room().window_end()) {
            self.timing.set_persist();
        } else {
            self.timing.end_persist();
        }
    }

    /// `tcp_probe_timer`
    pub(super) fn on_persist_timer(&mut self) {
        if self.flight.counts().out > 0 || self.written.backlog.is_empty() {
            self.timing.window_probe_answered();
            return;
        }
        if self.timing.gives_up_probing(self.orphan) {
            self.timed_out = true;
            return;
        }
        self.send_window_probe();
    }

    /// Sends what the window takes of the first segment, else a segment that the peer must answer
    /// (`tcp_send_probe0`, `tcp_write_wakeup`).
    fn send_window_probe(&mut self) {
        let room = self.room().window_end();
        match self.written.backlog.head() {
            Some(head) if head.seq.is_before(room) => {
                if self.written.nagle.pushed.is_before(head.end) {
                    self.written.nagle.pushed = head.end;
                }
                let most = room
                    .offset_from(head.seq)
                    .unsigned_abs()
                    .min(self.flight.sizes.mss);
                if most < head.len() {
                    self.written.cut_head(&head, most, &mut self.flight);
                }
                self.written.backlog.push_head();
                self.transmit_new(false);
            }
            _ => self.output.packets.push_back(Transmit {
                range: SeqRange::new(self.flight.una() - 1, 0),
                fin: false,
                psh: false,
                mechanism: None,
                probe: false,
                ect: false,
                cwr: false,
                in_host_bytes: 0,
                buffer: None,
            }),
        }
        let out = self.flight.packets_out() > 0 || self.written.backlog.is_empty();
        self.timing.count_window_probe(out);
    }
}

//! The loop that sends new data.

use rexmit_time::Time;

use super::nagle::Hold;
use super::{Sender, Writer};
use crate::recovery::machine::{self, Actor as _, Output as _};

/// How much a run of the write loop sends (`push_one`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Extent {
    /// All that may go.
    All,
    /// One segment at most.
    One,
    /// One segment, whatever the congestion window says: a tail loss probe.
    Probe,
}

/// Sending goes on that waited for the host or for the pace (`tcp_tsq_handler`, `tcp_pace_kick`).
pub(super) fn go_on(sender: &mut Sender) {
    if sender.flight.settings.segments.small_queue_retransmits
        && sender.flight.counts().lost > sender.flight.counts().retransmissions
        && sender.congestion.window.cwnd > sender.flight.in_flight()
    {
        sender.send_lost();
    }
    let hold = sender.written.nagle.hold();
    sender.send_new_data(hold, Extent::All);
}

impl Sender {
    /// The sender for the program, at `now`.
    pub fn writer(&mut self, now: Time) -> Writer<'_> {
        self.timing.moment.now = now;
        let goal = self.room().size_goal();
        Writer { sender: self, goal }
    }

    /// Bytes of the send buffer in use, overhead counted (`sk_wmem_queued`).
    #[must_use]
    pub fn buffered(&self) -> u32 {
        self.flight
            .cost(self.written.backlog.len(), self.written.end)
    }

    /// Whether a writer waits for room in the send buffer (`SOCK_NOSPACE`).
    pub fn set_writer_waits(&mut self, waits: bool) {
        self.written.nagle.writer_waits = waits;
    }

    /// A packet of ours that counted `bytes` left the host; packets leave in the order in which they were given out. What
    /// waited for that is sent (`tcp_wfree`, `tcp_tsq_write`).
    pub fn left_host(&mut self, now: Time, bytes: u32) {
        if !self.output.host.leave(now, bytes) {
            return;
        }
        self.timing.moment.now = now;
        go_on(self);
    }

    /// Sends what may be sent (`tcp_push_pending_frames`).
    pub(super) fn push_pending(&mut self) {
        if !self.written.backlog.is_empty() {
            self.push_with(self.written.nagle.hold());
        }
    }

    /// As [`Sender::push_pending`]; where nothing may go and nothing is out, the peer's window is probed
    /// (`__tcp_push_pending_frames`).
    pub(super) fn push_with(&mut self, hold: Hold) {
        if self.send_new_data(hold, Extent::All) {
            // tcp_check_probe_timer
            self.timing.begin_persist();
        }
    }

    /// Sends new data as far as the windows, Nagle's rule and the host's limit allow. Whether data wait although nothing is
    /// out (`tcp_write_xmit`).
    pub(super) fn send_new_data(&mut self, hold: Hold, extent: Extent) -> bool {
        let mut sent = 0;
        let mut limited = false;
        while let Some(mut head) = self.written.backlog.head() {
            if self.timing.waits_for_pace() {
                break;
            }
            let quota = match self.room().quota(&head) {
                0 if extent == Extent::Probe => 1,
                0 => break,
                quota => quota.min(self.room().burst_segments()),
            };
            if self.flight.settings.segments.fill_segments && !self.flight.sizes.apart {
                self.written
                    .backlog
                    .fill_head((quota * self.flight.sizes.mss).saturating_sub(head.len()));
                head = self.written.backlog.head().unwrap_or(head);
            }
            if !self.flight.sizes.fit(&head, self.room().window_end()) {
                break;
            }
            if head.len() > self.flight.sizes.mss {
                if extent == Extent::All {
                    let waits = self.room().defers(&head, &self.output);
                    self.output
                        .defer(waits.is_some(), self.timing.moment.tick());
                    if let Some(waits) = waits {
                        limited |= waits.limited;
                        break;
                    }
                }
            } else if self.room().waits(&head, hold) {
                break;
            }
            let most = self.room().cut_at(&head, quota, hold);
            if head.len() > most {
                self.written.cut_head(&head, most, &mut self.flight);
                head = self.written.backlog.head().unwrap_or(head);
            }
            let rate = self.congestion.pacing_rate;
            let alone = self.flight.segments() <= 1;
            if self.output.is_full(
                &self.flight.settings.segments,
                head.len(),
                false,
                rate,
                alone,
            ) {
                break;
            }
            sent += self.transmit_new(extent == Extent::Probe);
            if extent != Extent::All {
                break;
            }
        }
        limited |= self.flight.in_flight() >= self.congestion.window.cwnd;
        let busy = self.written.nagle.writer_waits;
        self.window_mut().validate(sent, limited, busy);
        if sent == 0 {
            return self.flight.counts().out == 0 && !self.written.backlog.is_empty();
        }
        self.window_mut().note_sent(sent);
        if extent != Extent::Probe {
            machine::schedule_probe(self, false);
        }
        false
    }
}

//! The tail loss probe: what [`recovery::tlp`](crate::recovery::tlp) decides, carried out.

use super::nagle::Hold;
use super::write::Extent;
use super::Sender;
use crate::recovery::machine::{self, Clock as _};
use crate::recovery::tlp::{self, Fire, Probe};
use crate::settings::Tlp;
use crate::words::Mechanism;

impl Sender {
    /// The wait before a probe is over (`tcp_send_loss_probe`).
    pub(super) fn send_probe(&mut self) {
        let rule = self.flight.settings.loss.tlp;
        let head = self.written.backlog.head();
        let probe = tlp::fire(
            rule,
            Fire {
                probe_out: self.episode.probe.high.is_some(),
                new_data: head.is_some(),
                fits_peer_window: head
                    .is_some_and(|head| self.flight.sizes.fit(&head, self.room().window_end())),
            },
        );
        let sent = match probe {
            Probe::Nothing => false,
            Probe::NewData => {
                let out = self.flight.packets_out();
                self.send_new_data(Hold::OFF, Extent::Probe);
                self.flight.packets_out() > out
            }
            Probe::LastSegment => self.retransmit_last(),
        };
        if sent {
            self.counters.probes += 1;
            if probe == Probe::LastSegment || rule == Tlp::Rfc8985 {
                self.episode.probe.high = Some(self.flight.nxt());
                self.episode.probe.retransmission = probe == Probe::LastSegment;
            }
        }
        if tlp::full_timeout_follows(rule, sent) {
            self.timing.clear_timer();
        }
        machine::rearm(self);
    }

    /// Whether the last segment went out again.
    fn retransmit_last(&mut self) -> bool {
        let Some(mut last) = self.flight.segments().checked_sub(1) else {
            return false;
        };
        let segment = *self.flight.at(last);
        if self.is_in_host(segment.transmission) {
            return false;
        }
        let before = (segment.count() - 1) * self.flight.sizes.mss;
        if before > 0 && segment.len() > before {
            self.flight.split(last, before);
            last += 1;
        }
        if self.flight.at(last).len() == 0 && !self.flight.settings.loss.tlp_probes_bare_fin {
            return false;
        }
        self.transmit_again(last, 1, Mechanism::Tlp, true)
    }
}

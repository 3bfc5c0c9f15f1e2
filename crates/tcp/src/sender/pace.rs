//! The pace at which packets leave, where the congestion control asks for one, and the samples of the rate that it follows.

use super::congestion::Congestion;
use super::flight::{Flight, SentSegment};
use super::timing::Timing;
use super::writer::Writer;

impl Congestion {
    /// A packet leaves now, or when the pace has it: what it remembers of that, and when the next may leave
    /// (`__tcp_transmit_skb`, `tcp_rate_skb_sent`).
    pub fn depart(&mut self, segment: &mut SentSegment, flight: &Flight, timing: &mut Timing) {
        let Some(pacing) = self.control.pacing() else {
            return;
        };
        let prior = timing.departs;
        let at = prior.max(timing.moment.now);
        let (count, len) = (segment.count(), segment.len());
        segment.at = at.as_nanos() / 1_000;
        timing.departs = pacing.after(at, prior, count, len, self.pacing_rate);
        let nothing_out = flight.packets_out() == 0;
        segment.depart(pacing.rate.sent(segment.at, nothing_out));
    }
}

impl Writer<'_> {
    /// The program writes: has it had nothing to send that the window would have taken
    /// (`tcp_rate_check_app_limited`)?
    pub(super) fn note_limit_by_program(&mut self) {
        let sender = &mut *self.sender;
        let Some(pacing) = sender.congestion.control.pacing() else {
            return;
        };
        let (in_flight, counts) = (sender.flight.in_flight(), sender.flight.counts());
        let waiting = sender.written.end.offset_from(sender.flight.nxt());
        if waiting < sender.flight.mss() as i32
            && sender.output.host.bytes() == 0
            && in_flight < sender.congestion.window.cwnd
            && counts.lost <= counts.retransmissions
        {
            let delivered = sender.flight.delivered();
            pacing.rate.limit_by_program(delivered, in_flight);
        }
    }
}

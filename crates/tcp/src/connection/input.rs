//! Segments that come in, state by state (RFC 9293 §3.10.7, `tcp_rcv_state_process`).

use rexmit_time::Time;

use crate::segment::Segment;
use crate::sender::{Ack, Peer, Sender};

use super::buffer::SendBuffer;
use super::types::{Event, State};
use super::Connection;

impl Connection {
    /// Takes in a segment from the peer.
    pub fn on_segment(&mut self, now: Time, segment: &Segment) {
        match self.state {
            State::Closed => self.outbox.refuse(segment),
            State::SynSent => self.in_syn_sent(now, segment),
            State::SynReceived => self.in_syn_received(now, segment),
            State::TimeWait | State::FinWait2 if self.expires.is_some() => {
                self.in_time_wait(now, segment);
            }
            _ => self.synchronized(now, segment),
        }
    }

    /// `tcp_rcv_synsent_state_process`
    fn in_syn_sent(&mut self, now: Time, segment: &Segment) {
        if !segment.flags.ack() {
            return;
        }
        if segment.ack != self.local.iss + 1 {
            self.outbox.refuse(segment);
            return;
        }
        if segment.flags.rst() {
            self.end(Some(Event::Reset));
            return;
        }
        if !segment.flags.syn() {
            return;
        }
        let stamps = segment
            .timestamps
            .filter(|_| self.settings.segments.timestamps);
        self.receiver
            .synchronize(segment.seq + 1, stamps.map_or(0, |stamps| stamps.value));
        if let Some(handshake) = &mut self.handshake {
            handshake.on_syn_ack(segment);
        }
        // The window of a SYN is not scaled (RFC 7323 §2.2).
        self.establish(now, segment, 0);
        let header = self.receiver.header();
        self.send_ack(now, header);
        self.pump(now);
    }

    /// `tcp_check_req`, and the beginning of `tcp_rcv_state_process` in SYN_RECV
    fn in_syn_received(&mut self, now: Time, segment: &Segment) {
        let first = self.receiver.next();
        let flags = segment.flags;
        if flags.syn() && !flags.ack() && segment.seq + 1 == first {
            let again = |handshake: &mut Box<super::Handshake>| handshake.on_repeated_syn(now);
            if self.handshake.as_mut().is_some_and(again) {
                self.send_handshake(now);
            }
            return;
        }
        if flags.ack() && !flags.rst() && segment.ack != self.local.iss + 1 {
            self.outbox.refuse(segment);
            return;
        }
        if !self.receiver.accepts(segment) || segment.seq.is_before(first) {
            return;
        }
        if flags.rst() {
            self.end(Some(Event::Reset));
            return;
        }
        if flags.syn() || !flags.ack() {
            return;
        }
        if let Some(stamps) = segment.timestamps.filter(|_| segment.seq == first) {
            self.receiver.remember(stamps.value);
        }
        let deferred = |handshake: &mut Box<super::Handshake>| handshake.defers(segment);
        if self.handshake.as_mut().is_some_and(deferred) {
            return;
        }
        let scale = self.handshake.as_ref().map_or(0, |handshake| {
            handshake.finish(now, &self.local, None).window_scale
        });
        self.establish(now, segment, scale);
        self.synchronized(now, segment);
    }

    /// The handshake is over with `segment` (`tcp_finish_connect`, `tcp_init_transfer`).
    fn establish(&mut self, now: Time, segment: &Segment, scale: u8) {
        let Some(handshake) = self.handshake.take() else {
            return;
        };
        let outcome = handshake.finish(now, &self.local, self.local.echoed(segment));
        let agreed = &outcome.agreed;
        self.window_scale = outcome.window_scale;
        self.timestamps = agreed.timestamps;
        self.receiver.open(now, &self.clock, agreed);
        self.buffer = SendBuffer::new(&self.settings, outcome.peer_mss.max(agreed.segment));
        let options = self.local.subflow.unwrap_or_default();
        let mut sender = Sender::new(
            self.settings.clone(),
            self.clock,
            agreed.segment.saturating_sub(options.data).max(48),
            self.local.iss,
            now,
        );
        if self.local.subflow.is_some() {
            sender.flight_mut().be_subflow(options.data);
            self.receiver.be_subflow(options.ack);
        }
        sender.established(
            now,
            outcome.rtt,
            &Peer {
                window: u32::from(segment.window) << scale,
                seq: segment.seq,
                sack: agreed.sack,
                ecn: agreed.ecn,
                handshake_retransmissions: outcome.retransmissions,
                metrics: self.local.metrics,
            },
        );
        self.sender.begin(sender);
        self.state = State::Established;
        self.events.push(Event::Established);
    }

    /// A segment of an open or closing connection (`tcp_rcv_established`, `tcp_rcv_state_process`).
    fn synchronized(&mut self, now: Time, segment: &Segment) {
        let flags = segment.flags;
        if !(flags.ack() || flags.rst() || flags.syn()) || !self.is_valid(now, segment) {
            return;
        }
        let Some(sender) = self.sender.get_mut() else {
            return;
        };
        if segment.ack.is_after(sender.flight().nxt()) {
            // tcp_ack: it acknowledges what was not sent.
            if self.state != State::Established {
                self.challenge(now);
            }
            return;
        }
        let current = !segment.ack.is_before(sender.flight().una());
        let before = sender.buffered();
        let echo = self
            .timestamps
            .then(|| self.local.echoed(segment))
            .flatten();
        let Some(sender) = self.sender.get_mut() else {
            return;
        };
        sender.on_ack(
            now,
            &Ack {
                segment,
                window: u32::from(segment.window) << self.window_scale,
                echo,
            },
        );
        let freed = before.saturating_sub(sender.buffered());
        let fin_acked = sender.is_empty();
        let clock = self.settings.timers.estimator.stamp(&self.clock, now);
        self.receiver.on_timestamps(segment, clock, echo, current);
        if fin_acked && self.our_fin_was_acked(now, segment) {
            return;
        }
        if segment.space() > 0 && !self.take_in(now, segment) {
            return;
        }
        if self.local.subflow.is_some() {
            self.unanswered = true;
            return;
        }
        self.answer(now, freed);
    }

    /// The rest of what a segment asks for: to send, to wake a writer and to acknowledge (`tcp_data_snd_check`,
    /// `tcp_ack_snd_check`). `freed`: bytes of the send buffer that it freed.
    fn answer(&mut self, now: Time, freed: u32) {
        let sent = self.pump(now);
        if self.state == State::TimeWait {
            return;
        }
        self.check_space(sent, freed);
        let sending = self
            .sender
            .told(&self.clock, self.settings.timers.initial_rto);
        if let Some(header) = self.receiver.acknowledge(now, &sending) {
            self.send_ack(now, header);
        }
    }

    /// Ends [`Connection::on_segment`] of a subflow, after the connection that it belongs to took what the segment says of
    /// it (`mptcp_incoming_options` comes before `tcp_data_snd_check`).
    pub(crate) fn finish_segment(&mut self, now: Time) {
        if !std::mem::take(&mut self.unanswered) {
            return;
        }
        if let Some(sender) = self.sender.get_mut() {
            sender.writer(now).push_after_ack();
        }
        self.answer(now, 0);
    }

    /// Wakes a writer for whom there is room now.
    pub(super) fn check_space(&mut self, sent: u32, freed: u32) {
        let Some(sender) = self.sender.get_mut().filter(|_| !self.orphan) else {
            return;
        };
        if self.buffer.check(sender, sent, freed) {
            sender.set_writer_waits(false);
            self.events.push(Event::Writable);
        }
    }

    /// Whether the segment is to be looked at further (`tcp_validate_incoming`).
    fn is_valid(&mut self, now: Time, segment: &Segment) -> bool {
        let flags = segment.flags;
        let late = self.receiver.is_old(segment);
        let old = late.is_some_and(|by| !self.is_harmless(segment, by));
        if (old || !self.receiver.accepts(segment)) && !flags.rst() {
            if flags.syn() {
                self.challenge(now);
            } else if segment.space() > 0 || self.stray_answered.allows(&self.clock, now) {
                let header = self.receiver.reject(segment);
                self.send_ack(now, header);
            }
            return false;
        }
        if flags.rst() {
            let closing = matches!(
                self.state,
                State::CloseWait | State::LastAck | State::Closing
            );
            let seq = segment.seq;
            if self.receiver.believes_reset(seq) || (closing && seq + 1 == self.receiver.next()) {
                self.end(Some(Event::Reset));
            } else if self.receiver.accepts(segment) {
                self.challenge(now);
            }
            return false;
        }
        if flags.syn() {
            self.challenge(now);
            return false;
        }
        true
    }

    /// A pure acknowledgement that was overtaken does no harm (`tcp_disordered_ack`).
    fn is_harmless(&self, segment: &Segment, late_by: u32) -> bool {
        let Some(sender) = self.sender.get() else {
            return false;
        };
        let window = sender.timing().rto_ticks() * 1024 / i64::from(self.clock.ticks.hz);
        segment.space() == 0
            && segment.seq == self.receiver.next()
            && segment.ack == sender.flight().una()
            && i64::from(late_by) <= window
    }

    /// An acknowledgement that makes a peer in doubt show what it knows, at most twice a second (RFC 5961; `tcp_send_challenge_ack`,
    /// `tcp_oow_rate_limited`).
    fn challenge(&mut self, now: Time) {
        if self.stray_answered.allows(&self.clock, now) {
            let header = self.receiver.header();
            self.send_ack(now, header);
        }
    }

    /// All we sent is acknowledged, a FIN too if there was one. True if the segment needs no more looking at.
    fn our_fin_was_acked(&mut self, now: Time, segment: &Segment) -> bool {
        let next = self.state.after_our_fin_was_acked();
        if next == self.state {
            return false;
        }
        if next == State::Closed {
            self.end(None);
            return true;
        }
        self.state = next;
        match next {
            State::FinWait2 if self.orphan => {
                if segment.has_data_after(self.receiver.next()) {
                    self.outbox.refuse(segment);
                    self.end(Some(Event::Reset));
                    return true;
                }
                // With a FIN in it the segment is worked through first.
                if !segment.flags.fin() {
                    self.linger(now);
                    return true;
                }
                false
            }
            State::TimeWait => {
                self.events.push(Event::Closed);
                self.linger(now);
                true
            }
            _ => false,
        }
    }

    /// Takes in data and FIN. False if the connection ended by it.
    fn take_in(&mut self, now: Time, segment: &Segment) -> bool {
        match self.state {
            State::CloseWait | State::Closing | State::LastAck
                if !segment.seq.is_before(self.receiver.next()) =>
            {
                return true;
            }
            State::FinWait1 | State::FinWait2
                if self.orphan && segment.has_data_after(self.receiver.next()) =>
            {
                // RFC 9293 §3.10.7.4 would queue them, RFC 1122 §4.2.2.13 resets.
                self.outbox.refuse(segment);
                self.end(Some(Event::Reset));
                return false;
            }
            _ => {}
        }
        let had_fin = self.receiver.has_fin();
        let sending = self
            .sender
            .told(&self.clock, self.settings.timers.initial_rto);
        let mut acks = [None; 2];
        let received = self.receiver.on_data(now, segment, &sending, |header| {
            if let Some(slot) = acks.iter_mut().find(|slot| slot.is_none()) {
                *slot = Some(header);
            }
        });
        for header in acks.into_iter().flatten() {
            self.send_ack(now, header);
        }
        if received.readable && !self.orphan {
            self.events.push(Event::Readable);
        }
        if received.fin && !had_fin {
            self.their_fin_came(now);
        }
        true
    }

    /// `tcp_fin`
    fn their_fin_came(&mut self, now: Time) {
        self.events.push(Event::PeerClosed);
        self.state = self.state.after_their_fin();
        match self.state {
            State::CloseWait => self.receiver.enter_interactive(),
            State::Closing | State::TimeWait => {
                let header = self.receiver.header();
                self.send_ack(now, header);
            }
            _ => {}
        }
        if self.state == State::TimeWait {
            self.events.push(Event::Closed);
            self.linger(now);
        }
    }

    /// `tcp_timewait_state_process`
    fn in_time_wait(&mut self, now: Time, segment: &Segment) {
        let next = self.receiver.next();
        let flags = segment.flags;
        let old = self.receiver.is_old(segment).is_some();
        if self.state == State::FinWait2 {
            if old || !self.receiver.accepts(segment) {
                self.challenge(now);
            } else if flags.rst() {
                self.end(None);
            } else if flags.syn() && !segment.seq.is_before(next) {
                self.outbox.refuse(segment);
                self.end(None);
            } else if flags.ack() && segment.space() > 0 && segment.end().is_after(next) {
                if !flags.fin() || segment.end() != next + 1 {
                    self.outbox.refuse(segment);
                    self.end(None);
                    return;
                }
                self.receiver.skip_fin(segment.timestamps);
                self.state = State::TimeWait;
                self.events.push(Event::Closed);
                self.expires = Some(now + super::TIME_WAIT);
                let header = self.receiver.header();
                self.send_ack(now, header);
            }
            return;
        }
        if !old && segment.seq == next && (segment.space() == 0 || flags.rst()) {
            if flags.rst() {
                self.end(None);
            } else {
                self.expires = Some(now + super::TIME_WAIT);
            }
        } else if !flags.rst() {
            if old || flags.ack() {
                self.expires = Some(now + super::TIME_WAIT);
            }
            self.challenge(now);
        }
    }
}

//! The order in which an acknowledgement is worked through (`tcp_ack`): the peer's window, what was delivered, what was lost
//! and the timer (`machine`), the congestion window, and then what is sent.

use rexmit_time::{Duration, Time};
use rexmit_wire::{Flags, SeqRange};

use super::flight::{Arrival, Before, Cleaned, Delivery, Flight, Tagged};
use super::write::go_on;
use super::{Ack, CaState, Sender};
use crate::recovery::dsack::{self, Report};
use crate::recovery::machine::{self, AckOutcome, AckView, Actor as _, Board as _, Output as _};
use crate::settings::{AckOrder, FrtoTest, IdleRestart, ReorderingUnit};

/// An acknowledgement at work: what was out before it, and what it has told so far.
struct Taking<'a> {
    sender: &'a mut Sender,
    ack: &'a Ack<'a>,
    before: Before,
    outcome: AckOutcome,
    tagged: Tagged,
    /// The latest of the transmissions that it says were delivered.
    delivery: Delivery,
    /// The round-trip time that the congestion control is told, in microseconds.
    control_rtt: Option<i64>,
}

impl Sender {
    /// Takes in what a segment acknowledges, and sends what that allows (`tcp_ack`, `tcp_data_snd_check`).
    pub fn on_ack(&mut self, now: Time, ack: &Ack<'_>) {
        // What may leave at this very time does so before: a round trip later acknowledgements come at the pace itself.
        if self.timing.pace_is_due(now) {
            go_on(self);
        }
        self.timing.moment.now = now;
        self.peer.echo = ack.echo;
        let taking = Taking {
            ack,
            before: self.flight.before_ack(),
            outcome: AckOutcome::NONE,
            tagged: Tagged::new(self.flight.nxt()),
            delivery: Delivery::default(),
            control_rtt: None,
            sender: self,
        };
        let accepted = taking.take();
        // Of a subflow the connection above first hands out what the acknowledgement allows.
        if accepted && !self.flight.sizes.apart {
            self.push_pending();
        }
    }
}

impl Taking<'_> {
    /// Whether the segment is acceptable.
    fn take(mut self) -> bool {
        let number = self.ack.segment.ack;
        let prior_una = self.before.view.prior_una;
        if number.is_before(prior_una) {
            if number.is_before(prior_una - self.sender.peer.largest_window) {
                return false;
            }
            self.take_old();
            return true;
        }
        if number.is_after(self.sender.flight.nxt()) {
            return false;
        }
        if number.is_after(prior_una) {
            self.outcome.set(AckOutcome::ADVANCED);
        }
        if self.ack.segment.space() > 0 {
            self.outcome.set(AckOutcome::DATA);
        }
        if self.sender.ecn && self.ack.segment.flags.contains(Flags::ECE) {
            self.outcome.set(AckOutcome::MARKED);
        }
        machine::begin_ack(self.sender, self.outcome);
        self.take_window();
        self.sender.flight.acknowledge(number);
        self.tag_option();
        let sender = &mut *self.sender;
        sender.flight.count_delivered(self.tagged.delivered);
        sender.timing.window_probe_answered();
        sender.peer.last_ack = sender.timing.moment.tick();
        let view = self.before.view;
        if view.prior_out == 0 {
            // Not the end of the handshake: the control begins after it (tcp_init_transfer).
            let begun = sender.flight.delivered() > 1 || self.outcome.any(AckOutcome::DATA);
            if begun {
                sender
                    .window_mut()
                    .tell_delivered(&self.before, self.outcome);
            }
            machine::on_ack_of_nothing(sender, &view, &mut self.outcome);
            sender.acknowledge_persist();
            return true;
        }
        match sender.flight.settings.loss.ack_order {
            AckOrder::RecoveryFirst => {
                let acked = self.clean_recovery_first();
                let view = AckView { acked, ..view };
                machine::on_ack_recovery_first(self.sender, &view, &mut self.outcome);
                if self.sender.flight.settings.segments.pacing_rate {
                    self.sender.window_mut().set_pacing_rate();
                }
            }
            AckOrder::LossesFirst => {
                self.clean();
                self.sender
                    .window_mut()
                    .tell_delivered(&self.before, self.outcome);
                let delivered = self.sender.flight.delivered();
                let resume = machine::on_ack_losses_first(
                    self.sender,
                    &view,
                    &mut self.outcome,
                    self.delivery.prior_delivered,
                    delivered,
                );
                let latest = self.delivery.latest();
                self.sender.window_mut().control(
                    &self.before,
                    self.outcome,
                    latest,
                    self.control_rtt,
                );
                self.sender.resume(resume);
            }
        }
        true
    }

    /// An acknowledgement that others have overtaken can still tell of SACKs.
    fn take_old(&mut self) {
        if !self.sender.flight.has_sack() || self.ack.segment.sack.is_empty() {
            return;
        }
        self.tag_option();
        let resume = machine::alert(self.sender, &self.before.view, &mut self.outcome);
        self.sender.resume(resume);
    }

    /// What is out, and what this meets.
    fn arrival(&mut self) -> (&mut Flight, Arrival<'_>) {
        let sender = &mut *self.sender;
        let arrival = Arrival {
            before: &self.before,
            timing: &sender.timing,
            peer: &sender.peer,
            episode: &mut sender.episode,
            detection: &mut sender.detection,
            delivery: &mut self.delivery,
        };
        (&mut sender.flight, arrival)
    }

    /// Notes the SACK option, if there is one (RFC 2018, D-SACK of RFC 2883; `tcp_sacktag_write_queue`).
    fn tag_option(&mut self) {
        let options = self.ack.segment.sack.as_slice();
        if !self.sender.flight.has_sack() || options.is_empty() {
            return;
        }
        self.sender.flight.begin_option();
        let duplicate = self.take_duplicate(options);
        let oldest = self.before.view.prior_una - self.sender.peer.largest_window;
        let too_old = self.ack.segment.ack.is_before(oldest);
        if !too_old && self.sender.flight.packets_out() > 0 {
            let mut tagged = self.tagged;
            let (flight, mut arrival) = self.arrival();
            flight.tag(options, duplicate, &mut arrival, &mut tagged);
            self.tagged = tagged;
            self.note_late_sacks();
        }
        self.outcome.set(self.tagged.outcome);
    }

    /// What was SACKed late tells of reordering.
    fn note_late_sacks(&mut self) {
        let (sender, late) = (&mut *self.sender, self.tagged.late);
        if sender.episode.state == CaState::Loss && sender.episode.undo.marker.is_none() {
            return;
        }
        match sender.flight.settings.loss.reordering_unit {
            ReorderingUnit::Segments => {
                if let Some(distance) = sender.flight.overtaken_by(late) {
                    machine::note_segments_overtaken(sender, distance);
                }
            }
            ReorderingUnit::Bytes => machine::note_overtaken(sender, late),
        }
    }

    /// Whether the first block is a D-SACK: below what is acknowledged or inside the second (RFC 2883 §4;
    /// `tcp_check_dsack`).
    fn take_duplicate(&mut self, options: &[SeqRange]) -> bool {
        let Some(first) = options.first() else {
            return false;
        };
        if !dsack::is_dsack(*first, options.get(1).copied(), self.ack.segment.ack) {
            return false;
        }
        let sender = &mut *self.sender;
        let report = Report {
            range: *first,
            mss: sender.flight.mss(),
            largest_window: Some(sender.peer.largest_window),
            probe_high: sender.episode.probe.high,
            reported: sender.peer.dsacks,
            retransmitted: Some(sender.counters.retransmissions),
        };
        let prior_una = self.before.view.prior_una;
        let told = machine::take_duplicate(sender, &report, prior_una, &mut self.tagged.outcome);
        sender.peer.dsacks += told.map_or(0, |told| told.segments);
        let Some(told) = told.filter(|told| !told.doubted) else {
            return false;
        };
        self.tagged.delivered += told.segments;
        sender.counters.dsacks += 1;
        true
    }

    /// The peer's window, from the newest segment (RFC 9293 §3.10.7.4; `tcp_ack_update_window`).
    fn take_window(&mut self) {
        let (sender, ack) = (&mut *self.sender, self.ack);
        let shut = sender.flight.settings.segments.fill_segments && ack.window == 0;
        let advanced = self.outcome.any(AckOutcome::ADVANCED);
        if !sender.peer.may_set_window(ack, advanced, shut) {
            return;
        }
        self.outcome.set(AckOutcome::WINDOW);
        sender.peer.window_seq = ack.segment.seq;
        if sender.peer.window != ack.window {
            sender.peer.window = ack.window;
            if !sender.written.backlog.is_empty()
                && sender.flight.settings.congestion.idle_restart == IdleRestart::WhenWritten
            {
                let last_sent = sender.output.last_sent;
                sender.window_mut().restart_after_idle(last_sent);
            }
            sender.note_window(ack.window);
        }
    }

    /// Takes off what is acknowledged, in the order of 6.x, and the round-trip time that this gives (`tcp_clean_rtx_queue`).
    fn clean(&mut self) {
        let prior_sacked = self.sender.flight.counts().sacked;
        let (flight, mut arrival) = self.arrival();
        let cleaned = flight.take_off(&mut arrival);
        let mut outcome = cleaned.outcome;
        let sender = &mut *self.sender;
        let moment = sender.timing.moment;
        let since = |sent| moment.since(sent);
        let mut rtt = cleaned.first_of_once().map(since);
        let mut control_rtt = None;
        if rtt.is_some() {
            control_rtt = cleaned.last_sent.map(since);
            let una = sender.flight.una();
            let bytes = una.offset_from(self.before.view.prior_una).unsigned_abs();
            if cleaned.acked == 1
                && cleaned.fully
                && prior_sacked == 0
                && bytes < sender.flight.mss()
                && self.delivery.prior_delivered + 1 == sender.flight.delivered()
            {
                outcome.set(AckOutcome::MAYBE_DELAYED);
            }
        }
        let sack_rtt = self.tagged.first_sent.map(since);
        if sack_rtt.is_some() {
            control_rtt = Some(since(self.tagged.last_sent));
        }
        let acked = outcome.any(AckOutcome::ACKED);
        rtt = rtt.or(sack_rtt);
        if rtt.is_none() && acked {
            rtt = sender.timing.since_echo(sender.peer.echo);
            control_rtt = rtt.or(control_rtt);
        }
        if let Some(rtt) = rtt {
            let delayed = outcome.any(AckOutcome::MAYBE_DELAYED);
            let path = control_rtt.map(Duration::from_micros);
            let rtt = Duration::from_micros(rtt);
            sender
                .timing
                .take_sample(rtt, path, delayed, sender.flight.range());
        }
        if acked {
            outcome.set(AckOutcome::SET_TIMER);
            self.note_acknowledged(&cleaned, prior_sacked, &mut outcome);
        } else if let (Some(rtt), Some(head)) = (sack_rtt, sender.flight.head()) {
            // Not if what was SACKed was sent after the head.
            if rtt > sender.timing.moment.since(head.at) {
                outcome.set(AckOutcome::SET_TIMER);
            }
        }
        self.control_rtt = control_rtt;
        let mut window = self.sender.window_mut();
        window.tell_acked(cleaned.acked, control_rtt);
        self.outcome.set(outcome);
    }

    /// The same in the order of 3.10 ([`AckOrder::RecoveryFirst`]). Returns the segments.
    fn clean_recovery_first(&mut self) -> u32 {
        let (flight, mut arrival) = self.arrival();
        let cleaned = flight.take_off(&mut arrival);
        self.outcome.set(cleaned.outcome);
        let acked = self.outcome.any(AckOutcome::ACKED);
        let sender = &mut *self.sender;
        let (echo, out) = (sender.peer.echo, sender.flight.range());
        if !sender.flight.settings.timers.estimator.counts_ticks() {
            let sacked = self.tagged.first_sent;
            sender
                .timing
                .sample_micros(&cleaned, sacked, echo.filter(|_| acked), out);
            // A SACK of what was sent before the head's last transmission restarts the timeout.
            let older = |sacked| sender.flight.head().is_some_and(|head| sacked < head.at);
            if !acked && sacked.is_some_and(older) {
                machine::rearm(sender);
            }
        }
        if !acked {
            return 0;
        }
        if sender.flight.settings.timers.estimator.counts_ticks() {
            sender.timing.sample_ticks(&cleaned, echo, out);
        }
        machine::rearm(sender);
        let mut outcome = self.outcome;
        self.note_acknowledged(&cleaned, self.before.view.prior_sacked, &mut outcome);
        self.outcome = outcome;
        let once = !cleaned.outcome.any(AckOutcome::RETRANSMISSION_ACKED);
        let last = cleaned.last_sent.filter(|_| once);
        let rtt = last.map(|sent| self.sender.timing.control_rtt(sent));
        self.sender.window_mut().tell_acked(cleaned.acked, rtt);
        cleaned.acked
    }

    /// What was acknowledged tells of reordering, and takes off duplicates and counts of what was SACKed. `prior_sacked`
    /// segments were SACKed before it.
    fn note_acknowledged(
        &mut self,
        cleaned: &Cleaned,
        prior_sacked: u32,
        outcome: &mut AckOutcome,
    ) {
        let sender = &mut *self.sender;
        if !sender.flight.has_sack() {
            machine::remove_duplicates(sender, cleaned.acked);
            let covers_retransmission = outcome.any(AckOutcome::RETRANSMISSION_ACKED);
            if sender.flight.settings.loss.frto_test == FrtoTest::Once && covers_retransmission {
                outcome.clear(AckOutcome::ORIGINAL);
            }
            return;
        }
        // What was acknowledged and not SACKed is late if a higher segment was SACKed before.
        match sender.flight.settings.loss.reordering_unit {
            ReorderingUnit::Segments => {
                if let Some(distance) = cleaned.overtaken {
                    machine::note_segments_overtaken(sender, distance);
                }
            }
            ReorderingUnit::Bytes => {
                if let Some(late) = cleaned
                    .late
                    .filter(|late| late.is_before(self.before.highest))
                {
                    machine::note_overtaken(sender, late);
                }
            }
        }
        let counted = match sender.detection.fack {
            true => cleaned.acked,
            false => prior_sacked.saturating_sub(sender.flight.counts().sacked),
        };
        sender.flight.uncount(counted);
    }
}

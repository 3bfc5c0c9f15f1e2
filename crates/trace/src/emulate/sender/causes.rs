//! What may have sent a retransmission: each cause that the state allows, and how well the time fits it.

use rexmit_tcp::recovery::{fack, CaState};
use rexmit_tcp::settings::Tlp;
use rexmit_tcp::Mechanism;
use rexmit_time::{Duration, Time};

use super::explain::{Candidates, Cause, Moment};
use super::minimum::SPREAD;
use super::timing::SEES_ALL;
use super::EmulatedSender;
use crate::emulate::board::{Board, Piece};
use crate::emulate::likelihood::{of_phase, of_timer};
use rexmit_tcp::recovery::Job;

/// What it costs to believe that the emulation's state was wrong, a little or wholly: as a natural logarithm.
const ONLY_IF: f64 = -1.0;
pub(super) const SLIGHTLY: f64 = -3.0;
pub(super) const MUCH: f64 = -7.0;
const WHOLLY: f64 = -10.0;

/// How likely something sends a segment again that no stack here has: a guess.
const OF_ITSELF: f64 = 0.002;

/// Timeouts in a row that may have gone unseen.
const MOST_MISSED: u32 = 4;

/// A retransmission that is weighed: what may have sent these pieces again at this moment.
pub(super) struct Weighing<'a> {
    pub sender: &'a EmulatedSender,
    pub board: &'a Board,
    pub moment: &'a Moment,
    pub pieces: &'a core::ops::Range<usize>,
    pub list: Candidates,
}

impl EmulatedSender {
    /// What may have sent these pieces again.
    pub(super) fn candidates(
        &self,
        board: &Board,
        moment: &Moment,
        pieces: &core::ops::Range<usize>,
    ) -> Candidates {
        let weighing = Weighing {
            sender: self,
            board,
            moment,
            pieces,
            list: Candidates::default(),
        };
        weighing.weigh()
    }

    /// Whether RACK would find the piece lost at `now`.
    pub(super) fn rack_finds_lost(&self, board: &Board, piece: &Piece, now: Time) -> bool {
        let rack = &self.detection.rack;
        let window = self.detection.reordering_window(
            self.settings,
            self.episode.state,
            board.sacked,
            self.timing.trips.least(),
            &self.timing.trips.rtt,
        );
        rack.overtook(piece.sent, piece.end) && rack.wait(piece.sent, window, now) <= Duration::ZERO
    }
}

impl Weighing<'_> {
    fn weigh(mut self) -> Candidates {
        let head = self.pieces.start == 0;
        let tail = self.pieces.end == self.board.len();
        if self.has_no_cause() {
            self.list.add_none(self.moment);
            return self.list;
        }
        self.add_timeouts(head);
        self.add_probe(tail);
        self.add_ack();
        self.add_without_frto();
        self.add_other_minimum();
        let timing = &self.sender.timing;
        let timer = timing.timers.timer;
        let early = timer.job() == Some(Job::EarlyRetransmit);
        if early && self.sender.detection.early_retransmit {
            let moment = self.moment;
            let fits = of_timer(moment.at, timing.window(), timer.span, moment.slack);
            let structure = if head { 0.0 } else { SLIGHTLY };
            self.list.add(
                Cause::EarlyRetransmit,
                Mechanism::EarlyRetransmit,
                fits,
                structure,
                Some(timer.span),
            );
        }
        self.list
    }

    fn add_timeouts(&mut self, head: bool) {
        let (timing, moment) = (&self.sender.timing, self.moment);
        let bare = self.has_bare_tail();
        let place = if head { 0.0 } else { MUCH } + self.held_back();
        let phased = match timing.clock.off_phase(moment.at) {
            Some(off) => of_phase(off, timing.clock.tick().span(), moment.slack),
            None => 0.0,
        };
        // A timer of `span` that was set between two times.
        let fires = |(soonest, latest): (Time, Time), span: Duration| {
            let (soon, late) = timing.clock.fires_within(span);
            (soonest + soon, latest + late)
        };
        let mut add = |missed: u32, window: (Time, Time), span: Duration, structure: f64| {
            let mut likely = of_timer(moment.at, window, span, moment.slack);
            likely.weight += phased;
            let cause = Cause::Timeout { missed };
            // What left before the page's timer ran out was sent by a shorter one.
            let (soon, _) = timing.clock.fires_within(span);
            let early = (window.0 - moment.at).max(Duration::ZERO);
            let span = if early > Duration::ZERO {
                (soon - early).max(Duration::ZERO)
            } else {
                span
            };
            self.list
                .add(cause, Mechanism::Rto, likely, structure, Some(span));
        };
        let away = moment.slack > SEES_ALL;
        let job = timing.timers.timer.job();
        let (armed, span, state) = match job {
            Some(Job::Timeout) => (timing.timers.timer.armed, timing.timers.timer.span, 0.0),
            Some(Job::Probe) if self.sender.episode.probe.high.is_some() => {
                let (_, probed) = timing.window();
                if self.sender.settings.loss.tlp == Tlp::Rfc8985 {
                    let left = match self.board.head() {
                        Some(head) => timing.timers.rto - (probed - head.sent),
                        None => timing.timers.rto,
                    };
                    (
                        probed,
                        timing.clock.tick().up(left.max(Duration::from_micros(1))),
                        0.0,
                    )
                } else {
                    (timing.timers.timer.due(), timing.timers.rto, 0.0)
                }
            }
            // A bare FIN is no probe in 3.10: the timeout follows.
            Some(Job::Probe) if bare => (timing.timers.timer.due(), timing.timers.rto, 0.0),
            Some(Job::Probe) => (timing.timers.timer.armed, timing.timers.rto, MUCH),
            Some(_) => (timing.timers.timer.armed, timing.timers.rto, MUCH),
            None => (moment.ack_at, timing.timers.rto, WHOLLY),
        };
        let mut gone = 0;
        let (mut state, mut span) = (state, span);
        span = timing
            .span_if_fired(moment.at, moment.slack, self.sender.episode.timeouts > 0)
            .unwrap_or(span);
        let mut window = fires((armed, armed), span);
        add(0, window, span, place + state);
        if away && job == Some(Job::Probe) && state == MUCH {
            // The probe was sent, and lost before the monitor.
            window = fires(timing.window(), timing.timers.rto);
            (span, state) = (timing.timers.rto, moment.unseen(1));
            gone = 1;
            add(0, window, span, place + state);
        }
        // Earlier timeouts whose packets were lost before the monitor.
        let mut span = timing.timers.rto;
        for missed in 1..=MOST_MISSED {
            span = (span * 2).min(self.sender.settings.timers.max_rto);
            window = fires(window, span);
            let unseen = moment.unseen(gone + missed);
            let in_state = if gone > 0 { moment.unseen(gone) } else { 0.0 };
            add(missed, window, span, place + state + unseen - in_state);
        }
    }

    /// What it costs, as a natural logarithm, that a recovery had found its head lost, and waited for the timer with it. With
    /// nothing else in flight any window has room, so the last acknowledgement let it go: it left, and never came by.
    fn held_back(&self) -> f64 {
        let unsent = |head: &Piece| {
            self.sender.marks.is_lost(head) && !self.sender.marks.is_retransmitted(head)
        };
        let recovers = self.sender.episode.state == CaState::Recovery
            && self.sender.marks.in_flight(self.board) == 0;
        if recovers && self.board.head().is_some_and(unsent) {
            self.moment.unseen(1)
        } else {
            0.0
        }
    }

    pub fn has_bare_tail(&self) -> bool {
        !self.sender.settings.loss.tlp_probes_bare_fin
            && self.board.tail().is_some_and(|tail| tail.bare)
    }

    fn add_probe(&mut self, tail: bool) {
        if self.sender.settings.loss.tlp == Tlp::Off || !self.board.sack {
            return;
        }
        let mut structure = 0.0;
        if !tail || self.moment.packets > 1 {
            structure += MUCH;
        }
        if self.has_bare_tail() {
            structure += WHOLLY;
        }
        let timer = self.sender.timing.timers.timer;
        if timer.job() != Some(Job::Probe) || self.sender.episode.probe.high.is_some() {
            structure += WHOLLY;
        }
        let window = timer.window(&self.sender.timing.clock);
        let fits = of_timer(self.moment.at, window, timer.span, self.moment.slack);
        self.list.add(
            Cause::Probe,
            Mechanism::Tlp,
            fits,
            structure,
            Some(timer.span),
        );
    }

    fn add_ack(&mut self) {
        let mechanism = match self.sender.episode.state {
            CaState::Loss | CaState::Recovery => {
                self.sender.mechanism_of_retransmission(self.board.sack)
            }
            _ if self.board.sack && self.sender.settings.loss.rack => Mechanism::Rack,
            _ if self.sender.detection.fack && self.board.sacked > 0 => Mechanism::Fack,
            _ => Mechanism::FastRetransmit,
        };
        let index = self.pieces.start;
        let piece = self.board.get(index);
        let sacked = piece.is_some_and(|piece| piece.sacked);
        let marked = piece.is_some_and(|piece| self.sender.marks.is_lost(piece));
        let forward =
            piece.is_some_and(|piece| self.sender.may_go_forward(self.board, piece.start));
        let mut structure = match self.sender.episode.state {
            CaState::Loss | CaState::Recovery if marked => 0.0,
            // That no new data could be sent is believed once.
            CaState::Recovery if forward && self.sender.course.forward => 0.0,
            CaState::Recovery if forward => ONLY_IF,
            CaState::Loss | CaState::Recovery => SLIGHTLY,
            _ if self.sender.marks.delivered_above(self.board) > 0 => self
                .sender
                .lower_threshold(self.board, index)
                .unwrap_or(MUCH),
            _ => WHOLLY,
        };
        if let Some(piece) = piece.filter(|piece| self.sender.marks.is_retransmitted(piece)) {
            // Lost retransmissions are found by what was sent after them.
            let overtaken = self.sender.settings.loss.fack_lost_retransmits
                && fack::retransmission_is_lost(self.board.highest, piece.nxt_then);
            structure += if overtaken { 0.0 } else { 2.0 * SLIGHTLY };
        }
        // What was SACKed is as lost as the rest if the receiver dropped it, which is first then, or if the timeout forgot it.
        let forgot = self.sender.settings.loss.timeout_forgets_sacks
            && self.sender.episode.state == CaState::Loss;
        if sacked && !forgot && !self.board.head().is_some_and(|head| head.sacked) {
            structure += MUCH;
        }
        structure += self.unlike_recovery();
        if self.moment.slack > SEES_ALL {
            structure += self.sender.beyond_window(self.board, self.pieces);
        }
        if let Some(entered) = self.sender.course.entered {
            // A recovery begins with a retransmission.
            if self.sender.episode.state == CaState::Recovery
                && self.moment.ack_at - entered > self.moment.slack + Duration::from_micros(100)
            {
                structure += SLIGHTLY;
            }
        }
        let mut fits = self
            .moment
            .fit_of_ack(self.sender.settings.segments.pacing_rate);
        let mut cause = Cause::Ack;
        if self.sender.timing.timers.timer.job() == Some(Job::Reordering)
            && index < self.board.len()
        {
            let late = self.sender.timing.window().1.max(self.moment.at);
            let found = self
                .sender
                .rack_finds_lost(self.board, self.board.at(index), late);
            let fires = of_timer(
                self.moment.at,
                self.sender.timing.window(),
                self.sender.timing.timers.timer.span,
                self.moment.slack,
            );
            // What a timeout has found lost does not wait for the timer.
            let waits = !marked || self.sender.episode.state != CaState::Loss;
            let allows = if waits && (found || marked) {
                0.0
            } else {
                SLIGHTLY
            };
            if fires.weight + allows > fits.weight + structure {
                fits = fires;
                structure = allows;
                cause = Cause::Reordering;
            }
        }
        let mechanism = if cause == Cause::Reordering {
            Mechanism::Rack
        } else {
            mechanism
        };
        self.list.add(cause, mechanism, fits, structure, None);
    }
}

/// Whether a timer of `least` at least that was set at `armed` cannot have run out by `at`. Away from the sender that it
/// was set again may have gone unseen, and so may what a packet waited.
pub(super) fn is_early(at: Time, armed: Time, least: Duration, slack: Duration) -> bool {
    let sure = if slack > SEES_ALL {
        least / 2
    } else {
        least - least / 16
    };
    at + slack < armed + sure
}

/// How likely something leaves again after so long that no stack here has a cause for, as a natural logarithm: no timer can
/// have run out.
pub(super) fn of_no_cause(waited: Duration) -> f64 {
    let ms = (waited.as_nanos() as f64 / 1e6).max(0.01);
    (OF_ITSELF / SPREAD / ms).ln()
}

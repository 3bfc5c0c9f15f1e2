//! What may have sent a retransmission: each cause that the state allows, and how well the time fits it.

use rexmit_tcp::recovery::{fack, State};
use rexmit_tcp::settings::Tlp;
use rexmit_tcp::Mechanism;
use rexmit_time::{Duration, Time};

use super::clock::SEES_ALL;
use super::explain::{Candidates, Cause, Moment};
use super::minimum::SPREAD;
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

impl EmulatedSender {
    pub(super) fn candidates(
        &self,
        board: &Board,
        moment: &Moment,
        pieces: &core::ops::Range<usize>,
    ) -> Candidates {
        let mut list = Candidates::default();
        let head = pieces.start == 0;
        let tail = pieces.end == board.len();
        if self.has_no_cause(board, moment, pieces) {
            list.add_none(moment);
            return list;
        }
        self.add_timeouts(&mut list, board, moment, head);
        self.add_probe(&mut list, board, moment, tail);
        self.add_ack(&mut list, board, moment, pieces);
        self.add_without_frto(&mut list, board, moment, pieces);
        self.add_other_minimum(&mut list, board, moment, pieces);
        let early = self.timers.timer.job() == Some(Job::EarlyRetransmit);
        if early && self.detection.early_retransmit {
            let window = self.timer_window();
            let fits = of_timer(moment.at, window, self.timers.timer.span, moment.slack);
            let structure = if head { 0.0 } else { SLIGHTLY };
            list.add(
                Cause::EarlyRetransmit,
                Mechanism::EarlyRetransmit,
                fits,
                structure,
                Some(self.timers.timer.span),
            );
        }
        list
    }

    fn add_timeouts(&self, list: &mut Candidates, board: &Board, moment: &Moment, head: bool) {
        let place = if head { 0.0 } else { MUCH } + self.held_back(board, moment);
        let phased = match self.clock.off_phase(moment.at) {
            Some(off) => of_phase(off, self.clock.tick().span(), moment.slack),
            None => 0.0,
        };
        // A timer of `span` that was set between two times.
        let fires = |(soonest, latest): (Time, Time), span: Duration| {
            let (soon, late) = self.clock.fires_within(span);
            (soonest + soon, latest + late)
        };
        let mut add = |missed: u32, window: (Time, Time), span: Duration, structure: f64| {
            let mut likely = of_timer(moment.at, window, span, moment.slack);
            likely.weight += phased;
            let cause = Cause::Timeout { missed };
            // What left before the page's timer ran out was sent by a shorter one.
            let (soon, _) = self.clock.fires_within(span);
            let early = (window.0 - moment.at).max(Duration::ZERO);
            let span = if early > Duration::ZERO {
                (soon - early).max(Duration::ZERO)
            } else {
                span
            };
            list.add(cause, Mechanism::Rto, likely, structure, Some(span));
        };
        let away = moment.slack > SEES_ALL;
        let job = self.timers.timer.job();
        let (armed, span, state) = match job {
            Some(Job::Timeout) => (self.timers.timer.armed, self.timers.timer.span, 0.0),
            Some(Job::Probe) if self.episode.probe.high.is_some() => {
                let (_, probed) = self.timer_window();
                if self.settings.loss.tlp == Tlp::Rfc8985 {
                    let left = match board.head() {
                        Some(head) => self.timers.rto - (probed - head.sent),
                        None => self.timers.rto,
                    };
                    (
                        probed,
                        self.clock.tick().up(left.max(Duration::from_micros(1))),
                        0.0,
                    )
                } else {
                    (self.timers.timer.due(), self.timers.rto, 0.0)
                }
            }
            // A bare FIN is no probe in 3.10: the timeout follows.
            Some(Job::Probe) if self.has_bare_tail(board) => {
                (self.timers.timer.due(), self.timers.rto, 0.0)
            }
            Some(Job::Probe) => (self.timers.timer.armed, self.timers.rto, MUCH),
            Some(_) => (self.timers.timer.armed, self.timers.rto, MUCH),
            None => (moment.ack_at, self.timers.rto, WHOLLY),
        };
        let mut gone = 0;
        let (mut state, mut span) = (state, span);
        span = self.span_if_fired(moment.at, moment.slack).unwrap_or(span);
        let mut window = fires((armed, armed), span);
        add(0, window, span, place + state);
        if away && job == Some(Job::Probe) && state == MUCH {
            // The probe was sent, and lost before the monitor.
            window = fires(self.timer_window(), self.timers.rto);
            (span, state) = (self.timers.rto, moment.unseen(1));
            gone = 1;
            add(0, window, span, place + state);
        }
        // Earlier timeouts whose packets were lost before the monitor.
        let mut span = self.timers.rto;
        for missed in 1..=MOST_MISSED {
            span = (span * 2).min(self.settings.timers.max_rto);
            window = fires(window, span);
            let unseen = moment.unseen(gone + missed);
            let in_state = if gone > 0 { moment.unseen(gone) } else { 0.0 };
            add(missed, window, span, place + state + unseen - in_state);
        }
    }

    /// What it costs, as a natural logarithm, that a recovery had found its head lost, and waited for the timer with it. With
    /// nothing else in flight any window has room, so the last acknowledgement let it go: it left, and never came by.
    fn held_back(&self, board: &Board, moment: &Moment) -> f64 {
        let unsent = |head: &Piece| self.marks.is_lost(head) && !self.marks.is_retransmitted(head);
        let recovers = self.episode.state == State::Recovery && self.marks.in_flight(board) == 0;
        if recovers && board.head().is_some_and(unsent) {
            moment.unseen(1)
        } else {
            0.0
        }
    }

    pub(super) fn has_bare_tail(&self, board: &Board) -> bool {
        !self.settings.loss.tlp_probes_bare_fin && board.tail().is_some_and(|tail| tail.bare)
    }

    fn add_probe(&self, list: &mut Candidates, board: &Board, moment: &Moment, tail: bool) {
        if self.settings.loss.tlp == Tlp::Off || !board.sack {
            return;
        }
        let mut structure = 0.0;
        if !tail || moment.packets > 1 {
            structure += MUCH;
        }
        if self.has_bare_tail(board) {
            structure += WHOLLY;
        }
        let timer = self.timers.timer;
        if timer.job() != Some(Job::Probe) || self.episode.probe.high.is_some() {
            structure += WHOLLY;
        }
        let window = timer.window(&self.clock);
        let fits = of_timer(moment.at, window, timer.span, moment.slack);
        list.add(
            Cause::Probe,
            Mechanism::Tlp,
            fits,
            structure,
            Some(timer.span),
        );
    }

    fn add_ack(
        &self,
        list: &mut Candidates,
        board: &Board,
        moment: &Moment,
        pieces: &core::ops::Range<usize>,
    ) {
        let mechanism = match self.episode.state {
            State::Loss | State::Recovery => self.mechanism_of_retransmission(board.sack),
            _ if board.sack && self.settings.loss.rack => Mechanism::Rack,
            _ if self.detection.fack && board.sacked > 0 => Mechanism::Fack,
            _ => Mechanism::FastRetransmit,
        };
        let index = pieces.start;
        let piece = board.get(index);
        let sacked = piece.is_some_and(|piece| piece.sacked);
        let marked = piece.is_some_and(|piece| self.marks.is_lost(piece));
        let forward = piece.is_some_and(|piece| self.may_go_forward(board, piece.start));
        let mut structure = match self.episode.state {
            State::Loss | State::Recovery if marked => 0.0,
            // That no new data could be sent is believed once.
            State::Recovery if forward && self.course.forward => 0.0,
            State::Recovery if forward => ONLY_IF,
            State::Loss | State::Recovery => SLIGHTLY,
            _ if self.marks.delivered_above(board) > 0 => {
                self.lower_threshold(board, index).unwrap_or(MUCH)
            }
            _ => WHOLLY,
        };
        if let Some(piece) = piece.filter(|piece| self.marks.is_retransmitted(piece)) {
            // Lost retransmissions are found by what was sent after them.
            let overtaken = self.settings.loss.fack_lost_retransmits
                && fack::retransmission_is_lost(board.highest, piece.nxt_then);
            structure += if overtaken { 0.0 } else { 2.0 * SLIGHTLY };
        }
        // What was SACKed is as lost as the rest if the receiver dropped it: that is first then.
        if sacked && !board.head().is_some_and(|head| head.sacked) {
            structure += MUCH;
        }
        structure += self.unlike_recovery(moment);
        if moment.slack > SEES_ALL {
            structure += self.beyond_window(board, pieces);
        }
        if let Some(entered) = self.course.entered {
            // A recovery begins with a retransmission.
            if self.episode.state == State::Recovery
                && moment.ack_at - entered > moment.slack + Duration::from_micros(100)
            {
                structure += SLIGHTLY;
            }
        }
        let mut fits = moment.fit_of_ack(self.settings.segments.pacing_rate);
        let mut cause = Cause::Ack;
        if self.timers.timer.job() == Some(Job::Reordering) && index < board.len() {
            let late = self.timer_window().1.max(moment.at);
            let found = self.rack_finds_lost(board, board.at(index), late);
            let fires = of_timer(
                moment.at,
                self.timer_window(),
                self.timers.timer.span,
                moment.slack,
            );
            // What a timeout has found lost does not wait for the timer.
            let waits = !marked || self.episode.state != State::Loss;
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
        list.add(cause, mechanism, fits, structure, None);
    }

    /// Whether RACK would find the piece lost at `now`.
    pub(super) fn rack_finds_lost(&self, board: &Board, piece: &Piece, now: Time) -> bool {
        let rack = &self.detection.rack;
        let window = self.detection.reordering_window(
            self.settings,
            self.episode.state,
            board.sacked,
            self.trips.least(),
            &self.trips.rtt,
        );
        rack.overtook(piece.sent, piece.end) && rack.wait(piece.sent, window, now) <= Duration::ZERO
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

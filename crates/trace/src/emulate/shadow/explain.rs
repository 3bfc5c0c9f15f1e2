//! What made a resend: each cause that the state allows, weighed by how well the time fits; and what follows from the most
//! likely one.

use rexmit_tcp::sender::State;
use rexmit_tcp::settings::{TimeoutMarks, Tlp};
use rexmit_tcp::Mechanism;
use rexmit_time::{Duration, Time};

use super::clock::{LOST_BEFORE, SEES_ALL};
use super::{Minimum, Shadow};
use crate::emulate::board::{Board, LOST, RESENT};
use crate::emulate::likelihood::{
    either, is_in_phase, is_overdue, of_ack, of_phase, of_timer, Likely,
};
use crate::emulate::timer::Job;

/// The moment at which a packet left.
#[derive(Clone, Copy, Debug, Default)]
pub struct Moment {
    pub at: Time,
    pub slack: Duration,
    /// Since the acknowledgement that may have let it go, or the packet before it that one did.
    pub gap: Duration,
    /// The acknowledgement came then.
    pub ack_at: Time,
    pub stamp: Option<u32>,
    /// Packets that left right before it and were never seen.
    pub missing: Option<u32>,
}

impl Moment {
    /// What it costs, as a natural logarithm, that so many packets of timers left before this and never came by.
    fn unseen(&self, packets: u32) -> f64 {
        let each = if self.slack > SEES_ALL {
            -LOST_BEFORE
        } else {
            -4.0
        };
        match self.missing {
            Some(missing) if self.slack > SEES_ALL => {
                let more = packets.saturating_sub(missing);
                -0.3 * f64::from(packets - more) - 6.0 * f64::from(more)
            }
            _ => each * f64::from(packets),
        }
    }
}

/// A resend as one emulated sender explains it.
#[derive(Clone, Copy, Debug)]
pub struct Opinion {
    pub mechanism: Mechanism,
    /// How sure this sender's explanation is of it.
    pub share: f64,
    /// The next best one and its share.
    pub next: Option<(Mechanism, f64)>,
    pub timer: Option<Duration>,
}

/// What may have sent it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Cause {
    Timeout {
        missed: u32,
    },
    Probe,
    /// The two with another minimum than the page's.
    OtherTimeout,
    OtherProbe,
    Ack,
    Reordering,
    EarlyRetransmit,
}

#[derive(Clone, Copy, Debug)]
struct Candidate {
    cause: Cause,
    mechanism: Mechanism,
    weight: f64,
    fit: f64,
    timer: Option<Duration>,
}

/// Candidates of one resend.
#[derive(Default)]
pub(super) struct Candidates {
    list: [Option<Candidate>; 11],
    len: usize,
}

impl Candidates {
    /// `structure` is what it costs to believe that the state allows it.
    pub(super) fn add(
        &mut self,
        cause: Cause,
        mechanism: Mechanism,
        likely: Likely,
        structure: f64,
        timer: Option<Duration>,
    ) {
        if let Some(place) = self.list.get_mut(self.len) {
            *place = Some(Candidate {
                cause,
                mechanism,
                weight: likely.weight + structure,
                fit: likely.fit + structure,
                timer,
            });
            self.len += 1;
        }
    }

    fn iter(&self) -> impl Iterator<Item = &Candidate> {
        self.list.iter().flatten()
    }
}

/// What it costs to believe that the emulation's state was wrong, a little or wholly: as a natural logarithm.
const ONLY_IF: f64 = -1.0;
const SLIGHTLY: f64 = -3.0;
pub(super) const MUCH: f64 = -7.0;
const WHOLLY: f64 = -10.0;

/// Timeouts in a row that may have gone unseen.
const MOST_MISSED: u32 = 4;

impl Shadow {
    /// Explains a resend of these pieces, which the board does not know yet as sent again.
    pub fn on_resend(
        &mut self,
        board: &mut Board,
        moment: &Moment,
        pieces: core::ops::Range<usize>,
    ) {
        self.catch_up_for_resend(board, moment);
        let candidates = self.candidates(board, moment, &pieces);
        let mut best: Option<Candidate> = None;
        let mut all = f64::NEG_INFINITY;
        for candidate in candidates.iter() {
            all = either(all, candidate.weight);
            if best.is_none_or(|best| candidate.weight > best.weight) {
                best = Some(*candidate);
            }
        }
        let Some(best) = best else { return };
        let share = |mechanism: Mechanism| {
            let same = candidates.iter().filter(|one| one.mechanism == mechanism);
            same.map(|one| (one.weight - all).exp()).sum::<f64>()
        };
        let next = candidates
            .iter()
            .filter(|one| one.mechanism != best.mechanism)
            .max_by(|a, b| a.weight.total_cmp(&b.weight))
            .map(|one| (one.mechanism, share(one.mechanism)));
        self.opinions.push_back(Opinion {
            mechanism: best.mechanism,
            share: share(best.mechanism),
            next,
            timer: best.timer,
        });
        self.score += all.max(-16.0);
        self.worst = self.worst.min(best.fit);
        self.follow(board, moment, &pieces, best);
    }

    /// A wait for reordered segments that is long over ended unseen.
    fn catch_up_for_resend(&mut self, board: &mut Board, moment: &Moment) {
        let (_, late) = self.timer.window(&self.ticks);
        if !is_overdue(moment.at, late, self.timer.span, moment.slack) {
            return;
        }
        match self.timer.job() {
            Some(Job::Reordering) => {
                self.on_reordering_timer(board, late);
            }
            Some(Job::EarlyRetransmit) => self.on_early_retransmit_timer(board, late),
            _ => {}
        }
    }

    fn candidates(
        &self,
        board: &Board,
        moment: &Moment,
        pieces: &core::ops::Range<usize>,
    ) -> Candidates {
        let mut list = Candidates::default();
        let head = pieces.start == 0;
        let tail = pieces.end == board.len();
        self.add_timeouts(&mut list, board, moment, head);
        self.add_probe(&mut list, board, moment, tail, pieces);
        self.add_ack(&mut list, board, moment, pieces);
        self.add_other_minimum(&mut list, board, moment, pieces);
        let early = self.timer.job() == Some(Job::EarlyRetransmit);
        if early && self.early {
            let window = self.timer.window(&self.ticks);
            let fits = of_timer(moment.at, window, self.timer.span, moment.slack);
            let structure = if head { 0.0 } else { SLIGHTLY };
            list.add(
                Cause::EarlyRetransmit,
                Mechanism::EarlyRetransmit,
                fits,
                structure,
                Some(self.timer.span),
            );
        }
        list
    }

    fn add_timeouts(&self, list: &mut Candidates, board: &Board, moment: &Moment, head: bool) {
        let place = if head { 0.0 } else { MUCH };
        let phased = match self.phase {
            Some(phase) => {
                let off = self.ticks.off_phase(moment.at, phase);
                of_phase(off, self.ticks.tick(), moment.slack)
            }
            None => 0.0,
        };
        // A timer of `span` that was set between two times.
        let fires = |(soonest, latest): (Time, Time), span: Duration| {
            let (soon, late) = self.ticks.fires(span);
            (soonest + soon, latest + late)
        };
        let fits = |window: (Time, Time), span: Duration| {
            let mut likely = of_timer(moment.at, window, span, moment.slack);
            likely.weight += phased;
            likely
        };
        let away = moment.slack > SEES_ALL;
        let job = self.timer.job();
        let (armed, span, state) = match job {
            Some(Job::Timeout) => (self.timer.armed, self.timer.span, 0.0),
            Some(Job::Probe) if self.probe.is_some() => {
                let (_, probed) = self.timer.window(&self.ticks);
                if self.newer() {
                    let left = match board.head() {
                        Some(head) => self.rto - (probed - head.sent),
                        None => self.rto,
                    };
                    (
                        probed,
                        self.ticks.up(left.max(Duration::from_micros(1))),
                        0.0,
                    )
                } else {
                    (self.timer.due(), self.rto, 0.0)
                }
            }
            // A bare FIN is no probe in 3.10: the timeout follows.
            Some(Job::Probe) if self.has_bare_tail(board) => (self.timer.due(), self.rto, 0.0),
            Some(Job::Probe) => (self.timer.armed, self.rto, MUCH),
            Some(_) => (self.timer.armed, self.rto, MUCH),
            None => (moment.ack_at, self.rto, WHOLLY),
        };
        let mut gone = 0;
        let mut window = fires((armed, armed), span);
        let (mut state, mut span) = (state, span);
        list.add(
            Cause::Timeout { missed: 0 },
            Mechanism::Rto,
            fits(window, span),
            place + state,
            Some(span),
        );
        if away && job == Some(Job::Probe) && state == MUCH {
            // The probe was sent, and lost before the monitor.
            window = fires(self.timer.window(&self.ticks), self.rto);
            (span, state) = (self.rto, moment.unseen(1));
            gone = 1;
            list.add(
                Cause::Timeout { missed: 0 },
                Mechanism::Rto,
                fits(window, span),
                place + state,
                Some(span),
            );
        }
        // Earlier timeouts whose packets were lost before the monitor.
        let mut span = self.rto;
        for missed in 1..=MOST_MISSED {
            span = (span * 2).min(self.settings.max_rto);
            window = fires(window, span);
            let unseen = moment.unseen(gone + missed);
            list.add(
                Cause::Timeout { missed },
                Mechanism::Rto,
                fits(window, span),
                place + state + unseen - if gone > 0 { moment.unseen(gone) } else { 0.0 },
                Some(span),
            );
        }
    }

    pub(super) fn has_bare_tail(&self, board: &Board) -> bool {
        !self.settings.tlp_probes_bare_fin && board.tail().is_some_and(|tail| tail.bare)
    }

    fn add_probe(
        &self,
        list: &mut Candidates,
        board: &Board,
        moment: &Moment,
        tail: bool,
        pieces: &core::ops::Range<usize>,
    ) {
        if self.settings.tlp == Tlp::Off || !board.sack {
            return;
        }
        let mut structure = 0.0;
        let packets: u32 = pieces.clone().map(|index| board.at(index).packets).sum();
        if !tail || packets > 1 {
            structure += MUCH;
        }
        if self.has_bare_tail(board) {
            structure += WHOLLY;
        }
        let timer = self.timer;
        if timer.job() != Some(Job::Probe) || self.probe.is_some() {
            structure += WHOLLY;
        }
        let window = timer.window(&self.ticks);
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
        let mechanism = match self.state {
            State::Loss | State::Recovery => self.mechanism_of_resend(board.sack),
            _ if board.sack && self.settings.rack => Mechanism::Rack,
            _ if self.fack && board.sacked > 0 => Mechanism::Fack,
            _ => Mechanism::FastRetransmit,
        };
        let index = pieces.start;
        let marks = if index < board.len() {
            self.marks(board, index)
        } else {
            0
        };
        let sacked = index < board.len() && board.at(index).sacked;
        let marked = marks & LOST != 0;
        let forward = index < board.len() && self.may_go_forward(board, board.at(index).start);
        let mut structure = match self.state {
            State::Loss | State::Recovery if marked => 0.0,
            State::Recovery if forward => ONLY_IF,
            State::Loss | State::Recovery => SLIGHTLY,
            _ if self.delivered_above(board) > 0 => {
                self.lower_threshold(board, index).unwrap_or(MUCH)
            }
            _ => WHOLLY,
        };
        if marks & RESENT != 0 {
            // 3.10 finds lost resends by what was sent after them.
            let overtaken = !self.newer()
                && self.settings.fack_lost_retransmits
                && index < board.len()
                && board.highest.is_after(board.at(index).nxt_then);
            structure += if overtaken { 0.0 } else { 2.0 * SLIGHTLY };
        }
        if sacked {
            structure += MUCH;
        }
        if let Some(entered) = self.entered {
            // A recovery begins with a resend.
            if self.state == State::Recovery
                && moment.ack_at - entered > moment.slack + Duration::from_micros(100)
            {
                structure += SLIGHTLY;
            }
        }
        let mut fits = of_ack(moment.gap, moment.slack);
        let mut cause = Cause::Ack;
        if self.timer.job() == Some(Job::Reordering) && index < board.len() {
            let late = self.timer.window(&self.ticks).1.max(moment.at);
            let found = self.rack_finds_lost(board, board.at(index), late);
            let fires = of_timer(
                moment.at,
                self.timer.window(&self.ticks),
                self.timer.span,
                moment.slack,
            );
            let allows = if found || marked { 0.0 } else { SLIGHTLY };
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

    /// Goes on as the sender does that sent again for this cause.
    fn follow(
        &mut self,
        board: &mut Board,
        moment: &Moment,
        pieces: &core::ops::Range<usize>,
        best: Candidate,
    ) {
        let at = moment.at;
        let packets: u32 = pieces.clone().map(|index| board.at(index).packets).sum();
        match best.cause {
            Cause::Timeout { .. } | Cause::OtherTimeout => {
                let missed = match best.cause {
                    Cause::Timeout { missed } => missed,
                    _ => 0,
                };
                if best.cause == Cause::OtherTimeout {
                    self.learn_minimum(moment);
                }
                self.note_end_of_recovery();
                if let Some(phase) = self.phase {
                    let off = self.ticks.off_phase(at, phase);
                    if !is_in_phase(off, moment.slack) {
                        // Its ticks are others than the page's.
                        self.phase = None;
                        self.phased = false;
                    }
                }
                let own = best.cause == (Cause::Timeout { missed: 0 });
                if self.timer.job() == Some(Job::Timeout) && own {
                    if self.minimum == Minimum::Open && best.fit > SLIGHTLY {
                        self.minimum = Minimum::Proved;
                    }
                    self.learn_from_timeout(at, moment.slack);
                }
                self.enter_loss(board, at);
                self.timeouts += 1 + missed;
                for _ in 0..=missed {
                    let slop = self.settings.rto_slop;
                    self.rto = ((self.rto - slop) * 2 + slop).min(self.settings.max_rto);
                }
                self.timer.set(at, Job::Timeout, self.rto);
            }
            Cause::Probe | Cause::OtherProbe => {
                if best.cause == Cause::OtherProbe {
                    self.learn_minimum(moment);
                }
                self.probe = Some(board.nxt);
                self.probe_resent = true;
                self.timer.set(at, Job::Timeout, self.rto);
                self.note_resend(Mechanism::Tlp);
                return;
            }
            Cause::Reordering => {
                self.on_reordering_timer(board, at);
                if pieces.start == 0 {
                    self.timer.set(at, Job::Timeout, self.rto);
                }
                if self.state != State::Recovery {
                    self.enter_recovery(board, at);
                }
            }
            Cause::EarlyRetransmit => self.on_early_retransmit_timer(board, at),
            Cause::Ack => {
                if self.state < State::Recovery {
                    let lower = self.lower_threshold(board, pieces.start).is_some();
                    if lower {
                        self.learn_threshold(board);
                    }
                    self.enter_recovery(board, moment.ack_at);
                    self.began_by = best.mechanism;
                    if lower && !self.settings.rack {
                        self.mark_by_count(board, true);
                    }
                }
                if self.state == State::Loss {
                    self.frto = false;
                }
            }
        }
        self.entered = None;
        self.unless_more = false;
        let restarts = matches!(best.cause, Cause::Ack | Cause::EarlyRetransmit);
        if restarts && pieces.start == 0 && self.timer.job() != Some(Job::Reordering) {
            self.timer.set(at, Job::Timeout, self.rto);
        }
        for index in pieces.clone() {
            if self.marks(board, index) & LOST == 0 && self.newer() {
                self.mark_lost(board, index);
            }
            self.mark_resent(board, index);
        }
        if self.timed.is_some() {
            self.timed = None;
        }
        self.note_rate_sent(packets);
        self.note_undo_resend(best.mechanism, moment.stamp, packets);
        self.note_resend(best.mechanism);
    }

    /// `tcp_enter_loss`
    pub(super) fn enter_loss(&mut self, board: &mut Board, now: Time) {
        let first = self.state < State::Recovery;
        let anew = self.state <= State::Disorder
            || !self.point.is_after(board.una)
            || (self.state == State::Loss && self.timeouts == 0);
        let by_rack =
            self.settings.timeout_marks == TimeoutMarks::Rack && self.settings.rack && board.sack;
        if !board.sack {
            self.dups = 0;
        }
        if self.newer() {
            for index in 0..board.len() {
                let piece = *board.at(index);
                let young = self.rack_wait(&piece, Duration::ZERO, now) > Duration::ZERO;
                if by_rack && index > 0 && young {
                    continue;
                }
                self.mark_lost(board, index);
            }
            if anew {
                self.begin_undo(board);
            }
            let threshold = self.threshold;
            if self.state <= State::Disorder && self.delivered_above(board) >= threshold {
                self.reordering = self.reordering.min(threshold);
            }
            self.frto = self.settings.frto && (first || self.timeouts > 0);
        } else {
            let resent_before = board.pieces().any(|piece| piece.resends > 0);
            for index in 0..board.len() {
                self.mark_lost(board, index);
            }
            self.undo.resends = 0;
            self.undo.marker = (self.settings.undo && !resent_before).then_some(board.una);
            self.reordering = self.reordering.min(self.settings.dupack_threshold);
            self.frto = self.settings.frto && (anew || self.timeouts > 0);
        }
        self.state = State::Loss;
        self.loss_at = Some(now);
        self.point = board.nxt;
        self.probe = None;
        self.shrink_window(board);
    }
}

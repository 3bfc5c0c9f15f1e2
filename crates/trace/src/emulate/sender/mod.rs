//! One emulated sender: what a stack's sender would know and would have set its timer for, from what was sent and what came
//! back. It has no window: what may be sent is seen.
//!
//! `linux6` and `linux3` work through acknowledgements as the two generations of the model's sender do (other stacks take
//! the one nearer to them), `rack`, `counted`, `undo` and `clock` are parts of that; `causes` are what may have made a
//! retransmission, `explain` says which did, and `follow` what comes of it.

mod causes;
mod clock;
mod counted;
mod doubt;
mod explain;
mod follow;
mod linux3;
mod linux6;
mod minimum;
mod nothing;
mod rack;
mod rate;
mod threshold;
mod undo;
mod window;

use std::collections::VecDeque;

use rexmit_tcp::estimator::Rtt;
use rexmit_tcp::sender::State;
use rexmit_tcp::settings::{EarlyRetransmit, SenderForm, Settings};
use rexmit_tcp::Mechanism;
use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::board::{AckReport, Board, LOST, RESENT};
use super::profile::Profile;
use super::timer::{Ticks, Timer};
use doubt::Before;
use minimum::Minimum;
use rack::Rack;
use rate::Rate;
use rexmit_tcp::recovery::Job;
use undo::Undo;

pub use clock::SynAgain;
pub use explain::{Moment, Opinion};

/// A retransmission that fits worse than this is not explained.
const EXPLAINED: f64 = -6.5;

/// The largest capacity for opinions that is kept.
const MOST_OPINIONS: usize = 256;

/// What an acknowledgement told this sender (`FLAG_…` of `tcp_ack`).
#[derive(Clone, Copy, Debug, Default)]
struct AckFlags {
    acked: bool,
    retransmitted_acked: bool,
    sacked: bool,
    original: bool,
    lost_retransmission: bool,
    dsack_probe: bool,
    set_timer: bool,
}

/// An emulated sender.
#[derive(Debug)]
pub struct EmulatedSender {
    pub profile: &'static Profile,
    settings: &'static Settings,
    slot: usize,
    ticks: Ticks,
    rtt: Rtt,
    sampled: bool,
    min_rtt: Option<(Duration, Time)>,
    /// The timeout, back-off counted, in whole ticks (`icsk_rto`).
    rto: Duration,
    timer: Timer,
    state: State,
    /// What had been sent when the state began (`high_seq`).
    point: SeqNum,
    lost: u32,
    retransmitted: u32,
    /// Without SACK, duplicates (`sacked_out`).
    dups: u32,
    reordering: u32,
    /// What it was at first, and whether that may be another than the page's.
    threshold: u32,
    threshold_open: bool,
    reordered: bool,
    rack: Rack,
    fack: bool,
    early: bool,
    /// What had been sent when a probe was (`tlp_high_seq`), and whether it sent old data.
    probe: Option<SeqNum>,
    probe_retransmitted: bool,
    frto: bool,
    timeouts: u32,
    undo: Undo,
    /// What it was before the last timeout, if that may have been none.
    before: Option<Before>,
    began_by: Mechanism,
    began: bool,
    retransmitting: bool,
    /// A recovery began then and nothing was sent again since.
    entered: Option<Time>,
    /// It began only if no new data could be sent.
    unless_more: bool,
    /// When the last timeout was.
    pub loss_at: Option<Time>,
    rate: Rate,
    /// The timer should have fired and nothing was sent.
    missed: bool,
    timed: Option<(SeqNum, Time)>,
    /// Where in time its ticks begin, once a timer showed it.
    phase: Option<i64>,
    /// How long they are is known.
    rate_known: bool,
    /// Where they begin may show.
    phased: bool,
    /// Round-trip times taken while that was not known.
    unsure: VecDeque<(Time, Time, SeqNum, SeqNum)>,
    /// Its congestion window at most, in segments, where that is certain.
    window: Option<u32>,
    /// How much longer its timeouts proved to be than the page says.
    bias: Duration,
    minimum: Minimum,
    /// How likely all that was seen is by this sender, as a natural logarithm.
    pub score: f64,
    /// The worst of the retransmissions' likelihoods.
    pub worst: f64,
    /// Retransmissions, and those of them that fit worse than [`EXPLAINED`].
    pub explained: (u32, u32),
    pub opinions: VecDeque<Opinion>,
}

/// The collections of an emulated sender, empty.
#[derive(Debug, Default)]
pub struct Recycled {
    unsure: VecDeque<(Time, Time, SeqNum, SeqNum)>,
    opinions: VecDeque<Opinion>,
}

impl EmulatedSender {
    pub fn new(profile: &'static Profile, slot: usize, recycled: Recycled) -> Self {
        let settings: &'static Settings = &profile.settings;
        let rtt = Rtt::new(settings);
        let ticks = Ticks::new(settings);
        EmulatedSender {
            profile,
            settings,
            slot,
            ticks,
            rto: ticks.up(rtt.rto()),
            rtt,
            sampled: false,
            min_rtt: None,
            timer: Timer::default(),
            state: State::Open,
            point: SeqNum::default(),
            lost: 0,
            retransmitted: 0,
            dups: 0,
            reordering: settings.dupack_threshold,
            threshold: settings.dupack_threshold,
            threshold_open: settings.sender == SenderForm::Linux6,
            reordered: false,
            rack: Rack::default(),
            fack: settings.fack,
            early: settings.early_retransmit != EarlyRetransmit::Off
                && settings.dupack_threshold == 3,
            probe: None,
            probe_retransmitted: false,
            frto: false,
            timeouts: 0,
            undo: Undo::default(),
            before: None,
            began_by: Mechanism::FastRetransmit,
            began: false,
            retransmitting: false,
            entered: None,
            unless_more: false,
            loss_at: None,
            rate: Rate::default(),
            missed: false,
            timed: None,
            phase: None,
            rate_known: false,
            phased: ticks.are_coarse(),
            unsure: recycled.unsure,
            window: None,
            bias: Duration::ZERO,
            minimum: Minimum::of(settings.estimator, profile.other_minimum),
            score: profile.prior,
            worst: 0.0,
            explained: (0, 0),
            opinions: recycled.opinions,
        }
    }

    /// Its collections.
    pub fn leave(mut self) -> Recycled {
        self.unsure.clear();
        self.opinions.clear();
        self.opinions.shrink_to(MOST_OPINIONS);
        Recycled {
            unsure: self.unsure,
            opinions: self.opinions,
        }
    }

    /// Whether segments came to the receiver in another order than they left.
    #[cfg(test)]
    pub fn has_seen_reordering(&self) -> bool {
        self.reordered
    }

    /// Notes how well a retransmission fits.
    fn fits(&mut self, fit: f64) {
        self.worst = self.worst.min(fit);
        self.explained.0 += 1;
        self.explained.1 += u32::from(fit < EXPLAINED);
    }

    fn newer(&self) -> bool {
        self.settings.sender == SenderForm::Linux6
    }

    /// The handshake is over; `rtt` is its round-trip time if it gave one.
    pub fn established(&mut self, now: Time, rtt: Option<Duration>, board: &Board) {
        self.point = board.una;
        self.begin_window(board);
        match rtt {
            Some(rtt) => {
                self.take_path(now, rtt);
                self.take_sample(now - rtt, now, board);
            }
            None => self.rtt.no_sample_after_handshake(),
        }
        self.set_rto();
    }

    /// An acknowledgement came; the board has it already.
    pub fn on_ack(&mut self, board: &mut Board, report: &AckReport) {
        self.judge_rate(board, report);
        if self.newer() {
            self.on_ack_linux6(board, report);
        } else {
            self.on_ack_linux3(board, report);
        }
        if board.is_empty() {
            self.lost = 0;
            self.retransmitted = 0;
            self.timer.clear();
        }
    }

    /// Something new left; the board has it already. `nothing_out`: it was empty before.
    pub fn on_new(&mut self, board: &mut Board, moment: &Moment, nothing_out: bool) {
        self.catch_up_for_sending(board, moment);
        if self.unless_more && self.state == State::Recovery && self.entered == Some(moment.ack_at)
        {
            self.entered = None;
            self.began = false;
            self.state = State::Disorder;
        }
        self.unless_more = false;
        if self.timed.is_none() {
            self.timed = board.tail().map(|tail| (tail.start, moment.at));
        }
        if self.timer.job() == Some(Job::Probe) && self.is_probe_of_new_data(moment) {
            if self.newer() {
                self.probe = Some(board.nxt);
                self.probe_retransmitted = false;
            }
            self.timer.set(moment.at, Job::Timeout, self.rto);
            return;
        }
        let converts = match self.timer.job() {
            Some(Job::Probe) => true,
            Some(Job::EarlyRetransmit) => !self.newer(),
            _ => false,
        };
        self.check_window(board);
        self.note_rate_sent(board.tail().map_or(1, |tail| tail.packets));
        if nothing_out || converts {
            self.rearm(board, moment.at);
        }
        self.schedule_probe(board, moment.at, false);
    }

    /// Something left at `at` that the monitor never saw, and of which is learned later. What was out at a timeout is sent
    /// again as part of what follows it.
    pub fn on_unseen(&mut self, board: &mut Board, at: Time) {
        let Some(tail) = board.len().checked_sub(1) else {
            return;
        };
        if self.loss_at.is_some_and(|loss| at <= loss) && self.state != State::Recovery {
            self.state = State::Loss;
            self.point = board.nxt;
            self.mark_lost(board, tail);
        }
        if self.timer.job().is_none() {
            self.timer.set(at, Job::Timeout, self.rto);
        }
    }

    /// New data that no acknowledgement let go, at the time at which a probe is due.
    fn is_probe_of_new_data(&self, moment: &Moment) -> bool {
        let (soon, late) = self.timer.window(&self.ticks);
        let margin = moment.slack + self.ticks.tick() / 2 + self.timer.span / 50;
        moment.gap > Duration::from_millis(2) + moment.slack
            && moment.at + margin >= soon
            && moment.at <= late + margin
    }

    fn in_reduction(&self) -> bool {
        matches!(self.state, State::Cwr | State::Recovery)
    }

    fn marks(&self, board: &Board, index: usize) -> u8 {
        board.at(index).marks[self.slot]
    }

    fn mark_lost(&mut self, board: &mut Board, index: usize) -> bool {
        let slot = self.slot;
        let piece = board.at_mut(index);
        if piece.sacked {
            return false;
        }
        let marks = &mut piece.marks[slot];
        let mut new = false;
        if *marks & RESENT != 0 {
            *marks &= !RESENT;
            self.retransmitted = self.retransmitted.saturating_sub(piece.packets);
            new = true;
        }
        if *marks & LOST == 0 {
            *marks |= LOST;
            self.lost += piece.packets;
            new = true;
        }
        new
    }

    fn mark_retransmitted(&mut self, board: &mut Board, index: usize) {
        let slot = self.slot;
        let piece = board.at_mut(index);
        if piece.marks[slot] & RESENT == 0 {
            piece.marks[slot] |= RESENT;
            self.retransmitted += piece.packets;
        }
    }

    fn clear_lost(&mut self, board: &mut Board) {
        let slot = self.slot;
        for piece in board.pieces_mut() {
            piece.marks[slot] &= !LOST;
        }
        self.lost = 0;
    }

    /// SACKed packets; without SACK, duplicates.
    fn delivered_above(&self, board: &Board) -> u32 {
        if board.sack {
            board.sacked
        } else {
            self.dups
        }
    }

    fn add_duplicate(&mut self, board: &Board) {
        self.dups += 1;
        self.limit_duplicates(board, 0);
    }

    fn remove_duplicates(&mut self, acked: u32, board: &Board) {
        if acked > 0 {
            self.dups = self.dups.saturating_sub(acked - 1);
        }
        self.limit_duplicates(board, acked);
    }

    /// `tcp_limit_reno_sacked`
    fn limit_duplicates(&mut self, board: &Board, acked: u32) {
        let holes = self.lost.max(1).min(board.out);
        if self.dups + holes > board.out {
            self.dups = board.out.saturating_sub(holes);
            let distance = (board.out + acked).min(self.settings.max_reordering);
            if self.newer() || distance > self.reordering {
                self.reordering = distance;
            }
            self.fack &= self.newer();
            self.early = false;
        }
    }

    fn any_retransmission_out(&self, board: &Board) -> bool {
        self.retransmitted > 0 || board.head().is_some_and(|head| head.retransmissions > 0)
    }

    /// `tcp_try_keep_open`
    fn keep_open(&mut self, board: &Board) {
        let doubtful =
            self.delivered_above(board) + self.lost > 0 || self.any_retransmission_out(board);
        let state = if doubtful {
            State::Disorder
        } else {
            State::Open
        };
        if self.state != state {
            self.state = state;
            self.point = board.nxt;
        }
    }

    fn keep_open_unless_reducing(&mut self, board: &Board) {
        if self.state != State::Cwr {
            self.keep_open(board);
        }
    }

    /// What `tcp_fastretrans_alert` does first in both generations. Whether nothing more is to be done.
    fn is_settled(&mut self, board: &Board, report: &AckReport) -> bool {
        if board.out == 0 {
            self.dups = 0;
        }
        if self.state == State::Open {
            self.undo.stamp = None;
            return false;
        }
        !board.una.is_before(self.point) && self.leave_at_point(board, report)
    }

    /// What it does before it asks whether a recovery is to begin.
    fn before_recovery(&mut self, board: &mut Board, report: &AckReport, duplicate: bool) {
        if !board.sack {
            if report.advanced {
                self.dups = 0;
            }
            if duplicate {
                self.add_duplicate(board);
            }
        }
        if self.state <= State::Disorder {
            self.try_undo_by_dsack(board);
        }
    }

    /// `tcp_enter_recovery`
    fn enter_recovery(&mut self, board: &Board, at: Time) {
        if self.newer() {
            self.forget_stamp(board);
        }
        self.began = true;
        self.begin_rate(board);
        self.forget_window();
        self.entered = Some(at);
        self.begin_undo(board);
        if !self.in_reduction() {
            self.point = board.nxt;
            self.probe = None;
        }
        self.state = State::Recovery;
    }

    /// The recovery is over. One in which nothing was ever sent again did not take place.
    fn note_end_of_recovery(&mut self) {
        if self.entered.take().is_some() {
            self.score -= 3.0;
        }
    }

    /// The recovery point is acknowledged. Whether nothing more is to be done.
    fn leave_at_point(&mut self, board: &Board, report: &AckReport) -> bool {
        match self.state {
            State::Cwr => {
                if board.una != self.point {
                    self.state = State::Open;
                }
            }
            State::Recovery => {
                if !board.sack {
                    self.dups = 0;
                }
                self.note_end_of_recovery();
                if self.end_recovery(board, report) {
                    return true;
                }
            }
            State::Open | State::Disorder | State::Loss => {}
        }
        false
    }

    /// What a retransmission from the queue of the lost is called.
    fn mechanism_of_retransmission(&self, sack: bool) -> Mechanism {
        if self.state == State::Loss {
            Mechanism::RtoRecovery
        } else if sack && self.settings.rack {
            Mechanism::Rack
        } else if self.began || !self.retransmitting {
            self.began_by
        } else if sack {
            Mechanism::SackRecovery
        } else {
            Mechanism::FastRetransmit
        }
    }

    fn note_retransmission(&mut self, mechanism: Mechanism) {
        self.began = false;
        self.retransmitting = !matches!(
            mechanism,
            Mechanism::Rto | Mechanism::RtoRecovery | Mechanism::Tlp
        );
    }
}

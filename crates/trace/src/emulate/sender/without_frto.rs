//! A host without F-RTO (`net.ipv4.tcp_frto=0`). What arrives of the originals says nothing to it: it goes on sending again
//! what the timeout lost. The retransmissions after a timeout that F-RTO would have taken back tell. The first ones may be
//! those of a recovery, too, that begins at once; but such a one lets no more go with its first acknowledgement than that
//! says was delivered, and it lets one go in any case (PRR). A window that begins anew after a timeout has room for one more.

use rexmit_tcp::recovery::CaState;
use rexmit_tcp::settings::Recovery;
use rexmit_tcp::Mechanism;
use rexmit_time::Time;
use rexmit_wire::SeqNum;

use super::causes::{Weighing, MUCH};
use super::course::Course;
use super::explain::{Cause, Moment};
use super::marks::Marks;
use super::threshold::OTHER;
use super::timing::SEES_ALL;
use super::EmulatedSender;
use crate::emulate::board::{AckReport, Board, Piece};

/// How many hosts have it switched off is a guess; as a natural logarithm.
const OFF: f64 = -3.9;

/// Whether a sender has F-RTO, as far as it has shown.
#[derive(Clone, Copy, Debug, Default)]
pub(super) enum Frto {
    /// As its page says, until it shows another.
    #[default]
    Open,
    /// The test took a timeout back, and nothing has left since.
    TookBack(TakenBack),
    /// New data left then, though there was more that the timeout had lost.
    On,
    /// What the timeout had lost left all the same.
    Off,
}

/// A timeout that the test took back.
#[derive(Clone, Copy, Debug)]
pub(super) struct TakenBack {
    /// When the timeout was.
    loss_at: Option<Time>,
    /// What had been sent then.
    point: SeqNum,
    /// The threshold of duplicates: that no recovery began since tells nothing of it.
    threshold: u32,
    /// When the last acknowledgement came that moved the first byte not acknowledged: only such a one lets a sender go on that
    /// repairs what a timeout lost.
    advanced: Option<Time>,
    /// When the acknowledgement came that took it back.
    at: Time,
    /// What a recovery that it began would send at once, where that is certain.
    burst: Option<u32>,
    /// What was sent again at once.
    sent: u32,
    /// Retransmissions since.
    retransmissions: usize,
}

impl TakenBack {
    /// Whether the timeout had lost the piece, and it was not sent again since.
    fn has_lost(&self, piece: &Piece, marks: &Marks) -> bool {
        piece.start.is_before(self.point) && !piece.sacked && !marks.is_retransmitted(piece)
    }
}

impl Course {
    /// An acknowledgement was worked through.
    pub fn note_advance_after_frto(&mut self, report: &AckReport) {
        if let Frto::TookBack(back) = &mut self.frto {
            if report.advanced {
                back.advanced = Some(report.at);
            }
        }
    }

    /// Something was sent again after a timeout that may have been taken back.
    pub fn note_again_after_frto(&mut self, moment: &Moment) {
        if let Frto::TookBack(back) = &mut self.frto {
            back.retransmissions += 1;
            if moment.ack_at == back.at {
                back.sent += moment.packets;
            }
        }
    }
}

impl EmulatedSender {
    /// Whether a timeout may begin F-RTO's test.
    pub(super) fn has_frto(&self) -> bool {
        self.settings.loss.frto && !matches!(self.course.frto, Frto::Off)
    }

    /// F-RTO's test is about to take the timeout back. One that may have been none tells nothing.
    pub(super) fn note_taken_back(&mut self, board: &Board, report: &AckReport) {
        // That losses are newly found leaves no room for more (`tcp_cwnd_reduction`).
        let certain = self.settings.congestion.recovery == Recovery::PrrConservative
            && board.sack
            && report.slack <= SEES_ALL;
        let sure = self.course.before.is_none();
        if sure && matches!(self.course.frto, Frto::Open | Frto::TookBack(_)) {
            self.course.frto = Frto::TookBack(TakenBack {
                loss_at: self.course.loss_at,
                point: self.episode.point,
                threshold: self.detection.own_threshold,
                advanced: None,
                at: report.at,
                burst: certain.then(|| report.newly_delivered.max(1)),
                sent: 0,
                retransmissions: 0,
            });
        }
    }

    /// New data left: a sender without F-RTO would first have sent again what the timeout had lost.
    pub(super) fn note_new_after_frto(&mut self, board: &Board) {
        if let Frto::TookBack(back) = self.course.frto {
            let lost = |piece| back.has_lost(piece, &self.marks);
            let more = board.pieces().any(lost);
            self.course.frto = if more { Frto::On } else { Frto::Open };
        }
    }

    /// It has none: the timeout was not taken back.
    pub(super) fn go_on_without_frto(&mut self, board: &mut Board, moment: &Moment) {
        let Frto::TookBack(back) = self.course.frto else {
            return;
        };
        self.course.frto = Frto::Off;
        self.evidence.rename_since(back.retransmissions);
        self.episode.frto = false;
        if self.detection.own_threshold != back.threshold {
            self.detection.set_own_threshold(back.threshold);
        }
        self.episode.state = CaState::Loss;
        self.episode.point = back.point;
        self.course.loss_at = back.loss_at;
        self.episode.probe.high = None;
        board.looked_at(board.len());
        for index in 0..board.len() {
            if back.has_lost(board.at(index), &self.marks) {
                self.marks.mark_lost(board, index);
            }
        }
        self.timing.timers.set_to_timeout(moment.ack_at);
    }
}

impl Weighing<'_> {
    /// What it costs, as a natural logarithm, to believe that a recovery which began when the timeout was taken back sends
    /// these pieces.
    pub fn unlike_recovery(&self) -> f64 {
        let Frto::TookBack(back) = self.sender.course.frto else {
            return 0.0;
        };
        let Some(burst) = back
            .burst
            .filter(|_| self.sender.episode.state == CaState::Recovery)
        else {
            return 0.0;
        };
        let beyond = self.moment.ack_at == back.at && back.sent + self.moment.packets > burst;
        let held = self.sender.course.entered == Some(back.at) && self.moment.ack_at > back.at;
        if beyond || held {
            MUCH
        } else {
            0.0
        }
    }

    /// What the timeout lost goes on being sent again by a sender without F-RTO.
    pub fn add_without_frto(&mut self) {
        let Frto::TookBack(back) = self.sender.course.frto else {
            return;
        };
        if back.advanced != Some(self.moment.ack_at) {
            return;
        }
        let is_still_lost = |index| back.has_lost(self.board.at(index), &self.sender.marks);
        if self.pieces.is_empty() || !self.pieces.clone().all(is_still_lost) {
            return;
        }
        // That no recovery began since speaks for no higher threshold then: what was paid for one is given back.
        let page = self.sender.settings.loss.dupack_threshold;
        let raised = back.threshold == page && self.sender.detection.own_threshold != page;
        let structure = if raised { OFF - OTHER } else { OFF };
        let fits = self
            .moment
            .fit_of_ack(self.sender.settings.segments.pacing_rate);
        self.list.add(
            Cause::WithoutFrto,
            Mechanism::RtoRecovery,
            fits,
            structure,
            None,
        );
    }
}

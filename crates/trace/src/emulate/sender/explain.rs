//! What made a retransmission: the most likely of its causes, and how sure that is.

use arrayvec::ArrayVec;
use rexmit_tcp::Mechanism;
use rexmit_time::{Duration, Time};

use super::causes::of_no_cause;
use super::nothing::waited;
use super::timing::{LOST_BEFORE, SEES_ALL};
use super::EmulatedSender;
use crate::emulate::board::Board;
use crate::emulate::likelihood::{is_overdue, of_ack, Likely};
use crate::emulate::pace::Late;
use rexmit_tcp::recovery::{machine, Job};

/// How well it fits that a stack had no cause at all: such a retransmission speaks of no stack.
const UNEXPLAINED: f64 = 0.0;

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
    /// Of a retransmission: how many packets it is.
    pub packets: u32,
    /// What is known of the sender's pace.
    pub pace: Option<Late>,
    /// Packets that left right before it and were never seen.
    pub missing: Option<u32>,
    /// Of a retransmission: when its first byte was sent last, if the sender's own clock says that of both.
    pub copied: Option<Time>,
    /// No timer of any stack can have run out since what is in flight was sent.
    pub before_timers: bool,
    /// Of a retransmission: how well it fits that an acknowledgement let it go, by a sender that does not pace and by one
    /// that does. It is the same for all emulated senders.
    pub let_go: [Likely; 2],
}

impl Moment {
    /// The same moment, of a retransmission.
    pub fn of_retransmission(mut self) -> Self {
        self.let_go = [None, self.pace].map(|pace| of_ack(self.gap, self.slack, pace));
        self
    }

    /// How well it fits that an acknowledgement let it go.
    pub(super) fn fit_of_ack(&self, paces: bool) -> Likely {
        self.let_go[usize::from(paces)]
    }

    /// What it costs, as a natural logarithm, that so many packets of timers left before this and never came by.
    pub(super) fn unseen(&self, packets: u32) -> f64 {
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

/// A retransmission as one emulated sender explains it.
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
    /// A timeout that F-RTO would have taken back, by a host that has none.
    WithoutFrto,
    /// Nothing that a stack here has.
    None,
}

#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub cause: Cause,
    pub mechanism: Mechanism,
    pub weight: f64,
    pub fit: f64,
    timer: Option<Duration>,
}

/// Causes that a state allows, at most.
const MOST: usize = 12;

/// Candidates of one retransmission.
#[derive(Default)]
pub(super) struct Candidates(ArrayVec<Candidate, MOST>);

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
        let candidate = Candidate {
            cause,
            mechanism,
            weight: likely.weight + structure,
            fit: likely.fit + structure,
            timer,
        };
        let added = self.0.try_push(candidate);
        debug_assert!(
            added.is_ok(),
            "a state allows more causes than there is room for"
        );
    }

    /// There is none that a stack here has.
    pub(super) fn add_none(&mut self, moment: &Moment) {
        let weight = of_no_cause(waited(moment));
        let likely = Likely {
            weight,
            fit: UNEXPLAINED,
        };
        self.add(Cause::None, Mechanism::Unknown, likely, 0.0, None);
    }

    fn iter(&self) -> core::slice::Iter<'_, Candidate> {
        self.0.iter()
    }

    /// The likeliest timeout.
    pub(super) fn timeout(&self) -> Option<&Candidate> {
        let timeouts = self.iter();
        let timeouts = timeouts.filter(|one| matches!(one.cause, Cause::Timeout { .. }));
        timeouts.max_by(|a, b| a.weight.total_cmp(&b.weight))
    }

    /// The likeliest; of several the first.
    fn best(&self) -> Option<Candidate> {
        let likelier = |best: Candidate, one: &Candidate| match one.weight > best.weight {
            true => *one,
            false => best,
        };
        let mut all = self.iter();
        let first = *all.next()?;
        Some(all.fold(first, likelier))
    }

    /// How likely they are together, as a natural logarithm, and the share of each in that. `best` is the likeliest.
    fn weigh(&self, best: &Candidate) -> (f64, ArrayVec<f64, MOST>) {
        let above = self.iter().map(|one| (one.weight - best.weight).exp());
        let mut shares: ArrayVec<f64, MOST> = above.collect();
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= sum);
        (best.weight + sum.ln(), shares)
    }
}

impl EmulatedSender {
    /// Explains a retransmission of these pieces, which the board does not know yet as sent again.
    pub fn on_retransmission(
        &mut self,
        board: &mut Board,
        moment: &Moment,
        pieces: core::ops::Range<usize>,
    ) {
        self.catch_up_for_retransmission(board, moment);
        let mut candidates = self.candidates(board, moment, &pieces);
        let beyond = self.beyond_window(board, &pieces);
        if beyond < 0.0
            && candidates
                .best()
                .is_some_and(|best| best.cause == Cause::Ack)
        {
            self.doubt(board, moment, beyond);
            candidates = self.candidates(board, moment, &pieces);
        }
        let Some(best) = candidates.best() else {
            return;
        };
        if best.cause == Cause::Ack {
            self.weigh_timeout(board, moment, &pieces);
        }
        let (all, shares) = candidates.weigh(&best);
        let share = |mechanism: Mechanism| {
            let each = candidates.iter().zip(&shares);
            let same = each.filter(|(one, _)| one.mechanism == mechanism);
            same.map(|(_, share)| share).sum::<f64>()
        };
        let next = candidates
            .iter()
            .filter(|one| one.mechanism != best.mechanism)
            .max_by(|a, b| a.weight.total_cmp(&b.weight))
            .map(|one| (one.mechanism, share(one.mechanism)));
        let opinion = Opinion {
            mechanism: best.mechanism,
            share: share(best.mechanism),
            next,
            timer: best.timer,
        };
        let opinion = match best.cause {
            Cause::Ack => self.course.with_doubt(opinion),
            _ => opinion,
        };
        self.evidence.opinions.push_back(opinion);
        self.evidence.score += all.max(-16.0);
        self.evidence.fits(best.fit);
        let ack = candidates.iter().find(|one| one.cause == Cause::Ack);
        let before = match (best.cause, ack) {
            (Cause::Timeout { .. } | Cause::OtherTimeout, Some(ack)) => {
                self.before_timeout(moment, best.weight - ack.weight, ack.mechanism)
            }
            _ => self.course.before,
        };
        let head = pieces.start == 0;
        let instead = self.timeout_instead(board, moment, head, &candidates, &best);
        self.follow(board, moment, &pieces, best);
        self.course.before = before;
        self.course.instead = self.course.instead.or(instead);
        self.course.note_doubtful_retransmission();
    }

    /// The board knows these pieces as sent again at `at`.
    pub fn on_sent_again(&mut self, board: &Board, pieces: &core::ops::Range<usize>, at: Time) {
        self.marks.sent_again(board, pieces, at);
    }

    /// A wait for reordered segments that is long over ended unseen.
    fn catch_up_for_retransmission(&mut self, board: &mut Board, moment: &Moment) {
        let (_, late) = self.timing.window();
        if !is_overdue(moment.at, late, self.timing.timers.timer.span, moment.slack) {
            return;
        }
        match self.timing.timers.timer.job() {
            Some(Job::Reordering) => {
                machine::on_reordering_timer(&mut self.at(board, late));
            }
            Some(Job::EarlyRetransmit) => {
                machine::on_early_retransmit_timer(&mut self.at(board, late));
            }
            _ => {}
        }
    }
}

//! Emulated senders: what made each retransmission, and which stack it was.
//!
//! A [`Judges`] holds one scoreboard and one emulated sender for each profile (`profile`): the pages of the stacks'
//! settings, and some of them with what a capture does not show changed. Each emulated sender (`sender`) follows what
//! its stack would do with its timer and its states; at a retransmission it weighs every cause that its state allows by how
//! well the time fits. How likely all that was seen is by each of them, says which stack it was, and weighs their opinions
//! of each retransmission.

mod board;
mod chosen;
mod detection_mode;
mod identity;
mod left_out;
mod let_go;
mod likelihood;
pub(crate) mod mechanism;
mod pace;
mod parameters;
mod profile;
mod recycled;
mod sender;
#[cfg(test)]
mod tests;
mod traits;
mod verdict;

use std::collections::VecDeque;
use std::sync::Arc;

use rexmit_tcp::settings::Settings;
use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use crate::event::{Acked, SenderEvent, Sent, SentKind};
use crate::facts::SenderFacts;
use crate::rows::Parameters;
use board::{AckReport, Board};
use left_out::Input;
use let_go::LetGo;
use pace::Pace;
pub use recycled::Recycled;
pub(crate) use sender::StackClock;
use sender::{EmulatedSender, Moment, SynAgain};
use traits::{SenderTrait, SenderTraits};

pub use chosen::{Chosen, ChosenError};
pub use detection_mode::{shares_by, DetectionMode, ModePosterior, MODES};
pub use mechanism::{LikelyMechanism, Opinions};
pub use verdict::Explanation;

/// Copies of a SYN whose stamps are remembered: Linux sends an answer five times again at most (`tcp_synack_retries`).
const SYN_STAMPS: usize = 6;

/// Packets that follow each other so closely left for the same reason.
const TOGETHER: Duration = Duration::from_micros(200);

/// How likely it is, as a natural logarithm, that a stack sends a SYN that is another's: a host that imitates it, a proxy.
const REFUTED: f64 = -6.9;

/// Which stack a sender was.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Identity {
    /// The stack's name, `several` or `none`.
    pub stack: Option<&'static str>,
    /// How sure that is, 0 to 1.
    pub confidence: f64,
    /// All stacks that explain every retransmission.
    pub stacks: Vec<&'static str>,
    /// The six parameters.
    pub parameters: Parameters,
}

/// All emulated senders of one direction, side by side.
#[derive(Debug)]
pub struct Judges {
    facts: SenderFacts,
    board: Board,
    /// The emulations that take part.
    chosen: Chosen,
    senders: Vec<EmulatedSender>,
    /// Stacks that the SYN refutes wait, and what they are to be told.
    waits: bool,
    told: Vec<Input>,
    /// Memory for further ones.
    spare: Vec<sender::Recycled>,
    traits: SenderTraits,
    pace: Pace,
    report: AckReport,
    /// Something was sent.
    begun: bool,
    established: bool,
    /// When the SYN left, and how often.
    syn: Option<(Time, u32)>,
    /// The stamps of its first copies, and when they left.
    syn_stamps: [Option<(u32, Time)>; SYN_STAMPS],
    /// When the peer's SYN came last, and how often.
    asked: Option<(Time, u32)>,
    ack_at: Time,
    /// The least time from what was sent once to its acknowledgement.
    least_rtt: Option<Duration>,
    /// When something new left last.
    new_at: Time,
    /// Something that the monitor never saw, until the next event says when it left.
    unseen: Option<Sent>,
    /// The receiver's newest stamp.
    recent: Option<u32>,
    /// What the receiver sent last in order ends here (`rcv_nxt`).
    received: Option<SeqNum>,
    /// The last packet of those that an acknowledgement let go.
    together: Option<Time>,
    /// The first of them, and how far apart packets leave.
    let_go: LetGo,
    /// Number of the first retransmission remembered.
    first: u32,
    /// The episode of each retransmission that is remembered.
    places: VecDeque<u32>,
    episode: Option<(u32, SeqNum)>,
    episodes: u32,
}

impl Judges {
    /// Emulations of every stack, for a sender of which `facts` are known.
    #[must_use]
    pub fn new(facts: &SenderFacts) -> Self {
        Judges::within(facts, Chosen::default(), Recycled::default())
    }

    /// As [`Judges::new`] with the emulations that are chosen, in the memory that others have left.
    #[must_use]
    pub fn within(facts: &SenderFacts, chosen: Chosen, recycled: Recycled) -> Self {
        let refuted = |p: &profile::Profile| facts.system.refutes(p.stack);
        let mut left = Judges::possible(facts, chosen).filter(|(_, p)| !refuted(p));
        match left.next() {
            Some(_) => Judges::of(facts, chosen, recycled, |p| !refuted(p)),
            None => Judges::of_all(facts, chosen, recycled),
        }
    }

    /// As [`Judges::within`], and none waits.
    fn of_all(facts: &SenderFacts, chosen: Chosen, recycled: Recycled) -> Self {
        Judges::of(facts, chosen, recycled, |_| true)
    }

    /// The emulations that were chosen and could do what the handshake shows, with their numbers.
    fn possible(
        facts: &SenderFacts,
        chosen: Chosen,
    ) -> impl Iterator<Item = (usize, &'static profile::Profile)> {
        let (sack, begun) = (facts.sack, facts.begun);
        let may = move |p: &profile::Profile| {
            let with_sack = sack || !p.with_sack_alone;
            (!sack || p.settings.segments.sack) && with_sack && p.existed(begun)
        };
        let profiles = profile::all().iter().enumerate();
        profiles.filter(move |(slot, profile)| chosen.has(*slot) && may(profile))
    }

    /// Those of them for which `runs` holds; the others wait.
    fn of(
        facts: &SenderFacts,
        chosen: Chosen,
        recycled: Recycled,
        runs: impl Fn(&profile::Profile) -> bool,
    ) -> Self {
        let (mut senders, mut spare) = (recycled.senders, recycled.spare);
        let mut waits = false;
        for (slot, profile) in Judges::possible(facts, chosen) {
            if !runs(profile) {
                waits = true;
                continue;
            }
            let mut sender = EmulatedSender::new(profile, slot, spare.pop().unwrap_or_default());
            if facts.system.refutes(profile.stack) {
                sender.evidence.score += REFUTED;
            }
            senders.push(sender);
        }
        Judges {
            facts: *facts,
            board: Board::new(facts.mss, facts.sack, recycled.board),
            chosen,
            senders,
            waits,
            told: recycled.told,
            spare,
            traits: SenderTraits::default(),
            pace: Pace::default(),
            report: recycled.report,
            begun: false,
            established: false,
            syn: None,
            syn_stamps: [None; SYN_STAMPS],
            asked: None,
            ack_at: Time::ZERO,
            least_rtt: None,
            new_at: Time::ZERO,
            unseen: None,
            recent: None,
            received: None,
            together: None,
            let_go: LetGo::default(),
            first: 0,
            places: recycled.places,
            episode: None,
            episodes: 0,
        }
    }

    /// The next event, in the sender's order. A retransmission's number counts up from 0.
    pub fn event(&mut self, event: &SenderEvent) {
        self.remember(Input::Event(*event));
        if self.board.pay_for_looks() {
            let senders = &mut self.senders;
            self.board
                .let_go_of_half(|piece| senders.iter_mut().for_each(|one| one.on_let_go(piece)));
        }
        if let Some(mut unseen) = self.unseen.take() {
            // A retransmission tells of it only now, or the first that was new after a timeout: it left with what was sent
            // last. A timeout lets little go.
            let again = matches!(event, SenderEvent::Sent(Sent { kind: SentKind::Retransmission(_), range, .. })
                if range.intersects(unseen.range));
            if again || (!unseen.counted && self.lost_at().is_some_and(|at| self.new_at <= at)) {
                unseen.at = self.new_at.min(self.ack_at);
            }
            self.sent_new(&unseen);
        }
        match event {
            SenderEvent::Sent(sent) => self.sent(sent),
            SenderEvent::Acked(acked) => self.acked(acked),
        }
        if let SenderEvent::Sent(Sent {
            kind: SentKind::Retransmission(number),
            ..
        }) = event
        {
            self.look_again(*number);
        }
    }

    /// When the last timeout was, by the emulation that explains most.
    fn lost_at(&self) -> Option<Time> {
        self.best()?.loss_at()
    }

    /// The emulation that explains most so far.
    fn best(&self) -> Option<&EmulatedSender> {
        self.senders
            .iter()
            .max_by(|a, b| a.evidence.score.total_cmp(&b.evidence.score))
    }

    fn sent(&mut self, sent: &Sent) {
        if sent.flags.syn() {
            self.sent_syn(sent);
            return;
        }
        match sent.kind {
            SentKind::New => self.sent_new(sent),
            SentKind::Unseen => self.unseen = Some(*sent),
            SentKind::Retransmission(_) => self.sent_again(sent),
            SentKind::WindowProbe | SentKind::KeepAlive => {}
        }
    }

    /// The peer's SYN came at `at`, the sender's clock.
    pub fn asked(&mut self, at: Time) {
        self.remember(Input::Asked(at));
        let count = self.asked.map_or(0, |(_, count)| count);
        self.asked = Some((at, count + 1));
    }

    fn begin(&mut self, first: SeqNum) {
        if !self.begun {
            self.begun = true;
            self.board.begin(first);
        }
    }

    fn sent_syn(&mut self, sent: &Sent) {
        self.begin(sent.range.start + 1);
        if let (Some(stamp), Some(place)) = (
            sent.stamp.filter(|stamp| *stamp != 0),
            self.syn_stamps.iter_mut().find(|place| place.is_none()),
        ) {
            *place = Some((stamp, sent.at));
        }
        match self.syn {
            None => {
                self.syn = Some((sent.at, 1));
                for sender in &mut self.senders {
                    sender.on_syn(sent.at);
                }
            }
            Some((at, count)) => {
                self.syn = Some((at, count + 1));
                if let SentKind::Retransmission(_) = sent.kind {
                    self.note_place(sent.range.end);
                }
                let again = SynAgain {
                    at: sent.at,
                    slack: sent.slack,
                    count,
                    client: self.facts.client,
                    asked: self.asked.filter(|_| !self.facts.client),
                    early: self
                        .senders
                        .iter()
                        .all(|sender| sender.timing().is_before_syn_timer(sent)),
                };
                for sender in &mut self.senders {
                    sender.on_syn_again(&again);
                }
            }
        }
    }

    /// The handshake is over. `rtt` is its round-trip time if its SYN left once; `by_stamp` the time since the copy whose stamp
    /// was echoed.
    fn establish(&mut self, now: Time, rtt: Option<Duration>, by_stamp: Option<Duration>) {
        if core::mem::replace(&mut self.established, true) {
            return;
        }
        // Nothing new left before.
        self.new_at = self.new_at.max(now);
        for sender in &mut self.senders {
            let stamped = by_stamp.filter(|_| sender.times_handshake_by_stamp());
            sender.established(now, rtt.or(stamped), &self.board);
        }
    }

    /// How long before `now` the first copy of the SYN left that had this stamp.
    fn since_syn(&self, stamp: u32, now: Time) -> Option<Duration> {
        let mut copies = self.syn_stamps.iter().flatten();
        let of = copies.find(|(its, _)| *its == stamp);
        of.map(|(_, at)| now - *at)
    }

    fn heed(&mut self, seen: SenderTrait) {
        for sender in &mut self.senders {
            sender.evidence.score += seen.score(sender.profile.settings.as_ref());
            if let Some(hz) = seen.ticks() {
                sender.learn_ticks(hz);
            }
        }
    }

    fn moment(&mut self, sent: &Sent) -> Moment {
        let since_ack = sent.at - self.ack_at;
        let gap = match self.together {
            Some(last) if sent.at - last <= TOGETHER + sent.slack => {
                self.together = Some(sent.at);
                since_ack.min(sent.at - last)
            }
            _ => {
                self.together = None;
                since_ack
            }
        };
        Moment {
            at: sent.at,
            slack: sent.slack,
            gap,
            ack_at: self.ack_at,
            stamp: sent.stamp,
            pace: self.pace.expected(),
            missing: sent.missing,
            copied: None,
            before_timers: false,
            ..Moment::default()
        }
    }

    /// When a packet left: away from the sender with those before it that the same acknowledgement let go.
    fn left_with(&mut self, sent: &Sent) -> Time {
        if sent.slack > sender::SEES_ALL {
            self.let_go.sent(sent, self.together.is_some())
        } else {
            sent.at
        }
    }

    fn sent_new(&mut self, sent: &Sent) {
        self.begin(sent.range.start);
        if !self.established && self.facts.isn.is_some() {
            self.establish(sent.at, self.facts.handshake_rtt, None);
        }
        if sent.kind == SentKind::Unseen && sent.at <= self.ack_at && !sent.counted {
            // It left long ago, and only a retransmission or an acknowledgement tells of it.
            self.board.push(sent);
            for sender in &mut self.senders {
                sender.on_unseen(&mut self.board, sent.at);
            }
            return;
        }
        let moment = self.moment(sent);
        if let Some(seen) = self.traits.sent(sent, &self.facts) {
            self.heed(seen);
        }
        let nothing_out = self.board.is_empty();
        if !nothing_out {
            self.pace.sent(moment.gap, moment.slack);
        }
        self.new_at = sent.at;
        let at = self.left_with(sent);
        self.board.push(&Sent { at, ..*sent });
        for sender in &mut self.senders {
            sender.on_new(&mut self.board, &moment, nothing_out);
        }
    }

    fn sent_again(&mut self, sent: &Sent) {
        self.begin(sent.range.start);
        let mut moment = self.moment(sent).of_retransmission();
        self.pace.retransmitted(moment.gap, moment.slack);
        if sent.range.end.is_after(self.board.nxt) {
            // The first copy of it was never seen: it left with what was sent last.
            let first = Sent {
                at: self.new_at,
                ..*sent
            };
            self.board.push(&first);
            for sender in &mut self.senders {
                sender.on_unseen(&mut self.board, first.at);
            }
        }
        let pieces = self.board.locate(sent.range);
        moment.packets = self.board.packets(&pieces);
        self.note_copy(&mut moment, sent, pieces.start);
        for sender in &mut self.senders {
            sender.on_retransmission(&mut self.board, &moment, pieces.clone());
        }
        let at = self.left_with(sent);
        self.board
            .retransmitted(&Sent { at, ..*sent }, pieces.clone());
        for sender in &mut self.senders {
            sender.on_sent_again(&self.board, &pieces, at);
        }
        self.together = Some(sent.at);
        let nxt = self.board.nxt;
        self.note_place(nxt);
    }

    /// The retransmission belongs to the episode that runs, or begins one that lasts until all before `end` is
    /// acknowledged.
    fn note_place(&mut self, end: SeqNum) {
        let (episode, _) = *self.episode.get_or_insert_with(|| {
            self.episodes += 1;
            (self.episodes - 1, end)
        });
        self.places.push_back(episode);
    }

    /// Whether newer acknowledgements came before it, so that a host drops it (RFC 7323 §5; `tcp_disordered_ack`): all but
    /// pure ones that repeat the last and come after all that the receiver sent.
    fn is_stale(&mut self, acked: &Acked) -> bool {
        let Some(stamp) = acked.stamp else {
            return false;
        };
        let carried = acked.carried;
        let before = self
            .received
            .is_some_and(|received| carried.start.is_before(received));
        if !before {
            self.received = Some(carried.end);
        }
        let late = self
            .recent
            .map_or(0, |recent| recent.wrapping_sub(stamp) as i32);
        if late > 0 {
            return before || !carried.is_empty() || acked.ack != self.board.una;
        }
        if !acked.ack.is_before(self.board.una) {
            self.recent = Some(stamp);
        }
        false
    }

    fn acked(&mut self, acked: &Acked) {
        if !self.begun || self.is_stale(acked) {
            return;
        }
        self.ack_at = acked.at;
        self.together = Some(acked.at);
        self.let_go.acked();
        if !self.established {
            let once = self.syn.filter(|(_, count)| *count == 1);
            let rtt = once
                .map(|(at, _)| acked.at - at)
                .or(self.facts.handshake_rtt);
            if once.is_some() {
                self.least_rtt = rtt;
            }
            if self.syn.is_some() || self.facts.isn.is_some() {
                let by_stamp = acked.echo.and_then(|echo| self.since_syn(echo, acked.at));
                self.establish(acked.at, rtt, by_stamp);
            }
        }
        self.traits.acked(acked, &self.board, &self.facts);
        if self.board.ack(acked, &mut self.report) {
            self.note_rtt();
            for sender in &mut self.senders {
                sender.on_ack(&mut self.board, &self.report);
            }
        }
        if let Some((_, end)) = self.episode {
            if !acked.ack.is_before(end) {
                self.episode = None;
            }
        }
    }

    /// When the piece at `index` had been sent before, if that is known, and whether a timer can have run out since.
    fn note_copy(&self, moment: &mut Moment, sent: &Sent, index: usize) {
        let (Some(head), true) = (self.board.head(), index < self.board.len()) else {
            return;
        };
        let piece = self.board.at(index);
        // Of a sender whose peer was never heard nothing says how far it is.
        let heard = self.ack_at > Time::ZERO || self.facts.handshake_rtt.is_some();
        let alone = !heard && piece.seen;
        // Its time was told when less was known; where stamps tell times, they tell how long ago it was.
        let beside = moment.slack == Duration::ZERO;
        if !alone && !(sent.own_time && piece.seen && (beside || piece.stamp.is_some())) {
            return;
        }
        let ticks = match (sent.stamp, piece.stamp) {
            (Some(now), Some(then)) => i64::from(now.wrapping_sub(then) as i32),
            _ => 0,
        };
        moment.copied = Some(piece.sent);
        // A timer counts from what was sent first (RFC 6298 §5, `tcp_rearm_rto`).
        let since = piece.sent.min(head.sent);
        let least = self.shortest_timer(alone);
        let soon = moment.at + moment.slack * 2 < since + least;
        moment.before_timers = soon && moment.slack * ticks < least;
    }

    /// No timer is shorter than a round trip (RFC 6298 §2.2, RFC 8985 §7.2). Where none can be known, the smallest timeout
    /// of all stacks stands for it.
    fn shortest_timer(&self, alone: bool) -> Duration {
        let least = if alone {
            let least = |sender: &EmulatedSender| sender.timing().least_timeout();
            self.senders.iter().map(least).min()
        } else {
            self.least_rtt
        };
        least.unwrap_or(Duration::ZERO)
    }

    /// An acknowledgement came: the shortest time that it took for one.
    fn note_rtt(&mut self) {
        let at = self.report.at;
        let once = self.report.acked.iter();
        let once = once.filter(|piece| piece.retransmissions == 0 && at >= piece.sent);
        if let Some(rtt) = once.map(|piece| at - piece.sent).min() {
            self.least_rtt = Some(self.least_rtt.map_or(rtt, |least| least.min(rtt)));
        }
    }

    /// Each emulation with how likely all that was seen is by it and the worst of the retransmissions', as natural
    /// logarithms.
    pub fn standings(&self) -> impl Iterator<Item = (&'static str, f64, f64)> + '_ {
        self.senders.iter().map(|sender| {
            (
                sender.profile.stack,
                sender.evidence.score,
                sender.evidence.worst,
            )
        })
    }

    /// The settings of the emulation that explains most so far.
    #[must_use]
    pub fn settings(&self) -> Option<Arc<Settings>> {
        let best = self.best()?;
        Some(Arc::clone(&best.profile.settings))
    }

    /// Which stack it was, from all retransmissions so far.
    #[must_use]
    pub fn identity(&self) -> Identity {
        let retransmissions = self.first > 0 || !self.places.is_empty();
        identity::recognise(&self.senders, &self.facts.system, retransmissions)
    }
}

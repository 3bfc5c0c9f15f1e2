//! What the sender had sent and heard when it sent something again: the packets' witness of it (`crate::necessary`).

use std::cmp::Ordering;
use std::collections::VecDeque;

use rexmit_tcp::recovery::constants::RTO_MIN;
use rexmit_tcp::Mechanism;
use rexmit_time::{Duration, Time};
use rexmit_wire::SeqRange;

use super::acknowledged::NewlyAcked;
use super::copies::NO_TIMER;
use super::merge::Ack;
use super::pieces::{Copy, MOST_PARTS, ORIGINAL};
use super::prompted::{Returned, ToAcknowledge};
use super::SenderView;
use crate::event::Event;
use crate::necessary::{self, SegmentKind, ShortTimers, Timed, Witness, LEAST_THRESHOLD};
use crate::rows::Position;

/// Duplicate acknowledgements that are remembered of one edge: more than any threshold.
const MOST_DUPLICATES: usize = 16;
/// Gaps of what never came by that are remembered.
const MOST_GAPS: usize = 64;
/// Segments SACKed are counted up to so many: more than any threshold.
const MOST_SACKED: u32 = 64;

/// An acknowledgement that the sender heard: when that was on its clock, and when it came by.
#[derive(Clone, Copy, Debug)]
struct Hearing {
    at: Time,
    came_by: Time,
}

/// What never came by: it was sent after the one time and before the other.
#[derive(Clone, Copy, Debug)]
struct Gap {
    start: i64,
    end: i64,
    since: Time,
    until: Time,
}

/// What the sender has heard, and what it sent when, as far as it bears upon what it sends again.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// Duplicates since the edge moved.
    duplicates: VecDeque<Hearing>,
    sacked_at: Option<Time>,
    /// Of what arrived, what was sent last: when, where it ends, and when its acknowledgement came by.
    latest: Option<(Time, i64, Time)>,
    /// What had been sent when something was sent again, until it is acknowledged.
    episode: Option<i64>,
    /// As many duplicates as a threshold began it.
    by_duplicates: bool,
    partial_at: Option<Time>,
    /// A rescue was sent in it.
    rescued: bool,
    /// What had been sent when a timer can have sent something again, and when that came by.
    timeout: Option<(i64, Time)>,
    /// The tail was sent again, and nothing was acknowledged since.
    probed: bool,
    /// When it sent or heard anything, on its clock.
    news: Option<Time>,
    gaps: VecDeque<Gap>,
    /// Times after which something went again without an acknowledgement, shorter than the usual least timer.
    pub short: ShortTimers,
    /// Packets that routers have returned.
    pub returned: VecDeque<Returned>,
    /// The last packet of the peer that takes up sequence numbers.
    pub asked: Option<ToAcknowledge>,
}

impl Heard {
    /// Something was sent again, and what had been sent by then is not all acknowledged.
    pub fn recovers(&self) -> bool {
        self.episode.is_some()
    }

    /// Numbers that never came by: they were sent after `since` and before `until`.
    pub fn missed(&mut self, (start, end): (i64, i64), since: Time, until: Time) {
        // What lies right before it may never have come by either.
        let before = self.gaps.back().filter(|gap| gap.end == start);
        let since = before.map_or(since, |gap| gap.since.min(since));
        if self.gaps.len() == MOST_GAPS {
            self.gaps.pop_front();
        }
        self.gaps.push_back(Gap {
            start,
            end,
            since,
            until,
        });
    }

    /// When what holds `place` was sent, which never came by: after the one time, before the other.
    fn gap(&self, place: i64) -> Option<(Time, Time)> {
        let holds = |gap: &&Gap| (gap.start..gap.end).contains(&place);
        let gap = self.gaps.iter().rfind(holds)?;
        Some((gap.since, gap.until))
    }

    /// The sender sent something at `at`, on its clock.
    pub fn sent(&mut self, at: Time) {
        self.news = self.news.max(Some(at));
    }

    /// The sender heard at `at` an acknowledgement that came by at `came_by`. It `repeats` the one before, or `moved` the edge to
    /// this place.
    pub fn heard(
        &mut self,
        came_by: Time,
        at: Time,
        repeats: bool,
        moved: Option<i64>,
        newly: &NewlyAcked,
    ) {
        if let Some((sent, end)) = newly.latest {
            if self
                .latest
                .is_none_or(|(then, to, _)| (then, to) < (sent, end))
            {
                self.latest = Some((sent, end, came_by));
            }
            self.news = self.news.max(Some(at));
        }
        if newly.sacked {
            self.sacked_at = Some(came_by);
        }
        if repeats {
            if self.duplicates.len() == MOST_DUPLICATES {
                self.duplicates.pop_front();
            }
            self.duplicates.push_back(Hearing { at, came_by });
        }
        // A probe's episode ends with any (`tcp_process_tlp_ack`).
        self.probed = false;
        let Some(una) = moved else { return };
        self.duplicates.clear();
        if self.episode.is_some_and(|high| high <= una) {
            self.episode = None;
            self.by_duplicates = false;
            self.partial_at = None;
            self.rescued = false;
        } else if self.by_duplicates {
            self.partial_at = Some(came_by);
        }
        self.timeout = self.timeout.filter(|(high, _)| *high > una);
    }
}

impl SenderView {
    /// By what it is known when a packet was sent.
    fn timed(&self, event: &Event) -> Timed {
        let stamped = event.timestamps.is_some() && self.times.stamps.tick().is_some();
        if self.times.clock.is_beside_sender() {
            Timed::Sender
        } else if stamped {
            Timed::Stamps
        } else if self.times.clock.position() == Position::Sender {
            Timed::Sender
        } else {
            Timed::Arrival
        }
    }

    /// What the packets show of `event`, which is sent again: `copy` of what begins at `start`, sent last as `last`.
    pub(super) fn witness(
        &self,
        event: &Event,
        (start, end): (i64, i64),
        copy: &Copy,
        (first, last): (bool, Option<Copy>),
    ) -> Witness {
        let timed = self.timed(event);
        let since = |copy_at: Time, sent: Time| match timed {
            Timed::Sender | Timed::Arrival => event.at - copy_at,
            Timed::Stamps => copy.sent - sent,
        };
        let since_sent = match last {
            Some(last) if last.seen => {
                let since = since(last.at, last.sent).max(Duration::ZERO);
                (since, since)
            }
            _ => self.since_gap(event.at, start),
        };
        let sent_last = last.map_or(Time::ZERO, |last| last.sent);
        // What repeats the edge came after what lies there was sent first, whenever that was.
        let counted_since = if first { Time::ZERO } else { sent_last };
        let (duplicates, duplicate_at) = self.duplicates(event, start, counted_since);
        let is_alike = |last: &Copy| {
            let unnumbered = self.numbers.own.equal(last.ip_id, event.ip_id).is_none();
            let soon = event.at - last.at < NO_TIMER;
            soon && unnumbered
                && last.is_repeated_by(event)
                && self.signals(event, last, (start, end)) < LEAST_THRESHOLD
        };
        let highest = self.board.sacked.highest().filter(|high| *high > end);
        let nxt = self.board.pieces.nxt();
        let recovers = self.heard.recovers();
        Witness {
            prompted: self.prompted(event, start, last),
            timed,
            slack: match timed {
                Timed::Sender => self.times.clock.delay(true),
                Timed::Stamps | Timed::Arrival => self.times.slack(),
            },
            since_sent,
            since_seen: last.filter(|last| last.seen).map(|last| event.at - last.at),
            since_news: self
                .heard
                .news
                .map(|news| (copy.sent - news).max(Duration::ZERO)),
            least_rtt: [self.measured.rtts.least(), self.facts.handshake_rtt]
                .into_iter()
                .flatten()
                .min(),
            packet: SegmentKind::of(event.flags, event.payload_len),
            sack: self.facts.sack,
            duplicates,
            duplicate_at,
            sacked: self.sacked_above(end),
            reach: highest.map_or(0, |high| self.segments(start, high).min(MOST_SACKED)),
            sacked_at: self.heard.sacked_at,
            later_at: self
                .heard
                .latest
                .filter(|(sent, to, _)| (*sent, *to) > (sent_last, end))
                .map(|(.., came_by)| came_by),
            partial_at: self.heard.partial_at,
            rescue: recovers && !self.heard.rescued && self.heard.sacked_at.is_some(),
            timeout_at: self
                .heard
                .timeout
                .filter(|(high, _)| start < *high)
                .map(|(_, at)| at),
            first: first && !recovers && last.is_some_and(|last| last.seen),
            raised: false,
            out: self.board.pieces.flight_segments(),
            tail: end == nxt,
            probed: self.heard.probed,
            twice: false,
            of_today: self.facts.system.is_of_today(),
            alike: last.as_ref().is_some_and(is_alike),
        }
    }

    /// Duplicate acknowledgements that its sender had heard since, on its clock, when it sent what begins at `start`; and when the
    /// last came by.
    fn duplicates(&self, event: &Event, start: i64, since: Time) -> (u32, Option<Time>) {
        let heard = self.heard.duplicates.iter();
        let mut heard = heard.filter(|heard| heard.at >= since);
        // By the monitor's order it may have heard more: how far the way to it is, is known in part.
        let at_edge = |ack: &&Ack| {
            // One that reports a duplicate alone is none (RFC 2883 §5).
            let reports = |block: &SeqRange| !block.start.is_after(event.seq);
            let counts = ack
                .blocks
                .as_slice()
                .first()
                .is_none_or(|block| !reports(block));
            ack.event.ack == event.seq && ack.event.range().is_empty() && counts
        };
        // One below what was acknowledged before it is old.
        let is_first = |ack: &&Ack| !ack.event.ack.is_after(event.seq);
        let una = self.board.pieces.una();
        let unheard = self.merge.unheard_at(event.at).take_while(is_first);
        let mut unheard = unheard.filter(at_edge).peekable();
        // One that came by before anything beyond the edge repeats nothing.
        let out = unheard.peek().and_then(|_| {
            let out = self.board.pieces.across(start, i64::MAX).take(MOST_PARTS);
            out.map(|piece| piece.first.at).min()
        });
        let unheard = unheard.filter(|ack| Some(ack.event.at) >= out);
        let unheard = match start.cmp(&una) {
            Ordering::Less => 0,
            Ordering::Equal => unheard.count(),
            Ordering::Greater => unheard.count().saturating_sub(1),
        };
        let count = heard.clone().count() + unheard;
        (count as u32, heard.next_back().map(|heard| heard.came_by))
    }

    /// Duplicate acknowledgements, or segments SACKed above it, that point to the loss of what was sent as `copy`.
    pub(super) fn signals(&self, event: &Event, copy: &Copy, (start, end): (i64, i64)) -> u32 {
        let since = match copy.number {
            ORIGINAL => Time::ZERO,
            _ => copy.sent,
        };
        let (duplicates, _) = self.duplicates(event, start, since);
        let lately = self.heard.sacked_at.is_some_and(|at| at >= copy.at);
        duplicates.max(if lately { self.sacked_above(end) } else { 0 })
    }

    /// Segments above `end` that were SACKed.
    fn sacked_above(&self, end: i64) -> u32 {
        let most = i64::from(self.mss) * i64::from(MOST_SACKED);
        let above = self.board.sacked.above(end, most);
        // A FIN has a number, and takes no segment where data are on it.
        let high = self.board.sacked.highest().filter(|_| above > 1);
        let fin = high.is_some_and(|high| {
            let mut last = self.board.pieces.across(high - 1, high);
            last.any(|piece| piece.first.mark && piece.end == high && piece.end - piece.start > 1)
        });
        self.segments(0, above - i64::from(fin))
    }

    /// Since what begins at `start` was sent, which never came by: at least, and at most.
    fn since_gap(&self, at: Time, start: i64) -> (Duration, Duration) {
        let trip = self.measured.rtts.least().unwrap_or(Duration::ZERO);
        match self.heard.gap(start) {
            Some((since, until)) => {
                let most = (at - since).max(Duration::ZERO);
                // Nothing is sent again sooner than after a round trip.
                ((at - until).max(trip).min(most), most)
            }
            None => (Duration::ZERO, Duration::MAX),
        }
    }

    /// This was sent again.
    pub(super) fn note_again(&mut self, witness: &Witness, at: Time, nxt: i64) {
        let heard = &mut self.heard;
        if heard.episode.is_none() {
            heard.by_duplicates = necessary::look(Mechanism::FastRetransmit, witness).is_ok();
        }
        heard.rescued |= witness.sacked == 0 && witness.rescue;
        heard.episode = heard.episode.max(Some(nxt));
        let silent = Witness {
            twice: true,
            ..*witness
        };
        if necessary::look(Mechanism::Rto, &silent).is_ok() {
            heard.timeout = Some((nxt, at));
            let span = witness.since_sent.1;
            if span < RTO_MIN {
                heard.short.note(span);
            }
        }
        heard.probed |= witness.tail;
    }

    /// What more is known of it when it gets its row.
    pub(super) fn complete(&self, witness: &Witness) -> Witness {
        Witness {
            raised: self.measured.row.reordered > 0 || self.reports.reported > 0,
            twice: self.heard.short.show_twice(witness.since_sent.1),
            ..*witness
        }
    }
}

//! Taking off the scoreboard what is acknowledged, and the round-trip time that this gives (`tcp_clean_rtx_queue`).

use rexmit_time::Duration;
use rexmit_wire::SeqNum;

use super::ack::Before;
use super::queue::{time_of, Marks, Micros, Sent};
use super::sack::Tagged;
use super::Sender;
use crate::recovery::machine::{self, AckOutcome};
use crate::recovery::rack::{sent_after, Delivered};
use crate::recovery::undo::echoes_before;
use crate::settings::{FrtoTest, ReorderingUnit};

/// The latest transmission among those that an acknowledgement says were delivered (`struct rate_sample`).
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Delivery {
    /// Segments that had been delivered when it was sent; 0 if there is none.
    pub prior_delivered: u32,
    at: Micros,
    end: SeqNum,
}

/// What a walk over the acknowledged segments found.
pub(super) struct Cleaned {
    pub outcome: AckOutcome,
    /// When the first and the last of those were sent that were sent once.
    pub first_sent: Option<Micros>,
    pub last_sent: Option<Micros>,
    /// The first of them that was not SACKed before: its number, and the segments before it.
    pub late: Option<SeqNum>,
    pub before_late: Option<u32>,
    pub acked: u32,
    fully: bool,
}

impl Sender {
    /// Remembers a delivered transmission if it is the latest of this acknowledgement (`tcp_rate_skb_delivered`).
    pub(super) fn sample_delivery(&mut self, index: usize, delivery: &mut Delivery) {
        let segment = self.queue.at_mut(index);
        if segment.marks.any(Marks::SAMPLED) {
            return;
        }
        let latest = delivery.prior_delivered == 0
            || sent_after(
                time_of(segment.at),
                segment.end,
                time_of(delivery.at),
                delivery.end,
            );
        if latest {
            *delivery = Delivery {
                prior_delivered: segment.delivered,
                at: segment.at,
                end: segment.end,
            };
        }
        if segment.is_sacked() {
            segment.marks.set(Marks::SAMPLED);
        }
    }

    /// Takes off what lies below `una`; `before` is what was out before this acknowledgement.
    pub(super) fn clean(
        &mut self,
        before: &Before,
        tagged: &Tagged,
        delivery: &mut Delivery,
    ) -> AckOutcome {
        let prior_sacked = self.queue.counts.sacked;
        let cleaned = self.take_off_acknowledged(delivery);
        let mut outcome = cleaned.outcome;
        if self.queue.head().is_some_and(Sent::is_sacked) {
            outcome.set(AckOutcome::RENEGING);
        }
        let mut rtt = None;
        let mut control_rtt = None;
        if let Some(first) = cleaned
            .first_sent
            .filter(|_| !outcome.any(AckOutcome::RETRANSMISSION_ACKED))
        {
            rtt = Some(self.moment.since(first));
            control_rtt = cleaned.last_sent.map(|last| self.moment.since(last));
            let short = self.una.offset_from(before.view.prior_una).unsigned_abs() < self.sizes.mss;
            if cleaned.acked == 1
                && cleaned.fully
                && prior_sacked == 0
                && short
                && delivery.prior_delivered + 1 == self.delivered
            {
                outcome.set(AckOutcome::MAYBE_DELAYED);
            }
        }
        let sack_rtt = tagged.first_sent.map(|first| self.moment.since(first));
        if sack_rtt.is_some() {
            control_rtt = Some(self.moment.since(tagged.last_sent));
        }
        let delayed = outcome.any(AckOutcome::MAYBE_DELAYED);
        let acked = outcome.any(AckOutcome::ACKED);
        let sampled = self.sample_rtt(rtt.or(sack_rtt), &mut control_rtt, acked, delayed);
        if acked {
            outcome.set(AckOutcome::SET_TIMER);
            self.note_acknowledged(before, &cleaned, prior_sacked, &mut outcome);
        } else if let (Some(rtt), Some(head), true) = (sack_rtt, self.queue.head(), sampled) {
            // Not if what was SACKed was sent after the head.
            if rtt > self.moment.since(head.at) {
                outcome.set(AckOutcome::SET_TIMER);
            }
        }
        self.tell_control(cleaned.acked, control_rtt);
        outcome
    }

    /// What was acknowledged tells of reordering, and takes off duplicates and counts of what was SACKed. `prior_sacked`
    /// segments were SACKed before it.
    pub(super) fn note_acknowledged(
        &mut self,
        before: &Before,
        cleaned: &Cleaned,
        prior_sacked: u32,
        outcome: &mut AckOutcome,
    ) {
        if self.sack {
            self.note_late(before, cleaned);
            let counted = if self.detection.fack {
                cleaned.acked
            } else {
                prior_sacked.saturating_sub(self.queue.counts.sacked)
            };
            self.uncount_hint(counted);
        } else {
            machine::remove_duplicates(self, cleaned.acked);
            let covers_retransmission = outcome.any(AckOutcome::RETRANSMISSION_ACKED);
            if self.settings.loss.frto_test == FrtoTest::Once && covers_retransmission {
                outcome.clear(AckOutcome::ORIGINAL);
            }
        }
        let reach = &mut self.fack.reach;
        *reach = reach.saturating_sub(cleaned.acked);
    }

    /// Takes off what is acknowledged.
    pub(super) fn take_off_acknowledged(&mut self, delivery: &mut Delivery) -> Cleaned {
        let again = self.settings.loss.sacked_count_again;
        let mut cleaned = Cleaned {
            outcome: AckOutcome::NONE,
            first_sent: None,
            last_sent: None,
            late: None,
            before_late: None,
            acked: 0,
            fully: true,
        };
        while let Some(head) = self.queue.head() {
            let head = *head;
            let mut count = head.count();
            if head.end.is_after(self.una) {
                count = match self.trim_head(&head) {
                    0 => break,
                    count => count,
                };
                cleaned.fully = false;
            }
            if head.marks.any(Marks::ANY_RETRANSMISSION) {
                if head.has_retransmission_out() {
                    self.queue.counts.retransmissions -= count;
                }
                cleaned.outcome.set(AckOutcome::RETRANSMISSION_ACKED);
            } else {
                let was_sacked = head.is_sacked();
                if !was_sacked {
                    cleaned.late.get_or_insert(head.seq);
                    cleaned.before_late.get_or_insert(cleaned.acked);
                }
                if !was_sacked || again {
                    cleaned.first_sent.get_or_insert(head.at);
                    cleaned.last_sent = Some(head.at);
                    // As in 6.1: what was SACKed before proves nothing twice.
                    let proves = !was_sacked || self.settings.loss.frto_test != FrtoTest::Once;
                    if proves && !head.end.is_after(self.episode.point) {
                        cleaned.outcome.set(AckOutcome::ORIGINAL);
                    }
                }
            }
            if head.is_sacked() {
                self.queue.counts.sacked -= count;
            } else if self.sack {
                self.delivered += count;
                if self.settings.loss.rack && !self.retransmission_was_spurious(&head) {
                    self.advance_rack(&head);
                }
            }
            if head.is_lost() {
                self.queue.counts.lost -= count;
            }
            self.queue.counts.out -= count;
            cleaned.acked += count;
            self.sample_delivery(0, delivery);
            cleaned.outcome.set(AckOutcome::ACKED);
            if !cleaned.fully {
                break;
            }
            self.free_first();
            self.fack.timeout_hint = None;
        }
        cleaned
    }

    /// What was acknowledged and not SACKed is late if a higher segment was SACKed before.
    fn note_late(&mut self, before: &Before, cleaned: &Cleaned) {
        match self.settings.loss.reordering_unit {
            ReorderingUnit::Segments => {
                let late = cleaned.before_late.filter(|late| *late < before.reach);
                if let Some(late) = late {
                    let distance = self.fack.reach.saturating_sub(late);
                    machine::note_segments_overtaken(self, distance);
                }
            }
            ReorderingUnit::Bytes => {
                let late = cleaned.late.filter(|late| late.is_before(before.highest));
                if let Some(late) = late {
                    machine::note_overtaken(self, late);
                }
            }
        }
    }

    /// A transmission was delivered.
    pub(super) fn advance_rack(&mut self, segment: &Sent) {
        let delivered = Delivered {
            sent: time_of(segment.at),
            end: segment.end,
            retransmitted: segment.marks.any(Marks::ANY_RETRANSMISSION),
        };
        machine::note_delivered(self, &delivered);
    }

    /// Packets at the start of a segment of several that are acknowledged; they are cut off (`tcp_tso_acked`).
    pub(super) fn trim_head(&mut self, head: &Sent) -> u32 {
        if head.packets == 1 || !self.una.is_after(head.seq) {
            return 0;
        }
        let (una, mss) = (self.una, self.sizes.mss);
        let first = self.queue.at_mut(0);
        first.seq = una;
        first.packets = super::queue::packets(first.len(), mss);
        head.count() - first.count()
    }

    /// The timestamp says that the original arrived, not the retransmission (`tcp_skb_spurious_retrans`).
    fn retransmission_was_spurious(&self, segment: &Sent) -> bool {
        segment.marks.any(Marks::ANY_RETRANSMISSION)
            && echoes_before(self.peer.echo, self.moment.stamp(segment.at))
    }

    /// Takes the round-trip time of what was sent once, else that of the timestamp; whether there was one
    /// (`tcp_ack_update_rtt`).
    fn sample_rtt(
        &mut self,
        rtt: Option<i64>,
        control_rtt: &mut Option<i64>,
        acked: bool,
        delayed: bool,
    ) -> bool {
        let mut rtt = rtt;
        if let (None, Some(echo), true) = (rtt, self.peer.echo, acked) {
            let age = self.timestamp(self.moment.now).wrapping_sub(echo);
            // More than an int of microseconds is no round-trip time.
            if age < i32::MAX as u32 / 1_000 {
                rtt = Some(i64::from(age.max(1)) * self.moment.stamp_micros());
                *control_rtt = rtt;
            }
        }
        let Some(rtt) = rtt else {
            return false;
        };
        let control = control_rtt.map(Duration::from_micros);
        self.take_sample(Duration::from_micros(rtt), control, delayed);
        true
    }

    /// Takes a round-trip time for the timeout, and `path` for the smallest unless an acknowledgement may have been delayed.
    /// A sample ends the back-off (RFC 6298 §5.7, Karn).
    pub(super) fn take_sample(&mut self, rtt: Duration, path: Option<Duration>, delayed: bool) {
        if let Some(path) = path {
            let micros = u32::try_from(path.as_nanos() / 1_000).unwrap_or(u32::MAX);
            if !delayed || micros <= self.timing.min_rtt.get() {
                let tick_micros = (self.moment.clock.tick_ns() / 1_000) as u32;
                let micros = if micros == 0 { tick_micros } else { micros };
                self.timing.min_rtt.take(self.moment.tick(), micros);
            }
        }
        self.timing.rtt.sample(rtt, self.una, self.nxt);
        self.timing.forget_back_off(self.moment.clock.tick());
    }

    pub(super) fn tell_control(&mut self, acked: u32, rtt: Option<i64>) {
        let clock = self.moment.clock;
        let context = self.context(&clock);
        let rtt = rtt.map(Duration::from_micros);
        self.congestion
            .control
            .acked(&mut self.congestion.window, &context, acked, rtt);
    }
}

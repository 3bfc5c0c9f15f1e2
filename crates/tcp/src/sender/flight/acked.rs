//! Taking off what is acknowledged (`tcp_clean_rtx_queue`).

use rexmit_wire::{SeqNum, SeqRange};

use super::queue::{packets, time_of, Marks, Micros, SentSegment};
use super::{Arrival, Flight};
use crate::congestion::{Departure, Latest};
use crate::recovery::machine::AckOutcome;
use crate::recovery::rack::sent_after;
use crate::recovery::undo::echoes_before;
use crate::settings::FrtoTest;

/// The latest transmission among those that an acknowledgement says were delivered (`struct rate_sample`).
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// Segments that had been delivered when it was sent; 0 if there is none.
    pub prior_delivered: u32,
    at: Micros,
    end: SeqNum,
    departure: Departure,
}

impl Delivery {
    /// As a sample of the rate is made of it.
    pub fn latest(&self) -> Option<Latest> {
        (self.prior_delivered > 0).then_some(Latest {
            at: self.at,
            departure: self.departure,
            prior_delivered: self.prior_delivered,
        })
    }

    /// Remembers a delivered transmission if it is the latest of this acknowledgement (`tcp_rate_skb_delivered`).
    pub fn take(&mut self, segment: &mut SentSegment) {
        if segment.marks.any(Marks::SAMPLED) {
            return;
        }
        let latest = self.prior_delivered == 0
            || sent_after(time_of(segment.at), segment.end, time_of(self.at), self.end);
        if latest {
            *self = Delivery {
                prior_delivered: segment.delivered,
                at: segment.at,
                end: segment.end,
                departure: segment.departure(),
            };
        }
        if segment.is_sacked() {
            segment.marks.set(Marks::SAMPLED);
        }
    }
}

/// What a walk over the acknowledged segments found.
pub struct Cleaned {
    pub outcome: AckOutcome,
    /// When the first and the last of those were sent that were sent once.
    pub first_sent: Option<Micros>,
    pub last_sent: Option<Micros>,
    /// The first of them that was not SACKed before, and by how many segments it was overtaken, if it was.
    pub late: Option<SeqNum>,
    pub overtaken: Option<u32>,
    pub acked: u32,
    pub fully: bool,
}

impl Cleaned {
    /// When the first was sent, if none of what is acknowledged was sent again.
    pub fn first_of_once(&self) -> Option<Micros> {
        let once = !self.outcome.any(AckOutcome::RETRANSMISSION_ACKED);
        self.first_sent.filter(|_| once)
    }
}

impl Flight {
    /// Takes off what lies below `una`, which is acknowledged now.
    pub(in super::super) fn take_off(&mut self, arrival: &mut Arrival<'_>) -> Cleaned {
        let again = self.settings.loss.sacked_count_again;
        let mut cleaned = Cleaned {
            outcome: AckOutcome::NONE,
            first_sent: None,
            last_sent: None,
            late: None,
            overtaken: None,
            acked: 0,
            fully: true,
        };
        let mut before_late = None;
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
                    before_late.get_or_insert(cleaned.acked);
                }
                if !was_sacked || again {
                    cleaned.first_sent.get_or_insert(head.at);
                    cleaned.last_sent = Some(head.at);
                    // As in 6.1: what was SACKed before proves nothing twice.
                    let proves = !was_sacked || self.settings.loss.frto_test != FrtoTest::Once;
                    if proves && !head.end.is_after(arrival.episode.point) {
                        cleaned.outcome.set(AckOutcome::ORIGINAL);
                    }
                }
            }
            if head.is_sacked() {
                self.queue.counts.sacked -= count;
            } else if self.sack {
                self.delivered += count;
                if self.settings.loss.rack && !arrival.was_spurious(&head) {
                    arrival.advance_rack(&head);
                }
            }
            if head.is_lost() {
                self.queue.counts.lost -= count;
            }
            self.queue.counts.out -= count;
            cleaned.acked += count;
            arrival.delivery.take(self.queue.at_mut(0));
            cleaned.outcome.set(AckOutcome::ACKED);
            if !cleaned.fully {
                break;
            }
            self.free_first();
            self.fack.timeout_hint = None;
        }
        let reach = self.fack.reach;
        let late = before_late.filter(|late| *late < arrival.before.reach);
        cleaned.overtaken = late.map(|late| reach.saturating_sub(late));
        self.fack.reach = reach.saturating_sub(cleaned.acked);
        if self.queue.head().is_some_and(SentSegment::is_sacked) {
            cleaned.outcome.set(AckOutcome::RENEGING);
        }
        cleaned
    }

    /// So many SACKed segments were acknowledged that were counted.
    pub(in super::super) fn uncount(&mut self, segments: u32) {
        self.queue.uncount_below_hint(segments);
    }

    /// Packets at the start of a segment of several that are acknowledged; they are cut off (`tcp_tso_acked`).
    fn trim_head(&mut self, head: &SentSegment) -> u32 {
        if head.packets == 1 || !self.una.is_after(head.seq) {
            return 0;
        }
        let (una, mss) = (self.una, self.sizes.mss);
        let first = self.queue.at_mut(0);
        first.seq = una;
        first.packets = packets(first.len(), mss);
        head.count() - first.count()
    }

    /// Takes the first segment off: all of it is acknowledged.
    fn free_first(&mut self) {
        if let Some(head) = self.queue.head() {
            let range = SeqRange {
                start: head.seq,
                end: head.end,
            };
            self.memory.free(range, &self.settings);
        }
        self.queue.pop_front();
    }
}

impl Arrival<'_> {
    /// The timestamp says that the original arrived, not the retransmission (`tcp_skb_spurious_retrans`).
    fn was_spurious(&self, segment: &SentSegment) -> bool {
        segment.marks.any(Marks::ANY_RETRANSMISSION)
            && echoes_before(self.peer.echo, self.timing.stamp(segment.at))
    }
}

//! What happens to a packet: by the tail, or by its place in the pattern.

use super::flow::{Flow, Positions};
use super::open::Open;
use super::out::Out;
use super::place::Place;
use crate::pattern::{Pattern, Scope};
use crate::{Bare, Drops, Mode, TransferId, Verdict};
use rexmit_wire::SeqRange;

/// Most packets that are kept while the head of their response is not complete.
const UNOWNED: usize = 64;

/// What happens to a packet, and of one that is dropped the transfer that loses it.
pub(super) type Judged = (Verdict, Option<TransferId>);

impl Flow {
    /// What happens to a packet of the sending side; `retransmission` says that some of its bytes were sent before.
    pub(super) fn judge(&mut self, p: &Positions, retransmission: bool, out: &Out) -> Judged {
        match &out.drops {
            Drops::Tail { segments: 0, .. } => (Verdict::Accept, None),
            Drops::Tail { .. } if retransmission => (Verdict::Accept, None),
            Drops::Tail { mode, .. } => match mode {
                Mode::Sequence => self.judge_by_sequence(p, out),
                Mode::Hold => self.judge_by_hold(p, out),
            },
            Drops::Pattern(pattern) => self.judge_by_pattern(p, retransmission, pattern, out),
        }
    }

    fn judge_by_pattern(
        &mut self,
        p: &Positions,
        retransmission: bool,
        pattern: &Pattern,
        out: &Out,
    ) -> Judged {
        let told = out.told.as_ref();
        // A packet may begin with bytes never sent and go on with others; a retransmission's first byte was sent before.
        let transmission = if retransmission {
            let transmission = self.retransmitted.transmission(p.start);
            self.retransmitted.add(p.start, p.top);
            transmission
        } else {
            1
        };
        let data = p.start < p.end;
        let owner = self.transfers.iter().find(|t| {
            if data {
                (t.start..t.end).contains(&p.start)
            } else {
                t.fin == Some(p.start)
            }
        });
        let owner = owner.map(|t| (t.row.id, t.number, t.start, t.end));
        let number = owner.map(|(_, number, ..)| number);
        if let Some(carrier) = p.carrier.filter(|_| data) {
            self.place = match carrier.before {
                Some((place, _)) => place,
                // What goes again under other sequence numbers has no place.
                None if p.known => None,
                None => self.new_place(p.start, carrier.path, number),
            };
        }
        let Some((owner, number, start, end)) = owner else {
            return (Verdict::Accept, None);
        };
        let on_subflow = p.carrier.zip(self.place);
        let (path, here) = p.carrier.map_or((1, 1), |carrier| {
            let here = carrier.before.map_or(1, |(_, transmission)| transmission);
            (carrier.path, here)
        });
        let named = match told {
            _ if !data => pattern.drops_fin(transmission),
            Some(told) => on_subflow.is_some_and(|(_, place)| {
                let total = |scope| told.lossless.as_ref().map(|sent| sent.within(scope));
                let numbers = |scope| Some((place.within(scope), total(scope)?));
                pattern.drops_at(place.path, place.stretch, here, numbers)
            }),
            None => {
                let piece = u64::from(self.largest.max(1));
                let (position, total) = match out.whole {
                    Some(whole) => (self.log.number(p.start), whole.lossless.unwrap_or(0)),
                    None => ((p.start - start) / piece + 1, (end - start).div_ceil(piece)),
                };
                let anywhere = |scope: Scope| scope.path.is_none().then_some((position, total));
                // Positions from behind are refused: nothing tells how many packets a path will carry.
                let on_path = |place: Place| {
                    let numbers = |scope: Scope| scope.path.map(|_| (place.number, place.number));
                    pattern.drops_at(path, place.stretch, here, numbers)
                };
                pattern.drops_at(path, number, transmission, anywhere)
                    || on_subflow.is_some_and(|(_, place)| on_path(place))
            }
        };
        if named {
            (Verdict::Drop, Some(owner))
        } else {
            (Verdict::Accept, None)
        }
    }

    /// Where a packet of new data stands that begins at `start`, in the stretch with this number.
    fn new_place(&mut self, start: u64, path: u32, number: Option<u32>) -> Option<Place> {
        if number.is_none() && self.unowned.len() < UNOWNED {
            // Its response's head is not complete.
            self.unowned.push((start, path));
        }
        Some(self.counts.count(number?, path))
    }

    /// What a packet of the client's, sent on `path`, is to the pattern, if that drops it.
    pub(crate) fn judge_client(
        &mut self,
        pure_ack: bool,
        data: SeqRange,
        path: u32,
        out: &Out,
    ) -> Option<Bare> {
        let Drops::Pattern(pattern) = &out.drops else {
            return None;
        };
        if !data.is_empty() {
            let again = self
                .bare
                .request
                .filter(|(on, sent, _)| (*on, *sent) == (path, data));
            let transmission = again.map_or(1, |(.., sent)| sent + 1);
            self.bare.request = Some((path, data, transmission));
            if out.told.is_none() && transmission == 1 {
                self.asked += 1;
                self.acks.forget_before(self.asked);
            }
            let burst = if out.told.is_some() {
                self.begun + 1
            } else {
                self.asked
            };
            let named = pattern.drops_request(path, burst, transmission);
            return named.then_some(Bare::Request(transmission));
        }
        if out.told.is_some() {
            self.asked = self.begun;
        }
        if !pure_ack || self.asked == 0 {
            return None;
        }
        let place = self.acks.count(self.asked, path);
        let lost = pattern.lost_ack(path, self.asked, |scope| place.within(scope));
        lost.map(Bare::Ack)
    }

    /// The same of the server's SYN-ACK.
    pub(crate) fn judge_syn_ack(&mut self, out: &mut Out) -> Option<Bare> {
        self.bare.syn_acks += 1;
        let Drops::Pattern(pattern) = &out.drops else {
            return None;
        };
        let named = pattern.drops_syn_ack(self.bare.syn_acks);
        named.then_some(Bare::SynAck(self.bare.syn_acks))
    }
}

impl Flow {
    /// Counts the packets of a new transfer that were sent before it was known.
    pub(super) fn own(&mut self, open: &Open) {
        for (_, path) in self
            .unowned
            .drain(..)
            .filter(|(first, _)| (open.start..open.end).contains(first))
        {
            self.counts.count(open.number, path);
        }
    }
}

//! Where a packet stands in its transfer, and what the pattern says of it.

use super::text::{Pattern, Scope};
use crate::responses::choice::Choice;
use crate::responses::flow::{Flow, Packet};
use crate::responses::open::Open;
use crate::responses::out::Out;
use crate::responses::segment::{Carrier, ClientAcks, Place};
use crate::Verdict;

/// Most packets that are kept while the head of their response is not complete.
const UNOWNED: usize = 64;

impl Flow {
    pub(crate) fn judge_by_pattern(
        &mut self,
        p: &Packet,
        retransmission: bool,
        out: &mut Out,
    ) -> Verdict {
        // A packet may begin with bytes never sent and go on with others; a retransmission's first byte was sent before.
        let transmission = if retransmission {
            let transmission = self.retransmitted.transmission(p.start);
            self.retransmitted.add(p.start, p.top);
            transmission
        } else {
            1
        };
        let owner = self.transfers.iter_mut().find(|t| {
            if p.start < p.end {
                (t.start..t.end).contains(&p.start)
            } else {
                t.fin == Some(p.start)
            }
        });
        if let Some(carrier) = p.carrier.filter(|_| p.start < p.end) {
            self.place = match carrier.before {
                Some((place, _)) => place,
                // What goes again under other sequence numbers has no place.
                None if retransmission => None,
                None => new_place(&mut self.unowned, owner.as_deref(), p.start, carrier.path),
            };
        }
        let (Some(t), Choice::Pattern(pattern)) = (owner, &out.choice) else {
            return Verdict::Accept;
        };
        if let Some(carrier) = p.carrier.filter(|_| !retransmission && p.start < p.end) {
            *t.on_paths.entry(carrier.path).or_default() += 1;
        }
        let piece = u64::from(self.largest.max(1));
        let named = if p.start < p.end {
            let total = (t.end - t.start).div_ceil(piece);
            let position = (p.start - t.start) / piece + 1;
            let anywhere = |scope: Scope| scope.path.is_none().then_some((position, total));
            let path = p.carrier.map_or(1, |carrier| carrier.path);
            pattern.drops_at(path, t.number, transmission, anywhere)
                || on_its_path(pattern, p.carrier, self.place)
        } else {
            pattern.drops_fin(transmission)
        };
        if !named {
            return Verdict::Accept;
        }
        let owner = t.row.id;
        out.counters.dropped += 1;
        self.lose(&p.lost(retransmission), owner, out);
        Verdict::Drop
    }

    /// What happens to a packet of the client's, sent on `path`: the number of an acknowledgement that is dropped.
    pub(crate) fn judge_client(
        &mut self,
        pure_ack: bool,
        data: bool,
        path: u32,
        out: &mut Out,
    ) -> Option<u64> {
        if data {
            let request = self.client_acks.take().map_or(0, |acks| acks.request) + 1;
            self.client_acks = Some(ClientAcks {
                request,
                ..ClientAcks::default()
            });
            return None;
        }
        let acks = self.client_acks.as_mut().filter(|_| pure_ack)?;
        acks.all += 1;
        let on_path = acks.on_paths.entry(path).or_default();
        *on_path += 1;
        let Choice::Pattern(pattern) = &out.choice else {
            return None;
        };
        let numbers = |scope: Scope| {
            if scope.path.is_some() {
                *on_path
            } else {
                acks.all
            }
        };
        pattern.lost_ack(path, acks.request, numbers)
    }
}

/// Where a packet of new data stands that begins at `start`.
fn new_place(
    unowned: &mut Vec<(u64, u32)>,
    owner: Option<&Open>,
    start: u64,
    path: u32,
) -> Option<Place> {
    let Some(t) = owner else {
        // Its response's head is not complete.
        if unowned.len() < UNOWNED {
            unowned.push((start, path));
        }
        return None;
    };
    Some(Place {
        response: t.number,
        number: t.on_paths.get(&path).copied().unwrap_or(0) + 1,
    })
}

/// Whether an item of the packet's path names it.
fn on_its_path(pattern: &Pattern, carrier: Option<Carrier>, place: Option<Place>) -> bool {
    let Some((carrier, place)) = carrier.zip(place) else {
        return false;
    };
    let transmission = carrier.before.map_or(1, |(_, transmission)| transmission);
    // Positions from behind are refused: nothing tells how many packets a path will carry.
    let number = |scope: Scope| scope.path.map(|_| (place.number, place.number));
    pattern.drops_at(carrier.path, place.response, transmission, number)
}

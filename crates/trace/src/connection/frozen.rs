//! The smallest record of a connection that is quiet: its packets and what its SYNs say, written in bytes.
//!
//! Of very many connections most wait for something at any time. What their next packet is compared with stays as it is
//! ([`Side`](super::side::Side)); the log and what few packets look at are written down, and read when another packet comes
//! or the connection ends. What is said of a connection does not depend on whether that happened.

use std::collections::VecDeque;

use rexmit_time::{Duration, Time};

use super::bytes::{Reader, Writer};
use super::log::{Log, Spare};
use super::{Cold, Common, Connection, Kept, Whole};
use crate::fault::Moment;
use crate::fingerprint::Hint;

/// Nothing came for so long.
const QUIET: Duration = Duration::from_millis(500);
/// Logs of more packets stay as they are.
const MOST_PACKETS: usize = 128;
/// What hosts offer that is remembered; connections of further ones stay as they are.
const MOST_OFFERS: usize = 1 << 10;

/// What a SYN says that many SYNs do, and what that says of its system.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Offer {
    like: Kept,
    hint: Hint,
}

/// What hosts offer.
#[derive(Debug, Default)]
pub(crate) struct Offers(Vec<Offer>);

impl Offers {
    /// The place of an offer; none if there are too many.
    fn place(&mut self, offer: Offer) -> Option<usize> {
        let known = self.0.iter().rposition(|known| *known == offer);
        if known.is_none() && self.0.len() < MOST_OFFERS {
            self.0.push(offer);
            return Some(self.0.len() - 1);
        }
        known
    }
}

impl Connection {
    /// Whether nothing came for a while, and it is not written down yet.
    pub fn is_quiet(&self, now: Time) -> bool {
        !self.is_frozen() && now.since(self.last) > QUIET
    }

    /// Whether it is written down.
    #[inline]
    pub fn is_frozen(&self) -> bool {
        matches!(self.log, Log::Frozen(_))
    }

    /// Its number, if it is written down.
    pub(super) fn frozen_id(&self) -> Option<u64> {
        match &self.log {
            Log::Frozen(bytes) => Some(Reader::new(bytes).number()),
            _ => None,
        }
    }

    /// Writes down a connection of which nothing but its packets and SYNs is known.
    #[cold]
    pub fn freeze(&mut self, offers: &mut Offers, spare: &mut Spare) {
        if self.is_frozen() || !self.is_plain() || self.log.len() > MOST_PACKETS {
            return;
        }
        let mut out = Writer::default();
        let cold = &self.cold;
        out.number(cold.id);
        out.byte(cold.mid_stream.into());
        for part in [cold.server_part, cold.client_part] {
            out.byte(part.is_some().into());
            out.signed(part.unwrap_or(Duration::ZERO).as_nanos());
        }
        for (me, syn) in cold.syns.iter().enumerate() {
            out.number(cold.syn_counts[me].into());
            let Some(syn) = syn else {
                out.number(0);
                continue;
            };
            let offer = Offer {
                like: syn.like(),
                hint: cold.hints[me],
            };
            let Some(place) = offers.place(offer) else {
                return;
            };
            out.number(place as u64 + 1);
            syn.write(self.start, &mut out);
        }
        out.number(self.log.len() as u64);
        self.log.write(&mut out);
        out.exact(&self.cold.messages);
        spare.give(core::mem::replace(
            &mut self.log,
            Log::Frozen(out.into_bytes()),
        ));
        self.cold = Whole::default();
    }

    /// Whether all that is known besides what stays is its packets, and one SYN of a side.
    fn is_plain(&self) -> bool {
        if !self.logging || self.trouble != [false; 2] {
            return false;
        }
        let Cold {
            id: _,
            mid_stream: _,
            syns,
            hints,
            stray_syn,
            retried,
            last_syns,
            syn_counts: _,
            probes,
            window_probes,
            measured,
            server_part: _,
            client_part: _,
            sacked,
            sacks,
            messages: _,
            views,
            replay: _,
            due,
            unsettled,
            doubled,
            recent,
            late: _,
            behind: _,
            back,
            late_by: _,
            subflow,
            strays,
            returned,
        } = &*self.cold;
        let once = |me: usize| match (&syns[me], last_syns[me]) {
            (Some(syn), Some(last)) => syn.last() == last,
            (None, None) => hints[me] == Hint::default(),
            _ => false,
        };
        once(0)
            && once(1)
            && stray_syn.is_none()
            && retried.is_none()
            && measured.is_none()
            && subflow.is_none()
            && *back == 0
            && *probes == [0; 2]
            && *window_probes == [0; 2]
            && *sacked == [false; 2]
            && *doubled == [0; 2]
            && sacks.is_empty()
            && recent.is_empty()
            && returned.iter().all(VecDeque::is_empty)
            && views.iter().all(Option::is_none)
            && due.iter().all(Option::is_none)
            && (*unsettled, *strays) == (0, (0, 0))
    }

    /// Reads what was written down.
    #[cold]
    pub fn thaw(&mut self, common: &mut Common) {
        let Log::Frozen(bytes) = &self.log else {
            return;
        };
        let mut bytes = Reader::new(bytes);
        let mut cold = Cold {
            id: bytes.number(),
            mid_stream: bytes.byte() != 0,
            ..Cold::default()
        };
        for part in [&mut cold.server_part, &mut cold.client_part] {
            let known = bytes.byte() != 0;
            let nanos = bytes.signed();
            *part = known.then(|| Duration::from_nanos(nanos));
        }
        for me in 0..2 {
            cold.syn_counts[me] = bytes.number() as u32;
            let place = (bytes.number() as usize).checked_sub(1);
            if let Some(offer) = place.and_then(|place| common.offers.0.get(place)) {
                let syn = offer.like.read(self.start, &mut bytes);
                cold.last_syns[me] = Some(syn.last());
                cold.syns[me] = Some(syn);
                cold.hints[me] = offer.hint;
            }
        }
        let count = bytes.number() as usize;
        let log = Log::read(&mut bytes, count, &mut common.spare);
        cold.messages = bytes.exact();
        if let Some(fault) = &common.settings.fault {
            fault.happen(&self.pair.0, Moment::Thaw);
        }
        self.log = log;
        self.cold = Whole::new(cold);
    }
}

//! The smallest record of a connection that is quiet: its packets and what its SYNs say, written in bytes.
//!
//! Of very many connections most wait for something at any time. What their next packet is compared with stays as it is
//! ([`Side`](super::side::Side)); the log and what few packets look at are written down, and read when another packet comes
//! or the connection ends. What is said of a connection does not depend on whether that happened.

use rexmit_time::{Duration, Time};

use super::bytes::{Reader, Writer};
use super::log::{Log, Spare};
use super::syns::Syns;
use super::{Cold, Common, Connection, Kept, Whole, BOTH};
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
pub(super) struct Offer {
    pub like: Kept,
    pub hint: Hint,
}

/// What hosts offer.
#[derive(Debug, Default)]
pub(crate) struct Offers(Vec<Offer>);

impl Offers {
    /// The place of an offer; none if there are too many.
    pub(super) fn place(&mut self, offer: Offer) -> Option<usize> {
        let known = self.0.iter().rposition(|known| *known == offer);
        if known.is_none() && self.0.len() < MOST_OFFERS {
            self.0.push(offer);
            return Some(self.0.len() - 1);
        }
        known
    }

    /// The offer at this place.
    pub(super) fn at(&self, place: usize) -> Option<&Offer> {
        self.0.get(place)
    }
}

impl Log {
    /// The number of a connection that is written down.
    pub(super) fn frozen_id(&self) -> Option<u64> {
        match self {
            Log::Frozen(bytes) => Some(Reader::new(bytes).value()),
            _ => None,
        }
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

    /// Writes down a connection of which nothing but its packets and SYNs is known.
    #[cold]
    pub fn freeze(&mut self, offers: &mut Offers, spare: &mut Spare) {
        let plain = self.logging && self.trouble == [false; 2];
        if self.is_frozen() || !plain || !self.cold.is_plain() || self.log.len() > MOST_PACKETS {
            return;
        }
        let mut out = Writer::default();
        let cold = &self.cold;
        out.value(&cold.id);
        out.value(&cold.mid_stream);
        if cold.syns.write(self.start, offers, &mut out).is_none() {
            return;
        }
        out.value(&self.log.len());
        self.log.write(&mut out);
        out.value(&self.cold.messages);
        spare.give(core::mem::replace(
            &mut self.log,
            Log::Frozen(out.into_bytes()),
        ));
        self.cold = Whole::default();
    }

    /// Reads what was written down.
    #[cold]
    pub fn thaw(&mut self, common: &mut Common) {
        let Log::Frozen(bytes) = &self.log else {
            return;
        };
        let mut bytes = Reader::new(bytes);
        let mut cold = Cold {
            id: bytes.value(),
            mid_stream: bytes.value(),
            ..Cold::default()
        };
        cold.syns = Syns::read(self.start, &common.offers, &mut bytes);
        let last = |of| cold.syns.get(of).map(Kept::last);
        cold.doubles.last_syns = BOTH.map(last);
        let count = bytes.value();
        let log = Log::read(&mut bytes, count, &mut common.spare);
        cold.messages = bytes.value();
        if let Some(fault) = &common.settings.fault {
            fault.happen(&self.pair.0, Moment::Thaw);
        }
        self.log = log;
        self.cold = Whole::new(cold);
    }
}

impl Cold {
    /// Whether all that is known besides what stays is its packets, and one SYN of a side.
    fn is_plain(&self) -> bool {
        let Cold {
            id: _,
            mid_stream: _,
            syns,
            stray_syn,
            doubles,
            lateness,
            probes,
            window_probes,
            measured,
            sacked,
            sacks,
            messages: _,
            views,
            replay: _,
            subflow,
            strays,
        } = self;
        syns.is_plain(&doubles.last_syns)
            && stray_syn.is_none()
            && doubles.is_plain()
            && lateness.is_plain()
            && (*probes, *window_probes) == ([0; 2], [0; 2])
            && measured.is_none()
            && *sacked == [false; 2]
            && sacks.is_empty()
            && views.is_plain()
            && subflow.is_none()
            && *strays == (0, 0)
    }
}

//! The SYN and the SYN-ACK of a connection: what they offer, what they say of their hosts, and the parts of the round trip that
//! the handshake shows.

use rexmit_time::{Duration, Time};
use rexmit_wire::{FlowKey, Headers, SeqNum};

use super::bytes::{Reader, Writer};
use super::doubled::LastSyn;
use super::frozen::{Offer, Offers};
use super::Kept;
use crate::event::{Direction, Event};
use crate::fingerprint::{Hint, Known, Offered, Signature};

/// The SYNs of both sides.
#[derive(Debug, Default)]
pub(super) struct Syns {
    /// The SYN or SYN-ACK of each side, the first one if it sent several, and how often it sent that.
    first: [Option<Kept>; 2],
    counts: [u32; 2],
    /// What these say of their senders.
    hints: [Hint; 2],
    /// The last SYN that offers other options than the first, before any answer.
    retried: Option<Box<Kept>>,
    /// From SYN to SYN-ACK, and from there to the client's acknowledgement: what lies beyond the monitor on either side.
    server_part: Option<Duration>,
    client_part: Option<Duration>,
}

impl Syns {
    /// The SYN or SYN-ACK of a side, the first one if it sent several.
    pub fn get(&self, of: Direction) -> Option<&Kept> {
        self.first[of as usize].as_ref()
    }

    /// How often a side sent that.
    pub fn count(&self, of: Direction) -> u32 {
        self.counts[of as usize]
    }

    /// The number of that.
    pub fn isn(&self, of: Direction) -> Option<SeqNum> {
        self.get(of).map(|syn| syn.seq)
    }

    /// Takes a SYN or SYN-ACK. Whether its side has sent none with this number before.
    pub fn take(&mut self, at: Time, of: Direction, headers: &Headers, known: &mut Known) -> bool {
        let (me, peer) = (of as usize, of.reversed() as usize);
        let again = self.first[me].filter(|syn| syn.seq == headers.seq);
        self.counts[me] = match again {
            Some(_) => self.counts[me].saturating_add(1),
            None => 1,
        };
        if let Some(first) = again {
            let asks_less = headers.syn.is_some_and(|options| options != first.options);
            if asks_less && self.first[peer].is_none() {
                self.retried = Kept::syn(at, headers).map(Box::new);
            }
        } else {
            let asked = self.first[peer].as_ref();
            let offered = asked.and_then(|syn| Offered::by(&syn.options));
            self.first[me] = Kept::syn(at, headers);
            // What tells a system is its first SYN, which has all its options.
            self.hints[me] = Hint::of(headers, offered, known);
            if of == Direction::Forward {
                self.retried = None;
            }
        }
        self.server_part = match (&self.first, self.counts) {
            ([Some(syn), Some(answer)], [1, 1]) => part(syn.at, answer.at),
            _ => None,
        };
        again.is_none()
    }

    /// The client acknowledged `ack`. Whether the handshake is over by that.
    pub fn end(&mut self, at: Time, ack: SeqNum) -> bool {
        let Some(answer) = &self.first[1] else {
            return false;
        };
        let ends = ack.is_after(answer.seq);
        if ends {
            let once = self.counts[1] == 1;
            self.client_part = part(answer.at, at).filter(|_| once);
        }
        ends
    }

    /// SYN to the client's first acknowledgement, and its part between monitor and server.
    pub fn rtt(&self) -> Option<(Duration, Duration)> {
        let server = self.server_part?;
        Some((server + self.client_part?, server))
    }

    /// From the monitor to a side and back.
    pub fn delay(&self, of: Direction) -> Option<Duration> {
        match of {
            Direction::Forward => self.client_part,
            Direction::Backward => self.server_part,
        }
    }

    /// How long after its answer the only SYN came by, if it did.
    pub fn late(&self) -> Option<Duration> {
        let ([Some(syn), Some(answer)], [1, 1]) = (&self.first, self.counts) else {
            return None;
        };
        Some(syn.at - answer.at)
    }

    /// The server's packets are recorded so late: the parts of the round trip are others, by what the log tells.
    pub fn shift(&mut self, backward: Duration, mut packets: impl Iterator<Item = Event>) {
        let [Some(syn), Some(answer)] = &self.first else {
            return;
        };
        let ends = |event: &Event| {
            let forward = event.direction == Direction::Forward && !event.flags.syn();
            forward && event.flags.ack() && event.ack.is_after(answer.seq)
        };
        let shaken = packets.find(ends);
        let answered = answer.at - backward;
        let once = self.counts == [1, 1];
        let server = part(syn.at, answered).filter(|_| once);
        let client = shaken.and_then(|event| part(answered, event.at));
        (self.server_part, self.client_part) = (server, client.filter(|_| once));
    }

    /// The SYN of a side that the other side answered: of several that offer different options, as a stack does whose first ones
    /// were not answered (they may have been dropped for their options).
    pub fn offer(&self, of: Direction) -> Option<&Kept> {
        let first = self.get(of)?;
        let retried = self.retried.as_deref();
        let retried = retried.filter(|retry| retry.seq == first.seq);
        match (retried, self.get(of.reversed())) {
            (Some(retry), Some(answer)) if retry.is_answered_by(first, answer) => Some(retry),
            _ => Some(first),
        }
    }

    /// The signature of a side's first SYN or SYN-ACK: a system that gets no answer drops options from later ones.
    pub fn signature(&self, of: Direction, flow: FlowKey) -> Option<Signature> {
        self.get(of)
            .and_then(|syn| Signature::of(&syn.headers(flow)))
    }

    /// What a side's first SYN or SYN-ACK says of its system; nothing where it was not seen.
    pub fn hint(&self, of: Direction) -> Hint {
        self.hints[of as usize]
    }

    /// Whether each side sent one SYN at most, which was its `last`.
    pub fn is_plain(&self, last: &[Option<LastSyn>; 2]) -> bool {
        let once = |me: usize| match (&self.first[me], last[me]) {
            (Some(syn), Some(last)) => syn.last() == last,
            (None, None) => self.hints[me] == Hint::default(),
            _ => false,
        };
        once(0) && once(1) && self.retried.is_none()
    }

    /// Writes them down; none where hosts offer too much that others do not.
    pub fn write(&self, start: Time, offers: &mut Offers, out: &mut Writer) -> Option<()> {
        out.value(&(self.server_part, self.client_part));
        for (me, syn) in self.first.iter().enumerate() {
            out.value(&self.counts[me]);
            let Some(syn) = syn else {
                out.value(&None::<usize>);
                continue;
            };
            let place = offers.place(Offer {
                like: syn.like(),
                hint: self.hints[me],
            })?;
            out.value(&Some(place));
            syn.write(start, out);
        }
        Some(())
    }

    /// Reads what was [written](Syns::write).
    pub fn read(start: Time, offers: &Offers, bytes: &mut Reader<'_>) -> Self {
        let mut syns = Syns::default();
        (syns.server_part, syns.client_part) = bytes.value();
        for me in 0..2 {
            syns.counts[me] = bytes.value();
            let place: Option<usize> = bytes.value();
            if let Some(offer) = place.and_then(|place| offers.at(place)) {
                syns.first[me] = Some(offer.like.read(start, bytes));
                syns.hints[me] = offer.hint;
            }
        }
        syns
    }
}

/// From one time to another, if it is later.
fn part(from: Time, to: Time) -> Option<Duration> {
    Some(to.since(from)).filter(|part| !part.is_negative())
}

#[cfg(test)]
mod tests {
    use rexmit_wire::headers::SynOptions;
    use rexmit_wire::Flags;

    use super::*;
    use crate::testing::{bare, flow};

    fn at(ms: u64) -> Time {
        Time::from_nanos(ms * 1_000_000)
    }

    /// The SYN of a client with the number 100, and its answer with the number 300.
    fn syns() -> Syns {
        let mut syns = Syns::default();
        let syn = |seq: u32, ack: u32, flags: Flags| Headers {
            seq: SeqNum::new(seq),
            ack: SeqNum::new(ack),
            flags,
            syn: Some(SynOptions::default()),
            ..bare(flow(1))
        };
        let mut known = Known::default();
        let client = syn(100, 0, Flags::SYN);
        let server = syn(300, 101, Flags(Flags::SYN.0 | Flags::ACK.0));
        assert!(syns.take(at(10), Direction::Forward, &client, &mut known));
        assert!(syns.take(at(40), Direction::Backward, &server, &mut known));
        syns
    }

    #[test]
    fn the_handshake_shows_both_parts_of_the_round_trip() {
        let mut syns = syns();
        assert!(!syns.end(at(42), SeqNum::new(300)) && syns.rtt().is_none());
        assert!(syns.end(at(45), SeqNum::new(301)));
        let ms = Duration::from_millis;
        assert_eq!(syns.rtt(), Some((ms(35), ms(30))));
        assert_eq!(syns.delay(Direction::Forward), Some(ms(5)));
    }

    #[test]
    fn what_is_written_down_is_read_as_it_was() {
        let mut syns = syns();
        syns.end(at(45), SeqNum::new(301));
        let (mut offers, mut out) = (Offers::default(), Writer::default());
        syns.write(at(10), &mut offers, &mut out).unwrap();
        let bytes = out.into_bytes();
        let read = Syns::read(at(10), &offers, &mut Reader::new(&bytes));
        assert_eq!(format!("{read:?}"), format!("{syns:?}"));
    }
}

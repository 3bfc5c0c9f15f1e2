//! The handshake, and what it says of the senders.

use rexmit_time::{Duration, Time};
use rexmit_wire::headers::Notes;
use rexmit_wire::headers::SynOptions;
use rexmit_wire::Headers;

use super::{Common, Connection, Kept};
use crate::event::Direction;
use crate::facts::SenderFacts;
use crate::fingerprint::{Hint, Offered, Signature};

/// Time to live that Linux sets out with (ip(7)); Windows has 128.
const LINUX_TTL: u8 = 64;

impl Connection {
    /// Whether a side numbers the packets of this connection apart: other packets of its host show it, or its SYN does.
    pub(super) fn counts_own(&self, of: Direction) -> bool {
        let numbered = self.numbered[of as usize];
        if numbered.contains(Notes::NUMBERED_TOGETHER) {
            return false;
        }
        self.counts_apart(of) || self.hint(of).counts_own()
    }

    /// Whether other packets of a side's host show that it numbers those of each connection apart.
    fn counts_apart(&self, of: Direction) -> bool {
        let numbered = self.numbered[of as usize];
        // Hosts that share an address (NAT) look apart, too, and those with 128 count all their packets.
        numbered.contains(Notes::NUMBERED_APART) && self.ttls[of as usize] <= LINUX_TTL
    }

    #[cold]
    pub(super) fn syn(
        &mut self,
        at: Time,
        direction: Direction,
        headers: &Headers,
        common: &mut Common,
    ) {
        let me = direction as usize;
        let asked = self.cold.syns[direction.reversed() as usize].as_ref();
        let offered = asked.and_then(|syn| Offered::by(&syn.options));
        let cold = &mut *self.cold;
        let known = &mut cold.syns[me];
        let again = known.as_ref().filter(|syn| syn.seq == headers.seq);
        let count = &mut cold.syn_counts[me];
        *count = if again.is_some() {
            count.saturating_add(1)
        } else {
            1
        };
        if let Some(first) = again {
            self.trouble[me] = true;
            let asks_less = headers.syn.is_some_and(|options| options != first.options);
            if asks_less && cold.syns[direction.reversed() as usize].is_none() {
                cold.retried = Kept::syn(at, headers).map(Box::new);
            }
        } else {
            *known = Kept::syn(at, headers);
            // What tells a system is its first SYN, which has all its options.
            cold.hints[me] = Hint::of(headers, offered, &mut common.known);
            if direction == Direction::Forward {
                cold.retried = None;
            }
            if self.sides[me].is_behind(headers.seq) {
                self.trouble[me] = true;
                cold.behind = true;
            }
            self.sides[me].begin(headers.range());
        }
        self.cold.server_part = match (&self.cold.syns, self.cold.syn_counts) {
            ([Some(syn), Some(answer)], [1, 1]) => {
                Some(answer.at.since(syn.at)).filter(|part| !part.is_negative())
            }
            _ => None,
        };
    }

    /// Notes the acknowledgement of the SYN-ACK.
    #[cold]
    pub(super) fn handshake_ends(&mut self, at: Time, direction: Direction, headers: &Headers) {
        let [_, answer] = &self.cold.syns;
        let Some(answer) = answer.as_ref() else {
            return;
        };
        if direction == Direction::Forward && headers.ack.is_after(answer.seq) {
            let once = self.cold.syn_counts[Direction::Backward as usize] == 1;
            let part = Some(at.since(answer.at)).filter(|part| once && !part.is_negative());
            self.cold.client_part = part;
            self.shaken = true;
        }
    }

    /// SYN to the client's first acknowledgement, and its part between monitor and server.
    pub(super) fn handshake_rtt(&self) -> Option<(Duration, Duration)> {
        let server = self.cold.server_part?;
        Some((server + self.cold.client_part?, server))
    }

    /// The SYN of a side that the other side answered: of several that offer different options, as a stack does whose first ones
    /// were not answered (they may have been dropped for their options).
    pub(super) fn offer(&self, of: Direction) -> Option<&Kept> {
        let first = self.cold.syns[of as usize].as_ref()?;
        let retried = self.cold.retried.as_deref();
        let retried = retried.filter(|retry| retry.seq == first.seq);
        match (retried, &self.cold.syns[of.reversed() as usize]) {
            (Some(retry), Some(answer)) if retry.is_answered_by(first, answer) => Some(retry),
            _ => Some(first),
        }
    }

    /// The signature of a side's first SYN or SYN-ACK: a system that gets no answer drops options from later ones.
    pub(super) fn signature(&self, of: Direction) -> Option<Signature> {
        let first = self.cold.syns[of as usize].as_ref();
        first.and_then(|syn| Signature::of(&syn.headers(self.pair.0)))
    }

    /// What a side's first SYN or SYN-ACK says of its system; nothing where it was not seen.
    pub(super) fn hint(&self, of: Direction) -> Hint {
        self.cold.hints[of as usize]
    }

    /// From the monitor to a side and back.
    pub(super) fn delay(&self, of: Direction) -> Option<Duration> {
        match of {
            Direction::Forward => self.cold.client_part,
            Direction::Backward => self.cold.server_part,
        }
    }

    /// What both sides agreed on, for a sender.
    pub(super) fn terms(&self, of: Direction) -> Terms {
        let (me, peer) = (of as usize, of.reversed() as usize);
        let (syn, answer) = (self.offer(of), self.offer(of.reversed()));
        // RFC 7323 §2.3: larger ones count as 14.
        let shift = |options: &SynOptions| options.window_scale.unwrap_or(0).min(14);
        match (syn, answer) {
            (Some(syn), Some(answer)) if !syn.options.cut && !answer.options.cut => {
                let (mine, theirs) = (&syn.options, &answer.options);
                Terms {
                    mss: mss(mine, theirs),
                    sack: mine.sack_permitted && theirs.sack_permitted,
                    timestamps: mine.timestamps && theirs.timestamps,
                    window_shift: mine.window_scale.map_or(0, |_| shift(theirs)),
                    agreed: true,
                }
            }
            _ => Terms {
                mss: self.sides[me].largest,
                sack: self.cold.sacked[me] || self.cold.sacked[peer],
                timestamps: self.sides[me].stamps,
                window_shift: answer.map_or(0, |syn| shift(&syn.options)),
                agreed: false,
            },
        }
    }

    /// What is known of a sender.
    pub(super) fn facts(&self, of: Direction) -> SenderFacts {
        let me = of as usize;
        let terms = self.terms(of);
        SenderFacts {
            isn: self.cold.syns[me].as_ref().map(|syn| syn.seq),
            client: of == Direction::Forward,
            begun: Some(self.start),
            mss: terms.mss,
            cut: 0,
            sack: terms.sack,
            timestamps: terms.timestamps,
            window_shift: terms.window_shift,
            agreed: terms.agreed,
            system: self.hint(of),
            syns: self.cold.syn_counts[me],
            counts_own: self.counts_own(of),
            counts_apart: self.counts_apart(of),
            count_refuted: false,
            peer_counts_own: self.counts_own(of.reversed()),
            handshake_rtt: self.handshake_rtt().map(|(whole, _)| whole),
            late: self.cold.late_by.unwrap_or_default(),
        }
    }
}

/// What the handshake says of a direction, or without it what its packets do.
pub(super) struct Terms {
    pub mss: u32,
    pub sack: bool,
    pub timestamps: bool,
    /// How far the receiver's window is shifted.
    pub window_shift: u8,
    /// Both SYNs were seen.
    pub agreed: bool,
}

/// The largest payload that a sender may send: the smaller of both offers, less what options take
/// (RFC 6691 §2). A side that offers none takes 536 bytes (RFC 9293 §3.7.1).
fn mss(mine: &SynOptions, theirs: &SynOptions) -> u32 {
    let offer = |options: &SynOptions| u32::from(options.mss.unwrap_or(536));
    let stamps = if mine.timestamps && theirs.timestamps {
        12
    } else {
        0
    };
    offer(mine).min(offer(theirs)).saturating_sub(stamps).max(1)
}

//! The handshake, and what it says of the senders.

use rexmit_time::Time;
use rexmit_wire::headers::Notes;
use rexmit_wire::headers::SynOptions;
use rexmit_wire::Headers;

use super::{Common, Connection};
use crate::event::Direction;
use crate::facts::SenderFacts;

/// Time to live that Linux sets out with (ip(7)); Windows has 128.
const LINUX_TTL: u8 = 64;

impl Connection {
    /// Whether a side numbers the packets of this connection apart: other packets of its host show it, or its SYN does.
    pub(super) fn counts_own(&self, of: Direction) -> bool {
        let numbered = self.numbered[of as usize];
        if numbered.contains(Notes::NUMBERED_TOGETHER) {
            return false;
        }
        self.counts_apart(of) || self.cold.syns.hint(of).counts_own()
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
        let side = &mut self.sides[direction as usize];
        let cold = &mut *self.cold;
        if cold.syns.take(at, direction, headers, &mut common.known) {
            if side.is_behind(headers.seq) {
                self.trouble[direction as usize] = true;
                cold.lateness.behind = true;
            }
            side.begin(headers.range());
        } else {
            self.trouble[direction as usize] = true;
        }
    }

    /// Notes the acknowledgement of the SYN-ACK.
    #[cold]
    pub(super) fn handshake_ends(&mut self, at: Time, direction: Direction, headers: &Headers) {
        self.shaken |= direction == Direction::Forward && self.cold.syns.end(at, headers.ack);
    }

    /// What both sides agreed on, for a sender.
    pub(super) fn terms(&self, of: Direction) -> Terms {
        let (me, peer) = (of as usize, of.reversed() as usize);
        let (syn, answer) = (
            self.cold.syns.offer(of),
            self.cold.syns.offer(of.reversed()),
        );
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
        let terms = self.terms(of);
        SenderFacts {
            isn: self.cold.syns.isn(of),
            client: of == Direction::Forward,
            begun: Some(self.start),
            mss: terms.mss,
            cut: 0,
            sack: terms.sack,
            timestamps: terms.timestamps,
            window_shift: terms.window_shift,
            agreed: terms.agreed,
            system: self.cold.syns.hint(of),
            syns: self.cold.syns.count(of),
            counts_own: self.counts_own(of),
            counts_apart: self.counts_apart(of),
            count_refuted: false,
            peer_counts_own: self.counts_own(of.reversed()),
            handshake_rtt: self.cold.syns.rtt().map(|(whole, _)| whole),
            late: self.cold.lateness.by.unwrap_or_default(),
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

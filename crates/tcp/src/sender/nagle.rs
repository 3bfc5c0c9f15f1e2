//! When a short segment waits (RFC 896 with Minshall's change, TCP_CORK), and where PSH goes.

use rexmit_wire::SeqNum;

/// How small segments are held back and pushed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Nagle {
    /// TCP_NODELAY (`TCP_NAGLE_OFF`).
    pub off: bool,
    /// TCP_CORK (`TCP_NAGLE_CORK`).
    pub cork: bool,
    /// What is there now leaves in spite of both (`TCP_NAGLE_PUSH`).
    pub push: bool,
    /// After the last short segment sent (`snd_sml`).
    pub last_short: SeqNum,
    /// After the last byte with PSH (`pushed_seq`).
    pub pushed: SeqNum,
    /// A writer waits for room (`SOCK_NOSPACE`).
    pub writer_waits: bool,
}

/// What holds a short segment back for one run of the write loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Hold {
    /// Nothing: nodelay.
    pub off: bool,
    /// The cork.
    pub cork: bool,
    /// Nothing, not even the cork.
    pub push: bool,
}

impl Hold {
    /// Nodelay for this run.
    pub const OFF: Hold = Hold {
        off: true,
        cork: false,
        push: false,
    };
    /// Corked for this run: MSG_MORE.
    pub const CORK: Hold = Hold {
        off: false,
        cork: true,
        push: false,
    };
    /// Everything leaves.
    pub const PUSH: Hold = Hold {
        off: false,
        cork: false,
        push: true,
    };
}

impl Nagle {
    pub fn new(first: SeqNum) -> Self {
        Nagle {
            off: false,
            cork: false,
            push: false,
            last_short: first,
            pushed: first,
            writer_waits: false,
        }
    }

    /// What holds back now.
    pub fn hold(&self) -> Hold {
        Hold {
            off: self.off,
            cork: self.cork,
            push: self.push,
        }
    }

    /// Whether a short segment waits (`tcp_nagle_check`): corked, or without nodelay while a short one is not
    /// acknowledged.
    pub fn waits(&self, hold: Hold, out: u32, una: SeqNum, nxt: SeqNum) -> bool {
        let short_out = self.last_short.is_after(una) && !self.last_short.is_after(nxt);
        hold.cork || (!hold.off && !hold.push && out > 0 && short_out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_segment_waits_for_the_last_short_one() {
        let mut nagle = Nagle::new(SeqNum::new(1));
        let (una, nxt) = (SeqNum::new(1), SeqNum::new(101));
        assert!(!nagle.waits(nagle.hold(), 1, una, nxt));
        nagle.last_short = nxt;
        assert!(nagle.waits(nagle.hold(), 1, una, nxt));
        assert!(!nagle.waits(nagle.hold(), 0, una, nxt));
        assert!(!nagle.waits(nagle.hold(), 1, nxt, nxt));
        assert!(!nagle.waits(Hold::OFF, 1, una, nxt));
        assert!(nagle.waits(Hold::CORK, 0, nxt, nxt));
    }
}

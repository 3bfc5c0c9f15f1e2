//! What the peer's segments have told.

use rexmit_wire::SeqNum;

use super::Ack;

/// What the peer's segments have told.
#[derive(Clone, Copy, Debug)]
pub(super) struct PeerState {
    /// Its receive window in bytes (`snd_wnd`).
    pub window: u32,
    /// The largest it was (`max_window`).
    pub largest_window: u32,
    /// The segment that set it (`snd_wl1`).
    pub window_seq: SeqNum,
    /// The timestamp that the last segment echoed, in our clock.
    pub echo: Option<u32>,
    /// Segments that it reported to have come twice (`dsack_dups`).
    pub dsacks: u32,
    /// The tick of the last acknowledgement (`rcv_tstamp`).
    pub last_ack: i64,
}

impl PeerState {
    /// Nothing is told yet, at `tick`.
    pub fn new(tick: i64) -> Self {
        PeerState {
            window: 0,
            largest_window: 0,
            window_seq: SeqNum::default(),
            echo: None,
            dsacks: 0,
            last_ack: tick,
        }
    }

    /// After the last byte that its window takes, where `una` is the first not acknowledged (`tcp_wnd_end`).
    pub fn window_end(&self, una: SeqNum) -> SeqNum {
        una + self.window
    }

    /// Whether a segment may set the window: one that acknowledges more (`advanced`), a newer one, or one as new with a larger
    /// window, or any where it `shuts` (`tcp_may_update_window`).
    pub fn may_set_window(&self, ack: &Ack<'_>, advanced: bool, shuts: bool) -> bool {
        let seq = ack.segment.seq;
        let larger = ack.window > self.window || shuts;
        advanced || seq.is_after(self.window_seq) || (seq == self.window_seq && larger)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::segment::Segment;

    #[test]
    fn a_segment_that_others_overtook_sets_no_window() {
        let seq = SeqNum::new(100);
        let peer = PeerState {
            window: 5_000,
            window_seq: seq,
            ..PeerState::new(0)
        };
        let may = |seq, window, advanced| {
            let segment = Segment {
                seq,
                ..Segment::default()
            };
            let ack = Ack {
                segment: &segment,
                window,
                echo: None,
            };
            peer.may_set_window(&ack, advanced, false)
        };
        assert!(may(seq + 1, 10, false) && may(seq, 5_001, false));
        assert!(!may(seq, 5_000, false) && !may(seq - 1, 9_000, false));
        assert!(may(seq - 1, 9_000, true));
        assert_eq!(peer.window_end(seq), seq + 5_000);
    }
}

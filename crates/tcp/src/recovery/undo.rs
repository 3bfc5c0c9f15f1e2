//! Whether a reduction of the window proved wrong: by D-SACK for every retransmission (RFC 3708), or by timestamps older
//! than the first retransmission (Eifel, RFC 3522).

use rexmit_wire::SeqNum;

use crate::settings::UndoStart;

/// The first retransmission since nothing was in doubt.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FirstRetransmission {
    /// There is none.
    #[default]
    None,
    /// The clock of the timestamps option when it was sent.
    At(u32),
    /// There is one, and when is not known.
    Unknown,
}

impl FirstRetransmission {
    /// The clock of the timestamps option when it was sent, where that is known.
    pub fn stamp(self) -> Option<u32> {
        match self {
            FirstRetransmission::At(stamp) => Some(stamp),
            FirstRetransmission::None | FirstRetransmission::Unknown => None,
        }
    }
}

/// What a reduction would need to be taken back.
#[derive(Clone, Copy, Debug)]
pub struct Undo {
    /// The first byte not acknowledged when the reduction began; none when nothing can be undone (`undo_marker`).
    pub marker: Option<SeqNum>,
    /// Retransmissions not yet known to be spurious; negative before the first (`undo_retrans`).
    pub retransmissions: i64,
    /// When the first retransmission was sent (`retrans_stamp`).
    pub first: FirstRetransmission,
}

impl Default for Undo {
    fn default() -> Self {
        Undo {
            marker: None,
            retransmissions: -1,
            first: FirstRetransmission::None,
        }
    }
}

/// What is out when a reduction begins.
#[derive(Clone, Copy, Debug)]
pub struct Begin {
    /// The first byte not acknowledged; none where the stack undoes nothing.
    pub una: Option<SeqNum>,
    /// Retransmissions in flight.
    pub retransmissions_out: u32,
    /// A tail loss probe that was a retransmission is not judged yet.
    pub probe_out: bool,
}

/// What an acknowledgement tells.
#[derive(Clone, Copy, Debug)]
pub struct Answer {
    /// The timestamp that it echoes.
    pub echo: Option<u32>,
    /// SACK was negotiated.
    pub sack: bool,
    /// The recovery point is not acknowledged yet.
    pub before_point: bool,
}

/// Whether the timestamp echoed is older than `stamp` (`tcp_tsopt_ecr_before`).
#[must_use]
pub fn echoes_before(echo: Option<u32>, stamp: u32) -> bool {
    echo.is_some_and(|echo| (echo.wrapping_sub(stamp) as i32) < 0)
}

impl Undo {
    /// A reduction begins that may be undone (`tcp_init_undo`). 3.10 does not count the probe, and has no number that says
    /// that nothing was sent again ([`UndoStart::Clean`]).
    pub fn begin(&mut self, start: UndoStart, view: &Begin) {
        self.marker = view.una;
        let out = i64::from(view.retransmissions_out);
        self.retransmissions = match start {
            UndoStart::Clean => out,
            UndoStart::InFlight => match out + i64::from(view.probe_out) {
                0 => -1,
                count => count,
            },
        };
    }

    /// A timeout begins a reduction with [`UndoStart::Clean`]: it is not undone if something had been sent again before (`tcp_enter_loss`).
    pub fn begin_by_timeout(&mut self, una: Option<SeqNum>, retransmitted_before: bool) {
        self.marker = una.filter(|_| !retransmitted_before);
        self.retransmissions = 0;
    }

    /// `count` segments were sent again; `stamp` is the clock of the timestamps option then, if it is known.
    pub fn note_retransmission(&mut self, stamp: Option<u32>, count: u32) {
        if self.first == FirstRetransmission::None {
            self.first = match stamp {
                // A stamp of zero stands for none in the kernel.
                Some(0) => FirstRetransmission::None,
                Some(stamp) => FirstRetransmission::At(stamp),
                None => FirstRetransmission::Unknown,
            };
        }
        self.retransmissions = self.retransmissions.max(0) + i64::from(count);
    }

    /// A D-SACK proved `count` retransmissions spurious that end at `end`.
    pub fn note_spurious(&mut self, end: SeqNum, count: u32) {
        let counts = self.marker.is_some_and(|marker| end.is_after(marker));
        if self.retransmissions > 0 && counts {
            self.retransmissions = (self.retransmissions - i64::from(count)).max(0);
        }
    }

    /// Nothing was sent again yet, or what arrived was sent before (`tcp_packet_delayed`). `cleanup` is the stack's setting
    /// `retrans_stamp_cleanup`.
    #[must_use]
    pub fn was_only_late(&self, cleanup: bool, answer: &Answer) -> bool {
        match self.first {
            FirstRetransmission::At(stamp) => echoes_before(answer.echo, stamp),
            FirstRetransmission::Unknown => false,
            // Without SACK the clean-up does so when everything up to the recovery point is acknowledged.
            FirstRetransmission::None => answer.sack || answer.before_point || !cleanup,
        }
    }

    /// Every retransmission was spurious.
    #[must_use]
    pub fn proved_by_dsack(&self) -> bool {
        self.marker.is_some() && self.retransmissions == 0
    }

    /// Whether the reduction proved wrong (`tcp_may_undo`).
    #[must_use]
    pub fn may_undo(&self, cleanup: bool, answer: &Answer) -> bool {
        self.marker.is_some() && (self.retransmissions == 0 || self.was_only_late(cleanup, answer))
    }
}

/// Without SACK the state is kept until something beyond the recovery point is acknowledged (RFC 6582 §3.2 step 1;
/// `tcp_is_non_sack_preventing_reopen`).
#[must_use]
pub fn waits_beyond_point(sack: bool, una: SeqNum, recovery_point: SeqNum) -> bool {
    !sack && una == recovery_point
}

#[cfg(test)]
mod tests {
    use super::*;

    const STARTS: [UndoStart; 2] = [UndoStart::Clean, UndoStart::InFlight];

    fn begun(start: UndoStart, retransmissions_out: u32, probe_out: bool) -> Undo {
        let mut undo = Undo::default();
        let view = Begin {
            una: Some(SeqNum::new(u32::MAX)),
            retransmissions_out,
            probe_out,
        };
        undo.begin(start, &view);
        undo
    }

    fn answer(echo: Option<u32>) -> Answer {
        Answer {
            echo,
            sack: true,
            before_point: true,
        }
    }

    #[test]
    fn d_sacks_for_all_that_was_sent_again_undo() {
        for start in STARTS {
            let mut undo = begun(start, 0, false);
            undo.note_retransmission(Some(50), 2);
            let later = answer(Some(60));
            undo.note_spurious(SeqNum::new(100), 1);
            assert!(!undo.proved_by_dsack() && !undo.may_undo(true, &later));
            // Below the marker nothing counts.
            undo.note_spurious(SeqNum::new(u32::MAX - 5), 1);
            assert!(!undo.proved_by_dsack());
            undo.note_spurious(SeqNum::new(200), 5);
            assert!(undo.proved_by_dsack() && undo.may_undo(true, &later));
        }
    }

    #[test]
    fn a_stamp_older_than_the_first_retransmission_undoes() {
        for start in STARTS {
            let mut undo = begun(start, 0, false);
            undo.note_retransmission(Some(50), 1);
            undo.note_retransmission(Some(70), 1);
            assert!(undo.may_undo(true, &answer(Some(49))));
            assert!(!undo.may_undo(true, &answer(Some(50))));
            assert!(!undo.may_undo(true, &answer(None)));
        }
    }

    #[test]
    fn what_cannot_be_known_undoes_nothing() {
        let mut undo = begun(UndoStart::InFlight, 0, false);
        assert!(undo.may_undo(true, &answer(None)));
        undo.note_retransmission(None, 1);
        assert!(!undo.may_undo(true, &answer(Some(1))));
    }

    #[test]
    fn only_with_what_is_in_flight_the_probe_counts_and_none_has_a_number() {
        let counts = |out, probe| STARTS.map(|start| begun(start, out, probe).retransmissions);
        assert_eq!(counts(0, false), [0, -1]);
        assert_eq!(counts(0, true), [0, 1]);
        assert_eq!(counts(2, true), [2, 3]);
    }

    #[test]
    fn a_timeout_after_a_retransmission_is_not_undone() {
        let undoable = |before| {
            let mut undo = Undo::default();
            undo.begin_by_timeout(Some(SeqNum::new(7)), before);
            undo.proved_by_dsack()
        };
        assert!(undoable(false) && !undoable(true));
    }

    #[test]
    fn without_sack_an_acknowledgement_of_the_recovery_point_waits_for_another() {
        let point = SeqNum::new(10);
        assert!(waits_beyond_point(false, point, point));
        assert!(!waits_beyond_point(true, point, point));
        assert!(!waits_beyond_point(false, point + 1, point));
        let late = Answer {
            sack: false,
            before_point: false,
            ..answer(None)
        };
        let undo = Undo::default();
        assert_eq!(
            [false, true].map(|cleanup| undo.was_only_late(cleanup, &late)),
            [true, false]
        );
    }
}

//! The row of one transfer.

use core::fmt;

use rexmit_time::{Duration, Time};
use rexmit_wire::{FlowKey, SeqNum};

use crate::TransferId;

/// What was measured of one transfer. Times are on the caller's clock; `None` = did not happen or
/// cannot be told.
#[derive(Clone, Debug, PartialEq)]
pub struct Transfer {
    /// Its number.
    pub id: TransferId,
    /// The connection.
    pub flow: FlowKey,
    /// The connection's initial sequence number (of the SYN-ACK), when the handshake was seen.
    pub isn: Option<SeqNum>,
    /// Bytes of the head, where there is one.
    pub head_bytes: u64,
    /// Bytes of the body, by the head, or as was told.
    pub body_bytes: u64,
    /// Data segments: packets with bytes of the transfer that had not been sent before.
    pub segments: u64,
    /// Data segments of it that were dropped.
    pub dropped_segments: u64,
    /// Packets of it that were dropped: data segments, retransmissions, a FIN without data.
    pub dropped_packets: u64,
    /// Whether the FIN came with data; `None` when no FIN belongs to the transfer.
    pub fin_on_data: Option<bool>,
    /// Largest payload in the connection of a packet never sent before, bytes.
    pub mss_bytes: u32,
    /// Whether exactly the data segments that were asked for were dropped: of a tail all of them when the transfer has
    /// fewer, of a pattern those of its positions that the transfer has. How many of these a path has nothing tells: with a
    /// pattern of paths or bursts, whether the transfer is complete.
    pub exact: bool,
    /// Whether holding packets stalled the sender, so that nothing was dropped.
    pub stalled: bool,
    /// Whether every byte (and the FIN, where one is due) was seen, and all that was dropped was sent again.
    pub complete: bool,
    /// When the first packet with a byte of the head was sent.
    pub t_start: Time,
    /// When the first packet that was dropped had been sent.
    pub t_drop: Option<Time>,
    /// When any dropped byte (FIN included) was first sent again.
    pub t_retransmit: Option<Time>,
    /// When the packet of `t_drop` was first sent again.
    pub t_first_retransmit: Option<Time>,
    /// When the FIN was first sent again.
    pub t_fin_retransmit: Option<Time>,
    /// When the last of the dropped bytes (FIN included) was sent again; without drops, when the last
    /// byte or the FIN was first sent.
    pub t_end: Option<Time>,
    /// The paper's test for a probe: the packet of `t_retransmit` carried the highest sequence number sent
    /// so far, FIN included. `None` when fewer than two packets were dropped or none was sent again.
    pub is_tlp: Option<bool>,
    /// Packets with bytes of it (or its FIN) that had been sent before.
    pub retransmissions: u64,
    /// Those of which an earlier copy had passed the rule for every byte. Downstream losses are unknown here.
    pub spurious_retransmissions: u64,
    /// What a reader of the row should know.
    pub notes: Vec<Note>,
}

impl Transfer {
    /// Bytes of head and body together.
    #[must_use]
    pub fn size_bytes(&self) -> u64 {
        self.head_bytes.saturating_add(self.body_bytes)
    }

    /// `t_retransmit − t_drop`.
    #[must_use]
    pub fn t_recover(&self) -> Option<Duration> {
        Some(self.t_retransmit? - self.t_drop?)
    }

    /// `t_recover` as Ryll 2013 writes it: until the first packet that was dropped was sent again. A probe is the last.
    #[must_use]
    pub fn t_recover_printed(&self) -> Option<Duration> {
        Some(self.t_first_retransmit? - self.t_drop?)
    }

    /// `t_total` as Ryll 2013 writes it: until the FIN was first sent again, whatever is missing then.
    #[must_use]
    pub fn t_total_printed(&self) -> Option<Duration> {
        Some(self.t_fin_retransmit? - self.t_start)
    }

    /// `t_end − t_start`.
    #[must_use]
    pub fn t_total(&self) -> Option<Duration> {
        Some(self.t_end? - self.t_start)
    }

    /// All notes as one text, `None` when there are none.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let notes: Vec<String> = self.notes.iter().map(Note::to_string).collect();
        (!notes.is_empty()).then(|| notes.join("; "))
    }
}

/// A remark on a transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Note {
    /// More segments were asked for than the transfer has; all were taken.
    WholeTransfer {
        /// Segments asked for.
        asked: u64,
        /// Data segments of the transfer.
        segments: u64,
    },
    /// The dropped segments are not precisely the tail.
    NotExact {
        /// Segments asked for.
        asked: u64,
        /// Data segments dropped.
        dropped: u64,
        /// Those of them among the last `asked` data segments.
        in_tail: u64,
    },
    /// The sender fell silent while its packets were held.
    HoldStalled,
    /// A held packet was sent again before its fate was settled: holding delayed it too long.
    RetransmittedWhileHeld,
    /// The FIN came before the end that the head promises.
    ShortOf {
        /// Bytes missing.
        missing: u64,
    },
    /// The connection was reset first.
    Reset,
    /// The connection's ports were taken by a new connection first.
    Replaced,
    /// The rule forgot the connection to make room for others.
    Evicted,
    /// The caller ended the measurement first.
    Ended,
    /// Too many transfers of the connection were waiting for their retransmissions.
    TooManyOpen,
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::WholeTransfer { asked, segments } => {
                write!(
                    f,
                    "{asked} segments asked for, the transfer has {segments}: all dropped"
                )
            }
            Note::NotExact {
                asked,
                dropped,
                in_tail,
            } => {
                write!(
                    f,
                    "{asked} segments asked for, {dropped} dropped, {in_tail} of them in the tail"
                )
            }
            Note::HoldStalled => {
                f.write_str("the sender stalled while packets were held: nothing dropped")
            }
            Note::RetransmittedWhileHeld => {
                f.write_str("a packet was sent again while it was held")
            }
            Note::ShortOf { missing } => {
                write!(f, "the FIN came {missing} bytes before the announced end")
            }
            Note::Reset => f.write_str("reset before the end"),
            Note::Replaced => f.write_str("a new connection took the ports before the end"),
            Note::Evicted => f.write_str("forgotten before the end to make room"),
            Note::Ended => f.write_str("the measurement ended before the transfer"),
            Note::TooManyOpen => f.write_str("too many transfers were open in the connection"),
        }
    }
}

//! Rows as bytes.

use super::exact::{exact_enum, exact_struct, Broken, Exact, Input};
use crate::account::Share;
use crate::analyzer::{Counters, Of, Rows};
use crate::event::Direction;
use crate::measures::{Handshake, Measures, Reset, State, Unacked};
use crate::rows::{
    Changes, Connection, Evidence, Inferred, OnSubflow, Parameters, Position, Retransmission, Role,
    SenderRow, Subflow, WhatIf,
};

/// What a file of rows is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Head {
    pub shards: u16,
    pub groups: u16,
    /// The group whose rows these are.
    pub group: u16,
    /// A hash of the settings.
    pub settings: u64,
    /// A hash of the files' names and their numbers of frames.
    pub files: u64,
}

/// What comes next in a file of rows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Tag {
    /// The rows of the stretch of this number.
    Stretch(u64),
    /// Nothing.
    End,
}

impl Exact for Tag {
    fn write(&self, to: &mut Vec<u8>) {
        match self {
            Tag::Stretch(stretch) => Some(*stretch).write(to),
            Tag::End => None::<u64>.write(to),
        }
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        Ok(Option::read(from)?.map_or(Tag::End, Tag::Stretch))
    }
}

/// Stretches whose rows are in one piece.
const STRETCHES: u64 = 64;

/// The piece of a stretch.
pub(super) const fn piece_of(stretch: u64) -> u32 {
    (stretch / STRETCHES) as u32
}

/// The first stretch of a piece.
pub(super) const fn first_of(piece: u32) -> u64 {
    piece as u64 * STRETCHES
}

/// So many of something.
pub(super) fn count(number: u16, one: &str) -> String {
    format!("{number} {one}{}", if number == 1 { "" } else { "s" })
}

exact_struct!(Head {
    shards,
    groups,
    group,
    settings,
    files,
});
exact_struct!(Counters {
    packets,
    connections,
    evicted,
    evicted_openings,
    strays,
    stray_blocks,
    late,
    latest,
    moved,
    farthest_moved,
    set,
    farthest_set,
    stray_resets,
    failures,
    steps_back,
    longest_step_back,
});
exact_struct!(Rows {
    connections,
    retransmissions,
    whatif,
    requests,
    totals,
    failed,
});

impl<T: Exact> Exact for Of<T> {
    fn write(&self, to: &mut Vec<u8>) {
        let Of {
            connection,
            start,
            flow,
            row,
        } = self;
        connection.write(to);
        start.write(to);
        flow.write(to);
        row.write(to);
    }

    fn read(from: &mut Input<'_>) -> Result<Self, Broken> {
        Ok(Of {
            connection: Exact::read(from)?,
            start: Exact::read(from)?,
            flow: Exact::read(from)?,
            row: Exact::read(from)?,
        })
    }
}

exact_enum!(Direction { Forward, Backward });
exact_enum!(Evidence {
    None,
    Dsack,
    Timestamp,
    AckTooEarly,
    Frto,
    AlreadyAcked,
    NotAccepted,
    OriginalSeen,
    OriginalUnseen,
    SubflowAcked,
    DuplicateAnswered,
    AckLost,
    HoleFilled,
});
exact_enum!(Position {
    Sender,
    Midway,
    Receiver,
    Unknown,
});
exact_enum!(Role { Initial, Join });
exact_enum!(Handshake {
    Complete,
    HalfOpen,
    Refused,
    Unanswered,
    Unseen,
});
exact_enum!(State {
    SynSent,
    SynReceived,
    Established,
    HalfClosed,
    Closed,
});
exact_struct!(Retransmission {
    direction,
    time,
    range,
    length,
    first_sent,
    copy,
    mechanism,
    confidence,
    runner_up,
    shown,
    disordered,
    certainty,
    need_confidence,
    position,
    either,
    witness,
    missing,
    need,
    evidence,
    episode,
    episode_cause,
    detection,
    detection_most,
    recovery,
    waited,
    waited_most,
    timer,
    opinions,
    moving_rtt,
    flight_segments,
    flight_bytes,
    lost_in_flight,
    multipath,
});
exact_struct!(OnSubflow { connection, first });
exact_struct!(Subflow {
    connection,
    number,
    role,
    version,
});
exact_struct!(Inferred { value, low, high });
exact_struct!(Parameters {
    d,
    a,
    b,
    m,
    k,
    min_rto_s,
});
exact_struct!(SenderRow {
    packets,
    bytes,
    unique_bytes,
    segments,
    wire_segments,
    mss,
    window_scale,
    sack_permitted,
    timestamps,
    mptcp,
    syn_signature,
    retransmissions,
    reordered,
    network_duplicates,
    capture_duplicates,
    capture_losses,
    probes,
    position,
    monitor_delay,
    rtt,
    stack,
    stack_confidence,
    stacks,
    syn_system,
    parameters,
    best_case,
    waited,
    posterior,
    short_timers,
    data_bytes,
    measures,
    account,
});
exact_struct!(Share {
    owner,
    length,
    other,
    stretches,
    slow,
    slow_length,
    slow_least,
    longest,
    evidence,
});
exact_struct!(Connection {
    flow,
    start,
    end,
    handshake_rtt,
    mid_stream,
    one_sided,
    closed,
    evicted,
    handshake,
    reset,
    forward,
    backward,
    multipath,
});
exact_struct!(Reset {
    by,
    state,
    after,
    silence,
});
exact_struct!(Measures {
    syns,
    resets,
    window_probes,
    zero_windows,
    zero_window,
    window_full,
    bytes_retransmitted,
    rtt,
    data,
    unacked,
});
exact_struct!(Unacked {
    sends,
    unanswered,
    silence,
    size,
    acked_size,
    tried,
    all_full,
});
exact_struct!(Changes {
    avoided,
    rto_to_fr,
    fr_to_rto,
    spurious_rto_avoided,
    spurious_fr_avoided,
    spurious_rto_caused,
    spurious_fr_caused,
});
exact_struct!(WhatIf {
    direction,
    setting,
    changes,
    change,
    waited,
});

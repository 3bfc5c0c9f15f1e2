//! The rows of a transfer, as the events file has them.

use rexmit_loss::Transfer;
use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;
use serde::Serialize;

use crate::ended::Ended;
use crate::plan::{Cell, Start};
use crate::story::{Retransmission, Watched};

/// What the client saw of one transfer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// From before the connection is opened to the end of the file, or to where the client gave up.
    pub duration_ns: u64,
    /// How it ended.
    pub ended: Ended,
    /// What the client's program said of an end that was none of its transfer's.
    pub said: Option<String>,
}

impl Fetched {
    /// The whole page came.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.ended == Ended::Finished
    }
}

/// What the server's host counted during one transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments sent again, those of the handshake left out.
    pub retransmissions: u64,
    /// Retransmission timers that fired.
    pub timeouts: u64,
    /// Tail loss probes.
    pub probes: u64,
    /// DSACK blocks received.
    pub dsacks: u64,
    /// Retransmissions refused because the original was still in the host.
    pub host_queue: u64,
}

/// The row of a transfer.
#[derive(Serialize)]
pub struct Row {
    cell: u64,
    repetition: u32,
    phase_ns: u64,
    transfer_size_bytes: u64,
    transfer_segments: u64,
    dropped_segments: u64,
    dropped_packets: u64,
    fin_on_data: Option<bool>,
    mss_bytes: Option<u32>,
    exact: bool,
    stalled: bool,
    t_start_ns: Option<u64>,
    t_drop_ns: Option<u64>,
    t_retransmit_ns: Option<u64>,
    t_fin_retransmit_ns: Option<u64>,
    t_end_ns: Option<u64>,
    t_recover_ns: Option<i64>,
    t_total_ns: Option<i64>,
    is_tlp: Option<bool>,
    mechanism: Option<rexmit_tcp::Mechanism>,
    retransmissions: u64,
    timeouts: u64,
    probes: u64,
    spurious_retransmissions: Option<u64>,
    dsacks: u64,
    srtt_us: Option<u32>,
    rto_us: Option<u32>,
    client_ns: u64,
    client_port: Option<u16>,
    isn_server: Option<u32>,
    isn_client: Option<u32>,
    complete: bool,
    ended: Ended,
    note: Option<String>,
}

/// The row of a retransmission.
#[derive(Serialize)]
pub struct RetransmissionRow<'a> {
    /// The cell's number.
    pub cell: u64,
    /// The transfer's number in the cell.
    pub repetition: u32,
    /// The retransmission.
    #[serde(flatten)]
    pub retransmission: &'a Retransmission,
}

impl Row {
    /// The row of repetition `start`, in whose time `seen` came by, the first of which is meant. There is none where no
    /// response left the server: the transfer, of `size_bytes`, has a row all the same.
    #[must_use]
    pub fn new(
        cell: &Cell,
        start: &Start,
        size_bytes: u64,
        seen: &[Watched],
        counts: Counts,
        fetched: &Fetched,
    ) -> Self {
        let watched = seen.first();
        let transfer = watched.map(|watched| &watched.transfer);
        let at_drop = watched.and_then(|watched| watched.at_drop);
        let lossy = cell.lossy();
        let mut notes: Vec<String> = match transfer {
            Some(transfer) => transfer.note().into_iter().collect(),
            None => vec!["no head of a response left the server".to_owned()],
        };
        notes.extend(fetched.said.clone());
        // Two witnesses of one thing: a difference must show.
        let retransmissions = transfer.map_or(0, |transfer| transfer.retransmissions);
        if counts.retransmissions != retransmissions {
            notes.push(format!(
                "the sender counts {} retransmissions, the filter {retransmissions}",
                counts.retransmissions
            ));
        }
        if counts.host_queue > 0 {
            notes.push(format!(
                "{} retransmissions refused: the original was still in the host",
                counts.host_queue
            ));
        }
        if seen.len() > 1 {
            notes.push(format!("{} transfers seen, this is the first", seen.len()));
        }
        let time = |of: fn(&Transfer) -> Option<Time>| transfer.and_then(of).map(Time::as_nanos);
        let span =
            |of: fn(&Transfer) -> Option<Duration>| transfer.and_then(of).map(Duration::as_nanos);
        let count = |of: fn(&Transfer) -> u64| transfer.map_or(0, of);
        Self {
            cell: cell.id,
            repetition: start.repetition,
            phase_ns: start.phase_ns,
            transfer_size_bytes: transfer.map_or(size_bytes, Transfer::size_bytes),
            transfer_segments: count(|one| one.segments),
            dropped_segments: count(|one| one.dropped_segments),
            dropped_packets: count(|one| one.dropped_packets),
            fin_on_data: transfer.and_then(|one| one.fin_on_data),
            mss_bytes: transfer.map(|one| one.mss_bytes),
            exact: transfer.is_some_and(|one| one.exact),
            stalled: transfer.is_some_and(|one| one.stalled),
            t_start_ns: time(|one| Some(one.t_start)),
            t_drop_ns: time(|one| one.t_drop),
            t_retransmit_ns: time(|one| one.t_retransmit),
            t_fin_retransmit_ns: time(|one| one.t_fin_retransmit),
            t_end_ns: time(|one| one.t_end),
            t_recover_ns: span(Transfer::t_recover),
            t_total_ns: span(Transfer::t_total),
            is_tlp: transfer.and_then(|one| one.is_tlp),
            mechanism: watched.and_then(|watched| watched.mechanism),
            retransmissions: counts.retransmissions,
            timeouts: counts.timeouts,
            probes: counts.probes,
            spurious_retransmissions: (!lossy).then_some(count(|one| one.spurious_retransmissions)),
            dsacks: counts.dsacks,
            srtt_us: at_drop.map(|info| info.srtt_us),
            rto_us: at_drop.map(|info| info.rto_us),
            client_ns: fetched.duration_ns,
            client_port: transfer.map(|one| one.flow.dst_port),
            isn_server: transfer.and_then(|one| one.isn).map(SeqNum::get),
            isn_client: watched.and_then(|watched| watched.isn_client),
            complete: fetched.complete(),
            ended: fetched.ended,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        }
    }
}

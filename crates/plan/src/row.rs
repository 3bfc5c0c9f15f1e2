//! The rows of a transfer, as the events file has them.

use rexmit_time::{Duration, Time};
use serde::Serialize;

use crate::plan::{Cell, Start};
use crate::story::{Resend, Watched};

/// What the client saw of one transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// From before the connection is opened to the end of the file.
    pub duration_ns: u64,
    /// The whole page came.
    pub complete: bool,
}

/// What the server's host counted during one transfer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Segments sent again, those of the handshake left out.
    pub resends: u64,
    /// Retransmission timers that fired.
    pub timeouts: u64,
    /// Tail loss probes.
    pub probes: u64,
    /// DSACK blocks received.
    pub dsacks: u64,
    /// Resends refused because the original was still in the host.
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
    mss_bytes: u32,
    exact: bool,
    stalled: bool,
    t_start_ns: u64,
    t_drop_ns: Option<u64>,
    t_retransmit_ns: Option<u64>,
    t_fin_retransmit_ns: Option<u64>,
    t_end_ns: Option<u64>,
    t_recover_ns: Option<i64>,
    t_total_ns: Option<i64>,
    is_tlp: Option<bool>,
    mechanism: Option<rexmit_tcp::Mechanism>,
    resends: u64,
    timeouts: u64,
    probes: u64,
    needless_resends: Option<u64>,
    dsacks: u64,
    srtt_us: Option<u32>,
    rto_us: Option<u32>,
    client_ns: u64,
    client_port: u16,
    isn_server: Option<u32>,
    isn_client: Option<u32>,
    complete: bool,
    note: Option<String>,
}

/// The row of a resend.
#[derive(Serialize)]
pub struct ResendRow<'a> {
    /// The cell's number.
    pub cell: u64,
    /// The transfer's number in the cell.
    pub repetition: u32,
    /// The resend.
    #[serde(flatten)]
    pub resend: &'a Resend,
}

impl Row {
    /// The row of repetition `start`; `others` counts further transfers that were seen in its time.
    #[must_use]
    pub fn new(
        cell: &Cell,
        start: &Start,
        watched: &Watched,
        counts: Counts,
        fetched: Fetched,
        others: usize,
    ) -> Self {
        let Watched {
            transfer,
            at_drop,
            mechanism,
            isn_client,
            ..
        } = watched;
        let lossy = cell.lossy();
        let mut notes: Vec<String> = transfer.note().into_iter().collect();
        // Two witnesses of one thing: a difference must show.
        if counts.resends != transfer.resends {
            notes.push(format!(
                "the sender counts {} resends, the filter {}",
                counts.resends, transfer.resends
            ));
        }
        if counts.host_queue > 0 {
            notes.push(format!(
                "{} resends refused: the original was still in the host",
                counts.host_queue
            ));
        }
        if others > 0 {
            notes.push(format!("{} transfers seen, this is the first", others + 1));
        }
        Self {
            cell: cell.id,
            repetition: start.repetition,
            phase_ns: start.phase_ns,
            transfer_size_bytes: transfer.size_bytes(),
            transfer_segments: transfer.segments,
            dropped_segments: transfer.dropped_segments,
            dropped_packets: transfer.dropped_packets,
            fin_on_data: transfer.fin_on_data,
            mss_bytes: transfer.mss_bytes,
            exact: transfer.exact,
            stalled: transfer.stalled,
            t_start_ns: transfer.t_start.as_nanos(),
            t_drop_ns: transfer.t_drop.map(Time::as_nanos),
            t_retransmit_ns: transfer.t_retransmit.map(Time::as_nanos),
            t_fin_retransmit_ns: transfer.t_fin_retransmit.map(Time::as_nanos),
            t_end_ns: transfer.t_end.map(Time::as_nanos),
            t_recover_ns: transfer.t_recover().map(Duration::as_nanos),
            t_total_ns: transfer.t_total().map(Duration::as_nanos),
            is_tlp: transfer.is_tlp,
            mechanism: *mechanism,
            resends: counts.resends,
            timeouts: counts.timeouts,
            probes: counts.probes,
            needless_resends: (!lossy).then_some(transfer.needless_resends),
            dsacks: counts.dsacks,
            srtt_us: at_drop.map(|info| info.srtt_us),
            rto_us: at_drop.map(|info| info.rto_us),
            client_ns: fetched.duration_ns,
            client_port: transfer.flow.dst_port,
            isn_server: transfer.isn.map(|isn| isn.get()),
            isn_client: *isn_client,
            complete: fetched.complete,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
        }
    }
}

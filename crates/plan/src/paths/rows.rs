//! The rows of a connection over paths, as the events file has them.

use std::collections::BTreeMap;

use rexmit_loss::paths::Totals;
use rexmit_tcp::Mechanism;
use rexmit_time::Time;
use serde::Serialize;

use super::cell::{PathCell, Protocol};
use super::story::{PathRetransmission, PathWatched};
use crate::ended::Ended;
use crate::events::Ignored;
use crate::plan::Start;
use crate::row::Counts;

/// `cell-start` of a [`PathCell`]: what its connections have in common.
#[derive(Debug, Serialize)]
pub struct PathCellStart<'a> {
    /// The cell's number.
    pub cell: u64,
    /// The engine's clock.
    pub virtual_ns: u64,
    /// Bytes of each burst.
    pub burst_bytes: u64,
    /// Packets of new data by burst and path, in the loss-free rehearsal.
    pub path_packets: &'a [Vec<u64>],
    /// Settings as the engine has them.
    pub read_back: &'a BTreeMap<String, String>,
    /// Settings that it does not heed.
    pub ignored: &'a [Ignored],
    /// What a reader of the rows should know.
    pub warnings: &'a [String],
}

/// What an engine says of one connection.
#[derive(Clone, Debug, Default)]
pub struct PathRun {
    /// The bursts, in order.
    pub bursts: Vec<BurstSeen>,
    /// The subflows that were confirmed before the first burst, the first path first; of plain TCP its one connection.
    pub subflows: Vec<SubflowSeen>,
    /// What the server's host counted.
    pub counts: Counts,
    /// From before the connection is opened to the end of the last burst, at the client.
    pub client_ns: u64,
    /// How it ended, for its client.
    pub ended: Ended,
    /// The packet scheduler, as the engine names it; `None` for plain TCP.
    pub scheduler: Option<String>,
    /// Packets that the connection sent again at its own level (MPTCPRetrans); `None` for plain TCP.
    pub mptcp_retransmissions: Option<u64>,
    /// Re-injections that tail loss probes caused; `None` where nothing counts them.
    pub probe_reinjections: Option<u64>,
    /// What a reader of the row should know besides.
    pub notes: Vec<String>,
}

impl PathRun {
    /// The client read every byte.
    #[must_use]
    pub fn complete(&self) -> bool {
        self.ended == Ended::Finished
    }
}

/// One burst, seen from both ends on one clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BurstSeen {
    /// Its first write at the server.
    pub t_start: Time,
    /// The client's read of its last byte; `None` when that never came.
    pub t_end: Option<Time>,
    /// Its bytes.
    pub bytes: u64,
}

impl BurstSeen {
    fn completion_ns(&self) -> Option<i64> {
        self.t_end.map(|end| end.since(self.t_start).as_nanos())
    }
}

/// One subflow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubflowSeen {
    /// Its path, from 1.
    pub path: u32,
    /// The client's port.
    pub client_port: u16,
    /// When it could be used by both ends; `None` when that was not seen.
    pub t_confirmed: Option<Time>,
    /// The server's socket at the end of the last burst.
    pub at_end: Option<SubflowState>,
}

/// The state of a subflow's socket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubflowState {
    /// Smoothed round-trip time, µs.
    pub srtt_us: u32,
    /// Retransmission timeout, µs, back-off included.
    pub rto_us: u32,
    /// Congestion window, segments.
    pub cwnd: u32,
}

/// `transfer`: the row of a connection, which is about its last burst.
#[derive(Debug, Serialize)]
pub struct PathRow {
    cell: u64,
    repetition: u32,
    phase_ns: u64,
    transfer_size_bytes: u64,
    transfer_segments: u64,
    dropped_segments: u64,
    dropped_packets: u64,
    fin_on_data: bool,
    mss_bytes: u32,
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
    mechanism: Option<Mechanism>,
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
    protocol: Protocol,
    first_path: u32,
    subflows: usize,
    scheduler: Option<String>,
    path_packets: String,
    reinjections: u64,
    reinjected_bytes: u64,
    mptcp_retransmissions: Option<u64>,
    probe_reinjections: Option<u64>,
}

/// `retransmission`: the row of a retransmission or a re-injection.
#[derive(Debug, Serialize)]
pub struct PathRetransmissionRow {
    cell: u64,
    repetition: u32,
    #[serde(flatten)]
    retransmission: PathRetransmission,
}

/// `burst`: the row of a burst.
#[derive(Debug, Serialize)]
pub struct BurstRow {
    cell: u64,
    repetition: u32,
    burst: u32,
    t_start_ns: u64,
    completion_ns: Option<i64>,
    bytes: u64,
    packets: u64,
    path_packets: String,
}

/// `subflow`: the row of a subflow.
#[derive(Debug, Serialize)]
pub struct SubflowRow {
    cell: u64,
    repetition: u32,
    path: u32,
    client_port: u16,
    t_confirmed_ns: Option<u64>,
    packets: u64,
    retransmissions: u64,
    reinjections: u64,
    srtt_us: Option<u32>,
    rto_us: Option<u32>,
    cwnd: Option<u32>,
}

/// All rows of a connection. They are written as events in this order: `transfer`, `retransmission`, `burst`,
/// `subflow`.
#[derive(Debug)]
pub struct PathRows {
    /// The connection.
    pub transfer: PathRow,
    /// What was sent again.
    pub retransmissions: Vec<PathRetransmissionRow>,
    /// Its bursts.
    pub bursts: Vec<BurstRow>,
    /// Its subflows.
    pub subflows: Vec<SubflowRow>,
}

impl PathRows {
    /// The rows of repetition `start`; `rehearsal` has the packets of new data that were sent without loss.
    #[must_use]
    pub fn new(
        cell: &PathCell,
        start: &Start,
        watched: PathWatched,
        run: &PathRun,
        rehearsal: &Totals,
    ) -> Self {
        let transfer = PathRow::new(cell, start, &watched, run, rehearsal);
        let (cell, repetition) = (cell.id, start.repetition);
        let packets = watched.packets.packets();
        let bursts = (1..).zip(&run.bursts).zip(packets);
        let bursts = bursts.map(|((burst, seen), packets)| BurstRow {
            cell,
            repetition,
            burst,
            t_start_ns: seen.t_start.as_nanos(),
            completion_ns: seen.completion_ns(),
            bytes: seen.bytes,
            packets: packets.iter().sum(),
            path_packets: words(packets),
        });
        let bursts = bursts.collect();
        let subflows = run.subflows.iter().map(|seen| {
            let place = (seen.path as usize).wrapping_sub(1);
            let sent = watched.paths.get(place).copied().unwrap_or_default();
            SubflowRow {
                cell,
                repetition,
                path: seen.path,
                client_port: seen.client_port,
                t_confirmed_ns: seen.t_confirmed.map(Time::as_nanos),
                packets: sent.packets,
                retransmissions: sent.retransmissions,
                reinjections: sent.reinjections,
                srtt_us: seen.at_end.map(|state| state.srtt_us),
                rto_us: seen.at_end.map(|state| state.rto_us),
                cwnd: seen.at_end.map(|state| state.cwnd),
            }
        });
        let subflows = subflows.collect();
        let retransmissions =
            watched
                .retransmissions
                .into_iter()
                .map(|retransmission| PathRetransmissionRow {
                    cell,
                    repetition,
                    retransmission,
                });
        Self {
            transfer,
            retransmissions: retransmissions.collect(),
            bursts,
            subflows,
        }
    }
}

/// Numbers as a table has them in one text: `41 39`.
fn words(packets: &[u64]) -> String {
    let words: Vec<String> = packets.iter().map(ToString::to_string).collect();
    words.join(" ")
}

impl PathRow {
    fn new(
        cell: &PathCell,
        start: &Start,
        watched: &PathWatched,
        run: &PathRun,
        rehearsal: &Totals,
    ) -> Self {
        let mut notes = run.notes.clone();
        let differences = cell.loss.parse().map_or_else(
            |_| Vec::new(),
            |pattern| watched.packets.differences(&pattern, rehearsal),
        );
        notes.extend(differences.iter().map(ToString::to_string));
        let seen: u64 = watched.paths.iter().map(|sent| sent.retransmissions).sum();
        // Two witnesses of one thing: a difference must show.
        if run.counts.retransmissions != seen {
            notes.push(format!(
                "the sender counts {} retransmissions, the filter {seen}",
                run.counts.retransmissions
            ));
        }
        if run.counts.host_queue > 0 {
            notes.push(format!(
                "{} retransmissions refused: the original was still in the host",
                run.counts.host_queue
            ));
        }
        let last = run.bursts.last();
        let packets = watched.packets.packets().last();
        let packets = packets.map_or(&[][..], Vec::as_slice);
        let first_port = |seen: &&SubflowSeen| seen.path == cell.first_path;
        let recover = watched.t_retransmit.zip(watched.t_drop);
        Self {
            cell: cell.id,
            repetition: start.repetition,
            phase_ns: start.phase_ns,
            transfer_size_bytes: last.map_or(0, |burst| burst.bytes),
            transfer_segments: packets.iter().sum(),
            dropped_segments: watched.dropped_segments,
            dropped_packets: watched.dropped_packets,
            fin_on_data: false,
            mss_bytes: watched.mss_bytes,
            exact: differences.is_empty(),
            stalled: false,
            t_start_ns: last.map(|burst| burst.t_start.as_nanos()),
            t_drop_ns: watched.t_drop.map(Time::as_nanos),
            t_retransmit_ns: watched.t_retransmit.map(Time::as_nanos),
            t_fin_retransmit_ns: None,
            t_end_ns: last.and_then(|burst| burst.t_end).map(Time::as_nanos),
            t_recover_ns: recover.map(|(again, drop)| again.since(drop).as_nanos()),
            t_total_ns: last.and_then(BurstSeen::completion_ns),
            is_tlp: watched
                .highest_first
                .filter(|_| watched.dropped_packets > 1),
            mechanism: watched.mechanism,
            retransmissions: run.counts.retransmissions,
            timeouts: run.counts.timeouts,
            probes: run.counts.probes,
            spurious_retransmissions: (!cell.lossy()).then_some(watched.spurious_retransmissions),
            dsacks: run.counts.dsacks,
            srtt_us: watched.at_drop.map(|info| info.srtt_us),
            rto_us: watched.at_drop.map(|info| info.rto_us),
            client_ns: run.client_ns,
            client_port: run.subflows.iter().find(first_port).map(|s| s.client_port),
            isn_server: watched.isns.map(|(server, _)| server),
            isn_client: watched.isns.map(|(_, client)| client),
            complete: run.complete(),
            ended: run.ended,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
            protocol: cell.protocol,
            first_path: cell.first_path,
            subflows: run.subflows.len(),
            scheduler: run.scheduler.clone(),
            path_packets: words(packets),
            reinjections: watched.paths.iter().map(|sent| sent.reinjections).sum(),
            reinjected_bytes: watched.reinjected_bytes,
            mptcp_retransmissions: run.mptcp_retransmissions,
            probe_reinjections: run.probe_reinjections,
        }
    }
}

//! The row of a transfer, as the events file has it.

use rexmit_loss::Totals;
use rexmit_time::Time;
use rexmit_wire::SeqNum;
use serde::Serialize;

use crate::cell::{Cell, Protocol, Start};
use crate::ended::Ended;
use crate::loss::Asked;
use crate::run::{BurstSeen, Run, SubflowSeen};
use crate::story::Watched;

/// `transfer`: the row of a page, or of a connection of bursts, which is about its last burst.
#[derive(Debug, Serialize)]
pub struct Row {
    cell: u64,
    repetition: u32,
    phase_ns: u64,
    #[serde(flatten)]
    asked: Asked,
    #[serde(flatten)]
    seen: Seen,
    retransmissions: u64,
    timeouts: u64,
    probes: u64,
    dsacks: u64,
    srtt_us: Option<u32>,
    rto_us: Option<u32>,
    client_ns: u64,
    complete: bool,
    ended: Ended,
    note: Option<String>,
    /// Where the rule minds paths.
    #[serde(flatten)]
    over: Option<OverPaths>,
}

/// What the loss rule saw of it.
#[derive(Debug, Default, Serialize)]
struct Seen {
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
    t_recover_printed_ns: Option<i64>,
    t_total_printed_ns: Option<i64>,
    is_tlp: Option<bool>,
    mechanism: Option<rexmit_tcp::Mechanism>,
    spurious_retransmissions: Option<u64>,
    client_port: Option<u16>,
    isn_server: Option<u32>,
    isn_client: Option<u32>,
}

/// What a connection did on its paths.
#[derive(Debug, Serialize)]
struct OverPaths {
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

/// Numbers as a table has them in one text: `41 39`.
pub(crate) fn words(packets: &[u64]) -> String {
    let words: Vec<String> = packets.iter().map(ToString::to_string).collect();
    words.join(" ")
}

impl Row {
    /// The row of repetition `start`. `lossless` has the packets of new data that were sent without loss, where the rule
    /// counts packets. A transfer of which the rule tells nothing has a row all the same.
    #[must_use]
    pub fn new(
        cell: &Cell,
        start: &Start,
        watched: &Watched,
        run: &Run,
        lossless: &Totals,
    ) -> Self {
        let differences = cell.differences(&watched.packets(), lossless);
        let at_drop = watched.at_drop;
        let mut notes = watched.notes(cell);
        notes.extend(run.notes.iter().cloned());
        notes.extend(differences.iter().map(ToString::to_string));
        notes.extend(doubts(run, watched.retransmitted()));
        if watched.others > 0 {
            let all = watched.others + 1;
            notes.push(format!("{all} transfers seen, this is the first"));
        }
        Self {
            cell: cell.id,
            repetition: start.repetition,
            phase_ns: start.phase_ns,
            asked: cell.loss.asked(),
            seen: Seen::new(cell, watched, run, differences.is_empty()),
            retransmissions: run.counts.retransmissions,
            timeouts: run.counts.timeouts,
            probes: run.counts.probes,
            dsacks: run.counts.dsacks,
            srtt_us: at_drop.map(|info| info.srtt_us),
            rto_us: at_drop.map(|info| info.rto_us),
            client_ns: run.client_ns,
            complete: run.complete(),
            ended: run.ended,
            note: (!notes.is_empty()).then(|| notes.join("; ")),
            over: (!cell.by_response()).then(|| OverPaths::new(cell, watched, run)),
        }
    }
}

impl OverPaths {
    fn new(cell: &Cell, watched: &Watched, run: &Run) -> Self {
        let sent = &watched.sent;
        Self {
            protocol: cell.protocol,
            first_path: cell.first_path,
            subflows: run.subflows.len(),
            scheduler: run.scheduler.clone(),
            path_packets: words(sent.last_burst()),
            reinjections: sent.paths.iter().map(|sent| sent.reinjections).sum(),
            reinjected_bytes: sent.reinjected_bytes,
            mptcp_retransmissions: run.mptcp_retransmissions,
            probe_reinjections: run.probe_reinjections,
        }
    }
}

/// Where the sender's counters are not what the filter saw: two witnesses of one thing.
fn doubts(run: &Run, seen: u64) -> Vec<String> {
    let mut notes = Vec::new();
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
    notes
}

impl Seen {
    /// What the rule told, and both ends of the last burst. `as_lossless`: packets fell to the paths as without loss.
    fn new(cell: &Cell, watched: &Watched, run: &Run, as_lossless: bool) -> Self {
        let sent = &watched.sent;
        let last = run.bursts.last();
        let seen = Self {
            transfer_size_bytes: last.map_or(0, |burst| burst.bytes),
            mechanism: watched.mechanism,
            spurious_retransmissions: (!cell.lossy()).then_some(watched.spurious()),
            isn_client: watched.isns.map(|(_, client)| client),
            ..Self::default()
        };
        if let Some(one) = &watched.transfer {
            return Self {
                transfer_size_bytes: one.size_bytes(),
                transfer_segments: one.segments,
                dropped_segments: one.dropped_segments,
                dropped_packets: one.dropped_packets,
                fin_on_data: one.fin_on_data,
                mss_bytes: Some(one.mss_bytes),
                exact: one.exact,
                stalled: one.stalled,
                t_start_ns: Some(one.t_start.as_nanos()),
                t_drop_ns: one.t_drop.map(Time::as_nanos),
                t_retransmit_ns: one.t_retransmit.map(Time::as_nanos),
                t_fin_retransmit_ns: one.t_fin_retransmit.map(Time::as_nanos),
                t_end_ns: one.t_end.map(Time::as_nanos),
                t_recover_ns: one.t_recover().map(|span| span.as_nanos()),
                t_total_ns: one.t_total().map(|span| span.as_nanos()),
                t_recover_printed_ns: one.t_recover_printed().map(|span| span.as_nanos()),
                t_total_printed_ns: one.t_total_printed().map(|span| span.as_nanos()),
                is_tlp: one.is_tlp,
                client_port: Some(one.flow.dst_port),
                isn_server: one.isn.map(SeqNum::get),
                ..seen
            };
        }
        if cell.by_response() {
            return seen;
        }
        let first_port = |seen: &&SubflowSeen| seen.path == cell.first_path;
        let recover = sent.t_retransmit.zip(sent.t_drop);
        Self {
            transfer_segments: sent.last_burst().iter().sum(),
            dropped_segments: sent.dropped_segments,
            dropped_packets: sent.dropped_packets,
            fin_on_data: Some(false),
            mss_bytes: Some(sent.mss_bytes),
            exact: as_lossless,
            t_start_ns: last.map(|burst| burst.t_start.as_nanos()),
            t_drop_ns: sent.t_drop.map(Time::as_nanos),
            t_retransmit_ns: sent.t_retransmit.map(Time::as_nanos),
            t_end_ns: last.and_then(|burst| burst.t_end).map(Time::as_nanos),
            t_recover_ns: recover.map(|(again, drop)| again.since(drop).as_nanos()),
            t_total_ns: last.and_then(BurstSeen::completion_ns),
            is_tlp: sent.highest_first.filter(|_| sent.dropped_packets > 1),
            client_port: run.subflows.iter().find(first_port).map(|s| s.client_port),
            isn_server: watched.isns.map(|(server, _)| server),
            ..seen
        }
    }
}

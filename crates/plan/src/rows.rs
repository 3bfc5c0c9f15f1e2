//! All rows of a transfer, in the order in which they are written as events.

use rexmit_loss::Totals;
use rexmit_time::Time;
use serde::Serialize;

use crate::cell::{Cell, Start};
use crate::events::Events;
use crate::row::{words, Row};
use crate::run::Run;
use crate::story::{Retransmission, Watched};

/// `retransmission`: the row of a retransmission or a re-injection.
#[derive(Debug, Serialize)]
struct RetransmissionRow {
    cell: u64,
    repetition: u32,
    lost_segments: u32,
    #[serde(flatten)]
    retransmission: Retransmission,
}

/// `burst`: the row of a burst.
#[derive(Debug, Serialize)]
struct BurstRow {
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
struct SubflowRow {
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

/// All rows of a transfer.
#[derive(Debug)]
pub struct Rows {
    transfer: Row,
    retransmissions: Vec<RetransmissionRow>,
    bursts: Vec<BurstRow>,
    subflows: Vec<SubflowRow>,
}

impl Rows {
    /// The rows of repetition `start`; of `lossless` see [`Row::new`].
    #[must_use]
    pub fn new(cell: &Cell, start: &Start, watched: Watched, run: &Run, lossless: &Totals) -> Self {
        let transfer = Row::new(cell, start, &watched, run, lossless);
        let lost_segments = cell.loss.asked().lost_segments;
        let (number, repetition) = (cell.id, start.repetition);
        let bursts = cell.workload.bursts().map_or(&[][..], |_| &run.bursts);
        let bursts = (1..).zip(bursts).zip(watched.sent.packets.packets());
        let bursts = bursts.map(|((burst, seen), packets)| BurstRow {
            cell: number,
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
            let sent = watched.sent.paths.get(place).copied().unwrap_or_default();
            SubflowRow {
                cell: number,
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
        let retransmissions = watched.retransmissions.into_iter();
        let retransmissions = retransmissions.map(|retransmission| RetransmissionRow {
            cell: number,
            repetition,
            lost_segments,
            retransmission,
        });
        Self {
            transfer,
            retransmissions: retransmissions.collect(),
            bursts,
            subflows,
        }
    }

    /// Tells them as events.
    ///
    /// # Errors
    /// When one cannot be taken.
    pub fn write(&self, out: &mut impl Events) -> anyhow::Result<()> {
        out.event("transfer", &self.transfer)?;
        for row in &self.retransmissions {
            out.event("retransmission", row)?;
        }
        for row in &self.bursts {
            out.event("burst", row)?;
        }
        for row in &self.subflows {
            out.event("subflow", row)?;
        }
        Ok(())
    }
}

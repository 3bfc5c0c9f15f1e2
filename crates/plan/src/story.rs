//! How what a loss rule tells, and what the engine knows of its sender, become what is known of a transfer.

use std::collections::BTreeMap;

use anyhow::Result;
use rexmit_loss::{Carried, Dropped, Event, Span, Totals, Transfer, TransferId};
use rexmit_tcp::{Mechanism, Need};
use rexmit_time::Time;
use rexmit_wire::{FlowKey, TcpPacket};
use serde::Serialize;

use crate::Cell;

/// The part of a socket's state that explains a recovery.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SocketInfo {
    /// Retransmission timeout, µs, back-off included.
    pub rto_us: u32,
    /// Smoothed round-trip time, µs.
    pub srtt_us: u32,
    /// SACK was negotiated.
    pub sack: bool,
}

/// One retransmission, as the retransmissions table has it.
#[derive(Clone, Debug, Serialize)]
pub struct Retransmission {
    /// When it was sent.
    pub time_ns: u64,
    /// Its first byte; 1 is the first byte of data.
    pub seq: u64,
    /// Payload bytes.
    pub length_bytes: u32,
    /// It carries the FIN.
    pub fin: bool,
    /// What made the sender send it.
    pub mechanism: Mechanism,
    /// Whether the receiver lacked it.
    pub need: Need,
    /// When the oldest of its bytes was sent first.
    pub first_sent_ns: Option<u64>,
    /// This copy was dropped by the rule too.
    pub dropped: bool,
    /// Where it went, as far as the rule minds paths.
    #[serde(flatten)]
    pub route: Option<Route>,
}

/// Where a retransmission went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Route {
    /// The path that it went, from 1.
    pub path: u32,
    /// The path on which its data went first.
    pub first_path: Option<u32>,
    /// Its first byte in the stream of all bursts; 1 is the first.
    pub data_seq: u64,
}

/// What one subflow has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tally {
    /// Packets of new data.
    pub packets: u64,
    /// Packets sent again under their own sequence numbers.
    pub retransmissions: u64,
    /// Packets with data that went first elsewhere, the first time they go here.
    pub reinjections: u64,
}

/// A transfer, or a connection of bursts, and what its sender said of it.
#[derive(Clone, Debug, Default)]
pub struct Watched {
    /// The row of a response that the rule found: of the first that was over.
    pub transfer: Option<Transfer>,
    /// How many more responses there were.
    pub others: usize,
    /// What the rule told of stretches that it was told.
    pub sent: Sent,
    /// The server's socket when the first packet was dropped, that of its subflow.
    pub at_drop: Option<SocketInfo>,
    /// Mechanism of the first retransmission of dropped bytes, on whichever path; without drops, of the first
    /// retransmission.
    pub mechanism: Option<Mechanism>,
    /// All retransmissions and re-injections, in the order of time.
    pub retransmissions: Vec<Retransmission>,
    /// Initial sequence numbers of server and client on the first subflow, where the handshake was seen.
    pub isns: Option<(u32, u32)>,
    /// Something was dropped.
    dropped: bool,
}

/// What was sent on all paths.
#[derive(Clone, Debug, Default)]
pub struct Sent {
    /// When the first packet of data was sent.
    pub t_first: Option<Time>,
    /// When the first packet that was dropped had been sent.
    pub t_drop: Option<Time>,
    /// When any dropped byte was first sent again, on whichever path.
    pub t_retransmit: Option<Time>,
    /// Whether that packet carried the highest sequence number that its subflow had sent.
    pub highest_first: Option<bool>,
    /// Packets of new data that were dropped.
    pub dropped_segments: u64,
    /// All packets that were dropped.
    pub dropped_packets: u64,
    /// Largest payload of new data, bytes.
    pub mss_bytes: u32,
    /// Packets of new data by burst and path.
    pub packets: Totals,
    /// What was sent on each path, the first path first.
    pub paths: Vec<Tally>,
    /// Bytes of re-injections.
    pub reinjected_bytes: u64,
    /// Retransmissions and re-injections of what had passed the rule before.
    pub spurious_retransmissions: u64,
}

/// A packet that was sent again on its own flow, of which a [`Sender`] is asked.
#[derive(Clone, Copy, Debug)]
pub struct Again {
    /// The flow, or the subflow.
    pub flow: FlowKey,
    /// What it carries.
    pub span: Span,
    /// Whether it carries the highest sequence number that its flow has sent so far, FIN included.
    pub highest: bool,
}

/// What an engine knows of its sender, asked while the packet that made the rule speak is at hand.
pub trait Sender {
    /// The socket that sends `flow`, if there is one still.
    ///
    /// # Errors
    /// When the engine cannot say.
    fn socket(&mut self, flow: FlowKey) -> Result<Option<SocketInfo>>;

    /// What made the sender send the packet.
    ///
    /// # Errors
    /// When the engine cannot say.
    fn mechanism(&mut self, again: &Again) -> Result<Mechanism>;
}

/// What was told of a retransmission.
pub type Label = (Mechanism, Need);

/// What happened in one measurement.
#[derive(Debug)]
pub struct Story {
    lossy: bool,
    bursts: usize,
    paths: usize,
    /// By transfer; where the rule was told what is sent there is one.
    open: BTreeMap<TransferId, Watched>,
    isns: BTreeMap<FlowKey, (u32, u32)>,
    /// Of the first handshake.
    first_isns: Option<(u32, u32)>,
    /// The first response that was over.
    finished: Option<Watched>,
}

/// Of stretches that the rule was told.
const ONLY: TransferId = TransferId(0);

impl Story {
    /// Nothing yet of a transfer of `cell`.
    #[must_use]
    pub fn of(cell: &Cell) -> Self {
        let (bursts, paths) = match cell.by_response() {
            true => (0, 0),
            false => (cell.burst_count(), cell.network.paths()),
        };
        Self::new(bursts, paths, cell.lossy())
    }

    /// Nothing yet, of connections with so many bursts and paths; no bursts where the rule finds responses. `lossy`:
    /// packets may also be lost on the way, so that a retransmission of what the rule let pass may be needed.
    #[must_use]
    pub fn new(bursts: usize, paths: usize, lossy: bool) -> Self {
        Self {
            lossy,
            bursts,
            paths,
            open: BTreeMap::new(),
            isns: BTreeMap::new(),
            first_isns: None,
            finished: None,
        }
    }

    /// All that was told. Forgets everything.
    pub fn end(&mut self) -> Watched {
        let fresh = Self::new(self.bursts, self.paths, self.lossy);
        let mut old = std::mem::replace(self, fresh);
        if !self.is_told() {
            return old.finished.unwrap_or_default();
        }
        let watched = old.open.remove(&ONLY);
        let mut watched = watched.unwrap_or_else(|| Self::fresh(self.bursts, self.paths));
        watched.isns = old.first_isns;
        watched
    }

    fn fresh(bursts: usize, paths: usize) -> Watched {
        Watched {
            sent: Sent {
                packets: Totals::none(bursts, paths),
                paths: vec![Tally::default(); paths],
                ..Sent::default()
            },
            ..Watched::default()
        }
    }

    /// Whether the rule was told what is sent: then all of it is one transfer.
    fn is_told(&self) -> bool {
        self.bursts > 0
    }

    fn transfer(&mut self, transfer: TransferId) -> &mut Watched {
        let transfer = if self.is_told() { ONLY } else { transfer };
        let fresh = || Self::fresh(self.bursts, self.paths);
        self.open.entry(transfer).or_insert_with(fresh)
    }

    /// Takes what the rule tells; answers what the sender said, when that is of a retransmission.
    ///
    /// # Errors
    /// Those of `sender`.
    pub fn event(&mut self, event: &Event, sender: &mut impl Sender) -> Result<Option<Label>> {
        match event {
            Event::Dropped(dropped) => self.dropped(dropped, sender)?,
            Event::Finished(transfer) if !self.is_told() => {
                let mut watched = self.open.remove(&transfer.id).unwrap_or_default();
                if let Some(first) = &mut self.finished {
                    first.others += 1;
                } else {
                    watched.isns = self.isns.get(&transfer.flow).copied();
                    watched.transfer = Some((**transfer).clone());
                    self.finished = Some(watched);
                }
            }
            Event::Carried(carried) if carried.need.is_some() => {
                return self.sent_again(carried, sender).map(Some);
            }
            Event::Carried(carried) => self.transfer(carried.transfer).sent.first(carried),
            Event::Finished(_)
            | Event::BareDropped(_)
            | Event::Stalled(_)
            | Event::Untracked(_) => {}
        }
        Ok(None)
    }

    /// A packet was dropped.
    fn dropped(&mut self, dropped: &Dropped, sender: &mut impl Sender) -> Result<()> {
        if !self.transfer(dropped.transfer).dropped {
            let info = sender.socket(dropped.flow)?;
            let watched = self.transfer(dropped.transfer);
            // A retransmission before the first drop is none of the dropped bytes.
            (watched.dropped, watched.at_drop, watched.mechanism) = (true, info, None);
        }
        let sent = &mut self.transfer(dropped.transfer).sent;
        sent.t_drop.get_or_insert(dropped.at);
        sent.dropped_packets += 1;
        sent.dropped_segments += u64::from(!dropped.again);
        Ok(())
    }

    /// A packet of which some bytes were sent before.
    fn sent_again(&mut self, carried: &Carried, sender: &mut impl Sender) -> Result<Label> {
        let mechanism = if carried.reinjected {
            Mechanism::MptcpReinject
        } else {
            sender.mechanism(&Again {
                flow: carried.flow,
                span: carried.span,
                highest: carried.highest,
            })?
        };
        let need = match carried.need {
            Some(Need::Spurious) if self.lossy => Need::Unknown,
            need => need.unwrap_or(Need::Unknown),
        };
        let route = self.is_told().then(|| Route {
            path: carried.path,
            first_path: carried.first_path,
            data_seq: carried.data.start + 1,
        });
        let watched = self.transfer(carried.transfer);
        watched.sent.again(carried);
        // A retransmission, of bytes that were dropped or not.
        if carried.was_dropped || !watched.dropped {
            watched.mechanism.get_or_insert(mechanism);
        }
        watched.retransmissions.push(Retransmission {
            time_ns: carried.at.as_nanos(),
            seq: carried.span.relative,
            length_bytes: carried.span.len,
            fin: carried.span.fin,
            mechanism,
            need,
            first_sent_ns: carried.first_sent.map(Time::as_nanos),
            dropped: carried.dropped,
            route,
        });
        Ok((mechanism, need))
    }

    /// Takes a packet of the server as it meets its fate.
    pub fn packet(&mut self, packet: &TcpPacket<'_>) {
        if packet.flags().syn() && packet.flags().ack() {
            // The SYN-ACK acknowledges the client's SYN.
            let client = packet.ack().get().wrapping_sub(1);
            let isns = (packet.seq().get(), client);
            self.first_isns.get_or_insert(isns);
            self.isns.insert(packet.flow(), isns);
        }
    }
}

impl Watched {
    /// Packets of new data by burst and path; of a response, which has one burst, on one path.
    #[must_use]
    pub fn packets(&self) -> Totals {
        match &self.transfer {
            Some(transfer) => Totals::new(vec![vec![transfer.segments]]),
            None => self.sent.packets.clone(),
        }
    }

    /// Largest payload of new data, bytes.
    #[must_use]
    pub fn mss_bytes(&self) -> u32 {
        let found = self.transfer.as_ref();
        found.map_or(self.sent.mss_bytes, |one| one.mss_bytes)
    }

    /// What a reader should know of the transfer.
    pub(crate) fn notes(&self, cell: &Cell) -> Vec<String> {
        match &self.transfer {
            Some(transfer) => transfer.note().into_iter().collect(),
            None if cell.by_response() => {
                vec!["no head of a response left the server".to_owned()]
            }
            None => Vec::new(),
        }
    }

    /// Packets that were sent again on their own flow.
    pub(crate) fn retransmitted(&self) -> u64 {
        let by_path = || {
            self.sent
                .paths
                .iter()
                .map(|sent| sent.retransmissions)
                .sum()
        };
        let found = self.transfer.as_ref().map(|one| one.retransmissions);
        found.unwrap_or_else(by_path)
    }

    /// Packets that were sent again though they had passed the rule before.
    pub(crate) fn spurious(&self) -> u64 {
        let found = self.transfer.as_ref();
        found.map_or(self.sent.spurious_retransmissions, |one| {
            one.spurious_retransmissions
        })
    }
}

impl Sent {
    fn tally(&mut self, path: u32) -> Option<&mut Tally> {
        self.paths.get_mut(path.checked_sub(1)? as usize)
    }

    /// A packet of new data.
    fn first(&mut self, carried: &Carried) {
        self.t_first.get_or_insert(carried.at);
        self.mss_bytes = self.mss_bytes.max(carried.span.len);
        self.packets.count(carried.path, carried.stretch);
        if let Some(tally) = self.tally(carried.path) {
            tally.packets += 1;
        }
    }

    /// A packet that is sent again, or elsewhere.
    fn again(&mut self, carried: &Carried) {
        let again = !carried.reinjected;
        if let Some(tally) = self.tally(carried.path) {
            tally.retransmissions += u64::from(again);
            tally.reinjections += u64::from(!again);
        }
        if !again {
            self.reinjected_bytes += u64::from(carried.span.len);
        }
        self.spurious_retransmissions += u64::from(carried.need == Some(Need::Spurious));
        if carried.was_dropped && self.t_retransmit.is_none() {
            self.t_retransmit = Some(carried.at);
            self.highest_first = Some(carried.highest);
        }
    }

    /// Packets of new data of the last burst by path.
    pub(crate) fn last_burst(&self) -> &[u64] {
        self.packets.packets().last().map_or(&[], Vec::as_slice)
    }
}

/// What a reader of a capture should know of a packet.
#[must_use]
pub fn comment(dropped: bool, retransmission: Option<Label>) -> Option<String> {
    let mut parts = Vec::new();
    if dropped {
        parts.push("rexmit: dropped".to_owned());
    }
    if let Some((mechanism, need)) = retransmission {
        parts.push(format!(
            "rexmit: retransmission mechanism={mechanism} need={need}"
        ));
    }
    (!parts.is_empty()).then(|| parts.join("; "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn comments_name_drops_and_retransmissions() {
        assert_eq!(comment(false, None), None);
        assert_eq!(comment(true, None).as_deref(), Some("rexmit: dropped"));
        let retransmission = comment(false, Some((Mechanism::Tlp, Need::Needed)));
        assert_eq!(
            retransmission.as_deref(),
            Some("rexmit: retransmission mechanism=tlp need=needed")
        );
    }
}

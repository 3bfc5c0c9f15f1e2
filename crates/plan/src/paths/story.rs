//! How what the path rule tells, and what the engine knows of its sender, become what is known of a connection.

use anyhow::Result;
use rexmit_loss::paths::Totals;
use rexmit_loss::{Carried, Event};
use rexmit_tcp::{Mechanism, Need};
use rexmit_time::Time;
use rexmit_wire::{FlowKey, TcpPacket};
use serde::Serialize;

use crate::story::{Label, Retransmission, SocketInfo};

/// What an engine knows of its sender, asked while the packet that made the rule speak is at hand.
pub trait PathSender {
    /// The socket that sends the subflow `flow`, if there is one still.
    ///
    /// # Errors
    /// When the engine cannot say.
    fn socket(&mut self, flow: FlowKey) -> Result<Option<SocketInfo>>;

    /// What made the sender send the packet again on its own subflow ([`Carried::transmission`] above 1).
    ///
    /// # Errors
    /// When the engine cannot say.
    fn mechanism(&mut self, carried: &Carried) -> Result<Mechanism>;

    /// A packet was re-injected, the first time under its new sequence numbers. What its mechanism is needs no answer;
    /// an engine that keeps account of its counters takes note here.
    ///
    /// # Errors
    /// When the engine cannot.
    fn reinjected(&mut self, carried: &Carried) -> Result<()> {
        let _ = carried;
        Ok(())
    }
}

/// One retransmission, as the retransmissions table has it.
#[derive(Clone, Debug, Serialize)]
pub struct PathRetransmission {
    /// The retransmission within its subflow.
    #[serde(flatten)]
    pub retransmission: Retransmission,
    /// The path that it went, from 1.
    pub path: u32,
    /// The path on which its data went first.
    pub first_path: Option<u32>,
    /// Its first byte in the stream of all bursts; 1 is the first.
    pub data_seq: u64,
}

/// What one subflow has sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PathTally {
    /// Packets of new data.
    pub packets: u64,
    /// Packets sent again under their own sequence numbers.
    pub retransmissions: u64,
    /// Packets with data that went first elsewhere, the first time they go here.
    pub reinjections: u64,
}

/// A connection and what its sender said of it.
#[derive(Clone, Debug, Default)]
pub struct PathWatched {
    /// The server's socket when the first packet was dropped, that of its subflow.
    pub at_drop: Option<SocketInfo>,
    /// When the first packet that was dropped had been sent.
    pub t_drop: Option<Time>,
    /// When any dropped byte was first sent again, on whichever path.
    pub t_retransmit: Option<Time>,
    /// What made the sender send that; without drops, the first retransmission.
    pub mechanism: Option<Mechanism>,
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
    pub paths: Vec<PathTally>,
    /// Bytes of re-injections.
    pub reinjected_bytes: u64,
    /// Retransmissions and re-injections of what had passed the rule before.
    pub spurious_retransmissions: u64,
    /// All retransmissions and re-injections, in the order of time.
    pub retransmissions: Vec<PathRetransmission>,
    /// Initial sequence numbers of server and client on the first subflow, where the handshake was seen.
    pub isns: Option<(u32, u32)>,
}

/// The connection of one measurement.
#[derive(Debug)]
pub struct PathStory {
    lossy: bool,
    bursts: usize,
    paths: usize,
    watched: PathWatched,
}

impl PathStory {
    /// Nothing yet, of a connection with so many bursts and paths. `lossy`: packets may also be lost on the way, so that
    /// a retransmission of what the rule let pass may be needed.
    #[must_use]
    pub fn new(bursts: usize, paths: usize, lossy: bool) -> Self {
        let mut story = PathStory {
            lossy,
            bursts,
            paths,
            watched: PathWatched::default(),
        };
        story.clear();
        story
    }

    /// Forgets everything.
    pub fn clear(&mut self) {
        self.finish();
    }

    /// What was seen; forgets it.
    pub fn finish(&mut self) -> PathWatched {
        let fresh = PathWatched {
            packets: Totals::none(self.bursts, self.paths),
            paths: vec![PathTally::default(); self.paths],
            ..PathWatched::default()
        };
        std::mem::replace(&mut self.watched, fresh)
    }

    /// Takes what the rule tells; answers what the sender said, when that is of a retransmission.
    ///
    /// # Errors
    /// Those of `sender`.
    pub fn event(&mut self, event: &Event, sender: &mut impl PathSender) -> Result<Option<Label>> {
        match event {
            Event::Carried(carried) => self.carried(carried, sender),
            _ => Ok(None),
        }
    }

    fn carried(
        &mut self,
        carried: &Carried,
        sender: &mut impl PathSender,
    ) -> Result<Option<Label>> {
        let told = if carried.is_retransmission() {
            Some(self.retransmitted(carried, sender)?)
        } else {
            self.first(carried);
            None
        };
        if carried.dropped {
            if self.watched.t_drop.is_none() {
                self.watched.at_drop = sender.socket(carried.flow)?;
                self.watched.t_drop = Some(carried.at);
                // A retransmission before the first drop is none of the dropped bytes.
                self.watched.mechanism = None;
            }
            self.watched.dropped_packets += 1;
            self.watched.dropped_segments += u64::from(told.is_none());
        }
        Ok(told)
    }

    fn tally(&mut self, path: u32) -> Option<&mut PathTally> {
        self.watched.paths.get_mut(path.checked_sub(1)? as usize)
    }

    /// A packet of new data.
    fn first(&mut self, carried: &Carried) {
        let watched = &mut self.watched;
        watched.mss_bytes = watched.mss_bytes.max(carried.span.len);
        watched.packets.count(carried.path, carried.burst);
        if let Some(tally) = self.tally(carried.path) {
            tally.packets += 1;
        }
    }

    fn retransmitted(&mut self, carried: &Carried, sender: &mut impl PathSender) -> Result<Label> {
        let again = carried.transmission > 1;
        let mechanism = if again {
            sender.mechanism(carried)?
        } else {
            sender.reinjected(carried)?;
            Mechanism::MptcpReinject
        };
        let need = match carried.need {
            Some(Need::Spurious) if self.lossy => Need::Unknown,
            need => need.unwrap_or(Need::Unknown),
        };
        if let Some(tally) = self.tally(carried.path) {
            let count = if again {
                &mut tally.retransmissions
            } else {
                &mut tally.reinjections
            };
            *count += 1;
        }
        let watched = &mut self.watched;
        if !again {
            watched.reinjected_bytes += u64::from(carried.span.len);
        }
        watched.spurious_retransmissions += u64::from(carried.need == Some(Need::Spurious));
        if carried.was_dropped && watched.t_retransmit.is_none() {
            watched.t_retransmit = Some(carried.at);
            watched.highest_first = Some(carried.highest);
        }
        if carried.was_dropped || watched.t_drop.is_none() {
            watched.mechanism.get_or_insert(mechanism);
        }
        watched.retransmissions.push(PathRetransmission {
            retransmission: Retransmission {
                time_ns: carried.at.as_nanos(),
                seq: carried.span.relative,
                length_bytes: carried.span.len,
                fin: carried.span.fin,
                mechanism,
                need,
                first_sent_ns: carried.first_sent.map(Time::as_nanos),
                dropped: carried.dropped,
            },
            path: carried.path,
            first_path: carried.first_path,
            data_seq: carried.data.start + 1,
        });
        Ok((mechanism, need))
    }

    /// Takes a packet of the server as it meets its fate.
    pub fn packet(&mut self, packet: &TcpPacket<'_>) {
        if packet.flags().syn() && packet.flags().ack() {
            // The SYN-ACK acknowledges the client's SYN.
            let client = packet.ack().get().wrapping_sub(1);
            self.watched
                .isns
                .get_or_insert((packet.seq().get(), client));
        }
    }
}

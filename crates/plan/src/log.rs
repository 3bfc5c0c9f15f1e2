//! The log of every packet of both hosts.

use rexmit_time::Time;
use rexmit_wire::{SeqNum, TcpPacket};

use crate::packets::{Direction, LoggedPacket};
use crate::story::Label;

/// The packets of one transfer, one connection.
#[derive(Default)]
pub struct PacketLog {
    packets: Vec<LoggedPacket>,
    server_isn: Option<SeqNum>,
    client_isn: Option<SeqNum>,
}

impl PacketLog {
    /// Adds a packet, sent at `time`; `told` is what was said of a retransmission.
    pub fn push(
        &mut self,
        packet: &TcpPacket<'_>,
        direction: Direction,
        time: Time,
        dropped: bool,
        told: Option<Label>,
    ) {
        let own = match direction {
            Direction::Data => &mut self.server_isn,
            Direction::Ack => &mut self.client_isn,
        };
        if packet.flags().syn() {
            *own = Some(packet.seq());
        }
        let (Some(server), client) = (self.server_isn.or(self.client_isn), self.client_isn) else {
            return;
        };
        let client = client.unwrap_or(server);
        let isns = match direction {
            Direction::Data => (server, client),
            Direction::Ack => (client, server),
        };
        let mut logged = LoggedPacket::new(packet, direction, time, Time::from_nanos(0), isns);
        logged.dropped = dropped;
        logged.mechanism = told.map(|(mechanism, _)| mechanism);
        self.packets.push(logged);
    }

    /// What was logged, times since zero; forgets it and the connection.
    pub fn take(&mut self) -> Vec<LoggedPacket> {
        std::mem::take(self).packets
    }
}

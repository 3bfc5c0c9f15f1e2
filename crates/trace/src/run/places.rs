//! Beside which hosts the monitor stands: what one connection shows holds for all of the host in the capture.

use std::collections::BTreeSet;
use std::net::IpAddr;

use rexmit_tcp::Need;

use crate::necessary::{SegmentKind, Timed};
use crate::rows::{Connection, Evidence, Position, Retransmission, SenderRow};
use crate::sender_view::is_beside;

/// Hosts of which it is kept.
const MOST_HOSTS: usize = 1 << 16;

/// The hosts of a connection beside which the monitor stands: no time is spent on the way there.
pub(super) fn beside(connection: &Connection) -> [Option<IpAddr>; 2] {
    let (forward, backward) = (&connection.forward, &connection.backward);
    let (Some(client), Some(server)) = (forward.monitor_delay, backward.monitor_delay) else {
        return [None; 2];
    };
    let flow = &connection.flow;
    let of = |host, near, far| is_beside(near, far).then_some(host);
    [of(flow.src, client, server), of(flow.dst, server, client)]
}

/// Hosts beside which the monitor stands.
#[derive(Debug, Default)]
pub(super) struct Places(BTreeSet<IpAddr>);

impl Places {
    /// A connection has shown it of these.
    pub fn note(&mut self, hosts: [Option<IpAddr>; 2]) {
        for host in hosts.into_iter().flatten() {
            if self.0.len() < MOST_HOSTS {
                self.0.insert(host);
            }
        }
    }

    /// Makes room for others, if there is none.
    pub fn make_room(&mut self) {
        if self.0.len() >= MOST_HOSTS {
            self.0.clear();
        }
    }

    /// Beside the sender the monitor's clock tells when a SYN left. Its stamps tell it less well: one that is never answered does
    /// not show how its sender's clock goes, and that of macOS goes on only when its TCP has work (`calculate_tcp_clock`).
    pub fn time(&self, row: &mut Retransmission, sender: IpAddr) {
        let since = row.witness.since_seen.filter(|_| is_timed_by_syn(row));
        if let Some(since) = since.filter(|_| self.0.contains(&sender)) {
            row.witness.timed = Timed::Sender;
            row.witness.since_sent = (since, since);
            (row.detection, row.detection_most) = (Some(since), Some(since));
        }
    }

    /// Judges what no packet of its own connection tells: data that came by the monitor before, on their way to a host beside it,
    /// had arrived. Whether it did.
    pub fn judge(
        &self,
        row: &mut Retransmission,
        receiver: IpAddr,
        sender: &mut SenderRow,
    ) -> bool {
        if !is_open(row) || !self.0.contains(&receiver) {
            return false;
        }
        sender.count_again(row, Some(Need::Spurious));
        (row.need, row.evidence) = (Need::Spurious, Evidence::OriginalSeen);
        row.position = Position::Receiver;
        sender.position = Some(Position::Receiver);
        true
    }
}

/// Whether another connection of the receiver may say of a retransmission that it was not needed.
pub(crate) fn is_open(row: &Retransmission) -> bool {
    let untold = row.need == Need::Unknown && row.evidence == Evidence::None;
    untold && row.shown && row.length > 0 && row.position == Position::Unknown
}

/// Whether the stamps of a SYN alone tell when it left.
pub(crate) fn is_timed_by_syn(row: &Retransmission) -> bool {
    row.witness.packet == SegmentKind::Syn && row.witness.timed == Timed::Stamps
}

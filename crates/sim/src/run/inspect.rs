//! What rows and captures tell of a TCP.

use rexmit_plan::{Counts, SocketInfo};
use rexmit_tcp::connection::Connection;
use rexmit_tcp::multipath::{Meta, PacketOptions};
use rexmit_tcp::Segment;
use rexmit_time::Duration;

use super::options::Keys;
use crate::machine::Machine;
use crate::subflows::Subflows;

/// What rows and captures tell of a TCP.
pub trait Inspect: Machine {
    /// The connection, or the subflow, on `path`.
    fn connection(&self, path: usize) -> Option<&Connection>;

    /// The connection of Multipath TCP, if it is one.
    fn meta(&self) -> Option<&Meta> {
        None
    }

    /// Appends the options of `segment`, which `from` (0 the server, 1 the client) sends on `path`.
    fn write_options(
        _keys: &Keys,
        _out: &mut Vec<u8>,
        _from: usize,
        _path: usize,
        _segment: &Segment,
        _options: &Self::Options,
    ) {
    }

    /// The place of a packet's first byte in what its sender sends, where the packet says so.
    fn place(_options: &Self::Options) -> Option<u64> {
        None
    }
}

impl Inspect for Connection {
    fn connection(&self, _: usize) -> Option<&Connection> {
        Some(self)
    }
}

impl Inspect for Subflows {
    fn connection(&self, path: usize) -> Option<&Connection> {
        self.subflow(path)
    }

    fn meta(&self) -> Option<&Meta> {
        Some(self.meta())
    }

    fn write_options(
        keys: &Keys,
        out: &mut Vec<u8>,
        from: usize,
        path: usize,
        segment: &Segment,
        options: &PacketOptions,
    ) {
        keys.write(out, from, path, segment, options);
    }

    fn place(options: &PacketOptions) -> Option<u64> {
        options.map.map(|map| map.data)
    }
}

/// In whole microseconds.
pub fn micros(length: Duration) -> u32 {
    u32::try_from(length.as_nanos() / 1000).unwrap_or(0)
}

/// The state of a socket at a drop.
pub fn info(connection: &Connection) -> SocketInfo {
    let sender = connection.sender();
    SocketInfo {
        rto_us: sender.map_or(0, |sender| micros(sender.timing().rto())),
        srtt_us: sender
            .and_then(|sender| sender.timing().srtt())
            .map_or(0, micros),
        sack: sender.is_some_and(|sender| sender.flight().has_sack()),
    }
}

/// What all of a machine's connections, over so many paths, have counted.
pub fn counts(machine: &impl Inspect, paths: usize) -> Counts {
    let each = (0..paths).filter_map(|path| machine.connection(path));
    each.map(Connection::counters)
        .fold(Counts::default(), |sum, one| Counts {
            retransmissions: sum.retransmissions + u64::from(one.retransmissions),
            timeouts: sum.timeouts + u64::from(one.timeouts),
            probes: sum.probes + u64::from(one.probes),
            dsacks: sum.dsacks + u64::from(one.dsacks),
            host_queue: sum.host_queue + u64::from(one.held_in_host),
        })
}

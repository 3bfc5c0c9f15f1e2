//! A defect on purpose: tests of what a panic costs say where it happens.

use rexmit_wire::FlowKey;

/// The analysis panics at connections with this port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The port, on either side.
    pub port: u16,
    /// When.
    pub at: Moment,
}

/// When the analysis of a connection panics.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Moment {
    /// At this packet of both sides together, counted from 1, once it is noted and before it is logged.
    Packet(u64),
    /// When a sender view has been given the log.
    View,
    /// When it is read after it was written down.
    Thaw,
    /// When its Multipath TCP connection has taken a packet in.
    Multipath,
    /// When all is over but giving its rows.
    End,
    /// When its rows are judged by what other connections of its hosts said.
    Judged,
}

impl Fault {
    /// Panics if this is where it happens.
    #[cold]
    pub(crate) fn happen(&self, flow: &FlowKey, now: Moment) {
        let own = [flow.src_port, flow.dst_port].contains(&self.port);
        assert!(!own || self.at != now, "a fault that a test planted");
    }
}

//! A host's end of the connection: plain TCP, or Multipath TCP.

use std::sync::Arc;

use rexmit_plan::{Counts, SocketInfo};
use rexmit_tcp::connection::{Connection, Event, Local, Sent};
use rexmit_tcp::multipath::{Meta, Options};
use rexmit_tcp::Segment;
use rexmit_time::Time;

use crate::machine::Stack;
use crate::run::Inspect;

/// One end.
pub enum End {
    /// Plain TCP on one path; none before its first packet.
    Tcp(usize, Option<Box<Connection>>),
    /// Multipath TCP.
    Mptcp(Box<Meta>),
}

/// A packet to send: its path, the segment, its options.
pub type Out = (usize, Sent, Options);

impl End {
    pub fn new(stack: &Stack, multipath: bool, first_path: usize, is_client: bool) -> Self {
        if multipath {
            let settings = Arc::clone(&stack.settings);
            End::Mptcp(Box::new(Meta::new(settings, stack.clock, is_client)))
        } else {
            End::Tcp(first_path, None)
        }
    }

    /// Opens the connection, or a further subflow of it.
    pub fn connect(&mut self, now: Time, stack: &Stack, path: usize, local: &Local) {
        match self {
            End::Tcp(_, connection) => {
                let settings = Arc::clone(&stack.settings);
                let opened = Connection::connect(settings, stack.clock, local, now);
                *connection = Some(Box::new(opened));
            }
            End::Mptcp(meta) => meta.connect(now, path, local),
        }
    }

    /// Takes in a packet that came on `path`; `local` is for one that opens a subflow.
    pub fn on_segment(
        &mut self,
        now: Time,
        stack: &Stack,
        (path, local): (usize, &Local),
        segment: &Segment,
        options: &Options,
    ) {
        let opens = segment.flags.syn() && !segment.flags.ack() && self.connection(path).is_none();
        match self {
            End::Tcp(_, Some(connection)) => connection.on_segment(now, segment),
            End::Tcp(_, connection) if opens => {
                let settings = Arc::clone(&stack.settings);
                let accepted = Connection::accept(settings, stack.clock, local, segment, now);
                *connection = Some(Box::new(accepted));
            }
            End::Tcp(..) => {}
            End::Mptcp(meta) if opens => meta.accept(now, path, local, segment),
            End::Mptcp(meta) => meta.on_segment(now, path, segment, options),
        }
    }

    pub fn deadline(&self) -> Option<Time> {
        match self {
            End::Tcp(_, connection) => connection.as_ref().and_then(|c| c.deadline()),
            End::Mptcp(meta) => meta.deadline(),
        }
    }

    pub fn on_deadline(&mut self, now: Time) {
        match self {
            End::Tcp(_, Some(connection)) => connection.on_deadline(now),
            End::Tcp(_, None) => {}
            End::Mptcp(meta) => meta.on_deadline(now),
        }
    }

    pub fn left_host(&mut self, now: Time, path: usize, bytes: u32) {
        match self {
            End::Tcp(_, Some(connection)) => connection.left_host(now, bytes),
            End::Tcp(_, None) => {}
            End::Mptcp(meta) => meta.left_host(now, path, bytes),
        }
    }

    pub fn poll_transmit(&mut self, now: Time) -> Option<Out> {
        match self {
            End::Tcp(path, connection) => {
                let sent = connection.as_mut()?.poll_transmit(now)?;
                Some((*path, sent, Options::default()))
            }
            End::Mptcp(meta) => {
                let out = meta.poll_transmit()?;
                Some((out.path, out.sent, out.options))
            }
        }
    }

    pub fn poll_event(&mut self) -> Option<Event> {
        match self {
            End::Tcp(_, connection) => connection.as_mut()?.poll_event(),
            End::Mptcp(meta) => meta.poll_event(),
        }
    }

    pub fn write(&mut self, now: Time, bytes: u32) -> u32 {
        match self {
            End::Tcp(_, Some(connection)) => connection.write(now, bytes, false),
            End::Tcp(_, None) => 0,
            End::Mptcp(meta) => meta.write(now, bytes),
        }
    }

    pub fn read(&mut self, now: Time, most: u32) -> u32 {
        match self {
            End::Tcp(_, Some(connection)) => connection.read(now, most),
            End::Tcp(_, None) => 0,
            End::Mptcp(meta) => meta.read(now, most),
        }
    }

    pub fn set_nodelay(&mut self, now: Time) {
        match self {
            End::Tcp(_, Some(connection)) => connection.set_nodelay(now, true),
            End::Tcp(_, None) => {}
            End::Mptcp(meta) => meta.set_nodelay(now, true),
        }
    }

    /// The connection, or the subflow, on `path`.
    pub fn connection(&self, path: usize) -> Option<&Connection> {
        match self {
            End::Tcp(own, connection) if *own == path => connection.as_deref(),
            End::Tcp(..) => None,
            End::Mptcp(meta) => meta.subflow(path),
        }
    }

    pub fn meta(&self) -> Option<&Meta> {
        match self {
            End::Tcp(..) => None,
            End::Mptcp(meta) => Some(meta),
        }
    }

    /// The state of the socket on `path`.
    pub fn info(&self, path: usize) -> Option<SocketInfo> {
        self.connection(path).map(Inspect::info)
    }

    /// What all subflows have counted.
    pub fn counts(&self, paths: usize) -> Counts {
        let each = (0..paths).filter_map(|path| self.connection(path));
        each.map(Inspect::counts)
            .fold(Counts::default(), |sum, one| Counts {
                retransmissions: sum.retransmissions + one.retransmissions,
                timeouts: sum.timeouts + one.timeouts,
                probes: sum.probes + one.probes,
                dsacks: sum.dsacks + one.dsacks,
                host_queue: sum.host_queue + one.host_queue,
            })
    }
}

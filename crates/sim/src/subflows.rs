//! One end of a Multipath TCP connection, as the simulator needs it.

use std::sync::Arc;

use rexmit_tcp::connection::{Connection, Event, Local, Sent, Socket, State};
use rexmit_tcp::multipath::{Meta, PacketOptions};
use rexmit_tcp::Segment;
use rexmit_time::Time;

use crate::machine::{Machine, Out, Stack};

/// A connection of Multipath TCP and what its programs may ask of it.
pub struct Subflows {
    meta: Meta,
    /// The path on which this end opened the connection, until its program knows that it is open.
    opening: Option<usize>,
    /// What is written waits for the file behind it (TCP_CORK).
    corked: bool,
    /// Bytes that wait.
    held: u32,
    /// Its program has closed it.
    closed: bool,
}

impl Subflows {
    fn new(stack: &Stack, opening: Option<usize>) -> Self {
        let settings = Arc::clone(&stack.settings);
        Self {
            meta: Meta::new(settings, stack.clock, opening.is_some()),
            opening,
            corked: false,
            held: 0,
            closed: false,
        }
    }

    /// The connection.
    #[must_use]
    pub fn meta(&self) -> &Meta {
        &self.meta
    }

    /// The subflow on `path`.
    #[must_use]
    pub fn subflow(&self, path: usize) -> Option<&Connection> {
        self.meta.subflow(path)
    }
}

impl Machine for Subflows {
    type Options = PacketOptions;

    fn connect(stack: &Stack, path: usize, local: &Local, now: Time) -> Self {
        let mut end = Self::new(stack, Some(path));
        end.meta.connect(now, path, local);
        end
    }

    fn accept(stack: &Stack, path: usize, local: &Local, syn: &Segment, now: Time) -> Self {
        let mut end = Self::new(stack, None);
        end.meta.accept(now, path, local, syn);
        end
    }

    fn is_open_on(&self, path: usize) -> bool {
        self.subflow(path).is_some()
    }

    fn join(&mut self, now: Time, path: usize, local: &Local, syn: Option<&Segment>) {
        match syn {
            Some(syn) => self.meta.accept(now, path, local, syn),
            None => self.meta.connect(now, path, local),
        }
    }

    fn set_nodelay(&mut self, now: Time) {
        self.meta.set_nodelay(now, true);
    }

    /// Nobody joins a connection that its program has closed, whatever is left to send: Linux answers the last packet of the
    /// handshake with a reset (`mptcp_finish_join`, 6.12), after which nothing goes that way.
    fn on_segment(&mut self, now: Time, path: usize, segment: &Segment, options: &PacketOptions) {
        let subflow = self.subflow(path);
        if self.closed && subflow.is_some_and(|one| one.state() != State::Established) {
            return;
        }
        self.meta.on_segment(now, path, segment, options);
    }

    fn deadline(&self) -> Option<Time> {
        self.meta.deadline()
    }

    fn on_deadline(&mut self, now: Time) {
        self.meta.on_deadline(now);
    }

    fn left_host(&mut self, now: Time, path: usize, bytes: u32) {
        self.meta.left_host(now, path, bytes);
    }

    fn poll_transmit(&mut self, _: Time) -> Option<Out<PacketOptions>> {
        let out = self.meta.poll_transmit()?;
        Some(Out {
            path: out.path,
            sent: out.sent,
            options: out.options,
        })
    }

    fn poll_event(&mut self) -> Option<Event> {
        if let Some(path) = self.opening {
            if self.subflow(path)?.state() == State::Established {
                self.opening = None;
                return Some(Event::Established);
            }
        }
        self.meta.poll_event()
    }

    fn options_len(stack: &Stack, sent: &Sent, options: &PacketOptions) -> u32 {
        let (syn, ack) = (sent.segment.flags.syn(), sent.segment.flags.ack());
        options.header_len(stack.settings.multipath.mptcp_options, syn, ack)
    }
}

/// The end of a connection is not modelled: closing sends nothing, and there is no end to be read.
impl Socket for Subflows {
    fn write(&mut self, now: Time, bytes: u32, _more: bool) -> u32 {
        if self.corked {
            self.held += bytes;
            return bytes;
        }
        self.meta.write(now, bytes)
    }

    fn send_file(&mut self, now: Time, _offset: u64, bytes: u32) -> u32 {
        let taken = self.meta.write(now, self.held + bytes);
        let held = taken.min(self.held);
        self.held -= held;
        taken - held
    }

    fn read(&mut self, now: Time, most: u32) -> u32 {
        self.meta.read(now, most)
    }

    fn at_end(&self) -> bool {
        false
    }

    fn set_cork(&mut self, now: Time, on: bool) {
        self.corked = on;
        self.meta.set_cork(now, on);
    }

    fn close(&mut self, _now: Time) {
        self.closed = true;
    }

    fn abort(&mut self, _now: Time) {
        self.closed = true;
    }
}

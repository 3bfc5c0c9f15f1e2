//! What the simulator needs of a TCP.

use std::sync::Arc;

use rexmit_tcp::clock::Clock;
use rexmit_tcp::connection::{Connection, Event, Local, Sent, Socket};
use rexmit_tcp::settings::Settings;
use rexmit_tcp::Segment;
use rexmit_time::Time;

/// A host's TCP.
#[derive(Clone, Debug)]
pub struct Stack {
    /// What makes it differ from others.
    pub settings: Arc<Settings>,
    /// What its timers run by.
    pub clock: Clock,
}

impl Stack {
    /// A TCP with these settings on a host that was switched on at time zero.
    #[must_use]
    pub fn new(settings: Settings) -> Self {
        Self {
            clock: Clock::linux(settings.hz, settings.wheel),
            settings: Arc::new(settings),
        }
    }
}

/// One end of a connection.
pub trait Machine: Socket + Sized {
    /// Opens a connection.
    fn connect(stack: &Stack, local: &Local, now: Time) -> Self;
    /// Answers a SYN.
    fn accept(stack: &Stack, local: &Local, syn: &Segment, now: Time) -> Self;
    /// Takes in a segment.
    fn on_segment(&mut self, now: Time, segment: &Segment);
    /// When [`Machine::on_deadline`] is due.
    fn deadline(&self) -> Option<Time>;
    /// Runs the timers that are due.
    fn on_deadline(&mut self, now: Time);
    /// A packet left the host.
    fn left_host(&mut self, now: Time, bytes: u32);
    /// The next segment to send.
    fn poll_transmit(&mut self, now: Time) -> Option<Sent>;
    /// The next thing that happened.
    fn poll_event(&mut self) -> Option<Event>;
}

impl Machine for Connection {
    fn connect(stack: &Stack, local: &Local, now: Time) -> Self {
        Connection::connect(Arc::clone(&stack.settings), stack.clock, local, now)
    }

    fn accept(stack: &Stack, local: &Local, syn: &Segment, now: Time) -> Self {
        Connection::accept(Arc::clone(&stack.settings), stack.clock, local, syn, now)
    }

    fn on_segment(&mut self, now: Time, segment: &Segment) {
        self.on_segment(now, segment);
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline()
    }

    fn on_deadline(&mut self, now: Time) {
        self.on_deadline(now);
    }

    fn left_host(&mut self, now: Time, bytes: u32) {
        self.left_host(now, bytes);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Sent> {
        self.poll_transmit(now)
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.poll_event()
    }
}

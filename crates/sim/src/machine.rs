//! What the simulator needs of a TCP.

use std::fmt::Debug;
use std::sync::Arc;

use rexmit_tcp::clock::Clock;
use rexmit_tcp::connection::{Connection, Event, Local, Sent, Socket};
use rexmit_tcp::settings::Settings;
use rexmit_tcp::Segment;
use rexmit_time::Time;
use rexmit_wire::SeqNum;

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
            clock: settings.timers.clock(),
            settings: Arc::new(settings),
        }
    }
}

/// A packet to send.
#[derive(Clone, Copy, Debug)]
pub struct Out<O> {
    /// The path on which it goes, from 0.
    pub path: usize,
    /// The segment and why it is sent.
    pub sent: Sent,
    /// What it carries besides.
    pub options: O,
}

/// One end of a connection, over one path or several.
pub trait Machine: Socket + Sized {
    /// What a packet carries beside its segment.
    type Options: Copy + Debug + Default;

    /// Opens a connection on `path`.
    fn connect(stack: &Stack, path: usize, local: &Local, now: Time) -> Self;
    /// Answers a SYN that came on `path`.
    fn accept(stack: &Stack, path: usize, local: &Local, syn: &Segment, now: Time) -> Self;
    /// Whether something was opened on `path`, or nothing ever will be.
    fn is_open_on(&self, _path: usize) -> bool {
        true
    }
    /// Opens a further subflow on `path`, upon a SYN where there is one.
    fn join(&mut self, _now: Time, _path: usize, _local: &Local, _syn: Option<&Segment>) {}
    /// Has what is written leave at once (TCP_NODELAY).
    fn set_nodelay(&mut self, _now: Time) {}
    /// Takes in a segment.
    fn on_segment(&mut self, now: Time, path: usize, segment: &Segment, options: &Self::Options);
    /// Whether a reader waits who takes in data himself.
    fn reader_waits(&self) -> bool {
        false
    }
    /// He takes in one more packet before he returns to his program.
    fn reader_stays(&mut self) {}
    /// When [`Machine::on_deadline`] is due.
    fn deadline(&self) -> Option<Time>;
    /// Runs the timers that are due.
    fn on_deadline(&mut self, now: Time);
    /// A packet left the host.
    fn left_host(&mut self, now: Time, path: usize, bytes: u32);
    /// A packet whose first number is `seq` was dropped on its way out.
    fn dropped(&mut self, _path: usize, _seq: SeqNum) {}
    /// The next segment to send.
    fn poll_transmit(&mut self, now: Time) -> Option<Out<Self::Options>>;
    /// The next thing that happened.
    fn poll_event(&mut self) -> Option<Event>;
    /// Bytes that the options of a packet take on the wire.
    fn options_len(_stack: &Stack, _sent: &Sent, _options: &Self::Options) -> u32 {
        0
    }
}

impl Machine for Connection {
    type Options = ();

    fn connect(stack: &Stack, _: usize, local: &Local, now: Time) -> Self {
        Connection::connect(Arc::clone(&stack.settings), stack.clock, local, now)
    }

    fn accept(stack: &Stack, _: usize, local: &Local, syn: &Segment, now: Time) -> Self {
        Connection::accept(Arc::clone(&stack.settings), stack.clock, local, syn, now)
    }

    fn set_nodelay(&mut self, now: Time) {
        self.set_nodelay(now, true);
    }

    fn on_segment(&mut self, now: Time, _: usize, segment: &Segment, (): &()) {
        self.on_segment(now, segment);
    }

    fn reader_waits(&self) -> bool {
        self.reader_waits()
    }

    fn reader_stays(&mut self) {
        self.reader_stays();
    }

    fn deadline(&self) -> Option<Time> {
        self.deadline()
    }

    fn on_deadline(&mut self, now: Time) {
        self.on_deadline(now);
    }

    fn left_host(&mut self, now: Time, _: usize, bytes: u32) {
        self.left_host(now, bytes);
    }

    fn dropped(&mut self, _: usize, seq: SeqNum) {
        self.dropped(seq);
    }

    fn poll_transmit(&mut self, now: Time) -> Option<Out<()>> {
        Some(Out {
            path: 0,
            sent: self.poll_transmit(now)?,
            options: (),
        })
    }

    fn poll_event(&mut self) -> Option<Event> {
        self.poll_event()
    }
}

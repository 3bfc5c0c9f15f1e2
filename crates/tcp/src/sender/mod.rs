//! The sending half of a connection: what is in flight, what was lost, when it is sent again.
//!
//! One sender serves every stack; what differs stands in [`Settings`]. What it does about losses is the affair of
//! [`recovery::machine`](crate::recovery::machine); `actor` carries it out. Its parts, one idea a file:
//!
//! - `queue` is the scoreboard. `written` has what was not sent yet: its segments (`backlog`), their `memory`, and `nagle`, which
//!   holds short ones back. `write` and `transmit` move segments from one to the other and into `output`, as large as `sizes`
//!   says and as the `host` allows.
//! - `ack` is the order in which an acknowledgement is worked through: `sack` and `clean` note what was delivered, `counting`
//!   marks what counting finds lost, `window` says how much may be in flight (`congestion`).
//! - `timing` has the round trips, the timeout and the `timer`; `timers` runs it, and `tlp`, `rto` and `persist` are what it
//!   does.
//! - `moment` is the time of the call that runs, in each of its units; `peer` is what the peer's segments told.
//!
//! Every call that takes `now` refreshes the connection's clock. Methods that send leave packets for
//! [`Sender::poll_transmit`], in the order in which they leave.

mod ack;
mod actor;
mod backlog;
mod burst;
mod clean;
mod congestion;
mod counting;
mod host;
mod memory;
mod metrics;
mod moment;
mod nagle;
mod output;
mod peer;
mod persist;
mod queries;
mod queue;
mod recovery_first;
mod retransmit;
mod rto;
mod sack;
mod sizes;
mod subflow;
mod timed;
mod timer;
mod timers;
mod timing;
mod tlp;
mod transmit;
mod types;
mod window;
mod write;
mod written;

use std::sync::Arc;

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use crate::clock::Clock;
use crate::congestion::{Context, Control, Siblings, Window};
use crate::recovery::machine::{Detection, Episode};
use crate::recovery::prr::Prr;
use crate::settings::Settings;

use backlog::Backlog;
use congestion::{Congestion, Usage};
use counting::Fack;
use moment::Moment;
use output::Output;
use peer::PeerState;
use queue::Queue;
use sack::SeenBlocks;
use sizes::Sizes;
use timing::Timing;
use written::Written;

pub use crate::recovery::State;
pub use metrics::Metrics;
pub use types::{Ack, Counters, Peer, Transmit};
pub use write::Origin;

/// A sender.
#[derive(Clone, Debug)]
pub struct Sender {
    settings: Arc<Settings>,
    moment: Moment,

    // Sequence numbers
    /// `snd_una`
    una: SeqNum,
    /// `snd_nxt`
    nxt: SeqNum,

    // The peer
    peer: PeerState,
    sack: bool,
    timestamps: bool,

    // Segments
    sizes: Sizes,
    queue: Queue,
    written: Written,
    output: Output,
    seen_blocks: SeenBlocks,
    /// Segments delivered (`tp->delivered`).
    delivered: u32,
    /// Segments sent again (`total_retrans`).
    total_retransmitted: u32,

    // Time
    timing: Timing,
    orphan: bool,
    timed_out: bool,

    // State
    congestion: Congestion,
    detection: Detection,
    episode: Episode,
    fack: Fack,

    counters: Counters,
}

impl Sender {
    /// A sender of segments of at most `mss` payload bytes whose SYN has the number `iss`.
    #[must_use]
    pub fn new(settings: Arc<Settings>, clock: Clock, mss: u32, iss: SeqNum, now: Time) -> Self {
        let first = iss + 1;
        let context = Context {
            now,
            clock: &clock,
            una: first,
            nxt: first,
            open: true,
            pacing_rate: 0,
        };
        let control = Control::new(&settings, &context);
        let tick = clock.ticks(now);
        Sender {
            moment: Moment::new(clock, now, settings.timers.estimator),
            una: first,
            nxt: first,
            peer: PeerState::new(tick),
            sack: settings.segments.sack,
            timestamps: settings.segments.timestamps,
            sizes: Sizes::new(mss),
            queue: Queue::new(first),
            written: Written::new(first),
            output: Output::new(now),
            seen_blocks: SeenBlocks::default(),
            delivered: 1,
            total_retransmitted: 0,
            timing: Timing::new(&settings, &clock, tick),
            orphan: false,
            timed_out: false,
            congestion: Congestion {
                control,
                window: Window::new(Window::initial(
                    settings.congestion.initial_window,
                    mss,
                    None,
                )),
                siblings: Siblings::default(),
                usage: Usage::new(first, tick),
                prior_ssthresh: 0,
                prr: Prr::default(),
                pacing_rate: u64::MAX,
            },
            detection: Detection::new(&settings),
            episode: Episode::new(first),
            fack: Fack::new(first),
            counters: Counters::default(),
            settings,
        }
    }

    /// The handshake is over; `rtt` is its round-trip time if it gave one.
    pub fn established(&mut self, now: Time, rtt: Option<Duration>, peer: &Peer) {
        self.moment.now = now;
        self.sack = peer.sack;
        self.timestamps = peer.timestamps;
        self.peer.window = peer.window;
        self.peer.window_seq = peer.seq;
        self.note_window(peer.window);
        match rtt {
            Some(rtt) => self.take_sample(rtt, Some(rtt), false),
            None => self.timing.rtt.no_sample_after_handshake(),
        }
        self.recall(&peer.metrics);
        self.timing.forget_back_off(self.moment.clock.tick());
        // tcp_init_transfer
        self.congestion.window.cwnd = match peer.handshake_timeouts {
            0 | 1 => self.first_window(),
            _ => 1,
        };
        self.output.last_sent = now;
        self.congestion.usage = Usage::new(self.una, self.moment.tick());
        self.set_pacing_rate();
    }

    /// The socket has no owner any more (`SOCK_DEAD`): it is given up sooner.
    pub fn orphan(&mut self) {
        self.orphan = true;
    }

    /// The next packet to send, in the order in which they leave.
    pub fn poll_transmit(&mut self, _now: Time) -> Option<Transmit> {
        self.output.packets.pop_front()
    }

    /// Gives back the memory of queues that are empty.
    pub(crate) fn rest(&mut self) {
        if self.is_empty() && self.output.packets.is_empty() {
            self.output.rest();
            self.written.backlog = Backlog::default();
            self.queue.rest();
        }
    }

    /// When [`Sender::on_deadline`] is due; it changes with any call.
    #[must_use]
    pub fn deadline(&self) -> Option<Time> {
        self.timing.timer.deadline()
    }

    /// The clock of the timestamps option at `now`, without the connection's offset.
    #[must_use]
    pub fn timestamp(&self, now: Time) -> u32 {
        self.moment.stamp(now.as_nanos() / 1_000)
    }

    /// What a congestion control may know now.
    fn context<'a>(&self, clock: &'a Clock) -> Context<'a> {
        Context {
            now: self.moment.now,
            clock,
            una: self.una,
            nxt: self.nxt,
            open: self.episode.state == State::Open,
            pacing_rate: self.congestion.pacing_rate,
        }
    }

    /// After the last byte that the peer's window takes (`tcp_wnd_end`).
    fn window_end(&self) -> SeqNum {
        self.una + self.peer.window
    }
}

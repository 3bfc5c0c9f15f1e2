//! The sending half of a connection: what is in flight, what was lost, when it is sent again.
//!
//! One sender serves every stack; what differs stands in [`Settings`]. What it does about losses is the affair of
//! [`recovery::machine`](crate::recovery::machine); `actor` carries it out. Its parts, one idea a file:
//!
//! - `flight` is what was sent and not acknowledged, and what acknowledgements do to it. `written` has what was not sent yet: its
//!   segments (`backlog`), and `nagle`, which holds short ones back. `output` is on its way out, as the `host` allows.
//! - `writer` is the sender as the program has it. `write` and `transmit` move segments from `written` to `flight` and `output`,
//!   as far as there is `room`, in packets as large as `burst` says; `retransmit` sends them again.
//! - `pace` is when the next packet may leave, where the congestion control paces.
//! - `ack` is the order in which an acknowledgement is worked through; `congestion` is how much may be in flight, and `steering`
//!   has it follow what happens.
//! - `timing` has the time of the call that runs (`moment`), the round trips, the timeout and the `timer`; `due` runs it, and
//!   `tlp`, `rto` and `persist` are what it does.
//! - `peer` is what the peer's segments told; its window is there.
//!
//! Every call that takes `now` refreshes the connection's clock; [`Sender::on_deadline`] is due at [`Timing::deadline`]. Methods
//! that send leave packets for [`Sender::poll_transmit`], in the order in which they leave.

mod ack;
mod actor;
mod backlog;
mod burst;
mod congestion;
mod due;
mod flight;
mod host;
mod metrics;
mod moment;
mod nagle;
mod output;
mod pace;
mod peer;
mod persist;
mod queries;
mod retransmit;
mod room;
mod rto;
mod steering;
mod subflow;
mod timed;
mod timer;
mod timing;
mod tlp;
mod transmit;
mod types;
mod write;
mod writer;
mod written;

use std::sync::Arc;

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use crate::clock::Clock;
use crate::congestion::{Context, Control, Siblings, Window};
use crate::recovery::machine::{Actor as _, Detection, Episode};
use crate::recovery::prr::Prr;
use crate::settings::Settings;

use backlog::Backlog;
use congestion::{Congestion, Usage};
use output::Output;
use peer::PeerState;
use written::Written;

pub use crate::recovery::CaState;
pub use flight::Flight;
pub use metrics::Metrics;
pub use timing::Timing;
pub use types::{Ack, Counters, Peer, Transmit};
pub use writer::{Origin, Writer};

/// A sender.
///
/// It has more methods than other types: all that the machine, the program, the network and the connection above ask of it begins
/// here, and what leaves is a step over several parts.
#[derive(Clone, Debug)]
pub struct Sender {
    peer: PeerState,
    written: Written,
    flight: Flight,
    output: Output,
    timing: Timing,
    congestion: Congestion,
    detection: Detection,
    episode: Episode,
    /// Both ends take congestion marks.
    ecn: bool,
    orphan: bool,
    timed_out: bool,
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
            peer: PeerState::new(tick),
            written: Written::new(first),
            output: Output::new(now),
            timing: Timing::new(settings.clone(), clock, now),
            ecn: false,
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
                tells_reduction: false,
                pacing_rate: u64::MAX,
            },
            detection: Detection::new(&settings),
            episode: Episode::new(first),
            counters: Counters::default(),
            flight: Flight::new(settings, mss, first),
        }
    }

    /// The handshake is over; `rtt` is its round-trip time if it gave one.
    pub fn established(&mut self, now: Time, rtt: Option<Duration>, peer: &Peer) {
        self.timing.moment.now = now;
        self.flight.established(peer.sack);
        self.ecn = peer.ecn;
        if !peer.ecn {
            self.congestion.control.do_without_marks();
        }
        self.peer.window = peer.window;
        self.peer.window_seq = peer.seq;
        self.note_window(peer.window);
        match rtt {
            Some(rtt) => {
                let out = self.flight.range();
                self.timing.take_sample(rtt, Some(rtt), false, out);
            }
            None => self.timing.rtt.no_sample_after_handshake(),
        }
        peer.metrics.recall(self);
        self.timing.forget_back_off();
        self.output.last_sent = now;
        self.window_mut().begin(peer.handshake_retransmissions);
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
            self.flight.rest();
        }
    }

    /// What the peer's window is tells how large segments may be.
    fn note_window(&mut self, window: u32) {
        if window > self.peer.largest_window {
            self.peer.largest_window = window;
            self.flight.sizes.bound(window);
        }
    }
}

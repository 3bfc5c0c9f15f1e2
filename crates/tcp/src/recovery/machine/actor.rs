//! What the machine works on.

use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::{AckOutcome, AckView, Detection, Episode, Resume};
use crate::clock::Tick;
use crate::estimator::Rtt;
use crate::recovery::dupack::Marks;
use crate::recovery::rack::Rack;
use crate::recovery::undo::Undo;
use crate::recovery::Job;
use crate::settings::Settings;

/// How many segments are where.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Sent and not acknowledged (`packets_out`).
    pub out: u32,
    /// SACKed; without SACK, duplicate acknowledgements (`sacked_out`).
    pub sacked: u32,
    /// Deemed lost (`lost_out`).
    pub lost: u32,
    /// Retransmissions in flight (`retrans_out`).
    pub retransmissions: u32,
}

impl Counts {
    /// Segments sent and neither arrived nor lost (`tcp_packets_in_flight`).
    #[must_use]
    pub const fn in_flight(&self) -> u32 {
        (self.out + self.retransmissions).saturating_sub(self.left_out())
    }

    /// Segments that left the network or never got through it (`tcp_left_out`).
    #[must_use]
    pub const fn left_out(&self) -> u32 {
        self.sacked + self.lost
    }
}

/// Where the stream stands.
#[derive(Clone, Copy, Debug)]
pub struct StreamState {
    /// The first byte not acknowledged (`snd_una`).
    pub una: SeqNum,
    /// The first byte not sent (`snd_nxt`).
    pub nxt: SeqNum,
    /// Payload bytes of a full segment (`mss_cache`).
    pub mss: u32,
    /// SACK was negotiated.
    pub sack: bool,
    /// After the highest byte SACKed; the first byte not acknowledged without one (`tcp_highest_sack_seq`).
    pub highest_sack: SeqNum,
    /// Segments from the first up to the highest SACK (`fackets_out`).
    pub reach: u32,
}

/// What was sent and not acknowledged, with the machine's marks.
pub trait Board {
    /// Where the stream stands.
    fn line(&self) -> StreamState;

    /// How many segments are where.
    fn counts(&self) -> Counts;

    /// When the first segment was last sent.
    fn head_sent(&self) -> Option<Time>;

    /// When the last segment was last sent.
    fn tail_sent(&self) -> Option<Time>;

    /// A FIN is among what was sent.
    fn fin_is_out(&self) -> bool;

    /// Whether the first segment was ever sent again.
    fn head_was_sent_again(&self) -> bool;

    /// Whether any segment was ever sent again.
    fn any_was_sent_again(&self) -> bool;

    /// Whether the first segment was SACKed.
    fn head_is_sacked(&self) -> bool;

    /// Without SACK, so many duplicates came.
    fn set_duplicates(&mut self, duplicates: u32);

    /// So many segments are taken for delivered, by duplicates.
    fn count_delivered(&mut self, _segments: u32) {}

    /// Marks the first segment lost unless it is.
    fn mark_head(&mut self);

    /// Marks lost what counting says, of what ends at `limit` or before: SACKed segments alone count if `by_sack`, else all do.
    fn mark_counted(&mut self, marks: Marks, by_sack: bool, limit: SeqNum);

    /// Marks lost what was sent before this time, from the first segment up to one that was not (`tcp_timeout_skbs`).
    fn mark_overdue(&mut self, before: Time);

    /// Marks lost what a timeout does: what is `lost`, the first segment or not, sent at a time; if the receiver `reneged`, what
    /// was SACKed as well (`tcp_timeout_mark_lost`).
    fn mark_by_timeout(&mut self, reneged: bool, lost: impl Fn(bool, Time) -> bool);

    /// Marks lost what RACK finds with this reordering window; returns how long to wait for the rest.
    fn mark_by_rack(&mut self, rack: &Rack, window: Duration, now: Time) -> Duration;

    /// Nothing is lost.
    fn unmark_lost(&mut self);

    /// What was counted before no longer holds: another rule counts.
    fn count_anew(&mut self) {}
}

/// The times of an actor.
#[derive(Clone, Copy, Debug)]
pub struct Times {
    /// That of the call that runs.
    pub now: Time,
    /// The smallest round-trip time of late; none before a sample.
    pub min_rtt: Option<Duration>,
    /// The smallest timeout (`tcp_rto_min`).
    pub min_rto: Duration,
    /// The timeout, back-off included (`icsk_rto`).
    pub rto: Duration,
    /// What the timer is set for.
    pub job: Option<Job>,
}

/// The time of an actor, and its one timer.
pub trait Clock {
    /// The times that there are.
    fn times(&self) -> Times;

    /// The round-trip time.
    fn rtt(&self) -> &Rtt;

    /// How long a tick is.
    fn tick_length(&self) -> Tick;

    /// How long ago it was sent, as the timer counts it.
    fn age(&self, sent: Time) -> Duration;

    /// What was sent before has been out for more than a timeout (`tcp_skb_timedout`).
    fn overdue(&self) -> Time;

    /// Whether what was sent then surely has been out for more than a timeout.
    fn is_overdue(&self, sent: Time) -> bool {
        sent < self.overdue()
    }

    /// How long until the timer is due.
    fn timer_left(&self) -> Duration;

    /// Sets the timer, at most to the longest timeout.
    fn set_timer(&mut self, job: Job, wait: Duration);

    /// Nothing is to be done any more.
    fn clear_timer(&mut self);
}

/// What became of new data that F-RTO's test asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NewData {
    /// They left.
    Left,
    /// They leave once the window is set.
    Wait,
    /// There are none, or the window does not take them.
    None,
    /// That is not known yet.
    Unknown,
}

/// The congestion window, which follows what the machine decides.
pub trait Window {
    /// A recovery is about to begin; it `reduces` the window unless that is being reduced.
    fn begin_recovery(&mut self, reduces: bool);

    /// A recovery is about to end, or ends because it was spurious.
    fn end_recovery(&mut self) {}

    /// A reduction is over that was not taken back (`tcp_end_cwnd_reduction`).
    fn end_reduction(&mut self) {}

    /// A timeout marked what it lost and is about to change the state; it `reduces` the threshold (`tcp_enter_loss`).
    fn begin_loss(&mut self, reduces: bool);

    /// A timeout was spurious, as F-RTO or the rest says.
    fn undo_loss(&mut self, by_frto: bool);

    /// The window from before the reduction comes back, and the threshold, or the window alone.
    fn undo_window(&mut self, threshold_too: bool);

    /// No burst of more than the stack's `max_burst` may follow (`tcp_moderate_cwnd`).
    fn moderate_window(&mut self) {}

    /// A congestion mark is told of: the window from before the reduction must not come back; `reduces`: one begins.
    fn meet_mark(&mut self, _reduces: bool) {}

    /// A probe repaired a loss: the window is reduced once.
    fn reduce_for_probe(&mut self) {}

    /// Where the window follows in the alert: `delivered` segments arrived. `begins`: it is the first step of a recovery.
    fn step_window(&mut self, _delivered: u32, _begins: bool) {}

    /// The timer found `lost` segments lost, and a recovery began.
    fn reduce_by_timer(&mut self, _lost: u32) {}

    /// Where the window grows before the alert: it may, unless a reduction is under way that the acknowledgement, `doubtful`,
    /// does not end.
    fn grow_window(&mut self, _view: &AckView, _outcome: AckOutcome, _doubtful: bool) {}
}

/// What leaves, and what is known of it.
pub trait Output {
    /// A recovery begins that is to be taken back if new data can be sent, which is not known.
    fn suppose_no_new_data(&mut self) {}

    /// F-RTO's test asks for new data.
    fn send_new(&mut self) -> NewData;

    /// What an acknowledgement lets go is sent.
    fn resume(&mut self, _resume: Resume) {}

    /// What is lost may be sent again.
    fn send_lost(&mut self) {}

    /// The receiver dropped what it SACKed: the timeout comes at once (`tcp_check_sack_reneging`, 3.10).
    fn forget_sacks(&mut self);
}

/// A sender, as the machine works on it.
pub trait Actor: Output {
    /// What it sent.
    type Board: Board;

    /// Its time.
    type Clock: Clock;

    /// Its congestion window.
    type Window<'a>: Window
    where
        Self: 'a;

    /// What it sent.
    fn board(&self) -> &Self::Board;

    /// What it sent, to be marked.
    fn board_mut(&mut self) -> &mut Self::Board;

    /// Its time.
    fn clock(&self) -> &Self::Clock;

    /// Its time, for the timer to be set.
    fn clock_mut(&mut self) -> &mut Self::Clock;

    /// Its congestion window, at work.
    fn window_mut(&mut self) -> Self::Window<'_>;

    /// The stack's settings.
    fn settings(&self) -> &Settings;

    /// The state.
    fn episode(&self) -> &Episode;

    /// The state, to be changed.
    fn episode_mut(&mut self) -> &mut Episode;

    /// What losses are found by.
    fn detection(&self) -> &Detection;

    /// What losses are found by, to be changed.
    fn detection_mut(&mut self) -> &mut Detection;

    /// The timestamp that the acknowledgement echoes.
    fn echo(&self) -> Option<u32>;

    /// What a reduction would need to be taken back, as far as it is known.
    fn known_undo(&self) -> Undo {
        self.episode().undo
    }

    /// Whether the stack has F-RTO.
    fn has_frto(&self) -> bool {
        self.settings().loss.frto
    }

    /// Whether new data could be sent now (`tcp_may_send_now`); none where that is not known.
    fn may_send_now(&self) -> Option<bool>;

    /// Whether unsent data wait and the congestion window takes them; none where that is not known.
    fn window_takes_new_data(&self) -> Option<bool>;
}

//! One emulated sender: what a stack's sender would know and would have set its timer for, from what was sent and what came
//! back. It has no window: what may be sent is seen.
//!
//! Its states and losses are the affair of [`rexmit_tcp::recovery::machine`], as those of the model's sender; `acting` is the
//! sender as the machine works on it. What it cannot know is unknown there. Its parts, each with what it keeps:
//!
//! - `marks` is what it holds of the board's segments, `course` what is open in an episode of loss, `window` what may be in
//!   flight;
//! - `timing` is its time: `stack_clock`, `round_trips` and `timers`;
//! - `evidence` is how well it explains what was seen.
//!
//! `ack` is the order in which an acknowledgement is worked through: `deliver` notes what arrived, `duplicate` what came
//! twice, `counted` marks what counting finds lost. `causes` are what may have made a retransmission, `explain` says which
//! did, `follow` what comes of it; `doubt` takes a timeout back that was none, `instead` remembers one that was held for
//! something else. `unseen` is what timers did that the monitor did not see. `threshold` and `without_frto` learn where a host
//! is set otherwise than its page.

mod ack;
mod acting;
mod causes;
mod counted;
mod course;
mod deliver;
mod doubt;
mod duplicate;
mod evidence;
mod explain;
mod follow;
mod instead;
mod marks;
mod minimum;
mod nothing;
mod overdue;
mod rate;
mod round_trips;
mod stack_clock;
mod syn;
mod threshold;
mod timers;
mod timing;
mod unseen;
mod window;
mod without_frto;

use std::collections::VecDeque;

use rexmit_tcp::recovery::machine::{self, Detection, Episode};
use rexmit_tcp::recovery::{CaState, Job};
use rexmit_tcp::settings::{Estimator, Settings, Tlp};
use rexmit_tcp::Mechanism;
use rexmit_time::{Duration, Time};
use rexmit_wire::SeqNum;

use super::board::Board;
use super::profile::Profile;
use course::Course;
use evidence::Evidence;
use marks::Marks;
use minimum::Minimum;
use round_trips::RoundTrip;
pub(crate) use stack_clock::StackClock;
use window::Flight;

pub use explain::{Moment, Opinion};
pub use syn::SynAgain;
pub(in crate::emulate) use timing::Timing;
pub use timing::SEES_ALL;

/// An emulated sender.
#[derive(Debug)]
pub struct EmulatedSender {
    pub profile: &'static Profile,
    settings: &'static Settings,
    marks: Marks,
    detection: Detection,
    episode: Episode,
    course: Course,
    timing: Timing,
    flight: Flight,
    pub evidence: Evidence,
}

/// The collections of an emulated sender, empty.
#[derive(Debug, Default)]
pub struct Recycled {
    unsure: VecDeque<RoundTrip>,
    opinions: VecDeque<Opinion>,
}

impl EmulatedSender {
    pub fn new(profile: &'static Profile, slot: usize, recycled: Recycled) -> Self {
        let settings: &'static Settings = &profile.settings;
        EmulatedSender {
            profile,
            settings,
            marks: Marks::new(slot),
            detection: Detection::new(settings),
            episode: Episode::new(SeqNum::default()),
            course: Course::new(settings),
            timing: Timing::new(settings, profile.other_minimum, recycled.unsure),
            flight: Flight::default(),
            evidence: Evidence::new(profile.prior, recycled.opinions),
        }
    }

    /// Its collections.
    pub fn leave(self) -> Recycled {
        Recycled {
            unsure: self.timing.trips.leave(),
            opinions: self.evidence.leave(),
        }
    }

    /// The stack was built with so many ticks a second.
    pub fn learn_ticks(&mut self, hz: u32) {
        let backed_off = self.episode.timeouts > 0;
        self.timing.learn_ticks(hz, backed_off);
    }

    /// Its time.
    pub(in crate::emulate) fn timing(&self) -> &Timing {
        &self.timing
    }

    /// When the last timeout was.
    pub fn loss_at(&self) -> Option<Time> {
        self.course.loss_at
    }

    /// Whether segments came to the receiver in another order than they left.
    #[cfg(test)]
    pub fn has_seen_reordering(&self) -> bool {
        self.detection.reordering_seen > 0
    }

    /// Whether a SYN that was sent again gives a sample by the stamp that its answer echoes (`tcp_synack_rtt_meas`,
    /// `tcp_ack_update_rtt`).
    pub fn times_handshake_by_stamp(&self) -> bool {
        self.settings.timers.estimator == Estimator::LinuxMicros
    }

    /// The handshake is over; `rtt` is its round-trip time if it gave one.
    pub fn established(&mut self, now: Time, rtt: Option<Duration>, board: &Board) {
        self.episode.point = board.una;
        self.flight.begin(self.settings, board.mss);
        match rtt {
            Some(rtt) => {
                self.timing.trips.take_path(now, rtt);
                self.timing.take_sample(now - rtt, now, board.range());
            }
            None => self.timing.trips.rtt.no_sample_after_handshake(),
        }
        self.timing.set_rto();
    }

    /// Something new left; the board has it already. `nothing_out`: it was empty before.
    pub fn on_new(&mut self, board: &mut Board, moment: &Moment, nothing_out: bool) {
        self.catch_up_for_sending(board, moment);
        self.note_new_after_frto(board);
        if self.course.unless_more
            && self.episode.state == CaState::Recovery
            && self.course.entered == Some(moment.ack_at)
        {
            self.take_recovery_back();
        }
        self.course.unless_more = false;
        self.course.forward = false;
        if self.timing.trips.timed.is_none() {
            self.timing.trips.timed = board.tail().map(|tail| (tail.start, moment.at));
        }
        if self.timing.timers.timer.job() == Some(Job::Probe)
            && self.timing.is_probe_of_new_data(moment)
        {
            if self.settings.loss.tlp == Tlp::Rfc8985 {
                self.episode.probe.high = Some(board.nxt);
                self.episode.probe.retransmission = false;
            }
            self.timing.timers.set_to_timeout(moment.at);
            return;
        }
        let job = self.timing.timers.timer.job();
        let converts = matches!(job, Some(Job::Probe | Job::EarlyRetransmit));
        let in_flight = self.marks.in_flight(board);
        self.evidence.score += self.flight.check(in_flight);
        self.judge_silence(board, moment);
        self.flight
            .rate
            .note_sent(board.tail().map_or(1, |tail| tail.packets));
        if nothing_out || converts {
            machine::rearm(&mut self.at(board, moment.at));
        }
        machine::schedule_probe(&mut self.at(board, moment.at), false);
    }

    /// Something left at `at` that the monitor never saw, and of which is learned later. What was out at a timeout is sent
    /// again as part of what follows it; else the timer is set as for all that is new.
    pub fn on_unseen(&mut self, board: &mut Board, at: Time) {
        let Some(tail) = board.len().checked_sub(1) else {
            return;
        };
        if self.course.loss_at.is_some_and(|loss| at <= loss)
            && self.episode.state != CaState::Recovery
        {
            self.episode.state = CaState::Loss;
            self.episode.point = board.nxt;
            self.marks.mark_lost(board, tail);
        }
        if self.timing.timers.timer.job().is_none() {
            machine::rearm(&mut self.at(board, at));
            machine::schedule_probe(&mut self.at(board, at), false);
        }
    }

    /// The recovery is over. One in which nothing was ever sent again did not take place.
    fn note_end_of_recovery(&mut self) {
        if self.course.entered.take().is_some() {
            self.evidence.score -= 3.0;
        }
    }

    /// The recovery that began at this time did not, and nothing was sent again since.
    fn take_recovery_back(&mut self) {
        self.course.entered = None;
        self.episode.causes.recovery_began = false;
        self.episode.state = CaState::Disorder;
    }

    /// What a retransmission from the queue of the lost is called.
    fn mechanism_of_retransmission(&self, sack: bool) -> Mechanism {
        let state = self.episode.state;
        self.episode
            .causes
            .of_lost(state, sack, self.settings.loss.rack)
    }
}

//! The sender as [`recovery::machine`](crate::recovery::machine) works on it.

use super::flight::{Flight, Walk};
use super::nagle::Hold;
use super::steering::Steering;
use super::{Sender, Timing};
use crate::recovery::machine::{self, Actor, Detection, Episode, NewData, Output, Resume};
use crate::settings::{AckOrder, Settings};
use crate::words::Mechanism;

impl Output for Sender {
    fn send_new(&mut self) -> NewData {
        if self.flight.settings.loss.ack_order == AckOrder::LossesFirst {
            let room = !self.written.backlog.is_empty()
                && self.room().window_end().is_after(self.flight.nxt());
            return if room { NewData::Wait } else { NewData::None };
        }
        let before = self.flight.nxt();
        self.push_with(Hold::OFF);
        if self.flight.nxt().is_after(before) {
            NewData::Left
        } else {
            NewData::None
        }
    }

    /// What the window now allows (`tcp_xmit_recovery`).
    fn resume(&mut self, resume: Resume) {
        match resume {
            Resume::Nothing => return,
            Resume::New => {
                self.push_with(Hold::OFF);
                if self.flight.nxt().is_after(self.episode.point) {
                    return;
                }
                self.episode.frto = false;
            }
            Resume::Lost => {}
        }
        self.send_lost();
    }

    /// As far as the congestion window allows (`tcp_xmit_retransmit_queue`).
    fn send_lost(&mut self) {
        if self.flight.packets_out() == 0 {
            return;
        }
        let mut walk = Walk::begin(&mut self.flight);
        while !self.timing.waits_for_pace() {
            let (cwnd, forward) = (self.congestion.window.cwnd, self.room().may_go_forward());
            match walk.next(&mut self.flight, cwnd, forward) {
                Some(index) if self.send_again(index) => {}
                _ => break,
            }
        }
    }

    fn forget_sacks(&mut self) {
        machine::enter_loss(self, true);
        self.episode.timeouts += 1;
        self.retransmit(0, 1, Mechanism::Rto);
        self.timing.set_to_timeout();
    }
}

impl Actor for Sender {
    type Board = Flight;
    type Clock = Timing;
    type Window<'a> = Steering<'a>;

    #[inline]
    fn board(&self) -> &Flight {
        &self.flight
    }

    #[inline]
    fn board_mut(&mut self) -> &mut Flight {
        &mut self.flight
    }

    #[inline]
    fn clock(&self) -> &Timing {
        &self.timing
    }

    #[inline]
    fn clock_mut(&mut self) -> &mut Timing {
        &mut self.timing
    }

    fn window_mut(&mut self) -> Steering<'_> {
        Steering {
            settings: &self.flight.settings,
            congestion: &mut self.congestion,
            flight: &self.flight,
            timing: &self.timing,
            episode: &self.episode,
            detection: &self.detection,
            counters: &mut self.counters,
        }
    }

    #[inline]
    fn settings(&self) -> &Settings {
        &self.flight.settings
    }

    #[inline]
    fn episode(&self) -> &Episode {
        &self.episode
    }

    #[inline]
    fn episode_mut(&mut self) -> &mut Episode {
        &mut self.episode
    }

    #[inline]
    fn detection(&self) -> &Detection {
        &self.detection
    }

    #[inline]
    fn detection_mut(&mut self) -> &mut Detection {
        &mut self.detection
    }

    fn echo(&self) -> Option<u32> {
        self.peer.echo
    }

    fn may_send_now(&self) -> Option<bool> {
        Some(self.room().can_send_now())
    }

    fn window_takes_new_data(&self) -> Option<bool> {
        let room = self.congestion.window.cwnd > self.flight.in_flight();
        Some(room && !self.written.backlog.is_empty())
    }
}

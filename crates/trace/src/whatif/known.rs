//! What became known of the retransmissions.

use std::collections::VecDeque;

use rexmit_tcp::{Mechanism, Need};
use rexmit_time::Duration;

use super::Resolved;
use crate::cost::Finder;

/// What became known of one retransmission.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retransmission {
    pub mechanism: Mechanism,
    pub need: Need,
    pub episode: u32,
    pub flight_segments: u32,
    /// How long its sender had waited for it.
    pub waited: Duration,
}

impl Retransmission {
    const UNKNOWN: Retransmission = Retransmission {
        mechanism: Mechanism::Unknown,
        need: Need::Unknown,
        episode: u32::MAX,
        flight_segments: 0,
        waited: Duration::ZERO,
    };

    pub const fn finder(&self) -> Option<Finder> {
        Finder::of(self.mechanism)
    }

    /// Nobody knows what made it, so nobody knows what would not have.
    pub const fn unexplained(&self) -> bool {
        matches!(
            self.mechanism,
            Mechanism::Unknown | Mechanism::MptcpReinject
        )
    }
}

/// The retransmissions and episodes that are still of interest.
#[derive(Debug, Default)]
pub(super) struct Known {
    retransmissions: VecDeque<Retransmission>,
    /// The number of the first of them.
    first: u32,
    /// Of each episode: retransmissions needed (or unknown), and spurious.
    episodes: VecDeque<(u32, u32)>,
    first_episode: u32,
}

impl Known {
    /// Takes in what a retransmission was; they come in the order of their numbers.
    pub fn add(&mut self, resolved: &Resolved) {
        let end = self.first + self.retransmissions.len() as u32;
        if resolved.number < end {
            return;
        }
        // A retransmission that was given out without an answer stays unknown.
        let missing = (resolved.number - end) as usize;
        self.retransmissions
            .extend(std::iter::repeat_n(Retransmission::UNKNOWN, missing));
        self.retransmissions.push_back(Retransmission {
            mechanism: resolved.mechanism,
            need: resolved.need,
            episode: resolved.episode,
            flight_segments: resolved.flight_segments,
            waited: resolved.waited,
        });
        let Some(index) = resolved.episode.checked_sub(self.first_episode) else {
            return;
        };
        let index = index as usize;
        if index >= self.episodes.len() {
            if index - self.episodes.len() > 1 << 16 {
                return;
            }
            self.episodes.resize(index + 1, (0, 0));
        }
        let (needed, spurious) = &mut self.episodes[index];
        match resolved.need {
            Need::Spurious => *spurious += 1,
            Need::Needed | Need::Unknown => *needed += 1,
        }
    }

    /// Whether a retransmission's answer has come.
    pub fn has(&self, number: u32) -> bool {
        number < self.first + self.retransmissions.len() as u32
    }

    pub fn retransmission(&self, number: u32) -> Retransmission {
        number
            .checked_sub(self.first)
            .and_then(|index| self.retransmissions.get(index as usize).copied())
            .unwrap_or(Retransmission::UNKNOWN)
    }

    /// Retransmissions of an episode that were needed (or are unknown), and spurious ones.
    pub fn episode(&self, episode: u32) -> (u32, u32) {
        episode
            .checked_sub(self.first_episode)
            .and_then(|index| self.episodes.get(index as usize).copied())
            .unwrap_or((0, 0))
    }

    /// Forgets retransmissions before `number`, and the episodes before theirs.
    pub fn forget_before(&mut self, number: u32) {
        while self.first < number && self.retransmissions.len() > 1 {
            self.retransmissions.pop_front();
            self.first += 1;
        }
        let oldest = self
            .retransmissions
            .front()
            .map_or(0, |retransmission| retransmission.episode);
        while oldest != u32::MAX
            && self.first_episode < oldest
            && self.episodes.pop_front().is_some()
        {
            self.first_episode += 1;
        }
    }
}

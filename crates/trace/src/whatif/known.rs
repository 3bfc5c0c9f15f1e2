//! What became known of the resends.

use std::collections::VecDeque;

use rexmit_tcp::{Mechanism, Need};
use rexmit_time::Duration;

use super::Resolved;
use crate::cost::Finder;

/// What became known of one resend.
#[derive(Clone, Copy, Debug)]
pub(super) struct Resend {
    pub mechanism: Mechanism,
    pub need: Need,
    pub episode: u32,
    pub flight_segments: u32,
    /// How long its sender had waited for it.
    pub waited: Duration,
}

impl Resend {
    const UNKNOWN: Resend = Resend {
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

/// The resends and episodes that are still of interest.
#[derive(Debug, Default)]
pub(super) struct Known {
    resends: VecDeque<Resend>,
    /// The number of the first of them.
    first: u32,
    /// Of each episode: resends needed (or unknown), and spurious.
    episodes: VecDeque<(u32, u32)>,
    first_episode: u32,
}

impl Known {
    /// Takes in what a resend was; they come in the order of their numbers.
    pub fn add(&mut self, resolved: &Resolved) {
        let end = self.first + self.resends.len() as u32;
        if resolved.number < end {
            return;
        }
        // A resend that was given out without an answer stays unknown.
        let missing = (resolved.number - end) as usize;
        self.resends
            .extend(std::iter::repeat_n(Resend::UNKNOWN, missing));
        self.resends.push_back(Resend {
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

    /// Whether a resend's answer has come.
    pub fn has(&self, number: u32) -> bool {
        number < self.first + self.resends.len() as u32
    }

    pub fn resend(&self, number: u32) -> Resend {
        number
            .checked_sub(self.first)
            .and_then(|index| self.resends.get(index as usize).copied())
            .unwrap_or(Resend::UNKNOWN)
    }

    /// Resends of an episode that were needed (or are unknown), and spurious ones.
    pub fn episode(&self, episode: u32) -> (u32, u32) {
        episode
            .checked_sub(self.first_episode)
            .and_then(|index| self.episodes.get(index as usize).copied())
            .unwrap_or((0, 0))
    }

    /// Forgets resends before `number`, and the episodes before theirs.
    pub fn forget_before(&mut self, number: u32) {
        while self.first < number && self.resends.len() > 1 {
            self.resends.pop_front();
            self.first += 1;
        }
        let oldest = self.resends.front().map_or(0, |resend| resend.episode);
        while oldest != u32::MAX
            && self.first_episode < oldest
            && self.episodes.pop_front().is_some()
        {
            self.first_episode += 1;
        }
    }
}

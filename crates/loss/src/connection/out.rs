//! What the rule has to say, until the caller takes it.

use std::collections::VecDeque;

use rexmit_time::{Duration, Time};
use rexmit_wire::FlowKey;

use crate::{
    Counters, Decision, Drops, Event, PacketId, Stretches, Told, TransferId, Untracked, Whole, Why,
};

/// What a connection needs of its rule while it judges a packet.
#[derive(Clone, Debug)]
pub(crate) struct Out {
    pub drops: Drops,
    /// Of stretches that were told, what was.
    pub told: Option<Told>,
    /// Of whole connections, what is known.
    pub whole: Option<Whole>,
    /// How long a complete transfer is watched for further retransmissions.
    pub linger: Duration,
    pub counters: Counters,
    /// Packets that would have been told otherwise, had all before them been given.
    pub unfollowed: u64,
    pub events: VecDeque<Event>,
    pub releases: VecDeque<(PacketId, Decision)>,
}

impl Out {
    pub fn new(drops: Drops, stretches: Stretches, linger: Duration) -> Self {
        let (told, whole) = match stretches {
            Stretches::Found => (None, None),
            Stretches::Told(told) => (Some(told), None),
            Stretches::Whole(whole) => (None, Some(whole)),
        };
        Out {
            drops,
            told,
            whole,
            linger,
            counters: Counters::default(),
            unfollowed: 0,
            events: VecDeque::new(),
            releases: VecDeque::new(),
        }
    }

    pub fn next_transfer(&mut self) -> TransferId {
        let id = TransferId(self.counters.transfers);
        self.counters.transfers += 1;
        id
    }

    pub fn release(&mut self, id: PacketId, decision: Decision) {
        self.counters.dropped += u64::from(decision == Decision::Drop);
        self.releases.push_back((id, decision));
    }

    /// Counts a response that passes untracked, and tells the connection's first.
    pub fn untracked(&mut self, flow: FlowKey, why: Why, first: bool, at: Time) {
        self.counters.untracked += 1;
        if first {
            self.events
                .push_back(Event::Untracked(Untracked { flow, why, at }));
        }
    }
}

//! The sender views of a connection: those that are made, those that are to be, and what both are told later.

use std::collections::VecDeque;

use crate::event::Direction;
use crate::facts::SenderFacts;
use crate::sender_view::{Returned, SenderView, MOST_RETURNED};

/// The sender views of both directions.
#[derive(Debug, Default)]
pub(super) struct Views {
    pub made: [Option<Box<SenderView>>; 2],
    /// What was known of the sender when trouble came of which a sender view is to be made.
    pub due: [Option<Box<SenderFacts>>; 2],
    /// Packets for sender views since retransmissions were asked for last.
    pub unsettled: u32,
    /// Packets of each side that routers have returned.
    returned: [VecDeque<Returned>; 2],
}

impl Views {
    /// Whether a direction has a sender view, or is to have one.
    pub fn has(&self, of: Direction) -> bool {
        self.made[of as usize].is_some() || self.due[of as usize].is_some()
    }

    /// Whether there is nothing to keep.
    pub fn is_plain(&self) -> bool {
        self.returned.iter().all(VecDeque::is_empty)
            && self.made.iter().all(Option::is_none)
            && self.due.iter().all(Option::is_none)
            && self.unsettled == 0
    }

    /// A router returned a packet of a side.
    pub fn take_returned(&mut self, of: Direction, returned: Returned) {
        if let Some(view) = &mut self.made[of as usize] {
            view.returned(returned);
        }
        let all = &mut self.returned[of as usize];
        if all.len() == MOST_RETURNED {
            all.pop_front();
        }
        all.push_back(returned);
    }

    /// Gives a view that is made what was returned before.
    pub fn give_returned(&self, of: Direction, view: &mut SenderView) {
        let returned = self.returned[of as usize].iter();
        returned.for_each(|one| view.returned(*one));
    }

    /// Whether a side and its peer number their packets apart is known anew.
    pub fn counted(&mut self, of: Direction, own: bool, peer_own: bool) {
        if let Some(view) = &mut self.made[of as usize] {
            view.counted(own, peer_own);
        }
        if let Some(due) = &mut self.due[of as usize] {
            (due.counts_own, due.peer_counts_own) = (own, peer_own);
        }
    }
}

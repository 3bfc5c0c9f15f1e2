//! Segments that wait to be fetched.

use std::collections::VecDeque;

use super::types::Sent;

/// Segments that wait to be fetched: mostly one, which then takes no memory of its own.
#[derive(Clone, Debug, Default)]
pub(super) struct Outbox {
    first: Option<Sent>,
    others: VecDeque<Sent>,
}

impl Outbox {
    pub fn push(&mut self, sent: Sent) {
        if self.first.is_none() && self.others.is_empty() {
            self.first = Some(sent);
        } else {
            self.others.push_back(sent);
        }
    }

    pub fn pop(&mut self) -> Option<Sent> {
        self.first.take().or_else(|| self.others.pop_front())
    }

    /// Gives back what memory is not used.
    pub fn rest(&mut self) {
        if self.others.is_empty() {
            self.others = VecDeque::new();
        }
    }
}

//! Which rows of a group are settled, and which wait for what other connections say of their host.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::analyzer::{Of, Rows};
use crate::run::hosts::Said;
use crate::run::waits;

/// What of a stretch goes through [`Hosts`](crate::run::hosts::Hosts).
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub(super) struct Waiting {
    /// What connections say, those of which nothing waits among them.
    pub said: Vec<Of<Said>>,
    /// All of connections of which something waits.
    pub rows: Rows,
}

impl Waiting {
    pub fn is_empty(&self) -> bool {
        self.said.is_empty() && self.rows.is_empty()
    }

    pub fn append(&mut self, other: &mut Waiting) {
        self.said.append(&mut other.said);
        self.rows.append(&mut other.rows);
    }

    /// Orders them as a run does.
    pub fn sort(&mut self) {
        self.said
            .sort_by_key(|of| (of.start, of.flow, of.connection));
        self.rows.sort();
    }
}

/// Divides the rows of a group.
#[derive(Debug, Default)]
pub(super) struct Split {
    /// Numbers of connections of which something waited.
    waited: BTreeSet<u64>,
}

impl Split {
    /// Takes out of a stretch's rows what goes through [`Hosts`](crate::run::hosts::Hosts); the others are as that would leave
    /// them.
    pub fn divide(&mut self, rows: &mut Rows) -> Waiting {
        let mut waiting = Waiting::default();
        for of in &rows.retransmissions {
            if waits(&of.row) {
                self.waited.insert(of.connection);
            }
        }
        for of in &rows.connections {
            waiting.said.extend(Said::by(&of.row).map(|row| Of {
                connection: of.connection,
                start: of.start,
                flow: of.flow,
                row,
            }));
        }
        let failed = core::mem::take(&mut rows.failed).into_iter();
        waiting.rows.failed = failed
            .filter(|connection| self.waited.remove(connection))
            .collect();
        let waits = |connection: u64| self.waited.contains(&connection);
        if !self.waited.is_empty() {
            let all = core::mem::take(&mut rows.retransmissions);
            (waiting.rows.retransmissions, rows.retransmissions) =
                all.into_iter().partition(|of| waits(of.connection));
            let all = core::mem::take(&mut rows.connections);
            (waiting.rows.connections, rows.connections) =
                all.into_iter().partition(|of| waits(of.connection));
        }
        waiting
    }
}

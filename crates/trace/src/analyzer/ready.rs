//! Rows that are ready, with the connections that they belong to.

use rexmit_time::Time;
use rexmit_wire::FlowKey;
use serde::{Deserialize, Serialize};

use crate::requests::Request;
use crate::rows;
use crate::whatif::Totals;

/// A row and the connection that it belongs to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Of<T> {
    /// The connection's number.
    pub connection: u64,
    /// Its first packet.
    pub start: Time,
    /// Client to server.
    pub flow: FlowKey,
    /// The row.
    pub row: T,
}

/// Rows that are ready.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Rows {
    /// Connections that have ended. They are large, and pass through many hands.
    pub connections: Vec<Of<Box<rows::Connection>>>,
    /// Retransmissions, most with their connection, those of long ones before.
    pub retransmissions: Vec<Of<rows::Retransmission>>,
    /// What other settings would have done.
    pub whatif: Vec<Of<rows::WhatIf>>,
    /// Requests, in their order, most with their connection, those of long ones before.
    pub requests: Vec<Of<Request>>,
    /// What the settings of a grid would have done, summed up; sums of several pieces of rows add up.
    pub totals: Totals,
    /// Numbers of connections that failed after they had given rows: those of them that wait somewhere are dropped. A run
    /// gives none.
    pub failed: Vec<u64>,
}

impl Rows {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0 && self.failed.is_empty()
    }

    /// How many rows there are in all.
    #[must_use]
    pub fn len(&self) -> usize {
        let rows = self.connections.len() + self.retransmissions.len() + self.whatif.len();
        rows + self.requests.len() + usize::from(!self.totals.is_empty())
    }

    /// Adds those of `other`.
    pub fn append(&mut self, other: &mut Rows) {
        fn append<T>(rows: &mut Vec<T>, other: &mut Vec<T>) {
            if rows.is_empty() {
                core::mem::swap(rows, other);
            } else {
                rows.append(other);
            }
        }
        append(&mut self.connections, &mut other.connections);
        append(&mut self.retransmissions, &mut other.retransmissions);
        append(&mut self.whatif, &mut other.whatif);
        append(&mut self.requests, &mut other.requests);
        self.totals.append(&core::mem::take(&mut other.totals));
        self.failed.append(&mut other.failed);
    }

    /// Drops those of a connection.
    pub(crate) fn forget(&mut self, connection: u64) {
        self.connections.retain(|of| of.connection != connection);
        self.retransmissions
            .retain(|of| of.connection != connection);
        self.whatif.retain(|of| of.connection != connection);
        self.requests.retain(|of| of.connection != connection);
    }

    /// Orders rows by their connections: start, flow, number; those of one connection stay as they are.
    pub fn sort(&mut self) {
        fn sort<T>(rows: &mut [Of<T>]) {
            // Rows are large: each is moved once.
            rows.sort_by_cached_key(|of| (of.start, of.flow, of.connection));
        }
        sort(&mut self.connections);
        sort(&mut self.retransmissions);
        sort(&mut self.whatif);
        sort(&mut self.requests);
    }
}

//! Segments that wait to be fetched.

use std::collections::VecDeque;

use rexmit_wire::Flags;

use super::types::Sent;
use crate::segment::Segment;

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

    /// There is no connection for `segment`: everything but a reset is reset (`tcp_v4_send_reset`).
    pub fn refuse(&mut self, segment: &Segment) {
        if segment.flags.rst() {
            return;
        }
        let reset = if segment.flags.ack() {
            Segment {
                seq: segment.ack,
                flags: Flags::RST,
                ..Segment::default()
            }
        } else {
            Segment {
                ack: segment.end(),
                flags: Flags(Flags::RST.0 | Flags::ACK.0),
                ..Segment::default()
            }
        };
        self.push(Sent::plain(reset));
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

//! Which frames of a capture rows of retransmissions are about: the packet itself, the copy before it, and the
//! acknowledgement that made the sender send it.
//!
//! The analysis keeps no frame numbers, since they would cost every packet something. They are found in another reading of
//! the same packets, in the same order, by time, flow and sequence number. Memory is in proportion to the rows.

use std::collections::{BTreeMap, VecDeque};

use hashbrown::HashMap;
use rexmit_time::Time;
use rexmit_wire::table::Key;
use rexmit_wire::{FlowKey, Headers, SeqNum};

/// A retransmission as its row has it.
#[derive(Clone, Copy, Debug)]
pub struct RowKey {
    /// The direction of its data.
    pub flow: FlowKey,
    /// When the monitor saw it.
    pub time: Time,
    /// Its first sequence number.
    pub start: SeqNum,
    /// Since when its connection was there: what came before is of another one.
    pub since: Time,
    /// Up to when an acknowledgement must have passed the monitor to have reached the sender before this was sent; none
    /// where no acknowledgement made it, or that time is not known.
    pub heard_by: Option<Time>,
}

/// Where the packets of a row are, as the caller numbers frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RowFrames {
    /// The retransmission.
    pub itself: Option<u64>,
    /// The last packet before it with its first sequence number.
    pub before: Option<u64>,
    /// The last acknowledgement that can have reached the sender before it was sent.
    pub trigger: Option<u64>,
}

type Flows = HashMap<FlowKey, Flow, Key>;

/// Acknowledgements of a direction that are remembered: of a path with more of them in a round trip a monitor away from the
/// sender cannot tell.
const REMEMBERED: usize = 256;

/// An acknowledgement.
#[derive(Clone, Copy, Debug)]
struct Heard {
    frame: u64,
    at: Time,
    /// Its own time stamp, where it has one.
    stamp: Option<u32>,
}

/// The rows of one direction of all connections between two ends.
#[derive(Debug, Default)]
struct Flow {
    /// Rows whose packet may still come, by their first sequence number, in the order of time.
    open: BTreeMap<u32, Vec<u32>>,
    /// Whether any row has a trigger.
    has_triggers: bool,
    /// The newest acknowledgements of this direction's data, the last one at the end.
    heard: VecDeque<Heard>,
    acked: Option<SeqNum>,
}

/// Finds the frames of rows.
#[derive(Debug)]
pub struct Frames {
    rows: Vec<RowKey>,
    found: Vec<RowFrames>,
    flows: Flows,
}

impl Frames {
    /// Looks for these rows.
    #[must_use]
    pub fn new(rows: Vec<RowKey>) -> Self {
        let mut order: Vec<u32> = (0..rows.len() as u32).collect();
        order.sort_by_key(|&row| rows[row as usize].time);
        let mut flows = Flows::default();
        for number in order {
            let row = &rows[number as usize];
            let flow = flows.entry(row.flow).or_default();
            flow.open.entry(row.start.get()).or_default().push(number);
            flow.has_triggers |= row.heard_by.is_some();
        }
        Frames {
            found: vec![RowFrames::default(); rows.len()],
            rows,
            flows,
        }
    }

    /// Looks at a packet, in the order of the capture.
    pub fn packet(&mut self, frame: u64, at: Time, headers: &Headers) {
        if let Some(flow) = self.flows.get_mut(&headers.flow.reversed()) {
            flow.acknowledged(frame, at, headers);
        }
        if let Some(flow) = self.flows.get_mut(&headers.flow) {
            flow.sent(&self.rows, &mut self.found, (frame, at), headers);
        }
    }

    /// What was found of each row, in the order given.
    #[must_use]
    pub fn finish(self) -> Vec<RowFrames> {
        self.found
    }
}

impl Flow {
    fn acknowledged(&mut self, frame: u64, at: Time, headers: &Headers) {
        if !self.has_triggers || !headers.flags.ack() || headers.flags.rst() {
            return;
        }
        // A packet with data that says nothing new of what came makes no sender retransmit.
        let says =
            headers.payload_len == 0 || !headers.sack.is_empty() || self.acked != Some(headers.ack);
        self.acked = Some(headers.ack);
        if !says {
            return;
        }
        if self.heard.len() == REMEMBERED {
            self.heard.pop_front();
        }
        let stamp = headers.timestamps.map(|stamps| stamps.value);
        self.heard.push_back(Heard { frame, at, stamp });
    }

    /// The newest acknowledgement that the sender of `headers` can have had. Where packets have time stamps, it is none that
    /// is younger than what the sender echoes (RFC 7323 §4.3).
    fn trigger(&self, row: &RowKey, headers: &Headers) -> Option<u64> {
        let heard_by = row.heard_by?;
        let echo = headers.timestamps.map(|stamps| stamps.echo);
        let of_it = |heard: &&Heard| {
            let younger = heard.stamp.zip(echo);
            heard.at <= heard_by
                && younger.is_none_or(|(stamp, echo)| echo.wrapping_sub(stamp) < 1 << 31)
        };
        let heard = self.heard.iter().rev().find(of_it)?;
        (heard.at >= row.since).then_some(heard.frame)
    }

    fn sent(
        &mut self,
        rows: &[RowKey],
        found: &mut [RowFrames],
        (frame, at): (u64, Time),
        headers: &Headers,
    ) {
        let len = headers.seq_len();
        let first = headers.seq.get();
        let last = first.wrapping_add(len.max(1) - 1);
        let (one, other) = if first <= last {
            (first..=last, None)
        } else {
            (first..=u32::MAX, Some(0..=last))
        };
        let covers = |row: &RowKey| len > 0 && row.since <= at;
        // The row of this packet, and whether another packet of its time was taken for it.
        let mut itself: Option<(u32, bool)> = None;
        let mut over = Vec::new();
        let open = self.open.range(one);
        for (start, numbers) in open.chain(other.into_iter().flat_map(|more| self.open.range(more)))
        {
            for &number in numbers {
                let row = &rows[number as usize];
                let is_found = found[number as usize].itself.is_some();
                if row.time == at && itself.is_none_or(|(_, is_found)| is_found) {
                    itself = Some((number, is_found));
                } else if is_found && row.time < at {
                    over.push(*start);
                } else if !is_found && covers(row) {
                    found[number as usize].before = Some(frame);
                }
            }
        }
        if let Some((number, is_found)) = itself {
            let of_row = &mut found[number as usize];
            if is_found && covers(&rows[number as usize]) {
                // Of two copies with one time stamp the later one is the retransmission.
                of_row.before = of_row.itself;
            }
            of_row.itself = Some(frame);
            of_row.trigger = self.trigger(&rows[number as usize], headers);
        }
        for start in over {
            if let Some(numbers) = self.open.get_mut(&start) {
                numbers.retain(|&row| {
                    rows[row as usize].time >= at || found[row as usize].itself.is_none()
                });
                if numbers.is_empty() {
                    self.open.remove(&start);
                }
            }
        }
    }
}

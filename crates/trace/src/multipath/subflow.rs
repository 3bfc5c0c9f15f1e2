//! One subflow: where its bytes are in the connection's data.

use rexmit_tcp::Need;
use rexmit_time::{Duration, Time};
use rexmit_wire::mptcp::Mapping;
use rexmit_wire::{FlowKey, SeqNum, SeqRange};

use crate::analyzer::Of;
use crate::event::Direction;
use crate::rows::{self, Evidence, Role};

/// The connection of TCP that a subflow is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Whose {
    /// Its number.
    pub connection: u64,
    /// Its first packet.
    pub start: Time,
    /// Client to server.
    pub flow: FlowKey,
}

/// A subflow, as its Multipath TCP connection knows it.
#[derive(Debug)]
pub(super) struct Subflow {
    pub whose: Whose,
    pub role: Option<Role>,
    /// Its client is the connection's second side.
    pub flipped: bool,
    /// Both directions as senders.
    pub directions: [SubflowDirection; 2],
    pub ended: bool,
    /// Its row, which waits for the other subflows.
    pub row: Option<Of<Box<rows::Connection>>>,
}

/// One direction of a subflow.
#[derive(Debug, Default)]
pub(super) struct SubflowDirection {
    first: First,
    /// The last mapping: its place, its number on the subflow, and its length.
    mapping: Option<(i64, u32, u32)>,
    /// The highest number sent, and the highest place below it.
    top: Option<(SeqNum, i64)>,
    /// What was acknowledged on the subflow.
    pub acked: Option<SeqNum>,
    /// Bytes of data that went first here.
    pub data_bytes: u64,
    /// Re-injections, needed and spurious, and the time that was waited for them.
    pub reinjections: [u32; Need::ALL.len()],
    pub waited: Duration,
}

/// The initial sequence number, which mappings count from.
#[derive(Clone, Copy, Debug, Default)]
enum First {
    #[default]
    Unknown,
    /// As the mapping with this number has it, if its first packet was seen.
    Guessed(SeqNum, u32),
    Known(SeqNum),
}

/// A retransmission of a subflow itself.
#[derive(Clone, Copy, Debug)]
pub(super) struct Retransmitted {
    pub subflow: u32,
    pub direction: Direction,
    pub at: Time,
    pub range: SeqRange,
    pub need: Need,
    pub evidence: Evidence,
    /// When it was sent first, as far as the subflow tells.
    pub first_sent: Option<Time>,
}

impl Subflow {
    pub(super) fn new(whose: Whose, role: Option<Role>, flipped: bool) -> Self {
        Subflow {
            whose,
            role,
            flipped,
            directions: [SubflowDirection::default(), SubflowDirection::default()],
            ended: false,
            row: None,
        }
    }

    /// The connection's side that sends in a direction of the subflow.
    pub(super) const fn side(&self, direction: Direction) -> usize {
        direction as usize ^ self.flipped as usize
    }

    /// The direction of the subflow in which a side of the connection sends.
    pub(super) const fn direction(&self, side: usize) -> Direction {
        if (side == 0) == self.flipped {
            Direction::Backward
        } else {
            Direction::Forward
        }
    }

    /// The flow of a direction.
    pub(super) fn flow(&self, direction: Direction) -> FlowKey {
        match direction {
            Direction::Forward => self.whose.flow,
            Direction::Backward => self.whose.flow.reversed(),
        }
    }
}

impl SubflowDirection {
    /// The initial sequence number was seen.
    pub(super) fn begins(&mut self, isn: SeqNum) {
        self.first = First::Known(isn);
    }

    /// What of `payload` begins where in the data: the first number, the place, the length. None if that is not known.
    ///
    /// `mapping` is that of the packet, its first number's place resolved; without one, the packet before says.
    pub(super) fn locate(
        &mut self,
        payload: SeqRange,
        mapping: Option<(i64, &Mapping)>,
    ) -> Option<(SeqNum, i64, u32)> {
        if let Some((place, mapping)) = mapping {
            // A DATA_FIN alone has no bytes of the subflow.
            if mapping.subflow_seq == 0 {
                return None;
            }
            self.guess(payload.start, mapping.subflow_seq);
            self.mapping = Some((place, mapping.subflow_seq, u32::from(mapping.len)));
        }
        let (First::Known(isn), Some((place, number, len))) = (self.first, self.mapping) else {
            return None;
        };
        let begin = isn + number;
        let ahead = payload.start.offset_from(begin);
        let (skipped, ahead) = (ahead.min(0).unsigned_abs(), ahead.max(0).unsigned_abs());
        let len = (payload.len().saturating_sub(skipped)).min(len.saturating_sub(ahead));
        (len > 0).then(|| (payload.start + skipped, place + i64::from(ahead), len))
    }

    /// Learns the initial number of a subflow whose beginning was not seen. The first packet of a mapping says it, and
    /// those behind say a higher one: it is right if two mappings say the same.
    fn guess(&mut self, seq: SeqNum, number: u32) {
        let isn = SeqNum::new(seq.get().wrapping_sub(number));
        self.first = match self.first {
            First::Known(known) => First::Known(known),
            First::Guessed(guess, other) if guess == isn && other != number => First::Known(isn),
            First::Guessed(guess, _) if !isn.is_before(guess) => return,
            _ => First::Guessed(isn, number),
        };
    }

    /// Mappings do not hold any more.
    pub(super) fn forget_mapping(&mut self) {
        self.mapping = None;
        self.first = First::Unknown;
    }

    /// Notes a packet with data `place..`; the highest place before it, if it is next on the subflow or behind a gap.
    pub(super) fn advance(&mut self, range: SeqRange, end: i64) -> Option<i64> {
        match &mut self.top {
            Some((highest, place)) if !range.start.is_before(*highest) => {
                let before = *place;
                *highest = range.end;
                *place = before.max(end);
                Some(before)
            }
            Some(_) => None,
            top => {
                *top = Some((range.end, end));
                None
            }
        }
    }

    /// The other side acknowledges.
    pub(super) fn acknowledged(&mut self, ack: SeqNum) {
        if self.acked.is_none_or(|acked| ack.is_after(acked)) {
            self.acked = Some(ack);
        }
    }
}

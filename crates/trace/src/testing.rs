//! What unit tests begin with.

use rexmit_tcp::{Mechanism, Need, SackList};
use rexmit_time::{Duration, Time};
use rexmit_wire::headers::Record;
use rexmit_wire::{Flags, SeqNum, SeqRange};

use crate::event::{Acked, Direction, Event, Sent, SentKind};
use crate::measures::Handshake;
use crate::necessary::Witness;
use crate::rows::{Connection, Evidence, Position, Retransmission, SenderRow};

pub(crate) use rexmit_testing::{bare, flow};

/// The row of a connection that lasted no time, and of which nothing else is known.
pub(crate) fn connection() -> Connection {
    Connection {
        flow: flow(40_000),
        start: Time::ZERO,
        end: Time::ZERO,
        handshake_rtt: None,
        mid_stream: false,
        one_sided: false,
        closed: "fin",
        evicted: false,
        handshake: Handshake::Unseen,
        reset: None,
        alert: None,
        forward: SenderRow::default(),
        backward: SenderRow::default(),
        multipath: None,
    }
}

/// A needed retransmission of which the packets show all that any mechanism needs, and that nothing names.
pub(crate) fn retransmission() -> Retransmission {
    Retransmission {
        direction: Direction::Forward,
        time: Time::ZERO,
        range: SeqRange::new(SeqNum::new(0), 1448),
        length: 1448,
        first_sent: None,
        copy: 1,
        mechanism: Mechanism::Unknown,
        confidence: 0.0,
        runner_up: None,
        shown: true,
        disordered: false,
        certainty: 1.0,
        need_confidence: 1.0,
        position: Position::Sender,
        either: false,
        witness: Witness::of_all(),
        missing: None,
        need: Need::Needed,
        evidence: Evidence::None,
        episode: 0,
        episode_cause: Mechanism::Unknown,
        detection: None,
        detection_most: None,
        recovery: None,
        waited: Duration::ZERO,
        waited_most: Duration::ZERO,
        timer: None,
        opinions: None,
        moving_rtt: None,
        flight_segments: 1,
        flight_bytes: 1448,
        lost_in_flight: 1,
        multipath: None,
    }
}

/// A packet that bears an acknowledgement and nothing else, as a connection keeps it.
pub(crate) fn event(at: Time, direction: Direction) -> Event {
    Event {
        at,
        direction,
        seq: SeqNum::new(0),
        ack: SeqNum::new(0),
        payload_len: 0,
        flags: Flags::ACK,
        window: 65_535,
        record: Record::None,
        ip_id: None,
        timestamps: None,
        sacks: (0, 0),
    }
}

/// A packet that a sender beside the monitor sent, without stamps.
pub(crate) fn sent(at: Time, range: SeqRange, kind: SentKind) -> Sent {
    Sent {
        at,
        range,
        kind,
        flags: Flags::ACK,
        stamp: None,
        echo: None,
        slack: Duration::ZERO,
        own_time: true,
        counted: false,
        missing: None,
    }
}

/// An acknowledgement that reached it, with a large window.
pub(crate) fn acked(at: Time, ack: SeqNum) -> Acked {
    Acked {
        at,
        ack,
        window: 1 << 20,
        sacks: SackList::default(),
        dsack: None,
        stamp: None,
        echo: None,
        carried: SeqRange::default(),
        slack: Duration::ZERO,
    }
}

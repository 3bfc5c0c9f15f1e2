//! What unit tests begin with.

use rexmit_tcp::{Mechanism, Need};
use rexmit_time::{Duration, Time};
use rexmit_wire::headers::{Notes, Record, Sack};
use rexmit_wire::{Flags, FlowKey, Headers, SeqNum, SeqRange};

use crate::event::Direction;
use crate::necessary::Witness;
use crate::rows::{Evidence, Position, Retransmission};

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

/// A packet that bears an acknowledgement and nothing else.
pub(crate) fn bare(flow: FlowKey) -> Headers {
    Headers {
        flow,
        seq: SeqNum::new(0),
        ack: SeqNum::new(0),
        payload_len: 0,
        window: 0,
        flags: Flags::ACK,
        ttl: 64,
        ip_id: None,
        dont_fragment: true,
        ecn: 0,
        record: Record::None,
        notes: Notes::default(),
        timestamps: None,
        sack: Sack::default(),
        syn: None,
    }
}

/// From one host to another.
pub(crate) fn flow(src_port: u16) -> FlowKey {
    FlowKey {
        src: "10.0.0.1".parse().unwrap(),
        dst: "10.0.0.2".parse().unwrap(),
        src_port,
        dst_port: 80,
    }
}

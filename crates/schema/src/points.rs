//! The tables of captures of the same connections at several points.

use crate::column::{boolean, integer, number, text, Column, Table};
use crate::Place;

/// What a trace's folder has besides, where its captures are of several points.
pub const PLACE: Place = Place {
    name: "points",
    about: "What `rexmit trace --out` writes besides, where the captures show the same packets at several points. Times in \
            seconds are of the first point's clock, times in nanoseconds of the clock of the point that they are of, as its \
            capture has them.",
    tables: &[POINTS, LEGS, FOLLOWED],
};

/// Points.
pub const POINTS: Table = Table {
    name: "points",
    about: "One point at which packets were captured, in the order in which they were given.",
    order: &[],
    groups: &[POINT],
};

/// Directions of connections between points.
pub const LEGS: Table = Table {
    name: "legs",
    about: "One direction of a connection from one point to the next on its way.",
    order: &["connection", "direction", "from_start_ns"],
    groups: &[LEG],
};

/// Packets that were lost or sent again.
pub const FOLLOWED: Table = Table {
    name: "followed",
    about: "One packet that was lost, or that carried something sent before.",
    order: &["connection", "sent_s", "seq_start"],
    groups: &[PACKET],
};

const CONNECTION: Column = integer(
    "connection",
    "number of its connection in the trace, from 0; null where it is not known",
)
.or_null();
const DIRECTION: Column = text(
    "direction",
    "of the data: forward or backward; null with its connection",
)
.or_null();

const POINT: &[Column] = &[
    text("point", "its name"),
    text("files", "its captures, by commas"),
    integer("packets", "TCP packets captured"),
    integer(
        "shared",
        "packets by which its clock was held against another point's; 0 for the first point",
    ),
    number(
        "offset_s",
        "what its clock shows more than the first point's, in the middle of the capture",
    )
    .or_null(),
    number(
        "offset_uncertainty_s",
        "off by so much at most; null where packets went one way only",
    )
    .or_null(),
    number(
        "drift_ppm",
        "what its clock gains on the first point's, millionths",
    )
    .or_null(),
    number("drift_low_ppm", "the least that no packet contradicts").or_null(),
    number("drift_high_ppm", "the most that no packet contradicts").or_null(),
    integer(
        "stretches",
        "stretches of time in each of which its clock went evenly",
    ),
];

const LEG: &[Column] = &[
    CONNECTION,
    text(
        "flow",
        "direction of the data at from_point, source > destination",
    ),
    DIRECTION,
    text("from_point", "the point where it came by"),
    text("to_point", "the next point on its way"),
    text("first_point", "the first point on its way"),
    text("last_point", "the last point on its way"),
    text(
        "to_flow",
        "the direction at to_point: other addresses and ports behind address translation",
    ),
    integer(
        "from_start_ns",
        "its first packet at from_point; null where there was none",
    )
    .or_null(),
    integer(
        "to_start_ns",
        "its first packet at to_point; null where there was none",
    )
    .or_null(),
    integer(
        "packets",
        "packets that came by at from_point while the capture of to_point ran",
    ),
    integer("lost", "those of them that were lost before to_point"),
    integer("data_lost", "of the lost, packets with data"),
    integer(
        "acks_lost",
        "of the lost, acknowledgements and nothing else",
    ),
    integer(
        "missed",
        "packets that came by at to_point, as what came later shows, and are not in its capture",
    ),
    integer(
        "unseen",
        "packets that came by at to_point and are not in the capture of from_point",
    ),
    number("delay_min_s", "least time from from_point to to_point").or_null(),
    number("delay_median_s", "median of it, 2 % off at most").or_null(),
    number("delay_p95_s", "95th percentile of it, 2 % off at most").or_null(),
    number(
        "delay_max_s",
        "longest of it; what is above the least was spent in queues",
    )
    .or_null(),
];

const PACKET: &[Column] = &[
    CONNECTION,
    text("flow", "its direction at the first point that it came by at, source > destination"),
    DIRECTION,
    text("point", "the first point that it came by at"),
    integer("time_ns", "when it did"),
    text("last_point", "the last point that it came by at"),
    integer("last_ns", "when it did"),
    number("sent_s", "when it came by at `point`"),
    number("arrived_s", "when it came by at the last point on its way; null for a lost packet").or_null(),
    integer("seq_start", "first sequence number, as on the wire"),
    integer("seq_end", "one past the last"),
    text("kind", "syn, data, fin, ack or rst"),
    boolean("again", "some of what it carried had been sent before"),
    text("need", "of what was sent again: spurious if all of it had come by at the last point before, else needed").or_null(),
    text("lost", "from which point to which it was lost; null for one that was not").or_null(),
    text("previous_lost", "of what was sent again: where the copy before was lost; null where none was, as far as the points tell").or_null(),
];

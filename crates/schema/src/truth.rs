//! The tables of a corpus whose retransmissions are known: the truth of kernels and of the model alike.

use crate::column::{boolean, integer, number, text, Column, Table};
use crate::Place;

/// A corpus of the model.
pub const PLACE: Place = Place {
    name: "truth",
    about: "What `rexmit validate synth` writes beside its captures. Times are seconds of the captures' clock.",
    tables: &[RETRANSMISSIONS, CONNECTIONS],
};

/// A corpus of a kernel.
pub const OF_KERNELS: Place = Place {
    name: "kernel-truth",
    about: "What `rexmit validate truth` writes beside its captures, in the same way: the sending kernel says of a \
            retransmission what its timers were; what the model alone knows is missing.",
    tables: &[KERNEL_RETRANSMISSIONS, KERNEL_CONNECTIONS, WAITS],
};

/// Packets that were sent again.
pub const RETRANSMISSIONS: Table = Table {
    name: "retransmissions",
    about: "One packet that carried anything again, whoever captured it.",
    order: &[],
    groups: &[RETRANSMISSION, &[WAY], WHERE],
};

/// Connections.
pub const CONNECTIONS: Table = Table {
    name: "connections",
    about: "One connection, by the direction that sends most.",
    order: &[],
    groups: &[CONNECTION],
};

/// Packets that a kernel sent again.
pub const KERNEL_RETRANSMISSIONS: Table = Table {
    groups: &[RETRANSMISSION, WHERE, KERNEL],
    ..RETRANSMISSIONS
};

/// Connections between kernels.
pub const KERNEL_CONNECTIONS: Table = Table {
    groups: &[KERNEL_CONNECTION],
    ..CONNECTIONS
};

/// What the sockets of a kernel waited for.
pub const WAITS: Table = Table {
    name: "waits",
    about: "What one direction of a connection waited for, by a kernel that records it (`rexmit kernel build --patch \
            tcp-record-waits`). The rows of a direction follow one another, from the connection's first packet to its last.",
    order: &[],
    groups: &[WAIT],
};

const WAIT: &[Column] = &[
    PART,
    text("flow", "address and port of who sends > of the other"),
    text("wait", "the kernel's own word for it; empty: nothing waited to be sent"),
    text(
        "owner",
        "whose the time was (docs/notes/waits.md): connecting, client, between-requests, server, program (it had written nothing \
         more, and data were on their way), sender, nagle, receiver-window, congestion-window, held (by the path), recovery, round-trip, unanswered, closing",
    ),
    integer("sender_from_ns", "when it began, as the sender's capture sees it"),
    integer("sender_to_ns", "when it ended there"),
    integer("switch_from_ns", "when it began, as the switch's capture sees it"),
    integer("switch_to_ns", "when it ended there"),
    integer("receiver_from_ns", "when it began, as the receiver's capture sees it"),
    integer("receiver_to_ns", "when it ended there"),
];

const RETRANSMISSION: &[Column] = &[
    text(
        "part",
        "which captures: NAME of captures/NAME-sender.pcapng",
    )
    .known(),
    text("flow", "address and port of who sent it > of the other"),
    integer("seq_start", "first sequence number, as on the wire"),
    integer(
        "seq_end",
        "the number after the last; SYN and FIN count one",
    ),
    text("mechanism", "why the sender sent it again, by itself"),
    text("need", "needed or spurious, by what the network delivered"),
    boolean("dropped", "this copy was lost as well"),
    number("first_sent_s", "its first number was first sent"),
    number("sender_s", "it came by at the sender").or_null(),
    number("switch_s", "it came by at the switch").or_null(),
    number("receiver_s", "it came by at the receiver").or_null(),
    integer("sender_ns", "the same, nanoseconds").or_null(),
    integer("switch_ns", "the same, nanoseconds").or_null(),
    integer("receiver_ns", "the same, nanoseconds").or_null(),
    integer("bytes_outstanding", "sent and not acknowledged then").or_null(),
    text("cause", "the sender's own word for why"),
];

const WAY: Column = text(
    "direction",
    "forward: from the client, who opened; backward",
);

const WHERE: &[Column] = &[
    text("home", "sender or receiver: the point beside who sent it"),
    KIND,
];

const KIND: Column = text("kind", "what its captures are like: plain, or of `--kinds`").known();

const KERNEL: &[Column] = &[
    integer(
        "first_sent_ns",
        "its first number was first sent, nanoseconds",
    ),
    number("rto_s", "the sender's retransmission timeout then").or_null(),
    number("srtt_s", "the sender's smoothed round-trip time then").or_null(),
    integer("backoff", "how often the timeout had been doubled"),
];

const PART: Column = text("part", "which captures").known();
const FLOW: Column = text("flow", "the direction that sends most");
const STACK: Column = text("stack", "the stack of who sends most");
const SETTINGS: Column = text("settings", "constants of both stacks, JSON");
const NETWORK: Column = text("network", "the network between them, JSON");
const BYTES: Column = integer("bytes", "payload bytes that way, each counted once");
const SEGMENTS: Column = integer(
    "segments",
    "packets with payload that way, retransmissions too",
);
const LOST_SEGMENTS: Column = integer("lost_segments", "those of them that were lost");
const DURATION: Column = number("duration_s", "from the first packet to the last");

const CONNECTION: &[Column] = &[
    PART,
    FLOW,
    STACK,
    text("receiver_stack", "the stack of the other"),
    SETTINGS,
    NETWORK,
    text("workload", "what it was used for, JSON"),
    BYTES,
    SEGMENTS,
    LOST_SEGMENTS,
    integer("retransmissions", "retransmissions both ways"),
    integer(
        "spurious_retransmissions",
        "those of them that were spurious",
    ),
    number("start_s", "the first packet"),
    DURATION,
    text("direction", "of the flow: forward or backward"),
    KIND,
];

const KERNEL_CONNECTION: &[Column] = &[
    PART,
    FLOW,
    STACK,
    SETTINGS,
    NETWORK,
    BYTES,
    SEGMENTS,
    LOST_SEGMENTS,
    DURATION,
    boolean("complete", "everything was said and both ends have closed"),
    KIND,
];

//! The tables of a corpus whose retransmissions are known: the truth of kernels and of the model alike.

use crate::column::{boolean, integer, number, text, Column, Table};
use crate::Place;

/// A corpus.
pub const PLACE: Place = Place {
    name: "truth",
    about: "What `rexmit validate truth` and `rexmit validate synth` write beside their captures. Times are seconds of the \
            captures' clock.",
    tables: &[RETRANSMISSIONS, CONNECTIONS],
};

/// Packets that were sent again.
pub const RETRANSMISSIONS: Table = Table {
    name: "retransmissions",
    about: "One packet that carried anything again, whoever captured it.",
    order: &[],
    groups: &[RETRANSMISSION],
};

/// Connections.
pub const CONNECTIONS: Table = Table {
    name: "connections",
    about: "One connection, by the direction that sends most.",
    order: &[],
    groups: &[CONNECTION],
};

const RETRANSMISSION: &[Column] = &[
    text(
        "part",
        "which captures: NAME of captures/NAME-sender.pcapng",
    ),
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
    text(
        "direction",
        "forward: from the client, who opened; backward",
    )
    .later(),
    text("home", "sender or receiver: the point beside who sent it").later(),
    text("kind", "what its captures are like: plain, or of `--kinds`").later(),
];

const CONNECTION: &[Column] = &[
    text("part", "which captures"),
    text("flow", "the direction that sends most"),
    text("stack", "the stack of who sends most"),
    text("receiver_stack", "the stack of the other").later(),
    text("settings", "constants of both stacks, JSON"),
    text("network", "the network between them, JSON"),
    text("workload", "what it was used for, JSON").later(),
    integer("bytes", "payload bytes that way, each counted once"),
    integer(
        "segments",
        "packets with payload that way, retransmissions too",
    ),
    integer("lost_segments", "those of them that were lost"),
    integer("retransmissions", "retransmissions both ways").later(),
    integer(
        "spurious_retransmissions",
        "those of them that were spurious",
    )
    .later(),
    number("start_s", "the first packet").later(),
    number("duration_s", "from the first packet to the last"),
    text("direction", "of the flow: forward or backward").later(),
    text("kind", "what its captures are like: plain, or of `--kinds`").later(),
];

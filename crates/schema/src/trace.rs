//! The tables of a trace: what the analysis of captures says.

use crate::column::{boolean, integer, number, text, Column, Table};
use crate::run::{FIRST_SENT, LENGTH, MECHANISM, NEED, TIME};
use crate::Place;

/// A trace's folder.
pub const PLACE: Place = Place {
    name: "trace",
    about: "What `rexmit trace --out` writes. Times are seconds of the monitor's clock, as the capture has them; sequence \
            numbers are 32-bit numbers of the wire, ranges half-open with SYN and FIN counting one. Directions: `forward` \
            is from the client, who opened the connection or sent the first packet.",
    tables: &[CONNECTIONS, SIDES, MECHANISMS, PARAMETERS, RETRANSMISSIONS, WHATIF, WHATIF_TOTALS, ACCOUNT, REQUESTS],
};

/// Connections.
pub const CONNECTIONS: Table = Table {
    name: "connections",
    about: "One connection.",
    order: &["connection"],
    groups: &[CONNECTION_ROW],
};

/// Sides of connections.
pub const SIDES: Table = Table {
    name: "sides",
    about: "One side of a connection, as a sender: each connection has two rows, that of the client (`forward`) and that of \
            the server (`backward`).",
    order: &["connection", "direction"],
    groups: &[DATA, SIDE],
};

/// Whose the time of connections was.
pub const ACCOUNT: Table = Table {
    name: "account",
    about: "Whose the time of one direction of a connection was (docs/explanation/time.md). Every instant has one owner: the rows \
            of a direction add up to the connection's duration.",
    order: &["connection", "direction"],
    groups: &[DATA, OF_OWNER],
};

/// What clients asked of servers.
pub const REQUESTS: Table = Table {
    name: "requests",
    about: "A request and its answer (docs/explanation/requests.md): times are the monitor's. Names, methods and paths are foreign \
            text, as hosts sent it; there are none where `--no-names` was given.",
    order: &["connection", "number"],
    groups: &[REQUEST],
};

/// Retransmissions of a sender by mechanism.
pub const MECHANISMS: Table = Table {
    name: "mechanisms",
    about: "The retransmissions of one side of a connection by one mechanism; without a row there is none.",
    order: &["connection", "direction"],
    groups: &[DATA, OF_MECHANISM],
};

/// What of a sender's settings its retransmissions show.
pub const PARAMETERS: Table = Table {
    name: "parameters",
    about: "One of the six parameters of UNC 2007, Table I, of one side of a connection; without a row nothing shows it.",
    order: &["connection", "direction"],
    groups: &[DATA, OF_PARAMETER],
};

/// Packets that were sent again.
pub const RETRANSMISSIONS: Table = Table {
    name: "retransmissions",
    about: "One packet that carried anything sent before.",
    order: &["connection", "time_ns", "seq_start"],
    groups: &[DATA, RETRANSMISSION],
};

/// What other settings would have done.
pub const WHATIF: Table = Table {
    name: "whatif",
    about: "What another setting would have changed for one sender; without a row it would have changed nothing.",
    order: &["connection", "direction"],
    groups: &[DATA, &[SETTING], EFFECT],
};

/// A grid's settings, summed up.
pub const WHATIF_TOTALS: Table = Table {
    name: "whatif_totals",
    about: "What a grid's setting would have changed, over all senders of a stack. Rows of a stack and setting add up.",
    order: &["stack", "setting"],
    groups: &[TOTAL, EFFECT],
};

const CAPTURE: Column = text("capture", "path of its (first) file, - for standard input");
const CONNECTION: Column = integer(
    "connection",
    "number of its connection in the trace, from 0",
);
const MPTCP_CONNECTION: Column = integer(
    "mptcp_connection",
    "of a subflow: its Multipath TCP connection, by the number of that one's first subflow",
)
.or_null();

/// Whose the data are.
const DATA: &[Column] = &[
    CAPTURE.off_page(),
    CONNECTION,
    text("flow", "direction of the data, source > destination").off_page(),
    text("direction", "of the data: forward or backward"),
];

const REQUEST: &[Column] = &[
    CAPTURE.off_page(),
    CONNECTION,
    text("flow", "client > server"),
    integer("number", "which of its connection, from 0"),
    text(
        "kind",
        "`http` (HTTP/1), `tls` (data over TLS), `dns` (over TCP), `tls-set-up`, `greeting` (what the server sends first), `turn` (of \
         another protocol)",
    ),
    integer("start_ns", "its first byte; of a greeting, the end of the handshake"),
    integer("asked_ns", "its last byte"),
    integer("first_ns", "first byte of the answer").or_null(),
    integer("last_ns", "last byte of the answer").or_null(),
    integer("sent_bytes", "payload of the request, retransmissions not counted").off_page(),
    integer("received_bytes", "payload of the answer, retransmissions not counted").off_page(),
    integer(
        "requests",
        "so many at least: of more than one, which the client sent before it had all of the answer, the row is the time in which at \
         least one was under way",
    ),
    text("owner", "whose most of the time was, from `start_ns` to `last_ns` or the connection's end (docs/explanation/time.md)"),
    integer("owner_ns", "how much of it"),
    text("name", "the server's: Host of HTTP/1, else of the ClientHello (SNI), else the one whose address the client was told (DNS)").or_null(),
    text("method", "of HTTP/1; of DNS, the type that is asked for").or_null(),
    text("path", "of HTTP/1, without query and parameters; of DNS, the name that is asked for").or_null(),
    integer("status", "of a response of HTTP/1").or_null(),
];

const CONNECTION_ROW: &[Column] = &[
    CAPTURE,
    CONNECTION,
    text("flow", "client > server"),
    number("start_s", "first packet"),
    number("end_s", "last packet"),
    number("duration_s", "end_s - start_s, think times included"),
    number("waited_s", "time in which either end waited, or both (docs/reference/glossary.md): the sum over its rows of `mechanisms`"),
    number("handshake_rtt_s", "SYN to the client's first ACK").or_null(),
    number("handshake_server_s", "the part of it beyond the monitor").or_null().off_page(),
    boolean("mid_stream", "the first packet seen was no SYN"),
    boolean("one_sided", "only one direction was seen"),
    text("closed", "by what it was closed: fin, rst, or open"),
    boolean("evicted", "it was put out to make room for others"),
    text("handshake", "what became of it: complete; half-open: no ACK of the SYN-ACK; refused: an RST answered the SYN; unreachable: ICMP did; unanswered; unseen: not, or only one side of it"),
    text("reset_by", "who sent the first RST that fits: client or server").or_null(),
    text("reset_state", "the state it came in: syn-sent, syn-received, established, half-closed (after one FIN), closed (after both)").or_null(),
    text("reset_after", "the packet before it, as in client data").or_null(),
    number("reset_silence_s", "from that packet to the RST").or_null(),
    text("alert_by", "who ended the handshake of TLS by a fatal alert: client or server").or_null(),
    text("alert", "what the alert says (RFC 8446 section 6), as in protocol_version").or_null(),
    MPTCP_CONNECTION,
    integer("mptcp_subflow", "which of its subflows, from 1, as they began").or_null().off_page(),
    text("mptcp_role", "how the subflow began: initial (MP_CAPABLE) or join (MP_JOIN)").or_null().off_page(),
    integer("mptcp_version", "version of Multipath TCP, if seen").or_null(),
];

const SIDE: &[Column] = &[
    integer("packets", "packets; what the capture recorded more than once counts once"),
    integer("bytes", "payload bytes seen, retransmissions counted"),
    integer("unique_bytes", "different payload bytes"),
    integer("segments", "packets with payload, retransmissions counted"),
    integer("wire_segments", "as many as the wire carried, at least: a network card may cut one packet up"),
    integer("mss_bytes", "maximum segment size offered").or_null(),
    integer("window_scale", "window scale offered").or_null().off_page(),
    boolean("sack_permitted", "SACK offered").off_page(),
    boolean("timestamps", "timestamps offered"),
    boolean("mptcp", "Multipath TCP offered").off_page(),
    text("syn_signature", "its SYN as a signature").or_null(),
    text("syn_system", "the system that the signature names").or_null(),
    integer("reordered", "packets that came late"),
    integer("network_duplicates", "packets doubled by the network"),
    integer("capture_duplicates", "packets doubled by the capture"),
    integer("capture_losses", "packets that the capture must have missed"),
    integer("probes", "keep-alives and zero-window probes").off_page(),
    text("position", "where the monitor stood: sender, midway, receiver, unknown").or_null(),
    number("monitor_delay_s", "from the monitor to this sender and back").or_null(),
    number("rtt_min_s", "smallest round-trip time").or_null(),
    number("rtt_avg_s", "average round-trip time").or_null().off_page(),
    number("rtt_max_s", "largest round-trip time").or_null().off_page(),
    integer("rtt_samples", "samples of the round-trip time"),
    text("stack", "the stack that explains every retransmission, several, or none").or_null(),
    number("stack_confidence", "how sure that is, 0 to 1").or_null().off_page(),
    text("stacks", "all stacks that explain every retransmission, by commas").or_null(),
    number("best_case_s", "the Best-Case reduction of UNC 2007: no spurious retransmission, and no needed timeout later than the largest round-trip time").or_null(),
    integer("data_bytes", "of a subflow: data of the Multipath TCP connection that went first here").or_null().off_page(),
    integer("syns", "SYNs of the client, SYN-ACKs of the server; the first counts"),
    integer("resets", "RSTs sent"),
    integer("window_probes", "of its probes, those of a closed window"),
    integer("zero_windows", "how often it closed its window"),
    number("zero_window_s", "time in which its own window was closed, to its opening, a reset, or the end"),
    number("window_full_s", "time in which it had more to send and its peer's window was full; a window that is closed does not count. Null where the window's scale was not seen").or_null(),
    integer("bytes_retransmitted", "payload bytes sent again"),
    number("rtt_median_s", "median round-trip time, 2 % off at most").or_null(),
    number("rtt_p95_s", "95th percentile of it, 2 % off at most").or_null(),
    number("data_s", "from its first packet with data to its last").or_null(),
    integer("congestion_marks", "how often its peer told it of congestion marks (ECE, RFC 3168), once for each flight"),
    integer("unacked_sends", "how often the first byte was sent that nothing acknowledged by the end; null where it was sent once, all was acknowledged, or its peer acknowledges nothing").or_null(),
    integer("unanswered_sends", "how often of those no packet of its peer can be an answer: none but a RST that ends it came a round trip later").or_null(),
    number("unanswered_s", "from its peer's last packet, a RST that ends it apart, to the last of unacked_sends").or_null(),
    integer("unacked_size_bytes", "payload of the smallest packet of unacked_sends; 0 where it cannot be told").or_null(),
    integer("acked_size_bytes", "of a side with unacked_sends: payload of its largest packet that was acknowledged").or_null(),
];

const OF_OWNER: &[Column] = &[
    text(
        "owner",
        "whose it was: connecting, client (its program), between-requests (its program, after a response), messages (sent unasked, at a program's own pace), server (its program), tls-set-up (both programs), unanswered (the last request), \
         round-trip, receiver-window, nagle, sender (its program, buffer or pacing), late-or-lost (its program, or a loss before the capture), slow-start, small-window (after losses or reordering), \
         path-rate, policer, recovery-timer, recovery-probe, recovery-fast, path-mtu, peer-gone, closing (after the last byte), unknown",
    ),
    boolean("asked", "the user waited for this direction: the one with more data"),
    integer("length_ns", "how long in all, in nanoseconds, exact"),
    integer("stretches", "how many stretches of time it has"),
    integer("slow", "of those, how many took 0.2 s or more"),
    integer("slow_ns", "how long these took in all, in nanoseconds").off_page(),
    integer("slow_least_ns", "the shortest of these, in nanoseconds").or_null(),
    integer("longest_ns", "the longest stretch, in nanoseconds"),
    integer("evidence_ns", "when that ended, in nanoseconds: when a packet came by, or was with a host by the shortest way from here"),
    integer("other_ns", "how much of it held up the sender of the other direction, while this one's had nothing to send, in nanoseconds").or_null(),
];

const OF_PARAMETER: &[Column] = &[
    text(
        "parameter",
        "d: duplicate ACKs that make a loss; a and b: gains of the deviation and of the smoothed round-trip time; m and k: \
         their factors in the timeout; min_rto_s: the smallest timeout, on Linux the floor of the deviation's term",
    ),
    number("value", "inferred"),
    number("low", "the smallest that explains what was seen"),
    number("high", "the largest that explains what was seen"),
];

const OF_MECHANISM: &[Column] = &[
    text("mechanism", "what made the sender retransmit"),
    integer("needed", "its retransmissions that were needed; before there was `unknown`, also those of which it is not known"),
    integer("spurious", "its retransmissions that were spurious"),
    integer("unknown", "its retransmissions of which it is not known whether they were needed").or_null(),
    number(
        "waited_s",
        "time waited for its retransmissions; where both ends wait, it counts once",
    ),
];

const RETRANSMISSION: &[Column] = &[
    TIME,
    integer("time_ns", "time_s in nanoseconds, exact"),
    integer("seq_start", "first sequence number, as on the wire"),
    integer("seq_end", "one past the last").off_page(),
    LENGTH,
    FIRST_SENT,
    text("packet", "what it is: data, syn, syn-ack, or a fin without data").or_null(),
    integer("copy", "how often its first sequence number had been sent before"),
    MECHANISM,
    number("confidence", "probability that it is a retransmission that the mechanism made; 0 where it is unknown"),
    text("runner_up", "the next best mechanism").or_null(),
    number("runner_up_confidence", "probability of that one, 0 to 1").or_null(),
    number("certainty", "probability that it is a retransmission at all, 0 to 1"),
    boolean("either", "it is mechanism or runner_up, and the packets do not tell which: a timeout and a probe of one packet, or two of which neither is likelier than not"),
    text("basis", "what in the packets shows that the mechanism can have made it; of an unknown one, what it was sent again for though no loss was found (docs/reference/evidence.md)").or_null(),
    integer("basis_ns", "time of the packet that shows it, in nanoseconds; null where it is the time that passed without one").or_null(),
    text("missing", "of an unknown one: what the packets lack for what seemed most likely (docs/reference/evidence.md)").or_null(),
    NEED,
    number("need_confidence", "probability that it is a retransmission and need is right, 0 to 1; 0 where it is unknown"),
    text("evidence", "what says whether it was needed; none: nothing does"),
    integer("episode", "number of its episode in its connection and direction, from 0; re-injections count episodes of the Multipath TCP connection's data, down from -1"),
    text("episode_cause", "mechanism that began the episode"),
    number("detection_s", "from the earlier copy to the retransmission; at least, where nobody saw that copy").or_null(),
    number("detection_most_s", "the same, at most").or_null(),
    text("timed_by", "by what it is known when its sender sent it: sender (a monitor beside it), stamps (its own), or arrival (nothing: when it came by)").or_null().off_page(),
    number("detection_rtts", "detection_s in units of moving_rtt_s").or_null(),
    number("recovery_s", "from the episode's first retransmission to the ACK of all that was sent before it").or_null(),
    number("waited_s", "how long its sender had waited for it (docs/reference/glossary.md); at least, where nobody saw the earlier copy"),
    number("waited_most_s", "the same, at most").or_null(),
    number("timer_s", "the timer that must have run out").or_null(),
    number("moving_rtt_s", "moving average of the round-trip time, weight 1/4 for the new sample").or_null(),
    integer("flight_segments", "segments sent and not acknowledged then"),
    integer("flight_bytes", "bytes sent and not acknowledged then").off_page(),
    integer("lost_in_flight", "segments of its flight that were lost"),
    MPTCP_CONNECTION,
    text("first_flow", "re-injections: the subflow on which its data went first, as in `flow`").or_null(),
    integer("first_subflow", "that subflow's number, as `mptcp_subflow`").or_null(),
];

const SETTING: Column = text(
    "setting",
    "the other setting, as in k=2,min_rto=100ms, d=2, smart, no-tlp",
);

const TOTAL: &[Column] = &[
    CAPTURE,
    text(
        "stack",
        "the senders' stack; none where no stack explains them",
    ),
    text("setting", "the other setting, as in `whatif`"),
    integer("changed", "senders for which it changes something"),
    integer(
        "shorter",
        "of them, whose connection gets shorter by more than a tenth",
    ),
    integer(
        "longer",
        "of them, whose connection gets longer by more than a tenth",
    ),
];

const EFFECT: &[Column] = &[
    integer("avoided", "retransmissions that would not have been made"),
    integer(
        "rto_to_fr",
        "losses found by acknowledgements or a probe, not a timeout",
    ),
    integer(
        "fr_to_rto",
        "losses found by a timeout, not acknowledgements or a probe",
    ),
    integer("spurious_rto_avoided", "spurious timeouts avoided"),
    integer(
        "spurious_fr_avoided",
        "spurious fast retransmits and probes avoided",
    ),
    integer("spurious_rto_caused", "spurious timeouts caused"),
    integer(
        "spurious_fr_caused",
        "spurious fast retransmits and probes caused",
    ),
    number(
        "change_s",
        "change of the connection's duration; negative is shorter",
    ),
    number(
        "waited_change_s",
        "change of the time waited for first repairs; never saves more than was waited",
    ),
];

"""The columns of the tables that `rexmit trace` writes: the one place that names them.

They are the rows of `crates/trace/src/rows.rs`; `connection` joins them. A `connections` row is one
connection with both its directions as senders, a `retransmissions` row one packet that carried
anything sent before, a `whatif` row what another setting would have changed in one direction of a
connection (without a row it would have changed nothing), a `whatif_totals` row the same of a
grid's setting, over all senders of a stack. Times are seconds of the monitor's clock, as the
capture has them; sequence numbers are 32-bit numbers of the wire, ranges half-open with SYN and FIN
counting one.
"""

from __future__ import annotations

from typing import Final

from rexmit.store.schema import FIRST_SENT, LENGTH, MECHANISM, NEED, TIME, Column

MECHANISMS: Final = (
    "rto",
    "rto-recovery",
    "fast-retransmit",
    "sack-recovery",
    "fack",
    "early-retransmit",
    "rack",
    "tlp",
    "mptcp-reinject",
    "unknown",
)
"""In the order of `Mechanism::ALL` (crates/tcp/src/words.rs)."""

SIDES: Final = ("forward", "backward")
"""Directions: `forward` is from the client, who opened the connection or sent the first packet."""

PARAMETERS: Final = ("d", "a", "b", "m", "k", "min_rto_s")
"""The six of UNC 2007, Table I; on Linux `min_rto_s` is the floor of the deviation's term."""

SMART_CONFIG: Final = "smart"
"""The setting of UNC 2007, section V.D: k = 2, minRTO = 100 ms, a = 1/4, b = 1/8 and
D = max(1, min(3, F - 2)), F being what is outstanding at the loss.
"""

_CAPTURE: Final = Column("capture", "text", "path of its (first) file, - for standard input")
_CONNECTION: Final = Column(
    "connection", "integer", "number of its connection in the trace, from 0"
)
_MPTCP: Final = Column(
    "mptcp_connection",
    "integer",
    "of a subflow: its Multipath TCP connection, by the number of that one's first subflow",
    nullable=True,
)
_DATA: Final = (
    _CAPTURE,
    _CONNECTION,
    Column("flow", "text", "direction of the data, source > destination"),
    Column("direction", "text", "of the data: forward or backward"),
)

RETRANSMISSIONS: Final[tuple[Column, ...]] = (
    *_DATA,
    TIME,
    Column("time_ns", "integer", "time_s in nanoseconds, exact"),
    Column("seq_start", "integer", "first sequence number, as on the wire"),
    Column("seq_end", "integer", "one past the last"),
    LENGTH,
    FIRST_SENT,
    Column("copy", "integer", "how often its first sequence number had been sent before"),
    MECHANISM,
    Column(
        "confidence",
        "number",
        "probability that it is a retransmission that the mechanism made; 0 where it is unknown",
    ),
    Column("runner_up", "text", "the next best mechanism", nullable=True),
    Column("runner_up_confidence", "number", "probability of that one, 0 to 1", nullable=True),
    Column("certainty", "number", "probability that it is a retransmission at all, 0 to 1"),
    Column(
        "either",
        "boolean",
        "the wire cannot tell mechanism from runner_up: a timeout and a probe of one packet",
    ),
    NEED,
    Column(
        "need_confidence",
        "number",
        "probability that it is a retransmission and need is right, 0 to 1; 0 where it is unknown",
    ),
    Column("evidence", "text", "what says whether it was needed; none: nothing does"),
    Column(
        "episode",
        "integer",
        "number of its episode in its connection and direction, from 0; re-injections count"
        " episodes of the Multipath TCP connection's data, down from -1",
    ),
    Column("episode_cause", "text", "mechanism that began the episode"),
    Column("detection_s", "number", "from the earlier copy to the retransmission", nullable=True),
    Column("detection_rtts", "number", "detection_s in units of moving_rtt_s", nullable=True),
    Column(
        "recovery_s",
        "number",
        "from the episode's first retransmission to the ACK of all that was sent before it",
        nullable=True,
    ),
    Column("waited_s", "number", "how long its sender had waited for it (docs/glossary.md)"),
    Column("timer_s", "number", "the timer that must have run out", nullable=True),
    Column(
        "moving_rtt_s",
        "number",
        "moving average of the round-trip time, weight 1/4 for the new sample",
        nullable=True,
    ),
    Column("flight_segments", "integer", "segments sent and not acknowledged then"),
    Column("flight_bytes", "integer", "bytes sent and not acknowledged then"),
    Column("lost_in_flight", "integer", "segments of its flight that were lost"),
    _MPTCP,
    Column(
        "first_flow",
        "text",
        "re-injections: the subflow on which its data went first, as in `flow`",
        nullable=True,
    ),
    Column("first_subflow", "integer", "that subflow's number, as `mptcp_subflow`", nullable=True),
)
"""`retransmissions` of a trace; shares `EVERY_RETRANSMISSION` with that of a run."""


def _half(side: str) -> tuple[Column, ...]:
    who = "client" if side == "forward" else "server"

    def column(name: str, kind: str, meaning: str, *, nullable: bool = False) -> Column:
        return Column(f"{side}_{name}", kind, f"{who}: {meaning}", nullable)  # type: ignore[arg-type]

    return (
        column("packets", "integer", "packets seen"),
        column("bytes", "integer", "payload bytes seen, retransmissions counted"),
        column("unique_bytes", "integer", "different payload bytes"),
        column("segments", "integer", "packets with payload, retransmissions counted"),
        column(
            "wire_segments",
            "integer",
            "as many as the wire carried, at least: a network card may cut one packet up",
        ),
        column("mss_bytes", "integer", "maximum segment size offered", nullable=True),
        column("window_scale", "integer", "window scale offered", nullable=True),
        column("sack_permitted", "boolean", "SACK offered"),
        column("timestamps", "boolean", "timestamps offered"),
        column("mptcp", "boolean", "Multipath TCP offered"),
        column("syn_signature", "text", "its SYN as a signature", nullable=True),
        column("syn_system", "text", "the system that the signature names", nullable=True),
        *(
            column(
                f"{mechanism.replace('-', '_')}_{need}",
                "integer",
                f"retransmissions by {mechanism}, {what}",
            )
            for mechanism in MECHANISMS
            for need, what in (("needed", "needed or unknown"), ("spurious", "spurious"))
        ),
        *(
            column(
                f"{mechanism.replace('-', '_')}_waited_s",
                "number",
                f"time waited for {mechanism} retransmissions; where both wait, it counts once",
            )
            for mechanism in MECHANISMS
        ),
        column("reordered", "integer", "packets that came late"),
        column("network_duplicates", "integer", "packets doubled by the network"),
        column("capture_duplicates", "integer", "packets doubled by the capture"),
        column("capture_losses", "integer", "packets that the capture must have missed"),
        column("probes", "integer", "keep-alives and zero-window probes"),
        column(
            "position",
            "text",
            "where the monitor stood: sender, midway, receiver, unknown",
            nullable=True,
        ),
        column(
            "monitor_delay_s", "number", "from the monitor to this sender and back", nullable=True
        ),
        column("rtt_min_s", "number", "smallest round-trip time", nullable=True),
        column("rtt_avg_s", "number", "average round-trip time", nullable=True),
        column("rtt_max_s", "number", "largest round-trip time", nullable=True),
        column("rtt_samples", "integer", "samples of the round-trip time"),
        column(
            "stack",
            "text",
            "the stack that explains every retransmission, several, or none",
            nullable=True,
        ),
        column("stack_confidence", "number", "how sure that is, 0 to 1", nullable=True),
        column(
            "stacks",
            "text",
            "all stacks that explain every retransmission, by commas",
            nullable=True,
        ),
        *(
            column(f"{name}{end}", "number", f"{name.removesuffix('_s')}, {what}", nullable=True)
            for name in PARAMETERS
            for end, what in (("", "inferred"), ("_low", "smallest"), ("_high", "largest"))
        ),
        column(
            "best_case_s",
            "number",
            "what ideal loss detection would have saved at most",
            nullable=True,
        ),
        column(
            "data_bytes",
            "integer",
            "of a subflow: data of the Multipath TCP connection that went first here",
            nullable=True,
        ),
        column("syns", "integer", "SYNs of the client, SYN-ACKs of the server; the first counts"),
        column("resets", "integer", "RSTs sent"),
        column("window_probes", "integer", "of its probes, those of a closed window"),
        column("zero_windows", "integer", "how often it closed its window"),
        column(
            "zero_window_s",
            "number",
            "time in which its own window was closed, to its opening, a reset, or the end",
        ),
        column(
            "window_full_s",
            "number",
            "time in which it had more to send and its peer's window was full; a window that is"
            " closed does not count. Null where the window's scale was not seen",
            nullable=True,
        ),
        column("bytes_retransmitted", "integer", "payload bytes sent again"),
        column("rtt_median_s", "number", "median round-trip time, 2 % off at most", nullable=True),
        column("rtt_p95_s", "number", "95th percentile of it, 2 % off at most", nullable=True),
        column("data_s", "number", "from its first packet with data to its last", nullable=True),
    )


CONNECTIONS: Final[tuple[Column, ...]] = (
    _CAPTURE,
    _CONNECTION,
    Column("flow", "text", "client > server"),
    Column("start_s", "number", "first packet"),
    Column("end_s", "number", "last packet"),
    Column("duration_s", "number", "end_s - start_s, think times included"),
    Column(
        "waited_s",
        "number",
        "time in which either end waited, or both (docs/glossary.md): the sum of all *_waited_s",
    ),
    Column("handshake_rtt_s", "number", "SYN to the client's first ACK", nullable=True),
    Column("handshake_server_s", "number", "the part of it beyond the monitor", nullable=True),
    Column("mid_stream", "boolean", "the first packet seen was no SYN"),
    Column("one_sided", "boolean", "only one direction was seen"),
    Column("closed", "text", "by what it was closed: fin, rst, or open"),
    Column("evicted", "boolean", "it was put out to make room for others"),
    Column(
        "handshake",
        "text",
        "what became of it: complete; half-open: no ACK of the SYN-ACK; refused: an RST answered"
        " the SYN; unanswered; unseen: not, or only one side of it",
    ),
    Column("reset_by", "text", "who sent the first RST that fits: client or server", nullable=True),
    Column(
        "reset_state",
        "text",
        "the state it came in: syn-sent, syn-received, established, half-closed (after one FIN),"
        " closed (after both)",
        nullable=True,
    ),
    Column("reset_after", "text", "the packet before it, as in client data", nullable=True),
    Column("reset_silence_s", "number", "from that packet to the RST", nullable=True),
    _MPTCP,
    Column(
        "mptcp_subflow", "integer", "which of its subflows, from 1, as they began", nullable=True
    ),
    Column(
        "mptcp_role",
        "text",
        "how the subflow began: initial (MP_CAPABLE) or join (MP_JOIN)",
        nullable=True,
    ),
    Column("mptcp_version", "integer", "version of Multipath TCP, if seen", nullable=True),
    *_half("forward"),
    *_half("backward"),
)
"""`connections` of a trace."""

_EFFECT: Final = (
    Column("avoided", "integer", "retransmissions that would not have been made"),
    Column("rto_to_fr", "integer", "losses found by acknowledgements or a probe, not a timeout"),
    Column("fr_to_rto", "integer", "losses found by a timeout, not acknowledgements or a probe"),
    Column("spurious_rto_avoided", "integer", "spurious timeouts avoided"),
    Column("spurious_fr_avoided", "integer", "spurious fast retransmits and probes avoided"),
    Column("spurious_rto_caused", "integer", "spurious timeouts caused"),
    Column("spurious_fr_caused", "integer", "spurious fast retransmits and probes caused"),
    Column("change_s", "number", "change of the connection's duration; negative is shorter"),
    Column(
        "waited_change_s",
        "number",
        "change of the time waited for first repairs; never saves more than was waited",
    ),
)

WHATIF: Final[tuple[Column, ...]] = (
    *_DATA,
    Column("setting", "text", "the other setting, as in k=2,min_rto=100ms, d=2, smart, no-tlp"),
    *_EFFECT,
)
"""`whatif` of a trace: a row for each sender and setting that changes anything for it."""

WHATIF_TOTALS: Final[tuple[Column, ...]] = (
    _CAPTURE,
    Column("stack", "text", "the senders' stack; none where no stack explains them"),
    Column("setting", "text", "the other setting, as in `whatif`"),
    Column("changed", "integer", "senders for which it changes something"),
    Column("shorter", "integer", "of them, whose connection gets shorter by more than a tenth"),
    Column("longer", "integer", "of them, whose connection gets longer by more than a tenth"),
    *_EFFECT,
)
"""`whatif_totals` of a trace: a grid's settings, summed up. Rows of a stack and setting add up."""

TABLES: Final = {
    "connections": CONNECTIONS,
    "retransmissions": RETRANSMISSIONS,
    "whatif": WHATIF,
    "whatif_totals": WHATIF_TOTALS,
}
"""Every table of a trace folder by its name."""

"""The tables of the truth, of kernels and the model alike: names, types, meanings."""

from __future__ import annotations

from typing import Final

from rexmit.store.schema import Column

RETRANSMISSIONS: Final[tuple[Column, ...]] = (
    Column("part", "text", "which captures: NAME of captures/NAME-sender.pcapng"),
    Column("flow", "text", "address and port of who sent it > of the other"),
    Column("seq_start", "integer", "first sequence number, as on the wire"),
    Column("seq_end", "integer", "the number after the last; SYN and FIN count one"),
    Column("mechanism", "text", "why the sender sent it again, by itself"),
    Column("need", "text", "needed or spurious, by what the network delivered"),
    Column("dropped", "boolean", "this copy was lost as well"),
    Column("first_sent_s", "number", "its first number was first sent"),
    Column("sender_s", "number", "it came by at the sender", nullable=True),
    Column("switch_s", "number", "it came by at the switch", nullable=True),
    Column("receiver_s", "number", "it came by at the receiver", nullable=True),
    Column("sender_ns", "integer", "the same, nanoseconds", nullable=True),
    Column("switch_ns", "integer", "the same, nanoseconds", nullable=True),
    Column("receiver_ns", "integer", "the same, nanoseconds", nullable=True),
    Column("bytes_outstanding", "integer", "sent and not acknowledged then", nullable=True),
    Column("cause", "text", "the sender's own word for why"),
    Column("direction", "text", "forward: from the client, who opened; backward", later=True),
    Column("home", "text", "sender or receiver: the point beside who sent it", later=True),
    Column("kind", "text", "what its captures are like: plain, or of `--kinds`", later=True),
)

CONNECTIONS: Final[tuple[Column, ...]] = (
    Column("part", "text", "which captures"),
    Column("flow", "text", "the direction that sends most"),
    Column("stack", "text", "the stack of who sends most"),
    Column("receiver_stack", "text", "the stack of the other", later=True),
    Column("settings", "text", "constants of both stacks, JSON"),
    Column("network", "text", "the network between them, JSON"),
    Column("workload", "text", "what it was used for, JSON", later=True),
    Column("bytes", "integer", "payload bytes that way, each counted once"),
    Column("segments", "integer", "packets with payload that way, retransmissions too"),
    Column("lost_segments", "integer", "those of them that were lost"),
    Column("retransmissions", "integer", "retransmissions both ways", later=True),
    Column("spurious_retransmissions", "integer", "those of them that were spurious", later=True),
    Column("start_s", "number", "the first packet", later=True),
    Column("duration_s", "number", "from the first packet to the last"),
    Column("direction", "text", "of the flow: forward or backward", later=True),
    Column("kind", "text", "what its captures are like: plain, or of `--kinds`", later=True),
)

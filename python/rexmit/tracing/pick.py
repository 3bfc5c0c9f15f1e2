"""Which connection of a trace to look at first, where nobody says which."""

from __future__ import annotations

from rexmit.errors import UserError
from rexmit.tracing import mechanisms, sides
from rexmit.tracing.folder import Trace
from rexmit.tracing.words import span

_OTHERS = 5


def most_trouble(trace: Trace) -> tuple[int, str]:
    """The row of the connection that waited longest, of equals with most retransmissions, most
    bytes; and a sentence that says so and names the next ones. Raises UserError where none is.
    """
    rows = (
        mechanisms.beside(
            sides.beside(trace.numbered(), trace, "bytes"),
            trace,
            retransmissions=mechanisms.retransmissions(),
        )
        .select(
            "number",
            "waited_s",
            "retransmissions",
            sides.both("bytes").alias("bytes"),
        )
        .sort(
            "waited_s", "retransmissions", "bytes", "number", descending=[True, True, True, False]
        )
        .collect()
    )
    if rows.is_empty():
        raise UserError(f"{trace.path}: there is no TCP connection", "capture with another filter")
    first = rows.row(0, named=True)
    if first["waited_s"] > 0:
        why = f"it waited longest, {span(first['waited_s'])}"
    elif first["retransmissions"]:
        why = f"it has most retransmissions, {first['retransmissions']:,}"
    else:
        why = "none has a retransmission, and it carried most data"
    text = f"connection {first['number']} of {rows.height:,}"
    text = text if rows.height == 1 else f"{text}: {why}"
    others = rows["number"].slice(1, _OTHERS).to_list()
    if others:
        text += f"; others: --flow {', --flow '.join(map(str, others))}"
        text += " and so on" if rows.height > _OTHERS + 1 else ""
    return int(first["number"]), text

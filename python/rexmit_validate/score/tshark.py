"""What tshark says of a capture's retransmissions, in the form of claims.

tshark has four labels. They are mapped openly, and the mapping is printed under every table:

- `fast_retransmission`: class `recovery` (any retransmission that acknowledgements brought on),
needed
- `retransmission`: class `timeout` (any that a timer did, or that followed a timeout), needed
- `spurious_retransmission`: no mechanism, spurious
- `out_of_order`: it says that this is no retransmission

A label with more to say wins: spurious, then fast, then out-of-order, then plain.
"""

from __future__ import annotations

import os
import shutil
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Final

import polars as pl

from rexmit.errors import UserError, by_caller
from rexmit.store.files import scratch_folder
from rexmit_validate.score.claims import SCHEMA

RECOVERY: Final = "recovery"
TIMEOUT: Final = "timeout"

CLASS_OF: Final[Mapping[str, str]] = {
    "rto": TIMEOUT,
    "rto-recovery": TIMEOUT,
    "tlp": TIMEOUT,
    "fast-retransmit": RECOVERY,
    "early-retransmit": RECOVERY,
    "fack": RECOVERY,
    "sack-recovery": RECOVERY,
    "rack": RECOVERY,
}
"""Our mechanisms in the two classes that tshark has."""

LABELS: Final = ("fast", "retransmission", "spurious", "out-of-order")

MAPPING: Final = (
    "tshark: fast_retransmission = recovery (fast-retransmit, early-retransmit, fack, "
    "sack-recovery, rack), retransmission = timeout (rto, rto-recovery, tlp), both needed; "
    "spurious_retransmission = spurious, of no mechanism; "
    "out_of_order = no retransmission, so missed"
)

_ANALYSIS: Final = ("spurious_retransmission", "fast_retransmission", "out_of_order")
_FIELDS: Final = (
    "frame.time_epoch",
    "ip.src",
    "ip.dst",
    "ipv6.src",
    "ipv6.dst",
    "tcp.srcport",
    "tcp.dstport",
    "tcp.seq_raw",
    "tcp.len",
    "tcp.flags.syn",
    "tcp.flags.fin",
    *(f"tcp.analysis.{name}" for name in (*_ANALYSIS, "retransmission")),
)
_FILTER: Final = " or ".join(f"tcp.analysis.{name}" for name in (*_ANALYSIS, "retransmission"))

_SPACE: Final = 1 << 32


def is_there() -> bool:
    """Whether tshark can be called."""
    return shutil.which("tshark") is not None


def claims(capture: Path) -> pl.DataFrame:
    """What tshark says, with the label in `label`; rows of `out-of-order` say that this is no
    retransmission and are no claims.

    Raises UserError where tshark fails.
    """
    rows = []
    for line in _run(capture).splitlines():
        fields = line.split("\t")
        if len(fields) == len(_FIELDS):
            row = _row(dict(zip(_FIELDS, fields, strict=True)))
            if row:
                rows.append(row)
    return pl.DataFrame(rows, schema={**SCHEMA, "label": pl.String()}, orient="row")


def _run(capture: Path) -> str:
    words = ["tshark", "-n", "-r", str(capture), "-Y", _FILTER, "-T", "fields"]
    words += ["-o", "tcp.desegment_tcp_streams:FALSE", "-E", "occurrence=l"]
    for field in _FIELDS:
        words += ["-e", field]
    with scratch_folder() as settings:
        # A user's preferences change what is analysed.
        environment = {**os.environ, "LC_ALL": "C", "WIRESHARK_CONFIG_DIR": str(settings)}
        done = subprocess.run(words, capture_output=True, text=True, env=environment, check=False)
    if done.returncode:
        lines = [line for line in done.stderr.splitlines() if "root" not in line]
        raise UserError(
            f"{capture}: tshark failed: {lines[-1] if lines else f'status {done.returncode}'}",
            "score without it: " + by_caller(called="with_tshark=False", typed="--no-tshark"),
        )
    return done.stdout


def _row(field: dict[str, str]) -> dict[str, object] | None:
    if not field["tcp.seq_raw"]:
        return None
    if field["ip.src"]:
        source, sink = field["ip.src"], field["ip.dst"]
    else:
        source, sink = f"[{field['ipv6.src']}]", f"[{field['ipv6.dst']}]"
    start = int(field["tcp.seq_raw"])
    length = int(field["tcp.len"] or 0)
    length += _is_set(field["tcp.flags.syn"]) + _is_set(field["tcp.flags.fin"])
    label = _label(field)
    return {
        "flow": f"{source}:{field['tcp.srcport']} > {sink}:{field['tcp.dstport']}",
        "time_ns": _ns(field["frame.time_epoch"]),
        "seq_start": start,
        "seq_end": (start + length) % _SPACE,
        "mechanism": {"fast": RECOVERY, "retransmission": TIMEOUT}.get(label),
        "pair": None,
        "need": "spurious" if label == "spurious" else "needed",
        "confidence": None,
        "certainty": None,
        "need_confidence": None,
        "label": label,
    }


def _label(field: dict[str, str]) -> str:
    if field["tcp.analysis.spurious_retransmission"]:
        return "spurious"
    if field["tcp.analysis.fast_retransmission"]:
        return "fast"
    return "out-of-order" if field["tcp.analysis.out_of_order"] else "retransmission"


def _is_set(text: str) -> bool:
    return text in ("1", "True", "true")


def _ns(seconds: str) -> int:
    whole, _, part = seconds.partition(".")
    return int(whole) * 1_000_000_000 + int((part + "000000000")[:9])


def in_classes(counts: Mapping[tuple[str, str], int]) -> Counter[tuple[str, str]]:
    """A matrix of mechanisms in tshark's two classes; what is in neither keeps its name."""
    by_class: Counter[tuple[str, str]] = Counter()
    for (truth, claim), n in counts.items():
        # A pair is of a class where both are, as a probe and a timeout.
        classes = {CLASS_OF.get(word, word) for word in claim.split("|")}
        claimed = classes.pop() if len(classes) == 1 else claim
        by_class[CLASS_OF.get(truth, truth), claimed] += n
    return by_class

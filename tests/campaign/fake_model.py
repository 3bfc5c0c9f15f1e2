"""A compiled module whose model measures nothing: rows follow from plan, seed and stack.

`BEHAVIOUR` makes it misbehave: `panic`, `refuse`, `short`, `garbage` are labels of cells ("all" for
any), `slow` is seconds per transfer.
"""

from __future__ import annotations

import hashlib
import json
import time
from pathlib import Path
from typing import Any

from rexmit._core import Batch, RunRows
from rexmit.store.rows import EVENTS

BEHAVIOUR: dict[str, Any] = {}
CALLS: list[dict[str, Any]] = []

_STACKS = {
    "linux-3.10": {"hz": "250", "min_rto": "200ms", "sack": "true"},
    "linux-6.12": {"hz": "1000", "min_rto": "200ms", "sack": "true"},
    "solaris-10": {"hz": "100", "min_rto": "400ms", "sack": "true"},
}


class PanicException(BaseException):
    """As PyO3 raises for a panic of Rust."""


def stack_names() -> list[str]:
    return list(_STACKS)


def check_stack(
    name: str, changes: dict[str, str], sysctls: dict[str, str]
) -> list[tuple[str, str]]:
    if name not in _STACKS:
        raise ValueError(f"there is no stack {name}")
    found = dict(_STACKS[name])
    for key, value in changes.items():
        if key not in found:
            raise ValueError(f"there is no setting {key}")
        check_setting(key, value)
        found[key] = value
    if sysctls.get("net.ipv4.tcp_sack") == "0":
        found["sack"] = "false"
    return list(found.items())


def check_setting(key: str, value: str) -> None:
    if key == "min_rto" and not value.endswith("s"):
        raise ValueError(f"{value} is no duration")
    if key == "hz" and not value.isdecimal():
        raise ValueError(f"{value} is no number")


def run_model(plan: str, share: str | None) -> tuple[str, dict[str, Batch]]:
    (cell,) = json.loads(plan)["cells"]
    CALLS.append(cell)
    if _trouble("panic", cell):
        raise PanicException("index out of bounds")
    if _trouble("garbage", cell):
        return '{"type": "hello"}\n\x00\n', {}
    told: list[dict[str, Any]] = [{"type": "hello", "version": 1, "virtual_ns": 0}]
    if _trouble("refuse", cell):
        told.append({"type": "cell-error", "cell": cell["id"], "message": "no such sysctl"})
        return answer(told)
    ignored = [{"setting": name, "why": "not modelled"} for name in cell["sysctls"]]
    told.append({"type": "cell-start", "cell": cell["id"], "ignored": ignored, "warnings": []})
    starts = cell["starts"][:-1] if _trouble("short", cell) else cell["starts"]
    clock = 0
    for start in starts:
        time.sleep(BEHAVIOUR.get("slow", 0))
        clock += cell["phase_period_ns"]
        told += transfer(cell, start, clock + start["phase_ns"])
        if share is not None and cell["capture"]:
            for host in ("h1", "h2"):
                name = f"{cell['id']}-{start['repetition']}.{host}.pcapng"
                (Path(share) / "captures" / name).write_bytes(name.encode())
    told.append({"type": "cell-end", "cell": cell["id"], "virtual_ns": clock})
    return answer(told)


def named(cell: dict[str, Any]) -> str:
    """The cell's label in its grid. The plan has no configuration's name: of those in the tests
    `er` alone has settings."""
    network, lost = cell["label"].split(maxsplit=1)
    return f"{network} {'er' if cell['sysctls'] else 'tlp'} {lost}"


def _trouble(kind: str, cell: dict[str, Any]) -> bool:
    return BEHAVIOUR.get(kind) in (named(cell), "all")


def answer(told: list[dict[str, Any]]) -> tuple[str, dict[str, Batch]]:
    """As the compiled module has it: what is no row, a line each, and the tables."""
    rows, others = RunRows(), ""
    for event in told:
        if event["type"] in EVENTS:
            rows.add(event["type"], json.dumps(event))
        else:
            others += json.dumps(event) + "\n"
    return others, rows.tables()


def _number(*what: object) -> int:
    return int.from_bytes(hashlib.sha256(repr(what).encode()).digest()[:4], "big")


def transfer(cell: dict[str, Any], start: dict[str, Any], begin: int) -> list[dict[str, Any]]:
    """The events of a transfer: its row, and those of its retransmissions."""
    lost, repetition = cell["loss"]["segments"], start["repetition"]
    recover = 40_000_000 + _number(cell["seed"], cell["stack"], repetition) % 1_000_000
    row = {
        "type": "transfer",
        "cell": cell["id"],
        "repetition": repetition,
        "phase_ns": start["phase_ns"],
        "transfer_size_bytes": 144_800,
        "transfer_segments": 100,
        "lost_segments": lost,
        "loss_mode": cell["loss"].get("mode", "sequence"),
        "dropped_segments": lost,
        "dropped_packets": lost,
        "fin_on_data": True,
        "mss_bytes": 1448,
        "exact": True,
        "stalled": False,
        "t_start_ns": begin,
        "t_drop_ns": begin + 1000 if lost else None,
        "t_retransmit_ns": begin + 1000 + recover if lost else None,
        "t_fin_retransmit_ns": begin + 1000 + recover if lost else None,
        "t_end_ns": begin + 2000 + recover,
        "t_recover_ns": recover if lost else None,
        "t_total_ns": 2000 + recover,
        "is_tlp": True if lost > 1 else None,
        "mechanism": "tlp" if lost else None,
        "retransmissions": lost,
        "timeouts": 0,
        "probes": 1 if lost else 0,
        "spurious_retransmissions": 0,
        "dsacks": 0,
        "srtt_us": 10_250,
        "rto_us": 210_000,
        "client_ns": 3000 + recover,
        "client_port": 32768 + repetition,
        "isn_server": 1000,
        "isn_client": 2000,
        "complete": True,
        "note": None,
    }
    retransmissions = [
        {
            "type": "retransmission",
            "cell": cell["id"],
            "repetition": repetition,
            "lost_segments": lost,
            "time_ns": begin + 1000 + recover + index,
            "seq": 1 + 1448 * index,
            "length_bytes": 1448,
            "fin": False,
            "mechanism": "tlp",
            "need": "needed",
            "first_sent_ns": begin,
            "dropped": False,
        }
        for index in range(lost)
    ]
    return [row, *retransmissions]

#!/usr/bin/env python3
"""A guest that obeys the contract of `rexmit-guest boot` and measures nothing.

Its rows follow from the boot's seed and its plan, as a real kernel's do. `REXMIT_FAKE`, a JSON
object, makes it misbehave:

  die, hang, fail, short, skip, garbage, splat: the label of the cell it happens in, or "all"
  once: a file; the trouble above happens only if it is not there, and makes it
  slow: seconds per transfer;  log: a file that gets a line per boot
  ignored: the list of that name
  start: "no-sandbox", "dead", "silent" or "version"
  exec: "die", or "odd": the status of a command is `status`
"""

import hashlib
import json
import os
import sys
import time
from pathlib import Path
from typing import Any

ARGUMENTS = dict(zip(sys.argv[2::2], sys.argv[3::2], strict=True))
SHARE = Path(ARGUMENTS["--share"])
SEED = ARGUMENTS["--seed"]
FAKE = json.loads(os.environ.get("REXMIT_FAKE", "{}"))
PLAN = json.loads((SHARE / "plan.json").read_text())


def number(*what: object) -> int:
    return int.from_bytes(hashlib.sha256(repr(what).encode()).digest()[:4], "big")


def emit(kind: str, **fields: object) -> None:
    with (SHARE / "events.jsonl").open("a") as file:
        file.write(json.dumps({"type": kind, **fields}) + "\n")


def named(cell: dict[str, Any]) -> str:
    """The cell's label in its grid. The plan has no configuration's name: of those in the tests
    `er` alone has settings."""
    network, lost = cell["label"].split(maxsplit=1)
    return f"{network} {'er' if cell['sysctls'] else 'tlp'} {lost}"


def trouble(kind: str, cell: dict[str, Any]) -> bool:
    if FAKE.get(kind) not in (named(cell), "all"):
        return False
    once = FAKE.get("once")
    if once:
        if Path(once).exists():
            return False
        Path(once).touch()
    return True


def transfer(cell: dict[str, Any], start: dict[str, Any], count: int, clock: int) -> int:
    lost = cell["loss"]["segments"]
    begin = clock + start["phase_ns"]
    recover = 40_000_000 + number(SEED, count) % 1_000_000
    emit(
        "transfer",
        cell=cell["id"],
        repetition=start["repetition"],
        phase_ns=start["phase_ns"],
        transfer_size_bytes=144_800,
        transfer_segments=100,
        lost_segments=lost,
        loss_mode=cell["loss"].get("mode", "sequence"),
        dropped_segments=lost,
        dropped_packets=lost,
        fin_on_data=True,
        mss_bytes=1448,
        exact=True,
        stalled=False,
        t_start_ns=begin,
        t_drop_ns=begin + 1000 if lost else None,
        t_retransmit_ns=begin + 1000 + recover if lost else None,
        t_fin_retransmit_ns=begin + 1000 + recover if lost else None,
        t_end_ns=begin + 2000 + recover,
        t_recover_ns=recover if lost else None,
        t_total_ns=2000 + recover,
        is_tlp=True if lost > 1 else None,
        mechanism="tlp" if lost else None,
        retransmissions=lost,
        timeouts=0,
        probes=1 if lost else 0,
        spurious_retransmissions=0,
        dsacks=0,
        srtt_us=10_250,
        rto_us=210_000,
        client_ns=3000 + recover,
        client_port=32768 + count,
        isn_server=number(SEED, count, "server"),
        isn_client=number(SEED, count, "client"),
        complete=True,
        note=None,
    )
    # Out of order on purpose: the tables are sorted by time.
    for index in reversed(range(min(lost, 3))):
        emit(
            "retransmission",
            cell=cell["id"],
            repetition=start["repetition"],
            lost_segments=lost,
            time_ns=begin + 1000 + recover + index,
            seq=1 + 1448 * index,
            length_bytes=1448,
            fin=False,
            mechanism="tlp",
            need="needed",
            first_sent_ns=begin,
            dropped=False,
        )
    if cell["capture"]:
        for host in ("h1", "h2"):
            name = f"{cell['id']}-{start['repetition']}.{host}.pcapng"
            (SHARE / "captures" / name).write_bytes(f"{name} {count}".encode())
    return int(begin + recover)


def run(cell: dict[str, Any], clock: int) -> None:
    emit(
        "cell-start",
        cell=cell["id"],
        virtual_ns=clock,
        page_bytes=1,
        head_bytes=1,
        transfer_bytes=2,
        read_back=cell["sysctls"],
        ignored=FAKE.get(
            "ignored",
            [
                {"setting": name, "why": "gone since 4.15"}
                for name in cell["sysctls"]
                if name.endswith("fack")
            ],
        ),
        warnings=["the line is short"] if FAKE.get("warn") else [],
    )
    if trouble("fail", cell):
        emit("cell-error", cell=cell["id"], message="net.ipv4.tcp_x: no such setting")
        return
    starts = cell["starts"][:-1] if trouble("short", cell) else cell["starts"]
    for index, start in enumerate(starts):
        if index == 1 and trouble("die", cell):
            print("Kernel panic - not syncing: fake\r\r", flush=True)
            os._exit(134)
        if index == 1 and trouble("hang", cell):
            emit("heartbeat", virtual_ns=clock, cell=cell["id"], doing="transfer 2 of many")
            time.sleep(600)
        if index == 1 and trouble("splat", cell):
            print("WARNING: CPU: 0 PID: 9 at net/ipv4/fake.c:7 fake+0x1/0x2\r", flush=True)
        if trouble("garbage", cell):
            with (SHARE / "events.jsonl").open("a") as file:
                file.write("\x00\x01 what\n")
        time.sleep(FAKE.get("slow", 0))
        clock = transfer(cell, start, index, clock)
    emit("cell-end", cell=cell["id"], virtual_ns=clock)


def main() -> None:
    if "log" in FAKE:
        with Path(FAKE["log"]).open("a") as file:
            cell = named(PLAN["cells"][0]) if "cells" in PLAN else None
            entry = {"seed": SEED, "cell": cell, "core": ARGUMENTS["--core"], "pid": os.getpid()}
            file.write(json.dumps(entry) + "\n")
    begin = FAKE.get("start")
    if begin == "no-sandbox":
        print("rexmit-guest: no namespaces today", file=sys.stderr)
        sys.exit(125)
    print("Linux version 6.12.0-fake\r", flush=True)
    if begin == "dead":
        print("Kernel panic - no init\r", flush=True)
        os._exit(134)
    if begin == "silent":
        time.sleep(600)
    version = 99 if begin == "version" else 1
    emit("hello", version=version, kernel="6.12.0", hz=250, virtual_ns=1_000_000)
    if "exec" in PLAN:
        for text in ("one\n", "two\n"):
            with (SHARE / "stdout").open("a") as file:
                file.write(text)
        if FAKE.get("exec") == "die":
            os._exit(134)
        odd = FAKE.get("exec") == "odd"
        emit("exit", status=FAKE["status"] if odd else 7, virtual_ns=10 ** (400 if odd else 7))
        sys.exit(0)
    (cell,) = PLAN["cells"]
    if not trouble("skip", cell):
        run(cell, 1_000_000)
    emit("exit", status=0)


main()

"""Makes a corpus: runs its parts, labels their retransmissions, writes the folder whole or not at
all.
"""

from __future__ import annotations

import json
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from rexmit.engines.kernel import KernelEngine
from rexmit.errors import UserError
from rexmit.store import digests
from rexmit.store.files import new_folder, whole_file, write_text
from rexmit.store.schema import declared, polars_schema
from rexmit.store.untrusted import copy_file
from rexmit_validate.synth import kinds
from rexmit_validate.truth import (
    causes,
    counters,
    follow,
    kernel,
    label,
    on_cluster,
    packets,
    waits,
)
from rexmit_validate.truth.draw import DrawnPart
from rexmit_validate.truth.kernel import POINTS, Ran

if TYPE_CHECKING:
    from rexmit.cluster import Where

VERSION: Final = 1
_HOSTS: Final = {"h1": "10.0.0.1", "h2": "10.0.0.2"}
_NS: Final = 1_000_000_000


@dataclass(slots=True)
class Tally:
    """What a corpus has, for a summary."""

    parts: int = 0
    connections: int = 0
    incomplete: int = 0
    packets: int = 0
    retransmissions: Counter[tuple[str, str]] = field(default_factory=Counter)
    """By mechanism and need."""
    disagreements: list[str] = field(default_factory=list)
    host_drops: Counter[str] = field(default_factory=Counter)

    def as_json(self) -> dict[str, Any]:
        """For `--json` and truth.json."""
        by_mechanism: dict[str, dict[str, int]] = {}
        for (mechanism, need), count in sorted(self.retransmissions.items()):
            by_mechanism.setdefault(mechanism, {})[need] = count
        return {
            "parts": self.parts,
            "connections": self.connections,
            "incomplete_connections": self.incomplete,
            "packets": self.packets,
            "retransmissions": by_mechanism,
            "counter_disagreements": self.disagreements,
            "packets_dropped_by_hosts": dict(sorted(self.host_drops.items())),
        }


class Corpus:
    """The folder while it is made; its parts come in any order and from any thread."""

    def __init__(self, folder: Path, engine: KernelEngine) -> None:
        self._folder, self._engine = folder, engine
        self._lock = threading.Lock()
        self._rows: dict[str, dict[str, list[dict[str, Any]]]] = {}
        self.tally = Tally()
        (folder / "captures").mkdir()

    def add(self, ran: Ran) -> None:
        """Label a part and keep its captures. Raises UserError where its labels do not hold."""
        try:
            labelled = label_part(ran)
        except label.MismatchError as error:
            raise UserError(
                f"part {ran.part.name}: {error}",
                "The corpus would be wrong; this is a fault of rexmit or of the kernel's patch.",
            ) from None
        for point in POINTS:
            capture = ran.capture(point)
            copy_file(capture, self._folder / "captures" / capture.name)
        retransmissions = [
            row for flow in labelled.flows for row in _retransmission_rows(ran, flow)
        ]
        stack = "linux-{}.{}".format(*self._engine.kernel.version.split(".")[:2])
        connections = list(_connection_rows(ran, labelled, stack))
        tables = {"retransmissions": retransmissions, "connections": connections}
        if labelled.waits is not None:
            tables["waits"] = labelled.waits
        with self._lock:
            self._rows[ran.part.name] = tables
            tally = self.tally
            tally.parts += 1
            tally.connections += len(ran.end["connections"])
            gave_up = [one for one in ran.end["connections"] if not (one["complete"] or one["cut"])]
            tally.incomplete += len(gave_up)
            tally.packets += sum(ran.end["captured"])
            tally.retransmissions.update((row["mechanism"], row["need"]) for row in retransmissions)
            tally.disagreements += [f"{ran.part.name}: {one}" for one in labelled.disagreements]
            tally.host_drops.update(labelled.host_drops)

    def write_tables(self) -> None:
        """Write the tables of all parts added."""
        import polars as pl

        ordered = [self._rows[name] for name in sorted(self._rows)]
        for name in ordered[0]:
            rows = [row for part in ordered for row in part[name]]
            schema = polars_schema(declared("kernel-truth")[name].columns)
            with whole_file(self._folder / f"{name}.parquet") as file:
                pl.DataFrame(rows, schema=schema).write_parquet(file)

    def finish(self, about: Mapping[str, Any]) -> None:
        """Write truth.json; the tables are there."""
        names = ("retransmissions", "connections", "waits")
        tables = digests.of_tables(self._folder, [f"{name}.parquet" for name in names])
        text = json.dumps({**about, **self.tally.as_json(), digests.KEY: tables}, indent=2)
        write_text(self._folder / "truth.json", text + "\n")


@dataclass(slots=True)
class Labelled:
    """The flows of a part, and what its hosts counted besides; and what its sockets waited for, by
    a kernel that says so."""

    flows: list[label.Flow]
    disagreements: list[str]
    host_drops: dict[str, int]
    waits: list[dict[str, Any]] | None = None


def label_part(ran: Ran) -> Labelled:
    """Label the retransmissions of both hosts, and the time of their connections."""
    seen = {point: packets.read(ran.capture(point)) for point in POINTS}
    records = causes.parse(ran.causes)
    offset_ns = ran.start["realtime_ns"]
    labelled: list[label.Flow] = []
    wrong: list[str] = []
    dropped: Counter[str] = Counter()
    sent: dict[str, list[follow.SentPacket]] = {}
    for host, near, far in (("h1", "sender", "receiver"), ("h2", "receiver", "sender")):
        own = f"{_HOSTS[host]}:"
        points = (near, "switch", far)
        of_host = [[p for p in seen[point] if p.flow.startswith(own)] for point in points]
        sent[host] = follow.follow(*of_host)
        flows = label.flows(sent[host])
        mine = [record for record in records if record.flow.startswith(own)]
        label.join(flows, causes.by_flow(mine), offset_ns)
        labelled += flows.values()
        counted = counters.difference(ran.end["counters"][host])
        wrong += [f"{host}: {one}" for one in counters.disagreements(counted, mine)]
        dropped.update({name: counted.get(name, 0) for name in counters.DROPS})
    return Labelled(labelled, wrong, dict(+dropped), _waits(ran, labelled, sent))


def _waits(
    ran: Ran, labelled: Sequence[label.Flow], sent: Mapping[str, Sequence[follow.SentPacket]]
) -> list[dict[str, Any]] | None:
    if ran.waits_file is None:
        return None
    records = causes.by_flow(causes.parse(ran.waits_file.read_text(encoding="utf-8")))
    ways = waits.delays(sent, {"h1": "sender", "h2": "receiver"})
    flows = {flow.name: flow for flow in labelled}
    sides = waits.sides(flows, sent, records, ran.end["connections"])
    return list(waits.rows(ran.part.name, sides, ways, ran.start["realtime_ns"]))


def _retransmission_rows(ran: Ran, flow: label.Flow) -> list[dict[str, Any]]:
    rows = []
    from_h1 = flow.name.startswith(f"{_HOSTS['h1']}:")
    for retransmission in flow.retransmissions:
        sent, cause = retransmission.sent, retransmission.cause
        assert cause is not None  # noqa: S101 - `join` leaves none without
        sender_ns, receiver_ns = sent.packet.time_ns, sent.arrived_ns
        row: dict[str, Any] = {
            "part": ran.part.name,
            "flow": flow.name,
            "home": "sender" if from_h1 else "receiver",
            "seq_start": sent.packet.seq,
            "seq_end": (sent.packet.seq + sent.packet.length) % (1 << 32),
            "mechanism": retransmission.mechanism,
            "need": "needed" if retransmission.needed else "spurious",
            "dropped": sent.arrived_ns is None,
            "first_sent_s": retransmission.first_sent_ns / _NS,
            "first_sent_ns": retransmission.first_sent_ns,
        }
        times = (sender_ns, sent.switch_ns, receiver_ns)
        for point, time_ns in zip(POINTS, times if from_h1 else times[::-1], strict=True):
            row[f"{point}_s"] = None if time_ns is None else time_ns / _NS
            row[f"{point}_ns"] = time_ns
        numbers = cause.numbers
        row |= {
            "bytes_outstanding": (numbers["nxt"] - numbers["una"]) % (1 << 32),
            "cause": cause.text,
            "rto_s": numbers["rto_us"] / 1e6 or None,
            "srtt_s": numbers["srtt_us"] / 1e6 or None,
            "backoff": numbers["backoff"],
            "kind": ran.part.behaviour,
        }
        rows.append(row)
    return rows


def _connection_rows(ran: Ran, labelled: Labelled, stack: str) -> list[dict[str, Any]]:
    by_name = {flow.name: flow for flow in labelled.flows}
    rows = []
    for outcome in ran.end["connections"]:
        there, back = f"{outcome['client']}", f"{outcome['server']}"
        ways = [by_name.get(f"{there} > {back}"), by_name.get(f"{back} > {there}")]
        known = [flow for flow in ways if flow is not None]
        if not known:
            continue
        most = max(known, key=lambda flow: flow.bytes)
        begin = min(flow.first_ns for flow in known)
        end = max(flow.last_ns for flow in known)
        rows.append(
            {
                "part": ran.part.name,
                "flow": most.name,
                "stack": stack,
                "settings": json.dumps(ran.part.settings),
                "network": json.dumps(ran.part.network),
                "bytes": most.bytes,
                "segments": most.segments,
                "lost_segments": most.lost,
                "duration_s": (end - begin) / _NS,
                "complete": outcome["complete"],
                "kind": ran.part.behaviour,
            }
        )
    return rows


class Wanted(NamedTuple):
    """The parts of a corpus, what runs them, and what its truth.json says of it. Each part is there
    once more in each of the `kinds`.
    """

    parts: Sequence[DrawnPart]
    engine: KernelEngine
    about: Mapping[str, Any]
    kinds: tuple[str, ...]


def make(
    out: Path,
    wanted: Wanted,
    *,
    cores: Sequence[int],
    on_part: Callable[[int], None],
    cluster: Where | None = None,
) -> Tally:
    """Make the corpus in the new folder `out`; `on_part` gets the connections of each part done.
    Its kernels run on `cores`, or on the workers of a `cluster`.

    However it ends, there is the whole corpus or nothing.
    """
    parts, engine = wanted.parts, wanted.engine
    with new_folder(out) as temporary:
        corpus = Corpus(temporary, engine)

        def take(ran: Ran) -> None:
            corpus.add(ran)
            on_part(len(ran.part.plan["connections"]))

        if cluster is None:
            kernel.run(parts, engine, cores=cores, on_part=take)
        else:
            on_cluster.run(parts, engine, cluster, on_part=take)
        corpus.write_tables()
        kinds.add(temporary, wanted.kinds, wanted.about["seed"], len(cores))
        corpus.finish(wanted.about)
    return corpus.tally

"""What the fuzzers call: bytes in; nothing or a UserError out. Anything else is a defect.

Each is one thing that Python reads and others write. They stand here, and not in the fuzzer, so
that the tests can try the kept seeds on them (`tests/fuzz`).
"""

from __future__ import annotations

import contextlib
import os
import tempfile
import tomllib
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Final

import polars as pl

from rexmit.analysis.overview import overview
from rexmit.engines.attempt import Attempt, Health
from rexmit.engines.boot import BootOptions, GuestBoot
from rexmit.engines.engine import Task
from rexmit.errors import UserError
from rexmit.scenario import effective, from_plain, load
from rexmit.scenario.load import Sources, check
from rexmit.store.folder import RunFolder
from rexmit.store.open_run import Run, open_run
from rexmit.store.record import headed
from rexmit.store.schema import TRANSFERS, polars_schema

Target = Callable[[bytes], None]

SEEDS: Final = Path(__file__).parents[2] / "fuzz" / "seeds"
"""A folder of seeds for each target, by its name."""

_BASE: Final = """
format = 1
networks.near = { rate = "100Mbit", delay = "2.5ms" }
networks.far = { links = [{ rate = "1Mbit", delay = "1ms" }, { rate = "2Mbit", delay = "9ms" }] }
configs.er.sysctl = { "net.ipv4.tcp_early_retrans" = 2 }
configs.tlp.stack = { min_rto = "100ms" }
workload.segments = 10
vary = [{ segments = 3 }]
"""
"""What the settings change."""


def _never(_transfers: int) -> None:
    """Nobody counts."""


def scenario(data: bytes) -> None:
    """A scenario file; what is read says the same when it is written out."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "x.toml"
        file.write_bytes(data)
        with contextlib.suppress(UserError):
            found = load(file)
            plain = effective(found)
            assert effective(from_plain(plain)) == plain


def setting(data: bytes) -> None:
    """Texts of `--set`, one a line."""
    texts = data.decode("utf-8", "surrogateescape").split("\n")
    with contextlib.suppress(UserError):
        check(tomllib.loads(_BASE), Sources("x.toml"), texts)


def run(data: bytes) -> None:
    """run.json, as a run to go on with, a run to look at, and a run to show."""
    with tempfile.TemporaryDirectory() as path:
        folder = RunFolder(Path(path))
        folder.meta_file.write_bytes(data)
        for read in (folder.read_meta, lambda: open_run(folder.path)):
            with contextlib.suppress(UserError):
                read()
        with contextlib.suppress(UserError):
            meta = folder.read_meta()
            assert meta is not None
            overview(Run(folder.path, meta, pl.DataFrame(schema=polars_schema(TRANSFERS))))


def record(data: bytes) -> None:
    """The record of a cell with its digest, in a run that goes on."""
    with tempfile.TemporaryDirectory() as path:
        folder = RunFolder(Path(path))
        folder.partial.mkdir()
        (folder.partial / "cell-000000.record").write_bytes(headed(data))
        with contextlib.suppress(UserError):
            list(folder.records())
        told: list[str] = []
        found = list(folder.records(told.append))
        assert len(found) + len(told) == 1
        assert folder.has_records == bool(found)


def events(data: bytes) -> None:
    """What the guest program writes; of a cell that ended well the record can be read back."""
    task = Task(cell=0, label="x", config="tlp", repeat=1, seed=1, plan={})
    with GuestBoot(BootOptions(Path("/no/kernel")), {}, guest=Path("/bin/true")) as guest:
        os.write(guest.channel["events.jsonl"], data)
        attempt = Attempt(
            task, guest, hang_limit_s=60, on_transfers=_never, health=Health(kernel_runs=True)
        )
        with contextlib.suppress(UserError):
            while not attempt.step():
                pass
            made = attempt.record
            if made.failed is None:
                with tempfile.TemporaryDirectory() as path:
                    folder = RunFolder(Path(path))
                    folder.partial.mkdir()
                    folder.add(made)
                    (kept,) = folder.records()
                    assert replace(kept, tables={}) == replace(made, tables={})
                    for name, rows in made.tables.items():
                        assert kept.tables[name].equals(rows)


TARGETS: Final[dict[str, Target]] = {
    "events": events,
    "record": record,
    "run": run,
    "scenario": scenario,
    "setting": setting,
}
"""Every target by its name."""

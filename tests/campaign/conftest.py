"""A fake guest, a fake kernel, and campaigns over them."""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from rexmit.campaign.runner import CampaignRun, Request
from rexmit.engines.kernel import KernelEngine, KernelIdentity
from rexmit.scenario import Scenario, load

GUEST = Path(__file__).with_name("fake_guest.py")

SCENARIO = """
format = 1
seed = 7
repeat = 40
[networks.near]
rate = "100Mbit"
delay = "2.5ms"
[networks.far]
rate = "1Mbit"
delay = "200ms"
repeat = 100
[configs.er.sysctl]
"net.ipv4.tcp_fack" = 1
[configs.tlp]
[loss]
segments = "0..2"
"""
"""12 cells: 6 of 40 transfers, 6 of 100; 840 transfers."""


class FakeStreams:
    """Random streams good enough for tests of what uses them."""

    def stream_u64(self, seed: int, name: str, index: int, count: int) -> list[int]:
        return [
            int.from_bytes(
                hashlib.sha256(repr((seed, name, index, n)).encode()).digest()[:8], "big"
            )
            for n in range(count)
        ]

    def stream_uniform(self, seed: int, name: str, index: int, count: int) -> list[float]:
        return [(word >> 11) / 2**53 for word in self.stream_u64(seed, name, index, count)]


@dataclass
class Told:
    """A progress that remembers."""

    total: int = 0
    before: int = 0
    done: int = 0
    failures: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    closed: bool = False
    on_advance: Callable[[int], None] = lambda _done: None

    def start(self, total: int | None, done: int = 0) -> None:
        assert total is not None
        self.total, self.before, self.done = total, done, done

    def advance(self, transfers: int) -> None:
        self.done += transfers
        self.on_advance(self.done)

    def failed(self, label: str, message: str) -> None:
        self.failures.append(f"{label}: {message}")

    def note(self, text: str) -> None:
        self.notes.append(text)

    def close(self) -> None:
        self.closed = True


@dataclass
class Lab:
    """Runs campaigns over the fake guest."""

    tmp_path: Path
    monkeypatch: pytest.MonkeyPatch
    told: Told = field(default_factory=Told)
    kernel_hash: str = "k1"

    def fake(self, **behaviour: object) -> None:
        """How the guest behaves from now on."""
        self.monkeypatch.setenv("REXMIT_FAKE", json.dumps(behaviour))

    def scenario(self, *settings: str) -> Scenario:
        """The scenario of these tests, changed by `--set` texts."""
        path = self.tmp_path / "fake.toml"
        path.write_text(SCENARIO, encoding="utf-8")
        return load(path, settings)

    @property
    def kernel(self) -> KernelIdentity:
        """A kernel that is never run."""
        return KernelIdentity("fake", Path("/no/kernel"), "6.12.0", 250, (), self.kernel_hash)

    def run(
        self,
        out: str = "run",
        *,
        settings: tuple[str, ...] = (),
        jobs: int = 2,
        hang_limit_s: float = 60.0,
        capture: bool = False,
        on_advance: Callable[[int], None] | None = None,
    ) -> dict[str, Any]:
        """One call of `rexmit run`, without the command line."""
        self.told = Told()
        if on_advance is not None:
            self.told.on_advance = on_advance
        request = Request(
            name="fake",
            scenario=self.scenario(*settings),
            out=self.tmp_path / out,
            command="rexmit run fake",
            version="1.2.3",
            jobs=jobs,
            capture=capture,
        )
        programs: dict[str, str | None] = {"nginx": "/usr/sbin/nginx"}
        engine = KernelEngine(self.kernel, GUEST, "g1", programs, hang_limit_s)
        return CampaignRun(request, engine, FakeStreams(), self.told).run()

    def files(self, out: str) -> dict[str, bytes]:
        """The tables of a run, as bytes."""
        names = ("transfers.parquet", "transfers.csv", "retransmissions.parquet")
        return {name: (self.tmp_path / out / name).read_bytes() for name in names}

    def boots(self, log: Path) -> list[dict[str, Any]]:
        """The boots that the fake guest logged, by their cell's label."""
        entries = [json.loads(line) for line in log.read_text().splitlines()]
        return sorted(entries, key=lambda entry: str(entry["cell"]))


@pytest.fixture
def lab(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Lab:
    """A laboratory whose kernels are fake."""
    monkeypatch.setenv("REXMIT_GUEST", str(GUEST))
    monkeypatch.setenv("PATH", f"{Path(sys.executable).parent}:/usr/bin:/bin")
    monkeypatch.delenv("REXMIT_FAKE", raising=False)
    return Lab(tmp_path, monkeypatch)

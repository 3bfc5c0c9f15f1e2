"""The model against real kernels, packet by packet: random cases, and those that once disagreed."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest
from tests.processes import run_command

from rexmit import _core, kernels, stack
from rexmit.engines.engine import cores
from rexmit.engines.kernel import KernelEngine, find_kernel
from rexmit.kernels.room import room
from rexmit_validate.agree.draw import CONGESTION_CONTROLS, SYSCTLS, draw
from rexmit_validate.agree.judge import judge
from rexmit_validate.agree.kernel import run, run_alone
from rexmit_validate.agree.model import Model
from rexmit_validate.agree.outcome import Outcome
from rexmit_validate.agree.packet import read as packets
from rexmit_validate.agree.read import read

pytestmark = pytest.mark.kernel

CASES = sorted((Path(__file__).parent / "cases").glob("*.toml"))


def rexmit(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rexmit", "validate", "agree", *words]
    return run_command(command, timeout=600)


def rates(*words: str) -> dict[str, Any]:
    done = rexmit(*words, "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


@pytest.mark.parametrize("kernel", ["6.1", "6.12"])
def test_random_cases_agree(kernel: str, tmp_path: Path) -> None:
    folder = tmp_path / "cases"
    found = rates("--kernel", kernel, "--cases", "150", "--seed", "11", "--keep", str(folder))
    assert (found["cases"], found["failed"]) == (150, 0)
    assert found["exact_percent"] >= 95, found["disagreements"]
    assert found["recovery_percent"] >= 97, found["disagreements"]
    assert found["with_retransmissions_percent"] >= 80
    # Without the kernel, from its logs; what disagrees is kept by name.
    again = rates("--again", str(folder))
    assert again == found
    kept = folder / "disagreements"
    names = {name for names in found["disagreements"].values() for name in names}
    assert {path.name for path in kept.glob("*")} == names
    # Another stack is another matter, which is what --fail-under is for.
    plain = rexmit("--again", str(folder), "--stack", "rfc", "--fail-under", "95")
    assert plain.returncode == 1
    assert "first differing packet:" in plain.stdout


@pytest.mark.parametrize("kernel", ["6.1", "6.12"])
def test_bbr_agrees(kernel: str, tmp_path: Path) -> None:
    words = ["--control", "bbr", "--cases", "150", "--seed", "77"]
    found = rates("--kernel", kernel, *words, "--keep", str(tmp_path / "cases"))
    assert (found["cases"], found["failed"]) == (150, 0)
    assert found["exact_percent"] >= 92, found["disagreements"]
    assert found["mechanisms_percent"] >= 93, found["disagreements"]
    assert found["recovery_percent"] >= 97, found["disagreements"]
    # What disagrees differs with the phase that the kernel drew.
    assert rates("--again", str(tmp_path / "cases")) == found


@pytest.mark.parametrize("kernel", ["6.1", "6.12"])
def test_cases_of_two_paths_agree(kernel: str, tmp_path: Path) -> None:
    words = ["--paths", "2", "--cases", "40", "--seed", "3", "--keep", str(tmp_path / "cases")]
    found = rates("--kernel", kernel, *words)
    assert found["cases"] >= 30
    assert found["agree_percent"] >= 95, found["disagreements"]
    assert found["exact_percent"] >= 95, found["disagreements"]


def test_cases_of_two_paths_are_compared_and_kept(tmp_path: Path) -> None:
    folder = tmp_path / "cases"
    found = rates("--kernel", "6.12", "--paths", "2", "--cases", "12", "--keep", str(folder))
    assert found["cases"] + found["failed"] == 12
    assert found["with_retransmissions_percent"] >= 50
    assert found["agree_percent"] >= 90, found["disagreements"]
    assert rates("--again", str(folder)) == found
    names = {name for names in found["disagreements"].values() for name in names}
    kept = sorted((folder / "disagreements").glob("*/*.toml"))
    assert {path.stem for path in kept} == names
    # One of a folder, and another number of paths.
    one = rexmit("--case", str(folder / "1-0"), "--show")
    assert "path 2" in one.stdout
    other = rexmit("--kernel", "6.12", "--cases", "1", "--keep", str(folder))
    assert "number of paths" in other.stderr


def open_kernel(name: str) -> KernelEngine:
    return KernelEngine.open(find_kernel(name), [])


@pytest.mark.parametrize("kernel", ["6.1", "6.12"])
def test_cases_that_once_disagreed_agree(kernel: str) -> None:
    engine = open_kernel(kernel)
    cases = dict(enumerate(map(read, CASES)))
    outcomes: dict[int, Outcome] = {}
    run(cases, engine, _core, cores=cores(), on_outcome=outcomes.__setitem__)
    apart = []
    for number, case in cases.items():
        stack, hz = f"linux-{kernel}", engine.kernel.hz
        one = judge(case, outcomes[number], Model(_core.run_model, _core, stack, hz))
        if not one.exact:
            apart.append((case.name, one.kind, one.kernel_error))
    assert not apart


def test_a_case_in_a_batch_is_the_case_alone() -> None:
    # One after the other in a kernel, or in a kernel of its own: microseconds differ at most.
    engine = open_kernel("6.1")
    there = (SYSCTLS | CONGESTION_CONTROLS) - {"net.ipv4.tcp_rto_min_us"}
    cases = {index: draw(_core, 5, index, there) for index in range(12)}
    together: dict[int, Outcome] = {}
    run(cases, engine, _core, cores=cores()[:1], on_outcome=together.__setitem__)
    for number in (0, 5, 11):
        alone = packets(run_alone(cases[number], engine, _core)["packets"])
        batch = packets(together[number]["packets"])
        assert [one._replace(at_ns=0) for one in alone] == [two._replace(at_ns=0) for two in batch]
        late = [abs(one.at_ns - two.at_ns) for one, two in zip(alone, batch, strict=True)]
        assert max(late) < 20_000


def test_an_interruption_is_heard_within_a_case(tmp_path: Path) -> None:
    words = ["--kernel", "6.1", "--cases", "4000", "--jobs", "1", "--keep", str(tmp_path / "a")]
    command = [sys.executable, "-m", "rexmit", "validate", "agree", *words]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as run:
        logs = tmp_path / "a" / "kernel.jsonl"
        until = time.monotonic() + 60
        while not (logs.exists() and logs.stat().st_size) and time.monotonic() < until:
            time.sleep(0.1)
        run.send_signal(signal.SIGINT)
        assert run.wait(timeout=60) == 130
    outcomes = [json.loads(line) for line in logs.read_text(encoding="utf-8").splitlines()]
    assert outcomes
    assert not any("error" in outcome for _, outcome in outcomes)


def test_one_case_beside_each_other() -> None:
    case = next(path for path in CASES if path.stem == "sacked-segments-share")
    done = rexmit("--case", str(case), "--kernel", "6.1", "--show")
    assert done.returncode == 0, done.stderr
    assert "every packet agrees" in done.stdout
    assert "[3..11]" in done.stdout
    assert done.stdout.count(" lost") >= 2


@pytest.mark.parametrize(
    ("words", "said", "status"),
    [
        (("--show",), "--show is for one --case", 2),
        (("--again", "nowhere"), "nowhere is no folder of `rexmit validate agree`", 125),
        (("--again", "a", "--case", "b/c"), "not both", 2),
        (("--again", "a", "--paths", "2"), "--again makes no use of --paths: leave it out", 2),
        (("--case", "a/b", "--json"), "--case makes no use of --json: leave it out", 2),
        (("--kernel", "9.9"), "9.9", 125),
        (("--again", "a", "--stack", "linux-6.2"), "did you mean linux-6.1?", 2),
    ],
)
def test_wrong_usage(words: tuple[str, ...], said: str, status: int) -> None:
    done = rexmit(*words)
    assert done.returncode == status
    assert said in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("series", ["6.1", "6.12"])
def test_the_models_stacks_are_as_our_kernels_are_configured(series: str) -> None:
    major, minor = series.split(".")
    found = room(kernels.find(series).config, (int(major), int(minor)))
    settings = {one.name: one.value for one in stack(f"linux-{series}").settings}
    assert found == {name: settings[name] for name in found}

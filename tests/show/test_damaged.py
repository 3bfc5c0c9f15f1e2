"""Run folders that were damaged: a clear line, or what is still right, but no traceback."""

from __future__ import annotations

import contextlib
import copy
import json
import random
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rexmit.campaign.runner import CampaignRun, Request
from rexmit.campaign.streams import core_streams
from rexmit.cli import app
from rexmit.engines.model import ModelEngine
from rexmit.errors import UserError
from rexmit.library.scenario import open_scenario
from rexmit.progress import for_stream
from rexmit.scenario import find, load
from rexmit.scenario.stacks import of_scenario
from rexmit.store.open_run import open_run

SMALL = ("loss.segments=0,1,5", "repeat=2", "workload.segments=20")
BURSTS = ("repeat=1", "workload.burst_segments=10")


def made(folder: Path, name: str, *changes: str) -> Path:
    """A run of a scenario, by the model."""
    scenario = load(find(name), changes)
    stream = (folder / "progress").open("w", encoding="utf-8")
    engine = ModelEngine.open("1", of_scenario(scenario, "linux-6.12", None), ())
    request = Request(name, scenario, folder / name, f"rexmit run {name}", "1", 1, capture=False)
    with stream:
        CampaignRun(request, engine, core_streams(), for_stream(stream, "transfers")).run()
    return request.out


@pytest.fixture(scope="module")
def runs(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A run of pages, and one of bursts."""
    folder = tmp_path_factory.mktemp("damaged")
    return [made(folder, "smoke", *SMALL), made(folder, "mptcp-smoke", *BURSTS)]


def tells(*words: str) -> str:
    """What a command prints; its exit status is 0, or it raises a UserError with a text."""
    result = CliRunner().invoke(app, list(words))
    if isinstance(result.exception, UserError):
        return result.exception.text()
    if result.exception is not None and not isinstance(result.exception, SystemExit):
        raise result.exception
    assert result.exit_code in (0, 1), result.output
    return result.output


def places(data: object) -> list[tuple[Any, ...]]:
    """The paths of all that lies in a value."""
    found: list[tuple[Any, ...]] = []
    entries: Iterator[tuple[Any, object]] = iter(())
    if isinstance(data, dict):
        entries = iter(data.items())
    elif isinstance(data, list):
        entries = iter(enumerate(data))
    for key, value in entries:
        found += [(key,), *((key, *rest) for rest in places(value))]
    return found


STRANGE = st.one_of(
    st.none(),
    st.booleans(),
    st.sampled_from([-1, 0, 1, 2**31, 2**63, 2**70, 10**400, -5.5, 1e308]),
    st.sampled_from([float("nan"), float("inf"), -float("inf")]),
    st.sampled_from(["", "x", "\0", "..", "a/b", "1" * 5000, "12x", "0", "5ms", "\u202e", "\x1b"]),
    st.sampled_from([[], {}, [[]], {"": {}}, [1, "a", None], {"a": []}, [{}], [[[]]]]),
)


def nested(depth: int) -> object:
    value: object = 1
    for _ in range(depth):
        value = [value]
    return value


@st.composite
def changed(draw: st.DrawFn, meta: dict[str, Any]) -> str:
    """The text of a run.json with some values that are others, or gone."""
    data = copy.deepcopy(meta)
    for _ in range(draw(st.integers(1, 3))):
        # Half of the changes lie at the top, where most that is read stands.
        everywhere = places(data)
        short = [place for place in everywhere if len(place) <= 2]
        place = draw(st.sampled_from(short if draw(st.booleans()) and short else everywhere))
        node: Any = data
        for key in place[:-1]:
            node = node[key]
        if draw(st.integers(0, 4)) == 0:
            del node[place[-1]]
        elif draw(st.integers(0, 9)) == 0:
            node[place[-1]] = nested(draw(st.sampled_from([30, 60, 500])))
        else:
            node[place[-1]] = draw(STRANGE)
        if not data:
            break
    return json.dumps(data)


@pytest.mark.slow
@pytest.mark.parametrize("which", [0, 1])
def test_a_changed_run_json_gives_no_traceback(runs: list[Path], which: int) -> None:
    path = runs[which]
    file = path / "run.json"
    good = file.read_text()

    @settings(
        max_examples=100,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(text=changed(json.loads(good)), command=st.integers(0, 3))
    def check(text: str, command: int) -> None:
        file.write_text(text, encoding="utf-8")
        commands: list[Callable[[], object]] = [
            lambda: tells("show", str(path)),
            lambda: tells("show", str(path), "--json"),
            lambda: tells("diff", str(path), str(path)),
            lambda: open_scenario(file),
        ]
        with contextlib.suppress(UserError):
            commands[command]()

    try:
        check()
        others: list[Any] = [[], {}, 1, "x", {"networks": []}, {"stacks": {"a": 1}}]
        for key in ("scenario", "kernel", "engine", "model", "command", "name"):
            for value in others:
                file.write_text(json.dumps({**json.loads(good), key: value}), encoding="utf-8")
                tells("show", str(path))
                tells("diff", str(path), str(path))
        # Figures take longer.
        file.write_text(json.dumps({**json.loads(good), "scenario": {}}), encoding="utf-8")
        tells("plot", str(path), "--format", "svg")
    finally:
        file.write_text(good)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"scenario": {"networks": []}}, "scenario.networks must be a mapping"),
        ({"wall_s": float("nan")}, "NaN is no number"),
        ({"seed": -1}, "seed must be a whole number"),
        ({"transfers": True}, "transfers must be a whole number"),
        ({"warnings": [3]}, "warnings[0] must be text"),
        ({"name": "../x"}, "name must be a name"),
    ],
)
def test_what_is_wrong_is_said_everywhere(
    runs: list[Path], change: dict[str, Any], said: str
) -> None:
    path = runs[0]
    file = path / "run.json"
    good = file.read_text()
    file.write_text(json.dumps({**json.loads(good), **change}))
    try:
        for words in (["show"], ["plot"], ["diff", str(path)]):
            told = tells(words[0], str(path), *words[1:])
            assert said in told
            assert str(file) in told
        with pytest.raises(UserError, match=r"is no run\.json of a run"):
            open_scenario(file)
    finally:
        file.write_text(good)


@pytest.mark.parametrize("text", ["[" * 100_000, "[" * 900 + "]" * 900, '{"a":' * 5000])
def test_what_is_nested_too_deep_is_damage(runs: list[Path], text: str) -> None:
    file = runs[0] / "run.json"
    good = file.read_text()
    file.write_text(text)
    try:
        assert "cannot be read" in tells("show", str(runs[0]))
        with pytest.raises(UserError, match=r"is no run\.json of a run"):
            open_scenario(file)
    finally:
        file.write_text(good)


def test_every_byte_that_flips_is_seen(runs: list[Path]) -> None:
    dice = random.Random(1)  # noqa: S311 - no secret
    tables = [file for run in runs for file in sorted(run.glob("*.parquet"))]
    assert len(tables) == 6
    for file in [*tables, runs[0] / "transfers.csv"]:
        good = file.read_bytes()
        for _ in range(10):
            bad = bytearray(good)
            bad[dice.randrange(len(bad))] ^= 1 << dice.randrange(8)
            file.write_bytes(bad)
            with pytest.raises(UserError, match=f"{file.name}: damaged") as error:
                open_run(file.parent)
            assert f"--out {file.parent}` makes the tables again" in str(error.value.hint)
        file.write_bytes(good)
        open_run(file.parent)


@pytest.mark.parametrize("digests", [True, False])
@pytest.mark.parametrize("name", ["transfers.parquet", "retransmissions.parquet"])
def test_tables_that_are_others(runs: list[Path], name: str, digests: bool) -> None:
    path, file = runs[0], runs[0] / name
    meta, good = (path / "run.json").read_text(), file.read_bytes()
    if not digests:
        plain = json.loads(meta)
        del plain["tables"]
        (path / "run.json").write_text(json.dumps(plain))

    def told() -> str:
        return tells("show", str(path)) + tells("diff", str(path), str(path))

    frame = pl.read_parquet(file)
    try:
        file.write_bytes(good[: len(good) // 2])
        assert digests == (f"{file}: damaged" in told())
        frame.drop("cell").write_parquet(file)
        assert digests == (f"{file}: damaged" in told())
        frame.with_columns(pl.lit("a").alias("cell")).write_parquet(file)
        told()
        frame.with_columns(pl.lit(None, dtype=pl.Int64).alias("cell")).write_parquet(file)
        told()
        file.unlink()
        assert told()
        if name == "transfers.parquet":
            assert "not finished" in tells("plot", str(path))
    finally:
        file.write_bytes(good)
        (path / "run.json").write_text(meta)

"""A store that gives a part of a capture and no more: one process and a cluster keep the same."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from polars.testing import assert_frame_equal
from tests.sources.servers import web_server

import rexmit
from rexmit.cluster import Call
from rexmit.sources import reader
from rexmit.store.trace_schema import TABLES
from rexmit.tracing import on_cluster, tasks


class Here:
    """A cluster of this process: what is patched in it is so for its calls."""

    workers = 1

    def run(
        self,
        calls: Iterable[Call],
        answer: Callable[[Call, Any], None],
        *,
        done: Callable[[str, int], None] | None = None,  # noqa: ARG002
    ) -> None:
        for call in calls:
            tell = ((lambda _: None),) if call.tells else ()
            try:
                given = call.function(*call.arguments, *tell)
            except Exception as error:  # as a worker sends it
                given = error
            answer(call, given)


@contextmanager
def _here(_: str) -> Iterator[Here]:
    yield Here()


@pytest.fixture(scope="module")
def captures(tmp_path_factory: pytest.TempPathFactory) -> dict[str, bytes]:
    out = tmp_path_factory.mktemp("captures") / "made"
    rexmit.synth(mix="campus,wireless", connections=60, seed=5, out=out)
    made = sorted((out / "captures").glob("*-sender.pcapng"))
    return {f"{hour:02}.pcapng": one.read_bytes() for hour, one in enumerate(made)}


@pytest.mark.parametrize("share", [0.6, 0.0])
def test_what_came_is_kept(
    share: float, captures: dict[str, bytes], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Many ranges, and none is asked for a second time.
    monkeypatch.setattr(reader, "FIRST_BYTES", 1000)
    monkeypatch.setattr(reader, "MOST_BYTES", 7000)
    monkeypatch.setattr(reader, "READING", (0, 1))
    monkeypatch.setattr(on_cluster, "open_cluster", _here)
    asked: list[bool] = []
    read = tasks.read

    def counted(*arguments: Any) -> dict[str, Any]:  # noqa: ANN401
        asked.append(arguments[3])
        return read(*arguments)

    monkeypatch.setattr(tasks, "read", counted)
    with web_server(captures) as web:
        web.ends["00.pcapng"] = int(share * len(captures["00.pcapng"]))
        names = [f"{web.address}/{name}" for name in sorted(captures)]
        alone = rexmit.trace(names, whatif=())
        made = rexmit.trace(names, out=tmp_path / "t", cluster="local:1", whatif=())
    # It was tried again, and what came kept at the last.
    assert sorted(asked) == [False, False, False, True]
    (told,) = alone.facts.warnings
    assert told.startswith(f"{web.address}/00.pcapng: ")
    if share:
        came = alone.facts.files[0].packets
        assert came > 100
        assert f"; packets that came before: {came}; what follows it is left out" in told
    else:
        assert told.endswith("; it is left out")
    (theirs,) = made.facts.warnings
    if share:
        assert theirs == told
    else:
        # The words of the store's failure are in different company.
        assert theirs.partition(": ")[0] == told.partition(": ")[0]
        assert theirs.endswith("; it is left out")
    assert made.facts.packets == alone.facts.packets
    for name in TABLES:
        rows, same = (one.scan(name).drop("capture", strict=False) for one in (made, alone))
        assert_frame_equal(rows.collect(), same.collect(), check_exact=True)

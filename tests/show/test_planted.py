"""Tables that somebody else wrote are refused by file and column, or read; never a traceback."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.show.planted import changes, copied, digested, dropped, plant, retyped, valued
from tests.show.test_damaged import BURSTS, SMALL, changed, made, tells

import rexmit
from rexmit import memory
from rexmit.errors import UserError
from rexmit.sources import packed
from rexmit.store import checked
from rexmit.store.open_run import open_run
from rexmit.store.schema import Column, declared
from rexmit.tracing.folder import open_trace

KINDS = ("run", "bursts", "trace", "points")


@pytest.fixture(scope="module")
def folders(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """A run of pages, one of bursts, a trace of several captures, and one of several points."""
    out = tmp_path_factory.mktemp("planted")
    rexmit.synth(mix="campus,wireless", connections=30, seed=5, out=out / "made")
    captures = sorted((out / "made" / "captures").glob("*.pcapng"))
    senders = [one for one in captures if "-sender" in one.name][:2]
    both = [
        next(one for one in captures if point in one.name) for point in ("-sender", "-receiver")
    ]
    rexmit.trace(senders, out=out / "trace")
    rexmit.trace(both, out=out / "points")
    return {
        "run": made(out, "smoke", *SMALL),
        "bursts": made(out, "mptcp-smoke", *BURSTS),
        "trace": out / "trace",
        "points": out / "points",
    }


def commands(kind: str, folder: Path, out: Path) -> list[list[str]]:
    """All commands that read such a folder."""
    name = str(folder)
    if kind in ("run", "bursts"):
        return [
            ["show", name],
            ["show", name, "--json"],
            ["show", name, "--flow", "0"],
            ["diff", name, name],
            ["diff", name, name, "--json"],
            ["plot", name, "--format", "svg", "--out", str(out / "figures")],
            ["report", name, "-o", str(out / "page.html")],
            ["report", name, "--table", "transfers"],
        ]
    return [
        ["trace", name],
        ["trace", name, "--json"],
        ["trace", name, "--by", "host"],
        ["trace", name, "--by", "prefix", "--json"],
        ["trace", name, "--host", "10.0.0.0/8", "--port", "80"],
        ["trace", name, "--from", "2000-01-01T00:00:00"],
        ["trace", name, "--study", "--out", str(out / "study")],
        ["trace", name, "--annotate", str(out / "annotated.pcapng")],
        ["show", name],
        ["show", name, "--flow", "1"],
        ["report", name, "-o", str(out / "page.html")],
        ["report", name, "--table", "retransmissions", "--where", "tlp"],
    ]


@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
def test_no_command_gives_a_traceback(folders: dict[str, Path], kind: str, tmp_path: Path) -> None:
    good = folders[kind]
    tables = {file.name: pl.read_parquet(file) for file in sorted(good.glob("*.parquet"))}
    number = st.integers(0, len(commands(kind, good, tmp_path)) - 1)

    @settings(
        max_examples=25,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(data=st.data(), command=number)
    def check(data: st.DataObject, command: int) -> None:
        folder = copied(good, tmp_path / "planted")
        name = data.draw(st.sampled_from(sorted(tables)))
        plant(folder, folder / name, data.draw(changes(tables[name]))(tables[name]))
        tells(*commands(kind, folder, tmp_path)[command])

    check()


def _tables(kind: str) -> Iterator[tuple[str, tuple[Column, ...]]]:
    places = ("run",) if kind in ("run", "bursts") else ("trace", "points")
    for place in places:
        yield from ((name, table.columns) for name, table in declared(place).items())


def _read(kind: str, folder: Path) -> None:
    if kind in ("run", "bursts"):
        run = open_run(folder)
        for rows in (run.retransmissions, run.bursts, run.subflows):
            if kind == "bursts" or rows == run.retransmissions:
                rows()
    else:
        open_trace(folder)


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_wrong_is_said_of_its_column(
    folders: dict[str, Path], kind: str, tmp_path: Path
) -> None:
    """One kind of wrong a column, in turn, so that each kind meets each type."""
    folder = copied(folders[kind], tmp_path / "planted")
    seen = 0
    for name, columns in _tables(kind):
        file = folder / f"{name}.parquet"
        if not file.exists():
            continue
        good = pl.read_parquet(file)
        if not good.height:
            continue
        for place, column in enumerate(columns):
            wrong = [retyped(column.name, pl.Date), dropped(column.name)]
            if column.kind == "number":
                wrong += [valued(column.name, value, 0) for value in (float("nan"), 1e300)]
            if not column.nullable:
                wrong.append(valued(column.name, None, 0))
            plant(folder, file, wrong[place % len(wrong)](good))
            with pytest.raises(UserError) as caught:
                _read(kind, folder)
            assert f"{file}: column {column.name} " in caught.value.what
            assert caught.value.hint
            seen += 1
        plant(folder, file, good)
    _read(kind, folder)
    assert seen > 50


@pytest.mark.parametrize("column", ["mechanism", "need", "direction", "episode_cause"])
def test_a_word_is_one_of_those_that_there_are(
    folders: dict[str, Path], column: str, tmp_path: Path
) -> None:
    folder = copied(folders["trace"], tmp_path / "planted")
    file = folder / "retransmissions.parquet"
    plant(folder, file, valued(column, "x", 0)(pl.read_parquet(file)))
    with pytest.raises(UserError, match=f"column {column} holds another word than it may"):
        open_trace(folder)


def test_columns_that_come_together(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = copied(folders["trace"], tmp_path / "planted")
    file = folder / "connections.parquet"
    plant(folder, file, valued("reset_by", "client", 0)(pl.read_parquet(file)))
    with pytest.raises(UserError, match="column reset_state is null in other rows than reset_by"):
        open_trace(folder)


def test_tables_fit_each_other(folders: dict[str, Path], tmp_path: Path) -> None:
    for name, said in {
        "connections": "two rows have the same connection",
        "sides": "two rows have the same connection, direction",
    }.items():
        folder = copied(folders["trace"], tmp_path / "planted")
        rows = pl.read_parquet(folder / f"{name}.parquet")
        plant(folder, folder / f"{name}.parquet", pl.concat([rows, rows.head(1)]))
        with pytest.raises(UserError, match=f"{name}.parquet: {said}"):
            open_trace(folder)
    folder = copied(folders["trace"], tmp_path / "planted")
    plant(folder, folder / "sides.parquet", pl.read_parquet(folder / "sides.parquet").head(3))
    with pytest.raises(UserError, match="some connection has not both of its rows"):
        open_trace(folder)


@pytest.mark.parametrize("kind", ["trace", "points"])
@pytest.mark.parametrize(
    ("column", "value"),
    [("flow", ""), ("flow", "a > b"), ("end_s", checked.LONGEST_S), ("start_s", -9e9)],
)
def test_a_flow_that_is_none(
    folders: dict[str, Path], kind: str, column: str, value: object, tmp_path: Path
) -> None:
    folder = copied(folders[kind], tmp_path / "planted")
    file = folder / "connections.parquet"
    plant(folder, file, valued(column, value)(pl.read_parquet(file)))
    for command in commands(kind, folder, tmp_path):
        tells(*command)


def test_a_connection_left_out_at_no_time(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = copied(folders["trace"], tmp_path / "planted")
    about = folder / "trace.json"
    meta = json.loads(about.read_text())
    failure = {"start_s": 1e14, "client": "x", "client_port": 1, "server": "y", "server_port": 2}
    meta["facts"] |= {"failed": 1, "failures": [failure | {"defect": "z"}]}
    about.write_text(json.dumps(meta))
    with pytest.raises(UserError, match=r"failures\[0\].start_s must be a number"):
        open_trace(folder)


def test_halves_of_pairs_are_no_text(folders: dict[str, Path], tmp_path: Path) -> None:
    folder = copied(folders["trace"], tmp_path / "planted")
    about = folder / "trace.json"
    meta = json.loads(about.read_text())
    about.write_text(json.dumps(meta | {"captures": ["\ud800"]}))
    with pytest.raises(UserError, match=r"captures\[0\] must be text"):
        open_trace(folder)


def test_a_file_that_is_no_table(folders: dict[str, Path], tmp_path: Path) -> None:
    """Pages that cannot be unpacked, with a right digest."""
    folder = copied(folders["trace"], tmp_path / "planted")
    file = folder / "retransmissions.parquet"
    data = bytearray(file.read_bytes())
    data[40:400] = bytes(360)
    rows = pl.read_parquet(folder / "sides.parquet")
    file.write_bytes(data)
    plant(folder, folder / "sides.parquet", rows)
    with pytest.raises(UserError, match=r"retransmissions\.parquet: cannot be read"):
        open_trace(folder)


@pytest.mark.parametrize("kind", ["run", "trace"])
def test_rows_that_fill_the_memory(
    folders: dict[str, Path], kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A few kilobytes that unpack to a great many equal rows."""
    folder = copied(folders[kind], tmp_path / "planted")
    file = folder / "retransmissions.parquet"
    first = pl.read_parquet(file).row(0, named=True)
    rows = pl.select(
        pl.repeat(first[name], 300_000, dtype=dtype).alias(name)
        for name, dtype in pl.read_parquet_schema(file).items()
    )
    plant(folder, file, rows)
    with packed.allowed(100), pytest.raises(UserError, match="the limit is 100 times") as caught:
        _read(kind, folder)
    assert "raise --unpack-limit" in str(caught.value.hint)
    _read(kind, folder)
    monkeypatch.setattr(memory, "available", lambda: 1 << 20)
    with pytest.raises(UserError, match=r"its 300,000 rows take .* MiB of memory, and 1 MiB"):
        _read(kind, folder)


@pytest.mark.parametrize("kind", ["run", "trace"])
@pytest.mark.parametrize(
    ("deep", "said"), [(900, "columns within columns"), (200_000, "more than 1,000 columns")]
)
def test_columns_within_columns(
    folders: dict[str, Path], kind: str, deep: int, said: str, tmp_path: Path
) -> None:
    """Eight bytes for each, over which a reader that calls itself runs out of its stack."""
    folder = copied(folders[kind], tmp_path / "planted")
    file = folder / "retransmissions.parquet"
    # Thrift's compact form. Of a column: whether it may be null, its name, how many are in it.
    group, leaf = b"\x35\0\x18\1a\x15\2\0", b"\x15\4\x25\0\x18\1a\0"
    count = bytes([(deep + 1) & 127 | 128, (deep + 1) >> 7 & 127 | 128, (deep + 1) >> 14])
    columns = b"\x19\xfc" + count + deep * group + leaf
    footer = b"\x15\2" + columns + b"\x16\0\x19\x0c\0"
    file.write_bytes(b"PAR1" + footer + len(footer).to_bytes(4, "little") + b"PAR1")
    digested(folder)
    with pytest.raises(UserError, match=f"{file}: cannot be read: it has {said}"):
        _read(kind, folder)


@pytest.mark.parametrize("kind", ["run", "trace"])
def test_pages_that_are_not_there(folders: dict[str, Path], kind: str, tmp_path: Path) -> None:
    """A footer alone, as one that names a page a thousand times."""
    folder = copied(folders[kind], tmp_path / "planted")
    file = folder / "retransmissions.parquet"
    data = file.read_bytes()
    footer = int.from_bytes(data[-8:-4], "little")
    file.write_bytes(b"PAR1" + data[-8 - footer :])
    digested(folder)
    with pytest.raises(UserError, match="cannot be read: columns of it lie in one another"):
        _read(kind, folder)


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["trace", "points"])
def test_a_changed_trace_json_gives_no_traceback(
    folders: dict[str, Path], kind: str, tmp_path: Path
) -> None:
    folder = copied(folders[kind], tmp_path / "planted")
    about = folder / "trace.json"
    good = json.loads(about.read_text())
    number = st.integers(0, len(commands(kind, folder, tmp_path)) - 1)

    @settings(
        max_examples=25,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow],
    )
    @given(text=changed(good), command=number)
    def check(text: str, command: int) -> None:
        about.write_text(text, encoding="utf-8")
        tells(*commands(kind, folder, tmp_path)[command])

    check()


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"pieces": ["../other"]}, "pieces is not of one trace"),
        ({"facts": {"left_out": "x"}}, "facts.left_out must be a whole number"),
        ({"facts": {"evicted_openings": -1}}, "facts.evicted_openings must be a whole number"),
        ({"facts": {"capture_filter": 5}}, "facts.capture_filter must be text"),
        ({"piece": {"began_s": 1, "next_connection": 2**62}}, "piece.next_connection must be"),
        ({"tables": {"../x": {"bytes": 0, "sha256": "0" * 64}}}, "names ../x, which is no table"),
        ({"tables": {"/etc/x": {"bytes": 0, "sha256": "0" * 64}}}, "which is no table"),
    ],
)
def test_what_a_trace_json_may_not_say(
    folders: dict[str, Path], change: dict[str, dict[str, object]], said: str, tmp_path: Path
) -> None:
    folder = copied(folders["trace"], tmp_path / "planted")
    about = folder / "trace.json"
    meta = json.loads(about.read_text())
    for key, value in change.items():
        meta[key] = {**meta.get(key, {}), **value} if isinstance(value, dict) else value
    about.write_text(json.dumps(meta))
    with pytest.raises(UserError, match=r"trace\.json: cannot be read") as caught:
        open_trace(folder)
    assert said in caught.value.what


@pytest.mark.parametrize("clock", [5, [5], [[0, [[1, 2]]]], [[2**70, []]], [["x", []]]])
def test_a_clock_that_is_none(folders: dict[str, Path], clock: object, tmp_path: Path) -> None:
    folder = copied(folders["points"], tmp_path / "planted")
    about = folder / "trace.json"
    meta = json.loads(about.read_text())
    meta["points"][1]["clock"] = clock
    about.write_text(json.dumps(meta))
    with pytest.raises(UserError, match=r"points\[1\]\.clock is no clock"):
        open_trace(folder)


@pytest.mark.parametrize("kind", ["run", "trace"])
@pytest.mark.parametrize("known", [True, False])
def test_a_pipe_for_a_table_is_not_waited_for(
    folders: dict[str, Path], kind: str, *, known: bool, tmp_path: Path
) -> None:
    folder = copied(folders[kind], tmp_path / "planted")
    name = "retransmissions.parquet"
    about = folder / ("run.json" if kind == "run" else "trace.json")
    meta = json.loads(about.read_text())
    if known:
        meta["tables"][name]["bytes"] = 0
    else:
        del meta["tables"][name]
    about.write_text(json.dumps(meta))
    (folder / name).unlink()
    os.mkfifo(folder / name)
    with pytest.raises(UserError, match=f"{name}: is no file"):
        _read(kind, folder)

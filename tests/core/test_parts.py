"""A capture of many files, analysed in parts: what Python sees of it."""

from __future__ import annotations

import io
import struct
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import cast

import polars as pl
import pytest
from tests.trace.test_core import capture

from rexmit import _core

REAL = Path(__file__).parents[1] / "real" / "captures"
GROUPS = 3


def _files(whole: bytes, count: int, folder: Path) -> list[Path]:
    """A capture as so many, one after the other."""
    packets = []
    at = 24
    while at < len(whole):
        (length,) = struct.unpack_from("<I", whole, at + 8)
        packets.append(whole[at : at + 16 + length])
        at += 16 + length
    paths = []
    for number in range(count):
        some = packets[number * len(packets) // count : (number + 1) * len(packets) // count]
        paths.append(folder / f"{number}.pcap")
        paths[-1].write_bytes(whole[:24] + b"".join(some))
    return paths


def _rows(run: _core.Trace | _core.MergeParts) -> dict[str, pl.DataFrame]:
    batches: dict[str, list[pl.DataFrame]] = {}
    while (batch := run.next_batch()) is not None:
        for name, rows in batch.items():
            batches.setdefault(name, []).append(pl.DataFrame(rows))
    return {name: pl.concat(some) for name, some in batches.items()}


def _read(paths: Sequence[Path], folder: Path, groups: int = GROUPS) -> list[Path]:
    parts = []
    for number, path in enumerate(paths):
        parts.append(folder / f"part-{number}")
        _core.read_part(path, str(path), parts[-1], groups=groups)
    return parts


def _analyse(
    parts: Sequence[Path], folder: Path, whatif: bool | list[str] | None = None
) -> list[Path]:
    rows = []
    folder.mkdir(exist_ok=True)
    for group in range(GROUPS):
        rows.append(folder / f"rows-{group}")
        _core.analyse_part(parts, group, rows[-1], whatif=whatif)
    return rows


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    return _files(capture(40), 4, tmp_path)


def _merge(
    parts: Sequence[Path], folder: Path, whatif: bool | list[str] | None = None
) -> tuple[dict[str, pl.DataFrame], dict[str, object]]:
    """The rows and the summary of all steps after the first."""
    rows = _analyse(parts, folder, whatif)
    summary = _core.judge_parts(parts, rows, folder / "judged", whatif=whatif)
    pieces = summary.pop("pieces")
    assert len(pieces) == 2
    assert all(size > 0 for size in pieces)
    return _rows(_core.MergeParts(rows, folder / "judged")), summary


@pytest.fixture
def made(files: list[Path], tmp_path: Path) -> tuple[list[Path], list[Path], Path]:
    parts = _read(files, tmp_path)
    rows = _analyse(parts, tmp_path)
    _core.judge_parts(parts, rows, tmp_path / "judged")
    return parts, rows, tmp_path / "judged"


@pytest.mark.parametrize("whatif", [True, False, ["k=2", "grid"]])
def test_the_rows_are_those_of_one_run(
    files: list[Path], tmp_path: Path, whatif: bool | list[str]
) -> None:
    parts = _read(files, tmp_path)
    other, summary = _merge(parts, tmp_path, whatif)
    trace = _core.Trace(files, whatif=whatif)
    one = _rows(trace)
    assert one.keys() == other.keys()
    for name, rows in one.items():
        assert rows.equals(other[name]), name
    assert one["connections"].height == 40
    assert one["retransmissions"].height == 40
    assert summary == trace.summary()


@pytest.mark.parametrize("path", sorted(REAL.glob("*.pcap")), ids=lambda path: path.stem)
def test_a_real_capture_has_the_rows_of_one_run(path: Path, tmp_path: Path) -> None:
    parts = _read([path], tmp_path)
    other, summary = _merge(parts, tmp_path)
    trace = _core.Trace([path])
    one = _rows(trace)
    assert {name: rows.equals(other[name]) for name, rows in one.items()} == dict.fromkeys(
        one, True
    )
    assert summary == trace.summary()


def test_pieces_one_after_the_other_are_all_rows(tmp_path: Path) -> None:
    # A stretch a file, as many for what ends with the capture, and 64 of them a piece.
    parts = _read(_files(capture(40), 200, tmp_path), tmp_path)
    rows = [tmp_path / f"rows-{group}" for group in range(GROUPS)]
    for group, out in enumerate(rows):
        _core.analyse_part(parts, group, out, linger_s=1)
    judged = tmp_path / "judged"
    pieces = _core.judge_parts(parts, rows, judged, linger_s=1)["pieces"]
    assert len(pieces) == 8
    each = [_rows(_core.MergeParts(rows, judged, pieces=some)) for some in ((0, 2), (2, 3), (3, 8))]
    assert sum(bool(some) for some in each) > 1
    whole = _rows(_core.MergeParts(rows, judged))
    for name, table in whole.items():
        assert table.equals(pl.concat([some[name] for some in each if name in some])), name
    for some in ((7, 9), (8, 8), (3, 2)):
        with pytest.raises(ValueError, match=f"{some[0]} to before {some[1]}: there are 8"):
            _core.MergeParts(rows, judged, pieces=some)


def syns(count: int) -> bytes:
    """A capture of SYNs of so many connections, none of which is answered."""
    packets = [struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65_535, 101)]
    for number in range(count):
        ends = struct.pack(">II", 0x0B000000 + number * 37, 0x0A000001)
        packet = struct.pack(">BBHHHBBH", 0x45, 0, 40, 0, 0, 64, 6, 0) + ends
        packet += struct.pack(">HHIIBBHHH", 40_000, 80, number, 0, 0x50, 2, 65_535, 0, 0)
        packets.append(struct.pack("<IIII", 1_700_000_000, number, len(packet), len(packet)))
        packets.append(packet)
    return b"".join(packets)


def test_groups_say_that_they_have_too_many_connections(tmp_path: Path) -> None:
    path = tmp_path / "syns.pcap"
    path.write_bytes(syns(4_200))
    most, key = 4_096, (1, 0x5BC8FBBCBDE5C099, 0x87B0B125EC1D7DA0)

    def analysed(group: int, out: Path) -> dict[str, object]:
        return _core.analyse_part([part], group, out, key=key, most_connections=most)

    part, rows = tmp_path / "part", [tmp_path / f"rows-{group}" for group in range(GROUPS)]
    _core.read_part(path, "a", part, groups=GROUPS, key=key, most_connections=most)
    for group, out in enumerate(rows):
        assert "full" not in analysed(group, out)
    judged = tmp_path / "judged"
    told = _core.judge_parts([part], rows, judged, key=key, most_connections=most)
    assert told == {"full": True}
    # One group alone has far more than its share.
    path.write_bytes(syns(12_000))
    _core.read_part(path, "a", part, groups=GROUPS, key=key, most_connections=most)
    assert analysed(0, tmp_path / "none") == {"full": True}
    assert not (tmp_path / "none").exists()


def test_parts_of_another_key_do_not_go_together(files: list[Path], tmp_path: Path) -> None:
    (part,) = _read(files[:1], tmp_path)
    with pytest.raises(ValueError, match="the same key"):
        _core.analyse_part([part], 0, tmp_path / "rows", key=(1, 2, 3))


class _Slow:
    """Gives less than it is asked for, and something else than bytes."""

    def __init__(self, data: bytes) -> None:
        self.data = data
        self.at = 0

    def read(self, size: int, /) -> memoryview:
        given = self.data[self.at : self.at + min(size, 1_000)]
        self.at += len(given)
        return memoryview(given)


class _Failing(_Slow):
    """Fails when something was read."""

    def read(self, size: int, /) -> memoryview:
        if self.at > 0:
            raise ConnectionResetError("the other end is gone")
        return super().read(size)


def test_anything_that_is_read_is_a_source(files: list[Path], tmp_path: Path) -> None:
    told = _core.read_part(files[0], "a", tmp_path / "path", groups=2)
    assert told == _core.read_part(_Slow(files[0].read_bytes()), "a", tmp_path / "object", groups=2)
    for file in (tmp_path / "path").iterdir():
        assert file.read_bytes() == (tmp_path / "object" / file.name).read_bytes()
    assert told["name"] == "a"
    assert told["packets"] == told["tcp_packets"] == 100
    assert (told["first_ns"], told["last_ns"]) == (1_000_000_000_000, 1_009_400_000_000)
    assert (told["error"], told["warnings"]) == (None, [])


def test_a_source_that_fails_leaves_nothing(files: list[Path], tmp_path: Path) -> None:
    with pytest.raises(OSError, match="a: the other end is gone"):
        _core.read_part(_Failing(files[0].read_bytes()), "a", tmp_path / "part", groups=1)
    with pytest.raises(OSError, match="none: No such file"):
        _core.read_part(tmp_path / "none", "none", tmp_path / "part", groups=1)
    with pytest.raises(TypeError, match="a path, or an object with a method `read`"):
        _core.read_part(cast("Path", 7), "7", tmp_path / "part", groups=1)
    with pytest.raises(ValueError, match="gif: no capture of a known format"):
        _core.read_part(io.BytesIO(b"GIF89a"), "gif", tmp_path / "part", groups=1)
    with pytest.raises(ValueError, match="1 to 256 groups, not 257"):
        _core.read_part(files[0], "a", tmp_path / "part", groups=257)
    assert sorted(tmp_path.iterdir()) == sorted(files)


def test_what_a_report_raises_ends_the_work(files: list[Path], tmp_path: Path) -> None:
    long = tmp_path / "long.pcap"
    long.write_bytes(capture(8_000))
    heard: list[tuple[int, float]] = []
    _core.read_part(long, "a", tmp_path / "part", groups=1, report=lambda *of: heard.append(of))
    assert [packets for packets, _ in heard] == [65_536]

    def stop(*_: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _core.read_part(long, "a", tmp_path / "other", groups=1, report=stop)
    with pytest.raises(KeyboardInterrupt):
        _core.analyse_part([tmp_path / "part"], 0, tmp_path / "rows", report=stop)
    assert sorted(tmp_path.iterdir()) == sorted([*files, long, tmp_path / "part"])


def test_a_file_that_breaks_gives_what_is_before(files: list[Path], tmp_path: Path) -> None:
    broken = files[1].read_bytes() + b"\xff" * 100
    files[1].write_bytes(broken)
    files[2].write_bytes(files[2].read_bytes()[:-1])
    parts = _read(files, tmp_path)
    told = _core.read_part(files[1], str(files[1]), parts[1], groups=GROUPS)
    assert "broken at byte" in told["error"]
    assert told["packets"] == 100
    other, summary = _merge(parts, tmp_path)
    trace = _core.Trace(files)
    assert all(rows.equals(other[name]) for name, rows in _rows(trace).items())
    assert summary == trace.summary()
    assert len(trace.summary()["warnings"]) == 2


def test_a_step_may_be_done_again(
    files: list[Path], made: tuple[list[Path], list[Path], Path], tmp_path: Path
) -> None:
    parts, rows, judged = made

    def written() -> dict[Path, bytes]:
        folders = [*parts, *rows, judged]
        return {path: path.read_bytes() for folder in folders for path in folder.iterdir()}

    before = written()
    assert _read(files, tmp_path) == parts
    assert _analyse(parts, tmp_path) == rows
    _core.judge_parts(parts, rows, judged)
    assert written() == before


def test_what_is_not_whole_or_of_another_version_is_named(
    made: tuple[list[Path], list[Path], Path],
) -> None:
    parts, rows, judged = made
    steps: list[tuple[Path, Callable[[], object]]] = [
        (rows[1] / "rows", lambda: _rows(_core.MergeParts(rows, judged))),
        (judged / "rows", lambda: _rows(_core.MergeParts(rows, judged))),
        (judged / "judged", lambda: _core.MergeParts(rows, judged)),
        (rows[1] / "waiting", lambda: _core.judge_parts(parts, rows, judged)),
        (parts[1] / "packets-001", lambda: _core.analyse_part(parts, 1, rows[1])),
        (parts[1] / "part", lambda: _core.analyse_part(parts, 1, rows[1])),
        (parts[1] / "detail", lambda: _core.analyse_part(parts, 1, rows[1])),
    ]
    for path, step in steps:
        whole = path.read_bytes()
        for bytes_, what in [
            (whole[:-5], "cut off"),
            (whole[:8] + b"\x63" + whole[9:], "version 99"),
            (b"something else", r"this is not (rows|packets that|what)"),
        ]:
            path.write_bytes(bytes_)
            with pytest.raises(ValueError, match=what) as error:
                step()
            assert str(path) in str(error.value)
        path.write_bytes(whole)


def test_what_does_not_go_together_is_told(
    files: list[Path], made: tuple[list[Path], list[Path], Path], tmp_path: Path
) -> None:
    parts, rows, judged = made
    again = tmp_path / "again"
    with pytest.raises(ValueError, match="groups 0 to 2 are needed"):
        _core.judge_parts(parts, rows[:2], again)
    with pytest.raises(ValueError, match="made with other settings"):
        _core.judge_parts(parts, rows, again, whatif=False)
    with pytest.raises(ValueError, match="of other files"):
        _core.judge_parts(parts[:3], rows, again)
    with pytest.raises(ValueError, match="2 folders of rows where those of 3 groups"):
        _core.MergeParts(rows[:2], judged)
    other_rows = _analyse(parts, again.with_name("of"), whatif=False)
    with pytest.raises(ValueError, match="of other files or settings"):
        _rows(_core.MergeParts(other_rows, judged))
    with pytest.raises(ValueError, match="no group 3"):
        _core.analyse_part(parts, 3, tmp_path / "rows")
    with pytest.raises(ValueError, match="there are no parts"):
        _core.analyse_part([], 0, tmp_path / "rows")
    other = tmp_path / "other"
    _core.read_part(files[0], "a", other, groups=2)
    with pytest.raises(ValueError, match="a was read for other groups than 3"):
        _core.analyse_part([parts[0], other], 0, tmp_path / "rows")
    with pytest.raises(OSError, match="none/part: No such file"):
        _core.analyse_part([tmp_path / "none"], 0, tmp_path / "rows")
    assert (_core.most_groups(), _core.most_groups(most_connections=100)) == (256, 1)


def test_where_nothing_can_be_read_there_is_an_error(tmp_path: Path) -> None:
    path = tmp_path / "one"
    path.write_bytes(capture(0) + b"\xff" * 100)
    parts = _read([path], tmp_path)
    with pytest.raises(ValueError, match="one: the capture is broken at byte 24"):
        _core.judge_parts(parts, _analyse(parts, tmp_path), tmp_path / "judged")

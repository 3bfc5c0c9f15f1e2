"""Several files as one trace: what the page says of their times and hosts."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner
from tests.trace.rows import connection, write_trace

from rexmit.cli import app
from rexmit.tracing.files import Captured, captured, warnings
from rexmit.tracing.folder import open_trace
from rexmit.tracing.source import Facts, File

REAL = Path(__file__).parent.parent / "real" / "captures"

T = 1_700_000_000.0


def of(tmp_path: Path, *spans: tuple[float, float], flows: tuple[str, ...] = ()) -> Captured:
    """A trace of files with these times; connection n begins in file n."""
    files = tuple(File(f"{n}.pcap", 5, T + a, T + b) for n, (a, b) in enumerate(spans))
    rows = [
        connection(connection=n, flow=flow, start_s=T + spans[n][0], end_s=T + spans[n][1])
        for n, flow in enumerate(flows)
    ]
    made = write_trace(tmp_path / "t", connections=rows, facts=Facts(files=files), replace=True)
    return captured(made)


def test_time_between_files_was_not_captured(tmp_path: Path) -> None:
    made = of(tmp_path, (0, 10), (3600, 3620))
    assert (made.captured_s, made.whole_s) == (30.0, 3620.0)
    (told,) = warnings(made)
    assert told == (
        "the 2 files lie apart: together they cover 30 s of the 1 h 0 min from the first packet to "
        "the last"
    )


def test_overlapping_files_cover_their_union(tmp_path: Path) -> None:
    made = of(tmp_path, (0, 10), (5, 8), (9, 20))
    assert made.captured_s == 20.0
    assert warnings(made) == []


def test_a_rotation_is_not_warned_of(tmp_path: Path) -> None:
    flow = "10.0.0.1:1 > 10.0.0.2:80"
    made = of(tmp_path, (0, 10), (10.1, 20), flows=(flow, flow))
    assert made.captured_s == pytest.approx(19.9)
    assert warnings(made) == []


def test_files_without_a_common_host(tmp_path: Path) -> None:
    made = of(
        tmp_path,
        (0, 10),
        (11, 20),
        flows=("10.0.0.1:1 > 10.0.0.2:80", "[fd00::1]:1 > [fd00::2]:80"),
    )
    assert made.strangers
    assert any("no host is in more than one of the 2 files" in told for told in warnings(made))
    same = of(
        tmp_path, (0, 10), (11, 20), flows=("10.0.0.1:1 > 10.0.0.2:80", "10.0.0.3:9 > 10.0.0.2:22")
    )
    assert not same.strangers


def test_each_file_has_its_line_and_the_folder_keeps_it(tmp_path: Path) -> None:
    names = [str(REAL / f"{name}.pcap") for name in ("lost-connection", "http-continue")]
    argv = ["trace", *names, "--out", str(tmp_path / "t")]
    text = CliRunner().invoke(app, argv, catch_exceptions=False).output
    assert f"{names[0]}: 9 packets in 9.21 s, 2001-01-14 16:18:01 to 16:18:10 UTC\n" in text
    assert f"{names[1]}: 16 packets in " in text
    assert "25 packets in " in text.splitlines()[0]
    assert "the 2 files lie apart" in text
    assert [file.packets for file in open_trace(tmp_path / "t").facts.files] == [9, 16]

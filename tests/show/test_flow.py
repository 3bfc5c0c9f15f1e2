"""`rexmit show --flow` from captures of both ends: a transfer of 30 segments with its tail lost."""

from __future__ import annotations

import io
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from rich.console import Console
from tests.show.captures import CLIENT, ISN_CLIENT, ISN_SERVER, MSS, transfer, write_captures

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.ladder.flow import open_flow
from rexmit.ladder.render import flow_blocks
from rexmit.present.show import room, show
from rexmit.store.open_run import open_run

Rows = Callable[..., Any]
runner = CliRunner()


@pytest.fixture
def run(row: Rows, write_run: Rows) -> Path:
    """A run with one captured transfer."""
    one = row(
        config="tlp",
        lost_segments=3,
        transfer_segments=30,
        transfer_size_bytes=30 * MSS,
        mechanism="tlp",
        isn_server=ISN_SERVER,
        isn_client=ISN_CLIENT,
        client_port=CLIENT[1],
    )
    path: Path = write_run([one])
    write_captures(path, transfer())
    return path


def ladder(run: Path, *more: str) -> list[str]:
    """The lines that `rexmit show --flow 0` prints, with single blanks."""
    argv = ["show", str(run), "--flow", "0", *more]
    result = runner.invoke(app, argv, catch_exceptions=False, env={"COLUMNS": "100"})
    assert result.exit_code == 0, result.output
    return [" ".join(line.split()) for line in result.output.splitlines()]


def without_arrow(line: str) -> str:
    return " ".join(line.replace("─", " ").split())


def test_the_ladder_of_a_lost_tail(run: Path) -> None:
    lines = [without_arrow(line) for line in ladder(run)]
    assert lines[0] == "flow 0: high-speed, tlp, 3 lost segments, repetition 0"
    assert lines[1].startswith("43,440 bytes in 30 segments; ")
    assert lines[3] == "ms client h2:40000 flags, bytes server h1 ms"
    assert lines[4:9] == [
        "0.000 SYN ▶ 5.000 seq 0",
        "10.000 ◀ SYN, ACK 5.000 seq 0 ack 1",
        "10.000 ACK ▶ 15.000 seq 1 ack 1",
        "10.100 PSH, ACK 200 ▶ 15.100 seq 1 ack 1",
        "20.200 ◀ ACK 15.200 seq 1 ack 201",
    ]
    assert "✗ ACK 1448 39.240 seq 39097 ack 201 dropped" in lines
    assert "✗ FIN, PSH, ACK 1448 39.480 seq 41993 ack 201 dropped" in lines
    assert "89.000 ◀ FIN, PSH, ACK 1448 84.000 seq 41993 ack 201 retransmission: tlp" in lines
    assert "89.100 ACK ▶ 94.100 seq 201 ack 39097 sack 41993-43441 duplicate ACK 1" in lines
    assert "99.200 ◀ ACK 1448 94.200 seq 39097 ack 201 retransmission: rack" in lines
    assert any("packets without event" in line for line in lines)


def printed(run: Path, *, terminal: bool) -> list[str]:
    """What a terminal or a pipe of 80 columns gets."""
    out = io.StringIO()
    console = Console(file=out, width=80, force_terminal=terminal, color_system=None)
    show(flow_blocks(open_flow(open_run(run), 0), room(console), every_packet=False), console)
    return out.getvalue().splitlines()


def test_eighty_columns_of_a_terminal_are_enough(run: Path) -> None:
    lines = printed(run, terminal=True)
    assert [line for line in lines if len(line) > 80] == []
    assert any(line.strip() == "sack 41993-43441" for line in lines)


def test_a_pipe_gets_a_line_a_packet(run: Path) -> None:
    lines = [without_arrow(line) for line in printed(run, terminal=False)]
    assert sum(line.endswith("sack 41993-43441 duplicate ACK 1") for line in lines) == 1
    assert len(lines) == len(ladder(run))


def test_what_did_not_happen_is_not_printed(run: Path) -> None:
    table = run / "transfers.parquet"
    nothing = {"t_total_s": None, "t_recover_s": None, "mechanism": None}
    frame = pl.read_parquet(table).with_columns(
        dropped_packets=pl.lit(0, pl.Int64), **{k: pl.lit(v) for k, v in nothing.items()}
    )
    frame.write_parquet(table)
    assert (
        ladder(run)[1]
        == "43,440 bytes in 30 segments; nothing dropped at the end; no retransmission"
    )


def test_the_title_tells_what_the_grid_varies(row: Rows, write_run: Rows) -> None:
    rows = [
        row(cell=i, congestion_control=cc, isn_server=ISN_SERVER, isn_client=ISN_CLIENT)
        for i, cc in enumerate(("cubic", "bbr"))
    ]
    path: Path = write_run(rows)
    write_captures(path, transfer())
    assert ladder(path)[0] == "flow 0: high-speed, er, 5 lost segments, cubic, repetition 0"


def test_every_packet(run: Path) -> None:
    lines = ladder(run, "--all")
    packets = [line for line in lines[4:] if "nothing for" not in line]
    assert len(packets) == len(transfer())
    assert not any("without event" in line for line in lines)


def test_a_silence_is_told(run: Path) -> None:
    """The probe's timer: the last acknowledgement arrives at 50 ms, the probe leaves at 84."""
    for more in ((), ("--all",)):
        lines = [without_arrow(line) for line in ladder(run, *more)]
        (number,) = [i for i, line in enumerate(lines) if "nothing for" in line]
        assert lines[number] == "⋮ nothing for 34.000 ms"
        assert lines[number + 1].endswith("retransmission: tlp")


def test_what_is_left_out_is_counted(run: Path) -> None:
    lines = ladder(run)
    (gap,) = [line for line in lines if "without event" in line]
    packets = [line for line in lines[4:] if "nothing for" not in line and line != gap]
    assert len(packets) + int(gap.split()[1]) == len(transfer())


def test_json(run: Path) -> None:
    argv = ["show", str(run), "--flow", "0", "--json"]
    data = json.loads(runner.invoke(app, argv, catch_exceptions=False).output)
    assert len(data["packets"]) == len(transfer())
    assert data["transfer"]["config"] == "tlp"
    (probe,) = [p for p in data["packets"] if p["mechanism"] == "tlp"]
    assert (probe["sent_ns"], probe["arrived_ns"]) == (84_000_000, 89_000_000)
    assert sum(p["dropped"] for p in data["packets"]) == 3
    assert not any(p["lost"] for p in data["packets"])


def test_other_connections_in_the_capture_are_not_shown(run: Path) -> None:
    table = run / "transfers.parquet"
    pl.read_parquet(table).with_columns(client_port=pl.lit(40001)).write_parquet(table)
    with pytest.raises(UserError, match="no packet of the client's port 40001"):
        ladder(run)


def test_damaged_captures(run: Path) -> None:
    (run / "captures" / "0-0.h2.pcapng").write_bytes(b"no capture at all")
    with pytest.raises(UserError, match=r"h2\.pcapng: cannot be read"):
        ladder(run)


def test_one_end_missing(run: Path) -> None:
    (run / "captures" / "0-0.h2.pcapng").unlink()
    with pytest.raises(UserError) as caught:
        ladder(run)
    assert "no capture of flow 0" in caught.value.what
    assert "0-0.h2.pcapng is not there" in str(caught.value.hint)

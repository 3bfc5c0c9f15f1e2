"""`rexmit show` as typed: what stands on the screen, the JSON, and the errors."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from rexmit.cli import app
from rexmit.errors import UserError

Rows = Callable[..., Any]
runner = CliRunner()


def shown(*argv: object) -> str:
    """What `rexmit show` prints; a UserError comes through as it is."""
    result = runner.invoke(
        app, ["show", *map(str, argv)], catch_exceptions=False, env={"COLUMNS": "80"}
    )
    assert result.exit_code == 0, result.output
    return result.output


def refused(*argv: object) -> UserError:
    with pytest.raises(UserError) as caught:
        shown(*argv)
    return caught.value


def squeezed(text: str) -> list[str]:
    """Lines with single blanks."""
    return [" ".join(line.split()) for line in text.splitlines()]


def three(row: Rows) -> list[Any]:
    """plain, er and tlp with round numbers; one tlp transfer without a probe."""
    return [
        row(config="plain", cell=0, t_total_s=0.36, t_recover_s=0.24),
        row(config="er", cell=1, t_total_s=0.30, t_recover_s=0.20),
        row(config="tlp", cell=2, t_total_s=0.20, t_recover_s=0.04, is_tlp=True, mechanism="tlp"),
        row(config="tlp", cell=2, t_total_s=0.24, t_recover_s=0.06, is_tlp=True, mechanism="tlp")
        | {"repetition": 1},
        row(config="tlp", cell=2, t_total_s=0.90, is_tlp=False) | {"repetition": 2},
    ]


def test_table_4_as_printed(row: Rows, write_run: Rows) -> None:
    lines = squeezed(shown(write_run(three(row))))
    assert "Table 4: 5 lost segments, means in seconds, percent against er" in lines
    assert "high-speed: 100 Mbit/s, 10 ms RTT" in lines
    assert "t_total 0.3600 +20% 0.3000 0.2200 -27%" in lines
    assert "std deviation - - 0.0283" in lines
    assert "paper 0.3595 +0.6% 0.3574 0.2214 -38%" in lines
    assert "ours - paper +0.0005 +0.1% -0.0574 -16% -0.0014 -0.6%" in lines
    assert "t_recover 0.2400 +20% 0.2000 0.0500 -75%" in lines
    assert "paper 0.2396 +1.3% 0.2365 0.0447 -81%" in lines
    assert "transfers used 1 of 1 1 of 1 2 of 3" in lines
    assert "left out 1 not-tlp" in lines
    assert "first resend 1 rto 1 rto 2 tlp" in lines
    assert (
        "left out isTLP false: first resend was not the probe (left out as in the paper)" in lines
    )
    assert lines[-1] == "to repeat: rexmit run scenarios/test.toml --seed 1"


def test_eighty_columns_are_enough_for_the_tables(campaign: Rows, write_run: Rows) -> None:
    run = write_run(campaign(3))
    for table, first, last in (
        ("--table4", "high-speed:", "paper: "),
        ("--table1", "high-speed", "A acknowledged"),
    ):
        lines = shown(run, table).splitlines()
        begin = next(i for i, line in enumerate(lines) if line.startswith(first))
        end = next(i for i, line in enumerate(lines) if line.startswith(last))
        assert end - begin > 20
        assert [line for line in lines[begin:end] if len(line) > 80 or "…" in line] == []


def test_no_configuration_is_cut_off(row: Rows, write_run: Rows) -> None:
    names = ["er", "tlp", *(f"variation-number-{i}" for i in range(5))]
    rows = [
        row(config=name, cell=i, t_total_s=0.5 + i, is_tlp=True) for i, name in enumerate(names)
    ]
    text = shown(write_run(rows))
    assert all(f" {name} " in text for name in names)
    assert all(f" {0.5 + i:.4f} " in text for i in range(len(names)))
    assert not [line for line in text.splitlines() if "…" in line]


def test_the_head_tells_what_to_know(row: Rows, write_run: Rows) -> None:
    run = write_run(
        [row()],
        ignored_settings=[
            {"config": c, "setting": "net.ipv4.tcp_fack", "why": "gone since 4.15"}
            for c in ("er", "tlp", "er")
        ],
        failed_cells=[
            {"cell": n, "label": f"er {n}", "message": "no life", "console_tail": ["panic"]}
            for n in range(4, 10)
        ],
        warnings=["offload was on"],
    )
    text = shown(run)
    assert "Linux 6.12.117, HZ 250; seed 1; 1 transfer in 1 min 11 s (5 h 12 min of virtual" in text
    assert "ignored by this kernel: net.ipv4.tcp_fack (er, tlp): gone since 4.15" in text
    assert "6 cells failed and left no transfers:" in text
    assert "er 4, er 5, er 6, er 7 and 2 more: no life" in text
    assert "| panic" in text
    assert "warning: offload was on" in text


def test_json_says_the_same(row: Rows, write_run: Rows) -> None:
    data = json.loads(shown(write_run(three(row)), "--json", "--table4", "--table1"))
    (block,) = data["table4"]["networks"]
    tlp = block["configs"][2]
    assert tlp["t_total"]["mean_s"] == pytest.approx(0.22)
    assert tlp["t_total"]["percent"] == pytest.approx(-26.667, abs=1e-3)
    assert tlp["t_total"]["paper"]["mean_s"] == 0.2214
    assert tlp["left_out"] == {"not-tlp": 1}
    assert tlp["first_resend"] == {"tlp": 2, "rto": 1}
    assert data["table1"]["rows"][0]["paper"]["name"] == "FACK"
    assert data["run"]["kernel"] == "6.12.117"


def test_table_1_on_the_screen(row: Rows, write_run: Rows) -> None:
    rows = [row(config="tlp", lost_segments=n, cell=n, dropped_packets=n + 1) for n in (1, 2)]
    again = [
        {"cell": 1, "mechanism": "tlp", "time_s": 1.3},
        {"cell": 2, "mechanism": "tlp", "time_s": 1.3},
        {"cell": 2, "mechanism": "rack", "time_s": 1.4},
    ]
    lines = squeezed(shown(write_run(rows, again), "--table1"))
    assert "1 2 AAAL AAAA TLP loss detection tlp (1) yes" in lines
    assert "2 3 AALL AALS ER tlp → rack (1) no" in lines


def test_other_losses(row: Rows, write_run: Rows) -> None:
    run = write_run([row(lost_segments=n, cell=n) for n in (1, 10)])
    assert "Table 4: 10 lost segments" in shown(run, "--losses", 10)
    assert "Table 4: 1 lost segment," in shown(run, "--losses", 1)
    assert "it has 1, 10" in str(refused(run).hint)


def test_wrong_usage(row: Rows, write_run: Rows) -> None:
    run = write_run([row()])
    assert refused(run, "--flow", 0, "--table1").usage
    assert refused(run, "--all").usage


def test_a_flow_that_is_not_there(row: Rows, write_run: Rows) -> None:
    error = refused(write_run([row(), row(repetition=1)]), "--flow", 2)
    assert error.what.endswith("no flow 2")
    assert "K is 0..1" in str(error.hint)


def test_a_flow_without_captures_says_how_to_get_them(row: Rows, write_run: Rows) -> None:
    run = write_run([row()])
    error = refused(run, "--flow", 0)
    assert "kept no captures" in error.what
    assert f"scenarios/test.toml --seed 1 --capture --out {run}-captured" in str(error.hint)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "utf-8"])
def test_any_terminal_will_do(row: Rows, write_run: Rows, encoding: str) -> None:
    again = [{"mechanism": m, "time_s": 1.3 + i} for i, m in enumerate(("tlp", "rack"))]
    run = write_run([row(config="tlp", is_tlp=True)], again)
    environment = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    done = subprocess.run(
        [sys.executable, "-m", "rexmit", "show", str(run), "--table4", "--table1"],
        env=environment,
        capture_output=True,
        check=True,
    )
    text = done.stdout.decode(encoding)
    assert ("tlp → rack" if encoding == "utf-8" else "tlp > rack") in text
    assert done.stderr == b""


def test_help_has_an_example() -> None:
    for command in ("show", "plot"):
        text = runner.invoke(app, [command, "--help"]).output
        assert f"rexmit {command} runs/tlp-2013" in text


def test_errors_have_no_traceback(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rexmit", "show", str(tmp_path / "none")],
        capture_output=True,
        check=False,
        text=True,
    )
    assert done.returncode == 1
    assert done.stderr.startswith("rexmit: ")
    assert "Traceback" not in done.stderr

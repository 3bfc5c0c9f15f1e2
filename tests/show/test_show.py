"""`rexmit show` as typed: what stands on the screen, the JSON, and the errors."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from rich.console import Console
from tests.processes import run_command
from tests.show.conftest import printed, squeezed, three

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.present.terminal import say

Rows = Callable[..., Any]
runner = CliRunner()


def shown(*argv: object) -> str:
    """What `rexmit show` prints; a UserError comes through as it is."""
    return printed("show", *argv)


def refused(*argv: object) -> UserError:
    with pytest.raises(UserError) as caught:
        shown(*argv)
    return caught.value


def test_times_as_printed(row: Rows, write_run: Rows) -> None:
    run = write_run(three(row))
    lines = squeezed(shown(run))
    assert "Times: 5 lost segments, means in seconds, percent against plain" in lines
    assert "high-speed: 100 Mbit/s, 10 ms RTT" in lines
    assert "t_total 0.3600 0.3000 -17%? 0.2200 -39%?" in lines
    assert "median - - 0.2200" not in lines
    assert "median 0.3600 0.3000 0.2200" in lines
    assert "95 % - - 0.0000 to 0.4741" in lines
    full = squeezed(shown(run, "--full"))
    assert "std deviation - - 0.0283" in full
    assert "t_recover 0.2400 0.2000 -17%? 0.0500 -79%?" in lines
    assert "transfers used 1 of 1 1 of 1 2 of 3" in lines
    assert "left out 1 not-probed" in lines
    assert "first retransmission 1 rto 1 rto 2 tlp" in lines
    assert any(line.startswith("left out, not-probed: isTLP false, ") for line in lines)
    assert lines[-1] == "to repeat: rexmit run scenarios/test.toml --seed 1"
    against = squeezed(shown(run, "--baseline", "er"))
    assert "t_total 0.3600 +20%? 0.3000 0.2200 -27%?" in against


def test_each_number_of_losses_has_a_line(campaign: Rows, write_run: Rows) -> None:
    run = write_run(campaign(3))
    text = shown(run)
    lines = squeezed(text)
    assert "Times: lost segments 0..20, means in seconds, percent against plain" in lines
    of = [sum(line.startswith(f"{n} lost ") for line in lines) for n in range(21)]
    assert set(of) == {of[0]}
    # Both times and the first retransmission of three networks.
    assert of[0] >= 9
    table = text[text.index("high-speed: ") : text.index("--full")]
    assert [line for line in table.splitlines() if len(line) > 80 or "…" in line] == []
    full = squeezed(shown(run, "--full"))
    assert sum(line.startswith("high-speed: ") for line in full) == 21
    assert "high-speed: 100 Mbit/s, 10 ms RTT; 7 lost segments" in full


def test_no_configuration_is_cut_off(row: Rows, write_run: Rows) -> None:
    names = ["er", "tlp", *(f"variation-number-{i}" for i in range(5))]
    rows = [
        row(config=name, cell=i, t_total_s=0.5 + i, is_tlp=True) for i, name in enumerate(names)
    ]
    text = shown(write_run(rows))
    assert set(names) < set(text.split())
    assert {f"{0.5 + i:.4f}" for i in range(len(names))} < set(text.split())
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


def many_settings(row: Rows) -> list[Any]:
    """One setting at a time departs from 100 segments, cubic; er and tlp, five lost."""
    settings = [{}, {"page_segments": 10}, {"page_segments": 300}, {"congestion_control": "bbr"}]
    settings += [{"receive_window_bytes": 65536}, {"line_loss": 0.01}]
    return [
        row(config=c, cell=2 * i + j, t_total_s=1 + i - j / 2, is_tlp=False, mechanism="rack")
        | setting
        for i, setting in enumerate(settings)
        for j, c in enumerate(("er", "tlp"))
    ]


def test_no_percentage_is_cut_off_by_a_long_mechanism(row: Rows, write_run: Rows) -> None:
    """A lossy line brings about mechanisms with long names: the columns grow with them."""
    rows = [
        row(config=c, cell=i, t_total_s=t, mechanism=m, is_tlp=True)
        for i, (c, t, m) in enumerate(
            [("er", 1.0, "rack"), ("tlp", 1.1, "rack"), ("plain", 3.5, "rto-recovery")]
        )
    ]
    lines = shown(write_run(rows)).splitlines()
    block = lines[lines.index("high-speed: 100 Mbit/s, 10 ms RTT") : -3]
    assert "t_total 1.0000 1.1000 +10%? 3.5000 +250%?" in squeezed("\n".join(block))
    assert "first retransmission 1 rack 1 rack 1 rto-recovery" in squeezed("\n".join(block))
    assert [line for line in block if len(line) > 80 or line != line.rstrip()] == []


def test_json_says_the_same(row: Rows, write_run: Rows) -> None:
    run = write_run(three(row))
    data = json.loads(shown(run, "--json"))
    (block,) = data["times"]["blocks"]
    tlp = block["configs"][2]
    assert tlp["t_total"]["mean_s"] == pytest.approx(0.22)
    assert tlp["t_total"]["percent"] == pytest.approx(-38.889, abs=1e-3)
    assert tlp["left_out"] == {"not-probed": 1}
    assert tlp["first_retransmission"] == {"tlp": 2, "rto": 1}
    assert data["run"]["kernel"] == "6.12.117"
    (_, _, repaired) = json.loads(shown(run, "--json", "--repairs"))["repairs"]
    assert (repaired["config"], repaired["transfers"]) == ("tlp", 3)
    assert repaired["sequences"] == [{"mechanisms": [], "transfers": 3}]


def test_repairs_on_the_screen(row: Rows, write_run: Rows) -> None:
    rows = [row(config="tlp", lost_segments=n, cell=n, dropped_packets=n + 1) for n in (1, 2)]
    again = [
        {"cell": 1, "mechanism": "tlp", "time_s": 1.3},
        {"cell": 2, "mechanism": "tlp", "time_s": 1.3},
        {"cell": 2, "mechanism": "rack", "time_s": 1.4},
    ]
    run = write_run(rows, again)
    lines = squeezed(shown(run, "--repairs"))
    assert "configuration lost packets retransmissions (transfers)" in lines
    assert "tlp 1 2 tlp (1)" in lines
    assert "tlp 2 3 tlp → rack (1)" in lines
    assert "tlp 1 2 tlp (1)" not in squeezed(shown(run, "--repairs", "--losses", 2))
    assert "it has 1, 2" in str(refused(run, "--repairs", "--losses", 3).hint)


def test_other_losses(row: Rows, write_run: Rows) -> None:
    run = write_run([row(lost_segments=n, cell=n) for n in (1, 10)])
    assert "Times: 10 lost segments" in shown(run, "--losses", 10)
    assert "Times: 1 lost segment," in shown(run, "--losses", 1)
    assert "lost segments in this run: 1, 10 (--losses N)" in shown(run, "--losses", 1)
    assert "Times: lost segments 1, 10" in shown(run)
    assert "it has 1, 10" in str(refused(run, "--losses", 5).hint)


def test_many_settings_have_a_line_each(row: Rows, write_run: Rows) -> None:
    run = write_run(many_settings(row))
    lines = squeezed(shown(run))
    assert any(
        line.startswith("base: page of 100 segments, default receive window, no line loss, cubic;")
        for line in lines
    )
    # a cell of tlp without a probe has no mean, but on the lossy line it counts
    assert "base 1.0000 -" in lines
    assert "page of 300 segments 3.0000 -" in lines
    assert "line loss 1% 6.0000 5.5000 -8.3%?" in lines
    assert "receive window 64 KiB 1 of 1 0 of 1" in lines
    assert sum(line.startswith("high-speed: ") for line in lines) == 1
    full = squeezed(shown(run, "--full"))
    assert "high-speed: 100 Mbit/s, 10 ms RTT; bbr" in full
    assert sum(line.startswith("high-speed: ") for line in full) == 6


def test_conditions_and_notes_are_told(row: Rows, write_run: Rows) -> None:
    rows = [row(repetition=i, note=f"the kernel counts {i + 3} retransmissions") for i in range(3)]
    rows += [row(repetition=3, note="stalled at the filter"), row(repetition=4)]
    scenario = {
        "workload": {"server": "nginx", "client": "curl", "size": ["20kB", "1MB"]},
        "tcp": {"congestion_control": "bbr"},
        "ip": {"family": 6, "mtu": 9000},
        "loss": {"mode": "hold"},
    }
    text = shown(write_run(rows, scenario=scenario))
    told = "page of 20kB/1MB, nginx to curl, bbr, IPv6, MTU 9000, tail found by hold"
    assert told in text.splitlines()
    assert "note on 3 transfers: the kernel counts 3 retransmissions (and alike)\n" in text
    assert "note on 1 transfer: stalled at the filter\n" in text


def test_wrong_usage(row: Rows, write_run: Rows) -> None:
    run = write_run([row()])
    assert refused(run, "--flow", 0, "--repairs").usage
    assert refused(run, run, "--full").usage
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
        [sys.executable, "-m", "rexmit", "show", str(run), "--repairs"],
        env=environment,
        capture_output=True,
        check=True,
    )
    text = done.stdout.decode(encoding)
    assert ("tlp → rack" if encoding == "utf-8" else "tlp > rack") in text
    assert "?" not in text
    # The folder's own name may be long.
    lines = text.replace(str(run), run.name).splitlines()
    assert [line for line in lines if len(line) > 90] == []
    assert done.stderr == b""


@pytest.mark.parametrize("terminal", [True, False])
def test_sentences_are_folded_on_a_terminal_only(terminal: bool) -> None:
    text = "a sentence of some words that is longer than the terminal is wide"
    out = io.StringIO()
    say(Console(file=out, width=30, force_terminal=terminal, color_system=None), text)
    lines = out.getvalue().splitlines()
    assert " ".join(" ".join(lines).split()) == text
    assert (len(lines) > 2) is terminal
    if terminal:
        assert max(map(len, lines)) <= 30
        assert all(line.startswith("  ") for line in lines[1:])


def test_help_has_an_example() -> None:
    for command in ("show", "plot"):
        text = runner.invoke(app, [command, "--help"]).output
        assert f"rexmit {command} runs/smoke" in text


def test_errors_have_no_traceback(tmp_path: Path) -> None:
    done = run_command([sys.executable, "-m", "rexmit", "show", str(tmp_path / "none")])
    assert done.returncode == 1
    assert done.stderr.startswith("rexmit: ")
    assert "Traceback" not in done.stderr

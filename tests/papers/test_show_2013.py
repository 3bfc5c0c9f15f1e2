"""`rexmit paper tlp-2013` as typed: what stands on the screen, the JSON, and the errors."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.show.conftest import printed, squeezed, three

from rexmit.errors import UserError

Rows = Callable[..., Any]


def shown(*argv: object) -> str:
    """What `rexmit paper tlp-2013` prints; a UserError comes through as it is."""
    return printed("paper", "tlp-2013", *argv)


def refused(*argv: object) -> UserError:
    with pytest.raises(UserError) as caught:
        shown(*argv)
    return caught.value


def test_table_4_as_printed(row: Rows, write_run: Rows, tmp_path: Path) -> None:
    lines = squeezed(shown(write_run(three(row))))
    assert "Table 4: 5 lost segments, means in seconds, percent against er" in lines
    assert "high-speed: 100 Mbit/s, 10 ms RTT" in lines
    assert "t_total 0.3600 +20%? 0.3000 0.2200 -27%?" in lines
    assert "std deviation - - 0.0283" in squeezed(shown(tmp_path / "RUN", "--table4"))
    assert "paper 0.3595 +0.6% 0.3574 0.2214 -38%" in lines
    assert "ours - paper +0.0005 +0.1% -0.0574 -16% -0.0014 -0.6%" in lines
    assert "t_recover 0.2400 +20%? 0.2000 0.0500 -75%?" in lines
    assert "paper 0.2396 +1.3% 0.2365 0.0447 -81%" in lines
    assert "transfers used 1 of 1 1 of 1 2 of 3" in lines
    assert "left out 1 not-probed" in lines
    assert "first retransmission 1 rto 1 rto 2 tlp" in lines
    assert any(line.startswith("left out, not-probed: isTLP false, ") for line in lines)
    assert lines[-1] == "to repeat: rexmit run scenarios/test.toml --seed 1"


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


def test_table_1_heeds_the_losses(row: Rows, write_run: Rows) -> None:
    rows = [row(config="tlp", lost_segments=n, cell=n, dropped_packets=n) for n in (0, 2, 6, 7)]
    again = [{"cell": n, "mechanism": "tlp", "time_s": 1.3} for n in (2, 6, 7)]
    run = write_run(rows, again)
    lines = squeezed(shown(run, "--table1"))
    assert "2 AALL AALS ER tlp (1) no" in lines
    assert "6, 7 >=5 L ..LS FACK tlp (2) no" in lines
    lines = squeezed(shown(run, "--table1", "--losses", 6))
    assert "6 >=5 L ..LS FACK tlp (1) no" in lines
    assert not any("AALL" in line for line in lines)
    data = json.loads(shown(run, "--table1", "--losses", 6, "--json"))
    assert [r["lost_segments"] for r in data["table1"]["rows"]] == [[6]]
    for missing in (0, 3):
        error = refused(run, "--table1", "--losses", missing)
        assert f"no transfer of `tlp` with {missing} lost" in error.what
        assert error.hint == "it has 2, 6, 7; choose with --losses N"


def test_why_the_paper_is_not_beside(row: Rows, write_run: Rows) -> None:
    reasons = (
        ({"lost_segments": 4}, "the paper has its Table 4 for 5 lost segments only"),
        ({"congestion_control": "bbr"}, "not compared: the paper had pages of 100 segments, cubic"),
        ({"network": "lab"}, None),
    )
    for change, why in reasons:
        text = shown(write_run([row(**change)]))
        assert "paper: " not in text
        assert (why is None) == ("paper had" not in text and "paper has" not in text)
        assert why is None or why in text


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


def test_json_says_the_same(row: Rows, write_run: Rows) -> None:
    data = json.loads(shown(write_run(three(row)), "--json", "--table4", "--table1"))
    (block,) = data["table4"]["networks"]
    tlp = block["configs"][2]
    assert tlp["t_total"]["mean_s"] == pytest.approx(0.22)
    assert tlp["t_total"]["percent"] == pytest.approx(-26.667, abs=1e-3)
    assert tlp["t_total"]["paper"]["mean_s"] == 0.2214
    assert tlp["left_out"] == {"not-probed": 1}
    assert tlp["first_retransmission"] == {"tlp": 2, "rto": 1}
    assert data["table1"]["rows"][0]["paper"]["name"] == "FACK"
    assert data["run"]["kernel"] == "6.12.117"


def test_many_settings_have_a_line_each(row: Rows, write_run: Rows) -> None:
    rows = [
        row(config=c, cell=2 * i + j, congestion_control=cc)
        for i, cc in enumerate(("cubic", "bbr", "reno", "vegas", "westwood"))
        for j, c in enumerate(("er", "mine"))
    ]
    run = write_run(rows)
    lines = squeezed(shown(run))
    assert (
        "--table4 prints a block for each line, with intervals, percentiles, standard deviations"
        in lines
    )
    assert not any(line.startswith("paper") for line in lines)
    full = squeezed(shown(run, "--table4"))
    assert sum(line.startswith("high-speed: ") for line in full) == 5


def test_figures_and_a_page_are_written(row: Rows, write_run: Rows, tmp_path: Path) -> None:
    run = write_run(three(row))
    page, folder = tmp_path / "page.html", tmp_path / "figures"
    text = shown(run, "--out", folder, "--format", "svg", "--html", page)
    assert sorted(path.name for path in folder.iterdir()) == ["figure-4.svg", "figure-5a.svg"]
    assert f"{folder / 'figure-4.svg'}" in text
    assert page.read_bytes().startswith(b"<!doctype html>")
    assert refused(run, "--format", "gif").usage
    assert refused(run, run, "--out", folder).usage

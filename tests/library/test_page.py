"""What traces say: the page, groups, single connections, the study of UNC 2007."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from tests.program.conftest import REXMIT
from tests.study.test_study import random_trace

import rexmit


def test_a_page_is_the_command_line_s(traced: rexmit.Trace, capture: Path) -> None:
    page = rexmit.page(traced)
    assert page.summary.totals.retransmissions == 3
    assert page.selected == ""
    words = [*REXMIT, "trace", str(capture), "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == json.loads(json.dumps(page.as_json()))


def test_a_selection_outlives_what_it_is_of(capture: Path) -> None:
    """The tables of a trace that nobody else holds stay as long as it does."""
    part = rexmit.select(rexmit.trace(capture), ports=[80])
    assert rexmit.page(part).selected == "only those with port 80: 1 of 1 connection"
    assert part.path.exists()


def test_why_nothing_was_selected(traced: rexmit.Trace) -> None:
    assert rexmit.why_empty(traced) == []
    assert rexmit.why_empty(rexmit.select(traced, ports=[80])) == []
    found = dict(rexmit.why_empty(rexmit.select(traced, ports=[443])))
    assert found["nothing"] == "no connection with port 443"
    assert found["what to do"] == "give what is there, or leave out `ports`"


def test_groups(traced: rexmit.Trace) -> None:
    (port,) = rexmit.groups(traced, "port")
    assert (port.key, port.connections) == ("80", 1)
    assert {one.key for one in rexmit.groups(traced, "host")} == {"10.0.0.1", "10.0.0.2"}
    with pytest.raises(rexmit.Error, match="`by` colour: no such table"):
        rexmit.groups(traced, "colour")


def test_a_connection_packet_by_packet(traced: rexmit.Trace) -> None:
    flow = rexmit.open_flow(traced)
    assert flow.number == 0
    assert flow.steps == rexmit.open_flow(traced, "10.0.0.2:40000 > 10.0.0.1:80").steps
    assert sum(step.mechanism is not None for step in flow.steps) == 3
    assert rexmit.draw_flow(flow).axes
    with pytest.raises(rexmit.Error, match="no connection 7"):
        rexmit.open_flow(traced, 7)


def test_a_study(traced: rexmit.Trace, tmp_path: Path) -> None:
    made = rexmit.study([traced, traced])
    assert made.senders["trace"].to_list() == [0, 1]
    assert made.senders["lossy"].all()
    assert [total.connections for total in made.tables.totals] == [1, 1]
    assert rexmit.paper_figures(made) == {}, "two connections are no distribution"
    many = rexmit.study([rexmit.trace(random_trace(tmp_path / "many", 100))])
    drawn = rexmit.paper_figures(many)
    assert "figure-1" in drawn
    assert not {why.partition(":")[0] for why in many.missing} & set(drawn)
    names = [path.name for path in rexmit.save_figures(drawn, tmp_path, formats=["svg"])]
    assert "figure-1.svg" in names

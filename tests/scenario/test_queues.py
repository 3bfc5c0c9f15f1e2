"""Rates from files, and queues that are managed: what is read, what is refused and where."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from rexmit.analysis.network import setting_of
from rexmit.campaign.plan import network_plan
from rexmit.errors import UserError
from rexmit.scenario import Scenario, effective, from_plain, load
from rexmit.scenario.rate_trace import of_times

TEXT = """
format = 1
[networks.cell]
rate_from = "traces/cell.trace"
delay = "5ms"
[configs.one]
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A scenario whose rate is a file beside it."""
    (tmp_path / "cell.toml").write_text(TEXT, encoding="utf-8")
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "cell.trace").write_text("0\n0\n0\n2\r\n7 \n7", encoding="utf-8")
    return tmp_path


def plain(scenario: Scenario) -> Any:  # noqa: ANN401 - JSON
    return json.loads(json.dumps(effective(scenario)))


def test_a_trace_is_read_from_the_scenario_s_folder(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir("/")
    scenario = load(folder / "cell.toml")
    (link, _) = network_plan(scenario, "cell")["links"]
    assert link["rate_trace"] == "0x3 2 5x2"
    # Six packets in 7 ms.
    assert link["rate_bps"] == 6 * 12_000_000 // 7
    title = setting_of(plain(scenario), "cell").title
    assert title == "10.2857 Mbit/s, 20 ms RTT, rate from a file of 7ms"


def test_what_a_run_is_follows_from_the_file_and_not_from_its_name(folder: Path) -> None:
    before = plain(load(folder / "cell.toml"))
    trace = folder / "traces" / "cell.trace"
    other = trace.rename(folder / "other.trace")
    with pytest.raises(UserError, match=r"cell.toml:4: networks.cell.rate_from: there is no file"):
        load(folder / "cell.toml")
    changed = TEXT.replace("traces/cell.trace", str(other))
    (folder / "cell.toml").write_text(changed, encoding="utf-8")
    assert plain(load(folder / "cell.toml")) == before
    # And needs the file no more.
    other.unlink()
    assert plain(from_plain(before)) == before
    other.write_text("0\n7\n", encoding="utf-8")
    assert plain(load(folder / "cell.toml")) != before


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"1\n2\nx\n", 'cell.trace:3: "x" is no whole number'),
        (b"1\n\n2\n", 'cell.trace:2: "" is no whole number'),
        (b"1.5\n", 'cell.trace:1: "1.5" is no whole number'),
        (b"-1\n", 'cell.trace:1: "-1" is no whole number'),
        (b"# made up\n1\n", 'cell.trace:1: "# made up" is no whole number'),
        (b"5\n4\n", "cell.trace:2: 4 comes after 5"),
        (b"9999999999\n", "cell.trace:1: 9999999999 is more than 1,000,000,000"),
        (b"", "the trace lasts no time"),
        (b"0\n0\n", "the trace lasts no time"),
        (b"1000000\n", "the trace's mean is not between 1kbit and"),
        (b"1\n" * 1_000_001, "cell.trace has more than 1,000,000 lines"),
        (b"\xff\n", "cell.trace:1:"),
    ],
)
def test_a_wrong_line_is_named(folder: Path, content: bytes, said: str) -> None:
    (folder / "traces" / "cell.trace").write_bytes(content)
    with pytest.raises(UserError) as caught:
        load(folder / "cell.toml")
    assert said in str(caught.value)
    assert "cell.toml:4: networks.cell.rate_from: " in str(caught.value)


@pytest.mark.parametrize("text", ["", "0", "1 0", "1x0", "1 a", "1  2", "x", "1x2000000", None, 5])
def test_a_run_s_trace_that_is_none_is_refused(folder: Path, text: object) -> None:
    data = plain(load(folder / "cell.toml"))
    data["networks"]["cell"]["rate_from"]["opportunities"] = text
    with pytest.raises(UserError, match="rate_from"):
        from_plain(data)


def test_the_nearest_table_with_a_rate_or_a_trace_has_its_way(folder: Path) -> None:
    more = 'up = { rate = "1Mbit" }\nlinks = [{ rate = "9Mbit" }, {}]\n[configs.one]'
    text = TEXT.replace("[configs.one]", more)
    (folder / "cell.toml").write_text(text, encoding="utf-8")
    first, second = network_plan(load(folder / "cell.toml"), "cell")["links"]
    assert "rate_trace" in second
    for way in (first, first["up"], second["up"]):
        assert "rate_trace" not in way
    assert [first["rate_bps"], first["up"]["rate_bps"]] == [9_000_000, 1_000_000]
    with pytest.raises(UserError, match=r"rate_from: there is a rate as well"):
        load(folder / "cell.toml", ['networks.cell.rate="2Mbit"'])


def test_times_are_written_as_what_lies_between_them() -> None:
    trace = of_times([3, 3, 3, 4, 10, 10])
    assert (trace.text, trace.count, trace.period_ms) == ("3x3 1 6x2", 6, 10)


def network(aqm: object) -> dict[str, Any]:
    line = {"rate": "1Mbit", "delay": "5ms", "aqm": aqm}
    return {"format": 1, "networks": {"line": line}, "configs": {"one": {}}}


@pytest.mark.parametrize(
    ("aqm", "plan"),
    [
        ("codel", {"target_ns": 5_000_000, "interval_ns": 100_000_000}),
        (
            {"kind": "fq_codel", "interval": "50ms"},
            {"target_ns": 5_000_000, "interval_ns": 50_000_000, "quantum_bytes": 1514},
        ),
        ("pie", {"target_ns": 15_000_000, "update_ns": 15_000_000}),
        (
            {"kind": "red", "least": 20},
            {"least_packets": 20, "most_packets": 60, "most": 0.1, "weight": 0.002},
        ),
    ],
)
def test_a_manager_has_the_parameters_of_its_document(aqm: Any, plan: dict[str, Any]) -> None:  # noqa: ANN401
    scenario = from_plain(network(aqm))
    kind = aqm if isinstance(aqm, str) else aqm["kind"]
    told = network_plan(scenario, "line")["links"][0]["aqm"]
    assert told == {"kind": kind, **plan, "ecn": False}
    assert plain(from_plain(plain(scenario))) == plain(scenario)
    assert f"aqm {kind}" in setting_of(plain(scenario), "line").title


@pytest.mark.parametrize(
    ("aqm", "said"),
    [
        ("cake", 'line.aqm.kind: unknown "cake"'),
        (5, "line.aqm: 5 does not fit"),
        ({}, "line.aqm.kind: missing"),
        ({"kind": "codel", "quantum": "3kB"}, "line.aqm.quantum: not of codel"),
        ({"kind": "pie", "interval": "3ms"}, "line.aqm.interval: not of pie"),
        ({"kind": "codel", "target": "0s"}, "line.aqm.target: must be more than nothing"),
        ({"kind": "red", "least": 15, "most": 15}, "line.aqm.most: must be more than `least`"),
        ({"kind": "pie", "update": "10us"}, "line.aqm.update: must be at least 100us"),
        ({"kind": "fq_codel", "quantum": "2GB"}, "line.aqm.quantum: must be at most 1GB"),
        ({"kind": "codel", "ecn": 1}, "line.aqm.ecn: 1 does not fit"),
    ],
)
def test_a_manager_that_manages_nothing_is_refused(aqm: object, said: str) -> None:
    with pytest.raises(UserError) as caught:
        from_plain(network(aqm))
    assert said in str(caught.value)

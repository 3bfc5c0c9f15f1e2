"""Connections for programs of others that draw them: xplot and qvis."""

from __future__ import annotations

import json
import re
import subprocess
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from click.testing import CliRunner
from tests.real import captures
from tests.show.captures import pcapng, transfer
from tests.tools import needs

import rexmit
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.ladder.paths import PathFlow

NUMBER = r"\d+(?:\.\d+)?"
POINT = rf"{NUMBER} {NUMBER}"
COLORS = ("white", "green", "red", "yellow", "purple", "orange")
COMMANDS = (
    rf"(?:line {POINT} {POINT}|(?:[udlr]arrow|[udlrvh]tick|diamond|dot|box) {POINT}(?: [a-z]+)?)"
)

Line = tuple[str, float, float]


def drawn(text: str) -> Iterator[tuple[str, str]]:
    """What a file of xplot draws, with its colour. Every line must be one that xplot knows."""
    lines = iter(text.splitlines())
    assert re.fullmatch("timeval (unsigned|double)", next(lines))
    color = ""
    for line in lines:
        if line in ("title", "xlabel", "ylabel"):
            next(lines)
        elif line in COLORS:
            color = line
        elif re.fullmatch(rf"[ablr]text {POINT}(?: [a-z]+)?", line):
            yield color, f"{line} {next(lines)}"
        elif line == "go":
            assert next(lines, None) is None
            return
        else:
            assert re.fullmatch(COMMANDS, line), line
            yield color, line
    pytest.fail("it does not end with go")


def upright(text: str) -> list[Line]:
    """The lines of packets of the sender: when, and from which number to which, from its first."""
    found = []
    for color, line in drawn(text):
        if color in ("white", "red", "orange") and line.startswith("line "):
            time, start, _, end = line.split()[1:]
            found.append((time, float(start), float(end)))
    first = min((start for _, start, _ in found), default=0)
    return sorted((time, start - first, end - first) for time, start, end in found)


@pytest.fixture
def capture(tmp_path: Path) -> Path:
    """A transfer whose last three segments are lost, at its server."""
    path = tmp_path / "capture.pcapng"
    pcapng(path, sorted(((one.ms, one, "") for one in transfer()), key=lambda entry: entry[0]))
    return path


def show(*words: str) -> Any:  # noqa: ANN401
    return CliRunner().invoke(app, ["show", *words])


def test_what_was_sent_again_has_its_mechanism(capture: Path, tmp_path: Path) -> None:
    flow = rexmit.open_flow(rexmit.trace(capture), 0)
    told = list(drawn(rexmit.export_flow(flow, "xpl")))
    words = [
        line.split(" ", 3)[3]
        for color, line in told
        if color in ("red", "orange")
        if "text" in line
    ]
    assert [one.removesuffix(" FIN") for one in words] == [
        step.mechanism for step in flow.steps if step.mechanism
    ]
    assert len(words) == 3
    assert sum(color == "purple" for color, _ in told) == sum(len(step.sack) for step in flow.steps)
    done = show(str(capture), "--flow", "0", "--figure", str(tmp_path / "a/0.xpl"))
    assert done.exit_code == 0, done.output
    assert (tmp_path / "a/0.xpl").read_text() == rexmit.export_flow(flow, "xpl")


@needs("tcptrace")
@pytest.mark.parametrize("name", ["dcerpc", "http-continue", "socks", "zero-window"])
def test_tcptrace_draws_the_same_packets(name: str, tmp_path: Path) -> None:
    capture = captures.HERE / f"{name}.pcap"
    subprocess.run(["tcptrace", "-S", "-n", capture], cwd=tmp_path, check=True, capture_output=True)
    flow = rexmit.open_flow(rexmit.trace(capture), 0)
    own = upright(rexmit.export_flow(flow, "xpl"))
    assert own in [upright(path.read_text()) for path in tmp_path.glob("*_tsg.xpl")]


def events(text: str) -> list[dict[str, Any]]:
    """Those of the one trace of a file of qlog 0.3."""
    data = json.loads(text)
    assert (data["qlog_version"], data["qlog_format"]) == ("0.3", "JSON")
    (trace,) = data["traces"]
    assert trace["vantage_point"] == {"type": "network", "flow": "server"}
    assert trace["common_fields"]["time_format"] == "relative"
    found: list[dict[str, Any]] = trace["events"]
    assert [one["time"] for one in found] == sorted(one["time"] for one in found)
    return found


def test_packets_are_the_events_of_quic(capture: Path) -> None:
    flow = rexmit.open_flow(rexmit.trace(capture), 0)
    found = events(rexmit.export_flow(flow, "qlog"))
    sent = [one["data"] for one in found if one["name"] == "transport:packet_sent"]
    numbers = [one["header"]["packet_number"] for one in sent]
    assert numbers == list(range(len(sent)))
    assert len(sent) == sum(step.from_server for step in flow.steps)
    # Each packet is acknowledged once; of what was sent again the copy before is lost.
    acknowledged = [
        number
        for one in found
        if one["name"] == "transport:packet_received"
        for frame in one["data"]["frames"]
        if frame["frame_type"] == "ack"
        for first, last in frame["acked_ranges"]
        for number in range(first, last + 1)
    ]
    carry = [n for n, step in zip(numbers, sent, strict=True) if step["tcp"]["seq"] or n == 0]
    assert sorted(acknowledged) == sorted(set(acknowledged))
    assert set(acknowledged) <= set(carry)
    lost = [one["data"]["header"]["packet_number"] for one in found if "lost" in one["name"]]
    again = [one for one in sent if one["tcp"].get("mechanism", "tlp") != "tlp"]
    assert len(lost) == len(again) > 0
    by_number = dict(zip(numbers, sent, strict=True))
    assert [by_number[n]["tcp"]["seq"] for n in lost] == [one["tcp"]["seq"] for one in again]
    offsets = [
        (frame["offset"], frame["length"])
        for one in sent
        for frame in one["frames"]
        if frame["frame_type"] == "stream"
    ]
    assert offsets[:2] == [(0, 1448), (1448, 1448)]


def test_what_there_is_not_is_said(capture: Path) -> None:
    flow = rexmit.open_flow(rexmit.trace(capture), 0)
    with pytest.raises(UserError, match="form"):
        rexmit.export_flow(flow, "pcap")
    for words, said in (
        (("--figure", "0.pcap"), "name a .pdf, .png or .svg, an .xpl or a .qlog"),
        (("--ladder", "--figure", "0.xpl"), "xplot and qvis draw no ladder"),
    ):
        done = show(str(capture), "--flow", "0", *words)
        assert isinstance(done.exception, UserError)
        assert said in done.exception.text()


def test_a_window_is_drawn_where_its_scale_is_known(capture: Path) -> None:
    flow = rexmit.open_flow(rexmit.trace(captures.HERE / "zero-window.pcap"), 0)
    text = rexmit.export_flow(flow, "xpl")
    assert "(no window: the SYNs that scale it are not there)" in text
    assert not any(color == "yellow" for color, _ in drawn(text))
    whole = rexmit.export_flow(rexmit.open_flow(rexmit.trace(capture), 0), "xpl")
    assert any(color == "yellow" for color, _ in drawn(whole))


@pytest.mark.parametrize(("paths", "said"), [(1, "sent bursts$"), (2, "sent bursts over 2 paths$")])
def test_bursts_are_drawn_and_not_exported(paths: int, said: str) -> None:
    flow = PathFlow(SimpleNamespace(number=3), (None,) * paths, (), {})  # type: ignore[arg-type]
    with pytest.raises(UserError, match=f"xpl is of one page over one path, and flow 3 {said}"):
        rexmit.export_flow(flow, "xpl")

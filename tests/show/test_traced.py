"""`rexmit show --flow` of a trace: a connection of a capture, explained and drawn."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner
from tests.show.captures import CLIENT, ISN_SERVER, MSS, SERVER, pcapng, transfer
from tests.trace.rows import connection, mechanism, retransmission
from tests.trace.rows import write_trace as write

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.ladder.traced import Traced, open_traced
from rexmit.tracing.folder import Trace, open_trace
from rexmit.tracing.sentences.retransmissions import row as row_said

runner = CliRunner()

START_NS = 1_000_000_000_000
FLOW = f"10.0.0.2:{CLIENT[1]} > 10.0.0.1:{SERVER[1]}"
BACK = " > ".join(reversed(FLOW.split(" > ")))


def made(ms: float, first: int, last: int, **values: Any) -> dict[str, Any]:  # noqa: ANN401
    """A retransmission of the server; `first` and `last` are relative numbers."""
    time_ns = START_NS + round(ms * 1e6)
    usual = {
        "flow": BACK,
        "time_ns": time_ns,
        "time_s": time_ns / 1e9,
        "seq_start": (ISN_SERVER + first) % 2**32,
        "seq_end": (ISN_SERVER + last) % 2**32,
    }
    return retransmission(**{**usual, **values})


@pytest.fixture
def trace(tmp_path: Path) -> Trace:
    """The server's capture of a transfer with a lost tail, and what an analysis says of it; and a
    connection of the same ends before it.
    """
    capture = tmp_path / "server.pcapng"
    packets = [(p.ms + (0 if p.server else 5), p, "") for p in transfer()]
    pcapng(capture, sorted(packets, key=lambda entry: entry[0]))
    end, hole = 30 * MSS + 1, 27 * MSS + 1
    rows = [
        made(
            84,
            end - MSS,
            end + 1,
            connection=1,
            mechanism="tlp",
            runner_up="rto",
            runner_up_confidence=0.3,
            either=True,
            evidence="hole-filled",
            detection_s=0.0485,
            detection_rtts=4.85,
            timer_s=0.034,
        ),
        made(94.2, hole, hole + MSS, connection=1, mechanism="rack", episode=1, confidence=0.6),
        made(94.3, hole + MSS, end - MSS, connection=1, mechanism="rack", need="spurious"),
    ]
    both = {"flow": FLOW, "backward_bytes": 43_440, "backward_stack": "linux-6"}
    before = connection(connection=0, start_s=900.0, end_s=901.0, **both)
    this = connection(
        connection=1,
        start_s=1000.005,
        end_s=1000.1046,
        duration_s=0.0996,
        backward_stack_confidence=0.97,
        waited_s=0.0485,
        **both,
    )
    folder = tmp_path / "traced"
    write(
        folder,
        connections=[before, this],
        mechanisms=[
            mechanism(connection=1, mechanism="tlp", needed=1, waited_s=0.0485),
            mechanism(connection=1, mechanism="rack", needed=1, spurious=1),
        ],
        retransmissions=rows,
        captures=(str(capture),),
    )
    return open_trace(folder)


def opened(trace: Trace, which: str = "1", at_s: float | None = None) -> Traced:
    return open_traced(trace, which, at_s)


def test_every_packet_of_the_connection_has_its_retransmission(trace: Trace) -> None:
    found = opened(trace)
    assert len(found.steps) == len(transfer())
    told = {round((found.steps[i].sent_ns or 0) / 1e6 + 5, 1): i for i in found.retransmissions}
    assert list(told) == [84.0, 94.2, 94.3]
    assert [found.steps[i].mechanism for i in told.values()] == ["tlp or rto", "rack", "rack"]
    assert found.data_from_server
    assert not any(step.lost for step in found.steps)


def test_of_packets_captured_at_the_same_time_the_later_is_the_retransmission(
    trace: Trace,
) -> None:
    """A coarse clock gave the first segment that was lost the time of its retransmission."""
    hole = 27 * MSS + 1
    packets = [
        (94.2 if p.server and p.seq == hole else p.ms + (0 if p.server else 5), p, "")
        for p in transfer()
    ]
    pcapng(Path(trace.captures[0]), sorted(packets, key=lambda entry: entry[0]))
    found = opened(trace)
    same = [
        i for i, s in enumerate(found.steps) if (s.sent_ns, s.seq) == (94_200_000 - 5_000_000, hole)
    ]
    assert [i in found.retransmissions for i in same] == [False, True]


def test_a_connection_is_named_by_its_ends_too(trace: Trace) -> None:
    for flow in (FLOW, BACK, BACK.replace(" ", "")):
        assert opened(trace, flow, 1000.09).number == 1
    with pytest.raises(UserError, match="no connection 7"):
        opened(trace, "7")
    with pytest.raises(UserError, match=r"no connection 1\.1\.1\.1:1"):
        opened(trace, "1.1.1.1:1 > 2.2.2.2:2")
    for word in ("²", "9" * 5000):
        with pytest.raises(UserError, match=f"{word} is no connection"):
            opened(trace, word)
    with pytest.raises(UserError, match="x is no connection"):
        opened(trace, "x")


def test_another_connection_of_the_same_ends_is_not_mixed_in(trace: Trace) -> None:
    with pytest.raises(UserError, match="no packet of"):
        opened(trace, "0")


def test_subflows_are_named(trace: Trace, tmp_path: Path) -> None:
    capture = trace.captures[0]
    same = {"mptcp_connection": 1, "forward_data_bytes": 0, "backward_bytes": 43_440}
    first = connection(
        **same,
        connection=1,
        flow=FLOW,
        start_s=1000.005,
        end_s=1000.1046,
        mptcp_subflow=1,
        mptcp_role="initial",
        backward_data_bytes=43_440,
    )
    second = connection(
        **same,
        connection=2,
        flow="10.0.2.2:1 > 10.0.0.1:80",
        mptcp_subflow=2,
        mptcp_role="join",
        backward_data_bytes=1_000,
    )
    both = write(
        tmp_path / "both",
        connections=[first, second],
        mechanisms=[
            mechanism(connection=2, mechanism="mptcp-reinject", needed=1, spurious=1),
            mechanism(connection=2, mechanism="rto", needed=4),
        ],
        captures=(capture,),
    )
    lines = shown(both, "--flow", "0")
    at = lines.index("subflow 1 of 2 of a Multipath TCP connection:")
    told = "2: flow 1, 10.0.2.2:1 > 10.0.0.1:80, joined; 0 bytes of data up, 1,000 down; "
    assert lines[at + 1 : at + 3] == [
        f"1: flow 0, {FLOW}, opened it; 0 bytes of data up, 43,440 down, this one",
        f"{told}2 packets re-injected",
    ]


def words(**values: Any) -> str:  # noqa: ANN401 - any column
    return row_said(retransmission(**{"confidence": 1.0, **values})).text


def test_words_of_a_retransmission() -> None:
    assert words() == "rto"
    again = {"mechanism": "mptcp-reinject", "first_flow": FLOW, "first_subflow": 1}
    assert words(**again) == f"mptcp-reinject, first on subflow 1, {FLOW}"
    known = {"detection_s": 0.2, "detection_rtts": 4.0, "timer_s": 0.21, "evidence": "dsack"}
    assert words(**known, need="spurious", waited_s=0.2) == (
        "rto, spurious, by dsack, 200.0 ms after (4.0 RTT), timer 210.0 ms"
    )
    unsure = {"confidence": 0.6, "runner_up": "tlp"}
    assert words(**unsure) == "rto, confidence 0.60, or tlp"
    assert words(**unsure, either=True) == "tlp or rto"
    assert words(need="unknown") == "rto, need not known"
    assert words(mechanism="unknown", confidence=0.0) == "unknown"
    unknown = retransmission(mechanism="unknown", confidence=0.0)
    told = row_said({**unknown, "missing": "sack-above"}).text
    assert told == "unknown, without a SACK block above it"


def test_a_time_that_nobody_saw_is_said_by_its_bounds() -> None:
    row = retransmission(confidence=1.0, detection_s=0.2, detection_rtts=4.0, waited_s=0.2)
    assert row_said({**row, "detection_most_s": 0.2}).text == "rto, 200.0 ms after (4.0 RTT)"
    assert row_said({**row, "detection_most_s": 61.0}).text == "rto, 200.0 ms to 61000.0 ms after"


def test_a_time_that_cannot_be_is_not_said() -> None:
    assert words(detection_s=-0.01, detection_rtts=-0.3) == "rto"
    assert words(detection_s=0.000004) == "rto, <0.1 ms after"


def shown(trace: Trace, *words: str) -> list[str]:
    argv = ["show", str(trace.path), *words]
    result = runner.invoke(app, argv, catch_exceptions=False, env={"COLUMNS": "120"})
    assert result.exit_code == 0, result.output
    return [" ".join(line.replace("─", " ").split()) for line in result.output.splitlines()]


def test_printed(trace: Trace) -> None:
    lines = shown(trace, "--flow", "1")
    assert lines[0] == f"flow 1: {FLOW} in x.pcap"
    assert lines[1] == "0.100 s; 0 bytes up, 43,440 down; 3 retransmissions"
    assert (
        "server as a sender: SYN not seen; its retransmissions fit RACK (Linux 4.18 or later), "
        "confidence 0.97"
    ) in lines
    assert (
        "79.000 ◀ FIN, PSH, ACK 1448 seq 41993 ack 201 retransmission: tlp or rto, by hole-filled, "
        "48.5 ms after (4.8 RTT), timer 34.0 ms"
    ) in lines
    assert "89.300 ◀ ACK 1448 seq 40545 ack 201 retransmission: rack, spurious" in lines
    (gap,) = [line for line in lines if "without event" in line]
    assert len(lines) - 5 - sum("nothing for" in line for line in lines) - 1 == (
        len(transfer()) - int(gap.split()[1])
    )


def test_without_a_flow_it_is_the_one_that_waited_longest(trace: Trace) -> None:
    first, *lines = shown(trace)
    assert first.startswith("connection 1 of ")
    assert lines == shown(trace, "--flow", "1")
    capture = Path(trace.captures[0])
    of_capture = CliRunner().invoke(app, ["show", str(capture)], catch_exceptions=False)
    assert of_capture.output.startswith("connection 0 of 1\n")


def test_around_a_time_every_packet_is_shown(trace: Trace) -> None:
    lines = shown(trace, "--flow", "1", "--at", "1000.0942")
    assert not any("without event" in line for line in lines)
    assert any("retransmission: rack, confidence 0.60" in line for line in lines)
    assert not any(" SYN 0 " in line or " SYN seq" in line for line in lines)


def test_json(trace: Trace) -> None:
    argv = ["show", str(trace.path), "--flow", "1", "--json"]
    data = json.loads(runner.invoke(app, argv, catch_exceptions=False).output)
    assert data["connection"]["flow"] == FLOW
    told = [
        packet["retransmission"]["mechanism"]
        for packet in data["packets"]
        if packet["retransmission"]
    ]
    assert told == ["tlp", "rack", "rack"]


@pytest.mark.parametrize("ending", ["png", "pdf", "svg"])
def test_the_picture(trace: Trace, tmp_path: Path, ending: str) -> None:
    files = [tmp_path / f"{name}.{ending}" for name in "ab"]
    for file in files:
        assert str(file) in shown(trace, "--flow", "1", "--figure", str(file))
    assert files[0].read_bytes() == files[1].read_bytes()
    if ending == "svg":
        assert "rack, spurious (1)" in files[0].read_text(encoding="utf-8")


def test_wrong_usage(trace: Trace) -> None:
    for words, told in (
        (["--repairs"], "a trace has no --losses"),
        (["--flow", "1", "--figure", "x.gif"], "unknown format"),
    ):
        with pytest.raises(UserError, match=told):
            runner.invoke(app, ["show", str(trace.path), *words], catch_exceptions=False)


def test_a_capture_that_has_gone(trace: Trace) -> None:
    Path(trace.captures[0]).unlink()
    with pytest.raises(UserError, match="is not there any more"):
        opened(trace)

"""No sentence of a page or a ladder says what its capture's packets do not show."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from tests.real import captures, packets, rebuilt
from tests.real.rebuilt import Sent
from tests.real.sentences import Held, against, by_flow, every, refuted

import rexmit
from rexmit.ladder.traced import open_traced
from rexmit.tracing.folder import Trace
from rexmit.tracing.sentences.value import Sentence
from rexmit.tracing.summary import summary

# tshark reads their captures.
pytestmark = pytest.mark.tools


@pytest.mark.parametrize("path", captures.committed(), ids=lambda path: path.name)
def test_no_sentence_of_a_real_capture_is_refuted(path: Path) -> None:
    assert list(map(str, refuted(rexmit.trace(path)))) == []


@pytest.mark.parametrize("case", rebuilt.CASES, ids=lambda case: case.__name__)
def test_no_sentence_of_a_rebuilt_capture_is_refuted(
    case: Callable[[], list[Sent]], tmp_path: Path
) -> None:
    trace = rexmit.trace(rebuilt.write(tmp_path / "x.pcap", case()))
    assert list(map(str, refuted(trace))) == []


def test_no_sentence_of_a_corpus_of_the_model_is_refuted(tmp_path: Path) -> None:
    words = [sys.executable, "-m", "rexmit", "validate", "synth", "--mix", "campus"]
    options = ["--connections", "40", "--seed", "11", "--out", str(tmp_path / "corpus")]
    subprocess.run([*words, *options], check=True, timeout=300)
    for path in sorted((tmp_path / "corpus" / "captures").iterdir()):
        assert list(map(str, refuted(rexmit.trace(path)))) == [], path.name


def made(case: Callable[[], list[Sent]], tmp_path: Path) -> Trace:
    return rexmit.trace(rebuilt.write(tmp_path / "x.pcap", case()))


def said(trace: Trace) -> str:
    return "\n".join(f"{one.label.strip()}: {one.text}" for one in every(trace, summary(trace)))


@pytest.mark.parametrize(
    ("case", "told", "never"),
    [
        (rebuilt.cable_pulled, "all 6 packets in flight stayed without an ACK", "lost"),
        (rebuilt.cable_pulled, "timed out 5 times in a row, and the timer doubled", ""),
        (rebuilt.one_lost_for_good, "the packet in flight stayed without an ACK", "was lost"),
        (rebuilt.timer_that_does_not_double, "timed out 4 times in a row", "doubled"),
        (rebuilt.probe_train, "retransmissions: ", "in a row"),
        (rebuilt.half_open_at_the_end, "nothing: ", "half-open"),
        (rebuilt.half_open_for_good, "half-open: the only connection", ""),
        (rebuilt.segment_above_window, "nothing: ", "window full"),
        (rebuilt.window_that_is_full, "window full: the only connection", ""),
        (rebuilt.reordered, "1 packet out of order", "retransmissions:"),
        (rebuilt.merged_by_the_card, "8 of 41 segments (19.5%)", "packets ("),
        (rebuilt.half_open_at_the_end, "connections: 1", "throughput"),
        (rebuilt.recorded_four_times, "recorded packets again", "retransmissions:"),
    ],
)
def test_a_rebuilt_capture_is_said_as_it_is(
    case: Callable[[], list[Sent]], told: str, never: str, tmp_path: Path
) -> None:
    text = said(made(case, tmp_path))
    assert told in text
    assert not (never and never in text), text


@pytest.mark.parametrize(
    ("case", "kinds"),
    [
        (rebuilt.reordered, {"out of order"}),
        (rebuilt.recorded_four_times, {"recorded again"}),
        (rebuilt.kept_alive, {"keep-alive"}),
        (rebuilt.closed_for_good, {"window probe"}),
        (rebuilt.three_duplicates, set()),
    ],
)
def test_a_ladder_names_what_is_no_retransmission(
    case: Callable[[], list[Sent]], kinds: set[str], tmp_path: Path
) -> None:
    drawn = open_traced(made(case, tmp_path), "0")
    assert {step.kind for step in drawn.steps if step.kind} == kinds


FALSE = (
    "5 timeouts, the longest wait 9.00 s",
    "4 timeouts, the longest timer 9.00 s",
    "7 timeouts",
    "one packet timed out 5 times in a row",
    "one packet timed out 4 times in a row, and the timer doubled each time",
    "the packet in flight stayed without an ACK",
    "all 3 packets in flight stayed without an ACK",
    "up to 7 packets of a flight were lost",
    "all were spurious, the originals had arrived",
    "whether they were needed is not known",
    "4 timeouts: the SYN was never answered",
    "window full: the window of 10.0.0.1:80 was full, and 10.0.0.2:40000 had more to send",
    "zero window: the only connection: 10.0.0.1:80 closed its window once, for 1 ms",
    "no answer: the only connection: nothing came back for the SYN",
    "with data: 4 of 18 segments (22.2%)",
    "with data: 3 of 18 packets (16.7%)",
    "reset: the only connection: ended by a RST",
    "network: delivered 9 packets out of order",
    "rto, 77.0 ms after",
    "rto, -1.0 ms after",
    "rto, timer 12.0 ms",
    "tlp or rto, 300.0 ms after",
    "nothing: of the 3 other settings tried, even those that save most save little",
)
"""What is not so of a packet that is sent again four times, each 300 ms."""


@pytest.mark.parametrize("text", FALSE)
def test_a_false_sentence_is_refuted(text: str, tmp_path: Path) -> None:
    trace = made(rebuilt.timer_that_does_not_double, tmp_path)
    flows = by_flow(list(packets.read(Path(trace.captures[0]))))
    label, rest = (text.split(": ", 1)) if text.split(":")[0] in LABELS else ("", text)
    table = "connections" if label in ("no answer", "reset") else "retransmissions"
    sentence = Sentence(rest, table, lambda _: True, label=label)
    rows = sentence.rows_in(trace).to_dicts()
    held = Held(sentence, rows, trace, summary(trace), flows)
    assert list(against(held))


LABELS = ("window full", "zero window", "no answer", "with data", "reset", "network")


def test_throughput_of_less_than_a_round_trip_is_refuted(tmp_path: Path) -> None:
    trace = made(rebuilt.half_open_for_good, tmp_path)
    sentence = Sentence("152.3 Mbit/s", "sides", lambda _: True, label="throughput")
    rows = sentence.rows_in(trace).to_dicts()
    assert list(against(Held(sentence, rows, trace, summary(trace), by_flow([]))))


def test_a_sentence_whose_condition_fails_is_refuted(tmp_path: Path) -> None:
    trace = made(rebuilt.three_duplicates, tmp_path)
    (numbers,) = [one for one in every(trace, summary(trace)) if one.label == "retransmissions"]
    assert numbers.holds(trace)
    assert not replace(numbers, rows=~numbers.rows).holds(trace)

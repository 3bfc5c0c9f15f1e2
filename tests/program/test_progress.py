"""Progress without a terminal: few lines, with rate, estimate and failures."""

from __future__ import annotations

import io

import pytest

from rexmit import outputs
from rexmit.progress import PlainProgress, Step, for_stream, heard


def test_lines_come_every_ten_seconds() -> None:
    now = [100.0]
    stream = io.StringIO()
    progress = PlainProgress("transfers", stream, clock=lambda: now[0])
    progress.start(total=1000, done=100)
    for _ in range(30):
        now[0] += 1
        progress.advance(10)
    progress.failed("near tlp 5", "the kernel died")
    progress.failed("near tlp 6", "the kernel died")
    progress.note("a note")
    now[0] += 10
    progress.advance(600)
    progress.close()
    assert stream.getvalue().splitlines() == [
        "rexmit: 1,000 transfers, 100 of them done before",
        "rexmit: 200 of 1,000 transfers, 10/s, 1 min 20 s left",
        "rexmit: 300 of 1,000 transfers, 10/s, 1 min 10 s left",
        "rexmit: 400 of 1,000 transfers, 10/s, 1 min 0 s left",
        "rexmit: cell near tlp 5 failed: the kernel died",
        "rexmit: a note",
        "rexmit: 1,000 of 1,000 transfers, 22/s, 2 cells failed",
        "rexmit: 1,000 of 1,000 transfers, 22/s, 2 cells failed",
    ]


def test_what_nobody_knows_the_total_of_says_nothing_in_its_first_seconds() -> None:
    now = [0.0]
    stream = io.StringIO()
    progress = PlainProgress("packets", stream, clock=lambda: now[0])
    progress.start(None)
    progress.advance(5)
    progress.close()
    assert stream.getvalue() == ""
    now[0] = 20.0
    progress.advance(1_995)
    assert stream.getvalue() == "rexmit: 2,000 packets, 100/s\n"


def test_what_takes_seconds_each_says_how_many() -> None:
    now = [0.0]
    stream = io.StringIO()
    progress = PlainProgress("captures", stream, clock=lambda: now[0])
    progress.start(10)
    now[0] = 50.0
    progress.advance(4)
    assert stream.getvalue().splitlines()[-1] == (
        "rexmit: 4 of 10 captures, 12 s each, 1 min 15 s left"
    )


def test_verbose_lines_come_every_second(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(outputs, "level", outputs.Level.VERBOSE)
    now = [0.0]
    stream = io.StringIO()
    progress = PlainProgress("packets", stream, clock=lambda: now[0])
    progress.start(None)
    for _ in range(3):
        now[0] += 1.0
        progress.advance(10)
    assert len(stream.getvalue().splitlines()) == 3


def test_quiet_work_says_what_failed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(outputs, "level", outputs.Level.QUIET)
    progress = for_stream(io.StringIO(), "transfers")
    progress.start(10)
    progress.advance(4)
    progress.failed("near tlp 5", "the kernel died")
    progress.failed("near tlp 6", "the kernel died")
    progress.note("warning: mind")
    progress.close()
    assert capsys.readouterr().err.splitlines() == [
        "rexmit: cell near tlp 5 failed: the kernel died",
        "rexmit: warning: mind",
    ]


def test_a_caller_hears_each_step() -> None:
    steps: list[Step] = []
    progress = heard(steps.append, "cases")
    progress.start(3)
    progress.advance(2)
    progress.failed("7-1", "the kernel died")
    assert steps == [
        Step(0, 3, "cases"),
        Step(2, 3, "cases"),
        Step(2, 3, "cases", "7-1 failed: the kernel died"),
    ]


def test_a_total_that_was_too_small_grows() -> None:
    steps: list[Step] = []
    stream = io.StringIO()
    for progress in (heard(steps.append, "steps"), PlainProgress("steps", stream)):
        progress.start(3)
        progress.advance(4)
        progress.close()
    assert steps[-1] == Step(4, 4, "steps")
    assert stream.getvalue().splitlines()[-1].startswith("rexmit: 4 of 4 steps")


def test_what_ends_before_anything_is_counted_is_not_summed_up() -> None:
    stream = io.StringIO()
    progress = PlainProgress("steps", stream)
    progress.note("a note")
    progress.close()
    assert stream.getvalue() == "rexmit: a note\n"

"""Progress without a terminal: few lines, with rate, estimate and failures."""

from __future__ import annotations

import io

import pytest

from rexmit.campaign.progress import PlainProgress, duration_text


def test_lines_come_every_ten_seconds() -> None:
    now = [100.0]
    stream = io.StringIO()
    progress = PlainProgress(stream, clock=lambda: now[0])
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


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(0.2, "0 s"), (59.4, "59 s"), (59.6, "1 min 0 s"), (185, "3 min 5 s"), (7800, "2 h 10 min")],
)
def test_durations(seconds: float, text: str) -> None:
    assert duration_text(seconds) == text

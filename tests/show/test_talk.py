"""The pictures of the talk of 2013: four scenarios, each a transfer that shows its mechanism."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

import rexmit
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.ladder.flow import Flow


def picture(name: str, tmp_path: Path) -> Flow:
    run = rexmit.run(
        f"talk-2013-{name}",
        engine="model",
        stack="linux-3.10",
        capture=True,
        out=tmp_path / name,
    )
    flow = rexmit.open_flow(run, 0)
    assert isinstance(flow, Flow)
    assert flow.row["complete"]
    assert flow.row["exact"]
    return flow


def sent_again(flow: Flow) -> list[tuple[str | None, int]]:
    """Mechanisms of what the server sent again, and which segment it was, from 1."""
    return [
        (step.mechanism, (step.seq - 1) // 1448 + 1)
        for step in flow.steps
        if step.from_server and step.mechanism
    ]


def test_three_duplicates_send_the_lost_segment_again(tmp_path: Path) -> None:
    flow = picture("dupack", tmp_path)
    assert sent_again(flow) == [("fast-retransmit", 12)]
    (again,) = [step for step in flow.steps if step.mechanism]
    third = next(step for step in flow.steps if step.duplicate_acks == 3)
    assert again.sent_ns is not None
    assert third.arrived_ns is not None
    assert 0 <= again.sent_ns - third.arrived_ns < 1_000_000
    assert not any(step.sack for step in flow.steps)


def test_selective_acknowledgements_name_what_is_not_sent_again(tmp_path: Path) -> None:
    flow = picture("sack", tmp_path)
    assert sent_again(flow) == [("fack", 12), ("sack-recovery", 14)]
    assert max(len(step.sack) for step in flow.steps) == 2


def test_a_lost_tail_waits_for_the_timeout(tmp_path: Path) -> None:
    flow = picture("rto", tmp_path)
    assert sent_again(flow)[0] == ("rto", 10)
    assert not any(step.duplicate_acks for step in flow.steps)


def test_a_probe_sends_the_last_segment_and_its_sack_tells_of_the_others(tmp_path: Path) -> None:
    flow = picture("tlp", tmp_path)
    assert sent_again(flow) == [("tlp", 12), ("fack", 10), ("sack-recovery", 11)]
    rto = picture("rto", tmp_path)
    assert flow.row["t_recover_s"] < rto.row["t_recover_s"]
    assert flow.row["t_total_s"] < rto.row["t_total_s"]
    # To the letter of the paper the first dropped segment comes back a round trip after the probe.
    assert flow.row["t_recover_printed_s"] - flow.row["t_recover_s"] == pytest.approx(0.125, 0.02)
    assert flow.row["t_total_printed_s"] < flow.row["t_total_s"]
    ladder = rexmit.draw_flow(flow, as_ladder=True)
    texts = [text.get_text() for text in ladder.axes[0].texts]
    assert "15929-17377 FIN tlp" in texts
    assert "13033-14481 +2" in texts
    assert "ACK 13033 SACK 15929-17378" in texts


def test_the_command_draws_the_ladder(tmp_path: Path) -> None:
    picture("tlp", tmp_path)
    words = ["show", str(tmp_path / "tlp"), "--flow", "0"]
    file = tmp_path / "tlp.png"
    done = CliRunner().invoke(app, [*words, "--figure", str(file), "--ladder"])
    assert done.exit_code == 0, done.output
    assert file.read_bytes().startswith(b"\x89PNG")
    done = CliRunner().invoke(app, [*words, "--ladder"])
    assert isinstance(done.exception, UserError)
    assert "--ladder belongs to --figure" in done.exception.what

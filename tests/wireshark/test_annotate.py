"""`rexmit trace --annotate`: the same packets, with comments, as tshark reads them."""

from __future__ import annotations

import gzip
import re
import shutil
import subprocess
from pathlib import Path

import polars as pl
import pytest
from tests.wireshark.conftest import REAL, Program
from tests.wireshark.tshark import comments, fields, needs_tshark, packets

import rexmit
from rexmit.errors import UserError
from rexmit.progress import Silent
from rexmit.tracing.annotate import places

SMALL = sorted(REAL.glob("*.pcap"))


def annotated(captures: Path | list[Path], out: Path, **options: object) -> rexmit.Trace:
    trace = rexmit.trace(captures, whatif=(), **options)  # type: ignore[arg-type]
    rexmit.annotate(trace, out)
    return trace


@needs_tshark
@pytest.mark.parametrize("capture", SMALL, ids=lambda path: path.stem)
def test_real_captures_have_the_same_packets(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    annotated(capture, out)
    assert packets(out) == packets(capture)


@needs_tshark
def test_every_retransmission_has_a_comment(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    trace = annotated(capture, out)
    assert packets(out) == packets(capture)
    rows = trace.scan("retransmissions").collect()
    assert rows.height > 50
    times = {
        int(time.replace(".", ""))
        for time, text in fields(out, ("frame.time_epoch", "frame.comment"), "-Y", "frame.comment")
        if re.search(r"rexmit trace: [a-z-]+, (needed|spurious|need not known); ", text)
    }
    assert times == set(rows["time_ns"])


@needs_tshark
def test_a_comment_says_what_the_row_says(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    trace = annotated(capture, out)
    said = comments(out)
    whole = "\n".join(said.values())
    rows = trace.scan("retransmissions").collect()
    for mechanism, need in rows.select("mechanism", "need").unique().iter_rows():
        words = {"unknown": "need not known"}.get(need, need)
        number = rows.filter(mechanism=mechanism, need=need).height
        assert whole.count(f"rexmit trace: {mechanism}, {words}; ") == number
    timers = rows.filter(pl.col("timer_s").is_not_null()).height
    assert timers > 5
    assert whole.count(" ran out; ") == timers


@needs_tshark
def test_causes_and_effects_name_each_other(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    annotated(capture, out)
    said = comments(out)
    flows = {
        int(number): (stream, source)
        for number, stream, source in fields(out, ("frame.number", "tcp.stream", "tcp.srcport"))
        if stream
    }
    originals = triggers = 0
    for number, text in said.items():
        again = re.search(r"rexmit trace: [a-z-]+, [a-z ]+; [^,]*?", text)
        if again is None:
            continue
        if found := re.search(r" frame (\d+); (its sender|needed|spurious|need not known)", text):
            before = int(found[1])
            originals += 1
            assert before < number
            assert flows[before] == flows[number]
            assert "rexmit trace: sent again in frame" in said[before]
        if found := re.search(r"triggered by frame (\d+);", text):
            trigger = int(found[1])
            triggers += 1
            assert trigger < number
            assert flows[trigger][0] == flows[number][0]
            assert flows[trigger][1] != flows[number][1]
            assert "rexmit trace: triggered frame" in said[trigger]
    assert originals > 40
    assert triggers > 20


@needs_tshark
def test_a_fast_retransmit_is_triggered_by_a_duplicate_ack(capture: Path, tmp_path: Path) -> None:
    out = tmp_path / "out.pcapng"
    annotated(capture, out)
    duplicates = fields(out, ("frame.number",), "-Y", "tcp.analysis.duplicate_ack")
    numbers = {int(number) for (number,) in duplicates}
    made = [
        int(found[1])
        for text in comments(out).values()
        if (found := re.match(r"rexmit trace: fast-retransmit, .*triggered by frame (\d+);", text))
        and "in a recovery" not in text
    ]
    assert len(made) > 3
    assert sum(trigger in numbers for trigger in made) / len(made) > 0.8


@needs_tshark
def test_from_everywhere_mostly_the_same_ack_is_named(corpus: Path) -> None:
    """A monitor away from the sender infers which acknowledgement made it retransmit."""
    named: dict[str, dict[tuple[object, ...], tuple[object, ...]]] = {}
    for point in ("sender", "switch", "receiver"):
        capture = corpus / f"{point}.pcap"
        trace = rexmit.trace(capture, whatif=())
        found = places.find(trace, [capture], None, Silent())
        acks = fields(
            capture,
            ("frame.number", "tcp.ack_raw", "tcp.options.sack_le", "tcp.options.timestamp.tsval"),
        )
        told = {int(number): tuple(rest) for number, *rest in acks}
        named[point] = {
            (row["flow"], row["seq_start"], row["copy"], row["mechanism"]): told[row["trigger"]]
            for row in found.rows.iter_rows(named=True)
            if row["trigger"] is not None
        }
    for point, least in (("switch", 0.8), ("receiver", 0.7)):
        both = named[point].keys() & named["sender"].keys()
        same = sum(named[point][key] == named["sender"][key] for key in both)
        assert len(both) > 30
        assert same / len(both) > least, (point, same, len(both))


@needs_tshark
def test_what_was_said_before_stays(capture: Path, tmp_path: Path) -> None:
    theirs, out = tmp_path / "theirs.pcapng", tmp_path / "out.pcapng"
    first = next(iter(comments_of(capture, tmp_path)))
    keys = tmp_path / "keys"
    keys.write_text("CLIENT_RANDOM " + "00" * 32 + " " + "11" * 48 + "\n")
    subprocess.run(
        [
            "editcap",
            "-a",
            f"{first}:theirs, first",
            "--inject-secrets",
            f"tls,{keys}",
            str(capture),
            str(theirs),
        ],
        check=True,
        capture_output=True,
    )
    annotated(theirs, out)
    assert packets(out) == packets(theirs)
    assert comments(out)[first].startswith("theirs, first,rexmit trace: ")
    assert b"CLIENT_RANDOM" in out.read_bytes()
    # Again, and nothing is there twice.
    twice = tmp_path / "twice.pcapng"
    annotated(out, twice)
    assert twice.read_bytes() == out.read_bytes()


def comments_of(capture: Path, folder: Path) -> dict[int, str]:
    annotated(capture, folder / "first.pcapng")
    return comments(folder / "first.pcapng")


@needs_tshark
def test_packed_captures_and_rotations(capture: Path, tmp_path: Path) -> None:
    packed = tmp_path / "a.pcap.gz"
    packed.write_bytes(gzip.compress(capture.read_bytes()))
    whole, out = tmp_path / "whole.pcapng", tmp_path / "out.pcapng"
    annotated(capture, whole)
    annotated(packed, out)
    assert out.read_bytes() == whole.read_bytes()
    half = len(packets(capture)) // 2
    subprocess.run(["editcap", "-c", str(half), capture, tmp_path / "part.pcap"], check=True)
    parts = sorted(tmp_path.glob("part_*.pcap"))
    assert len(parts) >= 2
    # Given the wrong way round; they stand in the order in which they begin.
    annotated(parts[::-1], out)
    assert packets(out) == packets(capture)
    assert comments(out) == comments(whole)


@needs_tshark
def test_a_filter_in_a_pipe(capture: Path, tmp_path: Path, program: Program) -> None:
    whole = tmp_path / "whole.pcapng"
    annotated(capture, whole)
    done = program("-", "--annotate", "-", stdin=capture.read_bytes())
    assert done.returncode == 0, done.stderr
    assert done.stdout == whole.read_bytes()
    assert re.search(rb"standard output: [\d,]+ packets, comments on \d+ retr", done.stderr)
    # The page comes as well where the copy goes to a file.
    done = program("-", "--annotate", "copy.pcapng", stdin=capture.read_bytes())
    assert (tmp_path / "copy.pcapng").read_bytes() == whole.read_bytes()
    assert done.stdout.startswith(b"-: ")


@needs_tshark
def test_a_selection_and_a_kept_trace(capture: Path, tmp_path: Path, program: Program) -> None:
    trace = rexmit.trace(capture, whatif=(), out=tmp_path / "t")
    row = trace.scan("retransmissions").select("flow", "connection").first().collect()
    port = row["flow"][0].rpartition(":")[2]
    done = program(tmp_path / "t", "--port", port, "--annotate", "out.pcapng")
    assert done.returncode == 0, done.stderr
    assert packets(tmp_path / "out.pcapng") == packets(capture)
    said = comments(tmp_path / "out.pcapng")
    ports = fields(tmp_path / "out.pcapng", ("frame.number", "tcp.port"), "-Y", "frame.comment")
    assert said
    assert all(port in both.split(",") for _, both in ports)


def test_all_or_nothing(capture: Path, tmp_path: Path, program: Program) -> None:
    copy = tmp_path / "a.pcap"
    shutil.copy(capture, copy)
    before = copy.read_bytes()
    done = program(copy, "--annotate", copy)
    assert done.returncode == 2
    assert b"is the capture itself" in done.stderr
    assert copy.read_bytes() == before
    assert program(copy, "--annotate", tmp_path / "no" / "out").returncode == 1
    assert program(copy, "--annotate", "-", "--json").returncode == 2
    # The capture changes after it was analysed.
    trace = rexmit.trace(copy, whatif=(), out=tmp_path / "t")
    copy.write_bytes(before[: len(before) // 2])
    out = tmp_path / "out.pcapng"
    out.write_bytes(b"as it was")
    with pytest.raises(UserError, match="what is there has changed"):
        rexmit.annotate(trace, out)
    assert out.read_bytes() == b"as it was"
    assert not list(tmp_path.glob(".out*"))


def test_of_several_points_none_is_annotated(corpus: Path, tmp_path: Path) -> None:
    both = [corpus / "sender.pcap", corpus / "receiver.pcap"]
    trace = rexmit.trace(both, whatif=())
    with pytest.raises(UserError, match="several points"):
        rexmit.annotate(trace, tmp_path / "out.pcapng")


def test_nothing_of_a_folder_gets_into_comments_unseen() -> None:
    from rexmit.tracing.annotate import words

    row = {
        "mechanism": "mptcp-reinject",
        "need": "needed",
        "timer_s": None,
        "position": "sender",
        "episode_cause": "mptcp-reinject",
        "first_subflow": 1,
        "first_flow": "10.0.0.1:1\x1b[31m\n\u202e > 10.0.0.2:2",
        "copy": 1,
        "detection_s": None,
        "waited_s": 0.0,
        "evidence": "none",
        "need_confidence": 1.0,
        "confidence": 0.5,
        "runner_up": None,
        "either": False,
    }
    said = words.retransmission(row, None, None)
    assert said.isprintable()
    assert "10.0.0.1:1?[31m?? > " in said

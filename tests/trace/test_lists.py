"""Lists of packets as text, as tcpdump and tshark print them, against the captures they are of."""

from __future__ import annotations

import gzip
import os
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest
from tests.real import captures
from tests.tools import needs

import rexmit
from rexmit.tracing.folder import Trace

TCPDUMP: Final = {
    "plain": "-n",
    "verbose": "-nv",
    "more verbose": "-nvv",
    "absolute": "-nS",
    "epoch": "-ntt",
    "dated": "-ntttt",
    "since the first": "-nttttt",
    "link": "-ne",
    "hexadecimal": "-nx",
}

TSHARK: Final = {
    "relative": (),
    "of day": ("-t", "a"),
    "dated": ("-t", "ad"),
    "epoch": ("-t", "e"),
    "absolute numbers": ("-o", "tcp.relative_sequence_numbers:FALSE"),
}

DETAILS: Final = {
    "in detail": ("-V",),
    "with their lines": ("-P", "-V"),
    "absolute numbers in detail": ("-V", "-o", "tcp.relative_sequence_numbers:FALSE"),
}
"""As Wireshark exports packet dissections: with the line of each packet, and without."""

COVERED: Final = "socks.pcap"
"""In the lists of tshark it has a short first request, padded, whose length cannot be known: that
it is sent again cannot be told."""

SIDES: Final = ["flow", "bytes", "unique_bytes", "resets"]
"""What a list tells of each direction; what was recorded twice it does not tell from copies."""


def printed(*words: str) -> bytes:
    """What a program prints."""
    environment = {**os.environ, "TZ": "UTC", "LC_ALL": "C.UTF-8"}
    return subprocess.run(
        words, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, check=True, env=environment
    ).stdout


def retransmitted(trace: Trace) -> list[tuple[str, int, int]]:
    """Retransmissions: the flow, microseconds since the first one, bytes."""
    rows = trace.scan("retransmissions").collect()
    times = [time // 1000 for time in rows["time_ns"]]
    since = [time - times[0] for time in times]
    return list(zip(rows["flow"], since, rows["length_bytes"], strict=True))


def check(capture: Path, text: bytes, folder: Path) -> Trace:
    """A list has the same retransmissions as its capture."""
    listed = folder / "list.txt"
    listed.write_bytes(text)
    trace, of = rexmit.trace(listed), rexmit.trace(capture)
    assert retransmitted(trace) == retransmitted(of)
    (warning,) = [text for text in trace.facts.warnings if "a list of packets as text" in text]
    assert "cannot be read" not in warning
    return trace


@needs("tcpdump")
@pytest.mark.parametrize("form", TCPDUMP)
@pytest.mark.parametrize("capture", captures.committed(), ids=lambda path: path.name)
def test_a_list_of_tcpdump_tells_the_same(capture: Path, form: str, tmp_path: Path) -> None:
    trace = check(capture, printed("tcpdump", TCPDUMP[form], "-r", str(capture)), tmp_path)
    sides = [one.scan("sides").select(SIDES).collect() for one in (trace, rexmit.trace(capture))]
    assert sides[0].equals(sides[1])


@needs("tshark")
@pytest.mark.parametrize("form", TSHARK)
@pytest.mark.parametrize(
    "capture",
    [path for path in captures.committed() if path.name != COVERED],
    ids=lambda path: path.name,
)
def test_a_list_of_tshark_tells_the_same(capture: Path, form: str, tmp_path: Path) -> None:
    check(capture, printed("tshark", "-n", *TSHARK[form], "-r", str(capture)), tmp_path)


@needs("tshark")
@pytest.mark.parametrize("form", DETAILS)
@pytest.mark.parametrize("capture", captures.committed(), ids=lambda path: path.name)
def test_packets_in_detail_tell_the_same(capture: Path, form: str, tmp_path: Path) -> None:
    text = printed("tshark", "-n", *DETAILS[form], "-r", str(capture))
    # As PowerShell writes it, which ends lines as Windows does.
    as_windows = text.decode().replace("\n", "\r\n").encode("utf-16")
    trace = check(capture, as_windows, tmp_path)
    sides = [one.scan("sides").select(SIDES).collect() for one in (trace, rexmit.trace(capture))]
    assert sides[0].equals(sides[1])


@needs("tcpdump")
def test_round_trips_are_those_of_the_capture(tmp_path: Path) -> None:
    capture = captures.HERE / "http-continue.pcap"
    listed = tmp_path / "list.txt"
    listed.write_bytes(printed("tcpdump", "-ntttt", "-r", str(capture)))
    traces = rexmit.trace(listed), rexmit.trace(capture)
    names = ["flow", "rtt_min_s", "rtt_median_s", "rtt_max_s", "rtt_samples", "unanswered_s"]
    sides = [trace.scan("sides").select(names).collect() for trace in traces]
    assert sides[0]["rtt_samples"].sum() > 0
    assert sides[0].equals(sides[1])


@needs("tcpdump")
def test_a_packed_list_is_read_from_a_pipe(tmp_path: Path) -> None:
    capture = captures.HERE / "retransmissions.pcap"
    packed = tmp_path / "list.gz"
    packed.write_bytes(gzip.compress(printed("tcpdump", "-n", "-r", str(capture))))
    with packed.open("rb") as pipe:
        told = subprocess.run(
            [sys.executable, "-m", "rexmit", "trace", "-"],
            stdin=pipe,
            capture_output=True,
            text=True,
            check=True,
        )
    assert "-: a list of packets as text" in told.stdout
    assert "retransmi" in told.stdout


@needs("tcpdump")
def test_a_list_without_sequence_numbers_says_how_to_print_one(tmp_path: Path) -> None:
    capture = captures.HERE / "retransmissions.pcap"
    listed = tmp_path / "list.txt"
    listed.write_bytes(printed("tcpdump", "-n", "-q", "-r", str(capture)))
    with pytest.raises(rexmit.Error, match=r"tcpdump -q, .* print it without -q"):
        rexmit.trace(listed)


def test_text_that_is_no_list_says_which_lists_are_read(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("The site was slow again today.\n")
    with pytest.raises(rexmit.Error, match=r"no capture of a known format.*tcpdump, tshark and"):
        rexmit.trace(path)

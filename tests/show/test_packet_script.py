"""Connections as scripts for packetdrill, read back as text. What packetdrill says of them:
`tests/lab/test_packet_scripts.py`."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from click.testing import CliRunner
from tests.show.captures import transfer, write_captures
from tests.steps import PLAIN

import rexmit
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.ladder.conditions import made_under
from rexmit.ladder.packet_script import Conditions, packet_script
from rexmit.ladder.picture import Picture
from rexmit.ladder.steps import Step

MS = 1_000_000


def ours(ms: float, seq: int, length: int, flags: str = "ACK", **more: object) -> Step:
    """A packet of the server, which sends the data."""
    at = round(ms * MS)
    packet = replace(PLAIN, sent_ns=at, flags=flags, seq=seq, payload_bytes=length, ack=1)
    return replace(packet, **{"timestamps": (5000 + round(ms), 70)} | more)  # type: ignore[arg-type]


def theirs(ms: float, ack: int, flags: str = "ACK", **more: object) -> Step:
    """A packet of the client, as it comes to the server."""
    at = round(ms * MS)
    packet = replace(
        PLAIN, from_server=False, arrived_ns=at, flags=flags, seq=1, ack=ack, window=500
    )
    return replace(packet, **{"timestamps": (70 + round(ms), 5000)} | more)  # type: ignore[arg-type]


SYN = {"mss": 1460, "sack_permitted": True, "window_scale": 7}
TAIL = (
    replace(theirs(0, 0, "SYN", **SYN), seq=0, ack=None, timestamps=(70, 0)),
    ours(0, 0, 0, "SYN, ACK", **SYN),
    theirs(10, 1),
    ours(10, 1, 1448),
    ours(10.2, 1449, 1448),
    ours(10.4, 2897, 1448, "PSH, ACK", dropped=True),
    theirs(20, 1449),
    replace(theirs(20, 2897), arrived_ns=None, sent_ns=15 * MS, lost=True),
    theirs(20.1, 2897),
    ours(45, 2897, 1448, "PSH, ACK", mechanism="tlp", need="needed", again=True),
    theirs(55, 4345),
    theirs(60, 4345),
)


def script(steps: tuple[Step, ...], **known: object) -> str:
    picture = Picture("", steps, data_from_server=True, start_ns=6 * MS)
    return packet_script(picture, Conditions(**known))  # type: ignore[arg-type]


def test_a_lost_tail_is_what_a_reader_of_packetdrill_expects() -> None:
    settings = {"net.ipv4.tcp_early_retrans": "3", "net.core.somaxconn": "9"}
    text = script(TAIL, about=("The tail.",), sysctls=settings, tick_ns=4 * MS)
    assert text.splitlines() == [
        "// The tail.",
        "// Not set, only net.ipv4 and net.ipv6 are: net.core.somaxconn.",
        "`echo 3 > /proc/sys/net/ipv4/tcp_early_retrans",
        " echo 4096 82916 82916 > /proc/sys/net/ipv4/tcp_wmem",
        " echo 4096 131072 4194304 > /proc/sys/net/ipv4/tcp_rmem",
        " ip link set dev tun0 gso_max_segs 1`",
        "0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3",
        "+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0",
        "+0 bind(3, ..., ...) = 0",
        "+0 listen(3, 1) = 0",
        "+0.002 `true`",
        "+0 < S 0:0(0) win 500 <mss 1460,sackOK,TS val 1000 ecr 0,nop,wscale 7>",
        "+0 > S. 0:0(0) ack 1 <mss 1460,sackOK,TS val 1000 ecr 1000,nop,wscale 7>",
        "+0.01 < . 1:1(0) ack 1 win 500 <nop,nop,TS val 1010 ecr 1000>",
        "+0 accept(3, ..., ...) = 4",
        "+0 write(4, ..., 4344) = 4344",
        "+0 > . 1:2897(2896) ack 1 <nop,nop,TS val 1010 ecr 1000>",
        "// Lost on the way: this packet.",
        "+0.0004 > P. 2897:4345(1448) ack 1 <nop,nop,TS val 1010 ecr 1000>",
        "// Lost on its way to the sender: the ACK of 2897.",
        "+0.0096 < . 1:1(0) ack 1449 win 500 <nop,nop,TS val 1020 ecr 1000>",
        "+0.0001 < . 1:1(0) ack 2897 win 500 <nop,nop,TS val 1020 ecr 1000>",
        "// Retransmission: tlp, needed.",
        "+0.0249 > P. 2897:4345(1448) ack 1 <nop,nop,TS val 1045 ecr 1000>",
        "+0.01 < . 1:1(0) ack 4345 win 500 <nop,nop,TS val 1055 ecr 1000>",
    ]


def test_without_timestamps_there_are_none() -> None:
    text = script(tuple(replace(step, timestamps=None) for step in TAIL))
    assert "TS val" not in text
    assert "+0 < S 0:0(0) win 500 <mss 1460,nop,nop,sackOK,nop,wscale 7>" in text
    assert "> . 1:2897(2896) ack 1\n" in text


def test_a_sender_that_opens_the_connection_connects() -> None:
    text = script(
        (
            replace(TAIL[1], flags="SYN", ack=None),
            replace(TAIL[0], flags="SYN, ACK", ack=1, timestamps=(70, 5000)),
            ours(1, 1, 0),
            *TAIL[3:],
        )
    )
    assert "connect(3, ..., ...) = -1 EINPROGRESS" in text
    assert "accept" not in text
    assert "+0.009 write(3, ..., 4344) = 4344" in text


def test_a_request_is_read_before_the_socket_is_closed() -> None:
    request = theirs(10, 1, "PSH, ACK", payload_bytes=133)
    late = [replace(step, ack=134) if step.from_server else step for step in TAIL[3:]]
    late[2] = replace(late[2], flags="FIN, PSH, ACK")
    lines = script((*TAIL[:3], request, *late)).splitlines()
    at = lines.index("+0 read(4, ..., 133) = 133")
    assert lines[at : at + 3] == [
        "+0 read(4, ..., 133) = 133",
        "+0 write(4, ..., 4344) = 4344",
        "+0 close(4) = 0",
    ]


def test_what_answers_a_request_is_written_after_it() -> None:
    two = (ours(10, 1, 79, "PSH, ACK"), ours(11, 80, 79, "PSH, ACK"))
    request = theirs(12, 1, "PSH, ACK", payload_bytes=50)
    answer = (ours(12, 159, 100, "PSH, ACK", ack=51), theirs(22, 259, seq=51))
    lines = script((*TAIL[:3], *two, request, *answer)).splitlines()
    at = next(at for at, line in enumerate(lines) if "1:51(50)" in line)
    assert lines[at + 1 : at + 3] == ["+0 read(4, ..., 50) = 50", "+0 write(4, ..., 100) = 100"]


@pytest.mark.parametrize(("acked", "want"), [(1, True), (80, False)])
def test_small_segments_in_a_row_say_that_there_is_no_delay(acked: int, want: bool) -> None:
    small = (ours(10, 1, 79, "PSH, ACK"), theirs(11, acked), ours(12, 80, 1448), theirs(20, 1528))
    text = script((*TAIL[:3], *small, ours(21, 1528, 9), ours(22, 1537, 1448), theirs(30, 2985)))
    assert "TCP_NODELAY" not in text
    text = script((*TAIL[:3], *small[:2], ours(12, 80, 79, "PSH, ACK"), theirs(20, 159)))
    assert ("+0 setsockopt(3, SOL_TCP, TCP_NODELAY, [1], 4) = 0" in text) is want


def test_a_copy_that_the_network_made_is_not_expected() -> None:
    copy = replace(TAIL[3], sent_ns=None, arrived_ns=12 * MS, again=True)
    assert script((*TAIL[:6], copy, *TAIL[6:])) == script(TAIL)


@pytest.mark.parametrize(("mss", "mtu"), [(1440, None), (536, None), (8960, 9020)])
def test_segments_are_as_long_as_their_path_took(mss: int, mtu: int | None) -> None:
    steps = tuple(replace(step, mss=mss) if "SYN" in step.flags else step for step in TAIL)
    lines = script(steps).splitlines()
    assert f"+0 setsockopt(3, SOL_TCP, TCP_MAXSEG, [{mss}], 4) = 0" in lines
    assert [line for line in lines if " mtu " in line] == (
        [f" ip link set dev tun0 mtu {mtu}`"] if mtu else []
    )


def test_settings_of_somebody_else_run_no_commands() -> None:
    hostile = {"net.ipv4.tcp_sack": "1; reboot", "net.ipv4.$(reboot)": "1"}
    text = script(TAIL, sysctls=hostile, congestion_control='x"', about=("a\n`reboot`",))
    assert "reboot" not in "".join(line for line in text.splitlines() if line[0] != "/")
    assert "TCP_CONGESTION" not in text


@pytest.mark.parametrize(
    ("steps", "why"),
    [
        (TAIL[:3], "its sender sent no data"),
        (TAIL[3:], "its SYN is not there"),
        ((replace(TAIL[0], payload_bytes=9), *TAIL[1:]), r"its SYN has data \(Fast Open\)"),
        ((TAIL[0], replace(TAIL[1], mss=65_495), *TAIL[2:]), "offers an MSS of 65495"),
    ],
)
def test_what_cannot_be_a_script_is_refused(steps: tuple[Step, ...], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        script(steps)


def test_a_run_whose_sender_was_told_by_icmp_gives_no_script() -> None:
    row = {"network": "a", "config": "c", "congestion_control": "reno"}
    network = {"path_mtu": {"bytes": 1400, "icmp": True}}
    run = SimpleNamespace(meta={"scenario": {"networks": {"a": network}}})
    with pytest.raises(ValueError, match="ICMP told its sender"):
        made_under(run, SimpleNamespace(row=row))  # type: ignore[arg-type]


def test_of_a_capture_every_byte_up_to_the_end_is_expected(tmp_path: Path) -> None:
    write_captures(tmp_path, transfer())
    path = tmp_path / "captures/0-0.h1.pcapng"
    text = rexmit.packet_script(rexmit.trace(path), 0)
    spans = [
        (int(start), int(end))
        for start, end in re.findall(r"^\+\S+ > \S+ (\d+):(\d+)\(", text, re.MULTILINE)
    ]
    new = [span for before, span in zip([(0, 0), *spans], spans, strict=False) if span > before]
    assert max(end for _, end in new) == 30 * 1448 + 1
    written = sum(map(int, re.findall(r"write\(4, \.\.\., (\d+)\)", text)))
    assert written == 30 * 1448
    assert "// Retransmission: " in text
    assert "// Assumed: settings are the kernel's own" in text
    printed = CliRunner().invoke(app, ["show", str(path), "--packetdrill"], catch_exceptions=False)
    assert printed.stdout == text
    with pytest.raises(UserError, match="captured far from its server"):
        rexmit.packet_script(rexmit.trace(tmp_path / "captures/0-0.h2.pcapng"), 0)


@pytest.mark.parametrize("more", ["--all", "--json", "--figure=x.png", "other"])
def test_a_script_is_printed_alone(more: str) -> None:
    words = ["show", "run", "--flow", "0", "--packetdrill", more]
    done = CliRunner().invoke(app, words)
    assert isinstance(done.exception, UserError)
    assert done.exception.usage
    assert "--packetdrill prints one script" in str(done.exception)


def test_a_script_is_of_one_connection() -> None:
    done = CliRunner().invoke(app, ["show", "run", "--packetdrill"])
    assert isinstance(done.exception, UserError)
    assert "--packetdrill belongs to --flow" in str(done.exception)

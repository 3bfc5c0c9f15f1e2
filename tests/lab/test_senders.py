"""Servers of today: TLS and HTTP/2 on a real kernel, and what queues at its hosts."""

from __future__ import annotations

import shutil
import subprocess
from itertools import pairwise
from typing import Final

import polars as pl
import pytest
from tests.lab.conftest import Lab, Run

ONE = ("network=high-speed", "config=tlp", "workload.client=curl", "repeat=2")
SYN = 2
HTTP = ("1.1", "1.1+tls", "2+tls")


@pytest.mark.parametrize("http", HTTP)
def test_exactly_the_tail_is_lost_once(each: Lab, http: str) -> None:
    run = each.run(*ONE, f"workload.http={http}", "loss.segments=0,1,5")
    assert run.transfers.height == 6
    for row in run.rows():
        assert row["transfer_size_bytes"] == 144_800, (
            "to the byte, whatever is said besides the page"
        )
        assert row["dropped_segments"] == row["retransmissions"] == row["lost_segments"]
        assert (row["exact"], row["complete"], row["ended"]) == (True, True, "finished")
        assert row["note"] is None
        assert row["fin_on_data"]
        assert row["mechanism"] == ("tlp" if row["lost_segments"] else None)
        # The whole page is 100 segments; records that are pushed leave short ones.
        assert (row["transfer_segments"] > 100) == (http != "1.1")
    of_none = run.transfers.filter(pl.col("lost_segments") == 0)
    sent_s = of_none["t_total_s"].max()
    assert isinstance(sent_s, float)
    for row in run.rows():
        if row["lost_segments"]:
            assert row["t_recover_s"] < 0.3
            assert row["t_total_s"] > sent_s


def test_repetitions_are_alike_to_the_byte(lab: Lab) -> None:
    """No certificate, signature or ticket is longer in one handshake than in the next."""
    run = lab.run(
        *("network=high-speed", "config=tlp", "workload.client=curl", "repeat=20"),
        *("workload.http=2+tls", "loss.segments=1"),
    )
    alike = run.transfers.select("transfer_size_bytes", "transfer_segments", "note").unique()
    assert alike.rows() == [(144_800, run.transfers["transfer_segments"][0], None)]


def test_a_pattern_counts_the_packets_of_a_connection(lab: Lab) -> None:
    run = lab.run(
        *("network=high-speed", "config=tlp", "workload.client=curl", "repeat=1"),
        *("workload.http=1.1+tls", "loss.rule=pattern", "loss.pattern=data 40 -2"),
    )
    (row,) = run.rows()
    assert (row["dropped_segments"], row["retransmissions"]) == (2, 2)
    assert (row["exact"], row["complete"], row["note"]) == (True, True, None)


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize("http", HTTP[1:])
def test_a_capture_has_tls(lab: Lab, http: str) -> None:
    run = lab.run(
        *ONE, f"workload.http={http}", "loss.segments=1", "repeat=1", options=("--capture",)
    )
    (capture,) = (run.path / "captures").glob("*.h2.pcapng")
    words = ["-T", "fields", "-e", "tls.handshake.extensions.supported_version"]
    done = subprocess.run(
        ["tshark", "-r", str(capture), "-Y", "tls.handshake.type == 2", *words],
        capture_output=True,
        text=True,
        check=True,
    )
    assert done.stdout.split() == ["0x0304"], "TLS 1.3 is what the server answers"


@pytest.mark.parametrize("client", ["builtin", "curl"])
def test_a_request_travels_in_the_syn(each: Lab, client: str) -> None:
    words = ("network=high-speed", "config=tlp", f"workload.client={client}", "repeat=2")
    more = ("workload.segments=5", "loss.segments=0,1")
    plain = each.run(*words, *more)
    run = each.run(*words, *more, "workload.fast_open=true", options=("--capture",))
    for row, other in zip(run.rows(), plain.rows(), strict=True):
        assert (row["exact"], row["complete"], row["note"]) == (True, True, None)
        assert row["dropped_segments"] == row["lost_segments"]
        opening = next(p for p in run.capture(row, "h2") if p.dport == 80)
        assert opening.flags == SYN
        assert opening.payload_len > 70
        if not row["lost_segments"]:
            assert other["client_s"] - row["client_s"] == pytest.approx(0.01, rel=0.1)


@pytest.mark.parametrize("qdisc", ["fq", "fq_codel", "pfifo"])
def test_a_host_queues_as_it_is_told(each: Lab, qdisc: str) -> None:
    """The guest reads it back, and fails the cell where something else stands there."""
    run = each.run(
        "network=high-speed",
        "config=tlp",
        "loss.segments=5",
        "repeat=1",
        f"configs.tlp.qdisc={qdisc}",
    )
    (row,) = run.rows()
    assert (row["exact"], row["complete"], row["note"]) == (True, True, None)


HEADERS: Final = 14 + 20 + 32
"""Bytes of a frame before its data: Ethernet, IPv4, TCP with timestamps."""


def arrivals(run: Run) -> list[tuple[float, int]]:
    """When data came to the client of the run's one transfer, with the bytes of each frame."""
    (row,) = run.rows()
    return [
        (packet.time_ns / 1e9, packet.payload_len + HEADERS)
        for packet in run.capture(row, "h2")
        if packet.sport == 80 and packet.payload_len
    ]


@pytest.mark.parametrize(
    ("control", "qdisc", "segmentation", "together"),
    [
        (
            "cubic",
            None,
            False,
            1.0,
        ),  # as fast as the line, and so with fq_codel, which paces nobody
        ("cubic", "fq_codel", False, 1.0),
        ("cubic", "fq", False, 0.0),
        ("bbr", None, False, 0.0),  # TCP paces by a timer of its own (`tcp_pacing_check`)
        ("bbr", "fq", False, 0.0),
        ("bbr", "fq", True, 0.5),  # a super-segment at a time: two or three of a millisecond
    ],
)
def test_pacing_shows_on_the_wire(
    lab: Lab, control: str, qdisc: str | None, segmentation: bool, together: float
) -> None:
    words = [f"tcp.congestion_control={control}", "networks.high-speed.rate=10Gbit"]
    words += [f"configs.tlp.qdisc={qdisc}"] if qdisc else []
    offloads = ("checksum", "scatter_gather", "segmentation") if segmentation else ()
    words += [f"offload.{name}=true" for name in offloads]
    run = lab.run(
        *("network=high-speed", "config=tlp", "loss.segments=0", "repeat=1", *words),
        options=("--capture",),
    )
    times = [time for time, _ in arrivals(run)]
    # Of the flights behind the first, in which nothing is known of the path.
    gaps = [after - before for before, after in pairwise(times[40:61])]
    close = sum(gap < 10e-6 for gap in gaps) / len(gaps)
    assert close == pytest.approx(together, abs=0.2)


def test_a_line_of_a_data_centre_has_its_rate(each: Lab) -> None:
    run = each.run(
        *("network=high-speed", "config=tlp", "loss.segments=0", "repeat=1"),
        *("networks.high-speed.rate=10Gbit", "networks.high-speed.delay=13us"),
        *("workload.segments=5000", "route.rto_min=5ms"),
        options=("--capture",),
    )
    came = arrivals(run)
    # The first flights wait for acknowledgements.
    steady = came[1000:]
    rate = 8 * sum(size for _, size in steady[1:]) / (steady[-1][0] - steady[0][0])
    assert rate == pytest.approx(10e9, rel=0.05)

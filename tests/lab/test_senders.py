"""Servers of today: TLS and HTTP/2 on a real kernel, and what queues at its hosts."""

from __future__ import annotations

import shutil
import subprocess

import polars as pl
import pytest
from tests.lab.conftest import Lab

ONE = ("network=high-speed", "config=tlp", "workload.client=curl", "repeat=2")
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

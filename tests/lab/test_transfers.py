"""What a transfer's row says of small grids in both kernels: sizes, drops, mechanisms, counts."""

from __future__ import annotations

from typing import Any

import pytest
from tests.lab.conftest import Lab, Run

LOST = (0, 1, 2, 5, 20)
CONFIGS = ("plain", "er", "tlp")


@pytest.fixture(scope="module", params=[(c, n) for c in CONFIGS for n in LOST], ids=str)
def cell(near: Run, request: pytest.FixtureRequest) -> list[dict[str, Any]]:
    """The rows of one cell of the high-speed network."""
    config, lost = request.param
    rows = near.rows(config=config, lost_segments=lost)
    assert [row["repetition"] for row in rows] == [0, 1]
    return rows


def test_a_page_is_exactly_a_hundred_full_segments(cell: list[dict[str, Any]]) -> None:
    for row in cell:
        # 1500 bytes, less 20 of IP, 20 of TCP and 12 of its time stamps.
        assert row["mss_bytes"] == 1448
        assert row["transfer_size_bytes"] == 144_800
        assert row["transfer_segments"] == row["page_segments"] == 100
        assert row["complete"]


def test_exactly_the_tail_is_dropped_once(cell: list[dict[str, Any]]) -> None:
    for row in cell:
        assert row["dropped_segments"] == row["lost_segments"]
        assert row["exact"]
        assert not row["stalled"]
        assert row["fin_on_data"], "so that it counts as one of them"
        assert row["dropped_packets"] == row["dropped_segments"]


def test_the_kernels_own_counts_agree_with_the_filter(cell: list[dict[str, Any]]) -> None:
    for row in cell:
        assert row["note"] is None
        assert row["retransmissions"] == row["lost_segments"], (
            "each dropped segment once, nothing else"
        )
        assert row["spurious_retransmissions"] == row["dsacks"] == 0


def test_the_first_retransmission_has_the_mechanism_of_the_config(
    cell: list[dict[str, Any]],
) -> None:
    for row in cell:
        lost, probing = row["lost_segments"], row["config"] == "tlp"
        wanted = None if lost == 0 else "tlp" if probing else "rto"
        assert row["mechanism"] == wanted
        assert row["probes"] == (1 if wanted == "tlp" else 0)
        assert row["timeouts"] == (1 if wanted == "rto" else 0)
        # The paper's flag: the highest sequence number first. Not valid for fewer than two drops.
        assert row["is_tlp"] == (None if lost < 2 else probing)


def test_nothing_is_said_of_a_loss_that_was_not(cell: list[dict[str, Any]]) -> None:
    for row in cell:
        of_a_loss = ("t_drop_s", "t_retransmit_s", "t_recover_s", "srtt_s", "rto_s")
        for name in (*of_a_loss, "t_fin_retransmit_s"):
            assert (row[name] is None) == (row["lost_segments"] == 0), name
        assert row["t_total_s"] > 0
        assert row["client_s"] > row["t_total_s"] if row["lost_segments"] else True


def test_times_are_in_order_and_add_up(cell: list[dict[str, Any]]) -> None:
    for row in cell:
        assert row["t_total_s"] == pytest.approx(row["t_end_s"] - row["t_start_s"], abs=1e-9)
        if row["lost_segments"]:
            times = ("t_start_s", "t_drop_s", "t_retransmit_s", "t_fin_retransmit_s", "t_end_s")
            values = [row[name] for name in times]
            assert values == sorted(values)
            recover = row["t_retransmit_s"] - row["t_drop_s"]
            assert row["t_recover_s"] == pytest.approx(recover, abs=1e-9)
            # A probe carries the FIN; after a timeout it comes back last.
            assert (row["t_fin_retransmit_s"] == row["t_end_s"]) == (
                row["config"] != "tlp" or row["lost_segments"] == 1
            )


def test_every_retransmission_has_its_row(near: Run, cell: list[dict[str, Any]]) -> None:
    for row in cell:
        retransmissions = near.retransmissions_of(row)
        lost, mss = row["lost_segments"], row["mss_bytes"]
        assert len(retransmissions) == row["retransmissions"]
        times = [retransmission["time_s"] for retransmission in retransmissions]
        assert times == sorted(times)
        assert times[:1] == [row["t_retransmit_s"]][: len(times)]
        assert times[-1:] == [row["t_end_s"]][: len(times)]
        assert {retransmission["need"] for retransmission in retransmissions} <= {"needed"}
        assert not any(retransmission["dropped"] for retransmission in retransmissions)
        # Every segment of the tail once: the first data byte is number 1.
        tail = [1 + (100 - lost + index) * mss for index in range(lost)]
        assert sorted(retransmission["seq"] for retransmission in retransmissions) == tail
        assert {retransmission["length_bytes"] for retransmission in retransmissions} <= {mss}
        assert [
            retransmission["seq"] for retransmission in retransmissions if retransmission["fin"]
        ] == tail[-1:]
        for retransmission in retransmissions:
            assert row["t_drop_s"] <= retransmission["first_sent_s"] < retransmission["time_s"]
        later = {retransmission["mechanism"] for retransmission in retransmissions[1:]}
        assert later <= {"rack" if row["config"] == "tlp" else "rto-recovery"}
        if retransmissions:
            assert retransmissions[0]["mechanism"] == row["mechanism"]


def test_every_retransmission_belongs_to_a_transfer(near: Run) -> None:
    assert (
        near.retransmissions.height == near.transfers["retransmissions"].sum() == 2 * 3 * sum(LOST)
    )


def test_no_connection_is_like_another(near: Run) -> None:
    # Of one cell: those of a network have one chance.
    assert near.transfers.height == 30
    for cell in near.transfers.partition_by("cell"):
        assert cell["isn_server"].n_unique() == cell["isn_client"].n_unique() == cell.height
    # Starts spread over 64 ticks, one in each half.
    for row in near.rows():
        assert row["phase_s"] // (32 / 250) == row["repetition"]


def test_settings_that_the_kernel_ignores_are_named(near: Run) -> None:
    ignored = {(entry["config"], entry["setting"]) for entry in near.meta["ignored_settings"]}
    assert {(config, "net.ipv4.tcp_fack = 1") for config in ("er", "tlp")} <= ignored
    assert ("plain", "net.ipv4.tcp_fack = 0") not in ignored, "it asks for what is so anyway"
    assert "tcp_fack = 1: taken and ignored" in near.done.err, "on the screen, too"
    assert near.meta["failed_cells"] == near.meta["warnings"] == []


def test_without_sack_there_is_no_probe(each: Lab) -> None:
    setting = "configs.tlp.sysctl.net.ipv4.tcp_sack=0"
    run = each.run("network=high-speed", "config=tlp", "loss.segments=5", "repeat=1", setting)
    for row in run.rows():
        assert (row["mechanism"], row["probes"], row["timeouts"]) == ("rto", 0, 1)
        assert row["is_tlp"] is False
        assert {retransmission["mechanism"] for retransmission in run.retransmissions_of(row)} == {
            "rto",
            "rto-recovery",
        }


def test_ipv6_has_twenty_bytes_less_a_segment(each: Lab) -> None:
    run = each.run(
        "network=high-speed", "config=er,tlp", "loss.segments=5", "repeat=1", "ip.family=6"
    )
    assert run.transfers.height == 2
    for row in run.rows():
        assert row["mss_bytes"] == 1428
        assert row["transfer_size_bytes"] == 142_800
        assert row["transfer_segments"] == 100
        assert row["dropped_segments"] == row["retransmissions"] == row["lost_segments"]
        assert (row["exact"], row["complete"], row["note"]) == (True, True, None)
        assert row["fin_on_data"]
        assert row["mechanism"] == ("tlp" if row["config"] == "tlp" else "rto")


def test_other_clients_see_the_same_transfer(each: Lab, near: Run) -> None:
    run = each.run(
        *("network=high-speed", "config=tlp", "loss.segments=5", "repeat=1"),
        "workload.client=curl,lynx",
    )
    assert [row["client"] for row in run.rows()] == ["curl", "lynx"]
    for row in run.rows():
        assert row["transfer_size_bytes"] == 144_800
        assert row["transfer_segments"] == 100
        assert row["dropped_segments"] == row["retransmissions"] == row["lost_segments"]
        assert (row["exact"], row["complete"], row["note"]) == (True, True, None)
        builtin = near.rows(config="tlp", lost_segments=row["lost_segments"])[0]
        # Programs start and read files in no time at all.
        assert row["client_s"] == pytest.approx(builtin["client_s"], abs=0.005)


def test_a_page_is_lost_whole(lab: Lab) -> None:
    run = lab.run(
        *("network=high-speed", "config=tlp", "loss.segments=9,10", "repeat=1"),
        "workload.segments=10",
    )
    nine, ten = run.rows()
    assert [row["dropped_segments"] for row in (nine, ten)] == [9, 10]
    assert all(row["exact"] and row["complete"] and row["note"] is None for row in (nine, ten))
    assert ten["t_drop_s"] == ten["t_start_s"]


def test_a_size_in_bytes_counts_head_and_body(lab: Lab) -> None:
    run = lab.run(
        *("network=high-speed", "config=tlp", "loss.segments=1", "repeat=1"),
        "workload.size=1kB,100000B,144kB",
    )
    assert [row["transfer_size_bytes"] for row in run.rows()] == [1000, 100_000, 144_000]
    assert [row["transfer_segments"] for row in run.rows()] == [1, 70, 100]
    assert [row["dropped_segments"] for row in run.rows()] == [1, 1, 1]
    assert all(row["complete"] and row["exact"] for row in run.rows())


def test_holding_drops_exactly_the_tail_on_a_fast_link(each: Lab, near: Run) -> None:
    run = each.run(
        "network=high-speed", "config=tlp", "loss.segments=1,5", "repeat=1", "loss.mode=hold"
    )
    for row in run.rows():
        assert row["loss_mode"] == "hold"
        assert row["dropped_segments"] == row["lost_segments"]
        assert (row["exact"], row["stalled"], row["note"]) == (True, False, None)
        # Held for no longer than the sender takes to send the rest, so nothing else changes.
        other = near.rows(config="tlp", lost_segments=row["lost_segments"])[0]
        assert row["retransmissions"] == other["retransmissions"]
        assert row["mechanism"] == other["mechanism"]


def test_holding_stalls_on_a_slow_link_and_says_so(each: Lab) -> None:
    run = each.run("network=mobile", "config=er", "loss.segments=5", "repeat=1", "loss.mode=hold")
    (row,) = run.rows()
    assert row["stalled"]
    assert not row["exact"]
    assert row["complete"], "all is let go"
    assert row["dropped_segments"] == row["dropped_packets"] == 0
    assert row["client_s"] > 3, "after three seconds"
    assert "the sender stalled while packets were held: nothing dropped" in row["note"]
    assert "still in the host" in row["note"], "the kernel refused to retransmit what was held"


def test_shaped_at_the_host_as_mininet_did_it(lab: Lab) -> None:
    run = lab.run(
        *("network=high-speed", "config=er,tlp", "loss.segments=5", "repeat=2"),
        "networks.high-speed.at=host",
    )
    for row in run.rows():
        assert row["dropped_segments"] == row["retransmissions"] == 5
        assert (row["exact"], row["complete"], row["note"]) == (True, True, None)
        assert row["mechanism"] == ("tlp" if row["config"] == "tlp" else "rto")


def test_on_a_lossy_line_nobody_knows_what_was_spurious(lab: Lab) -> None:
    run = lab.run(
        *("network=high-speed", "config=tlp", "loss.segments=2", "repeat=8"),
        "networks.high-speed.loss=0%,2%",
    )
    clean, lossy = run.rows(line_loss=0.0), run.rows(line_loss=0.02)
    assert {row["spurious_retransmissions"] for row in clean} == {0}
    assert {row["spurious_retransmissions"] for row in lossy} == {None}
    assert all(row["complete"] and row["exact"] and row["note"] is None for row in run.rows())
    assert (
        sum(row["retransmissions"] for row in lossy)
        > sum(row["retransmissions"] for row in clean)
        == 16
    )
    needs = [
        retransmission["need"] for row in lossy for retransmission in run.retransmissions_of(row)
    ]
    assert set(needs) == {"needed", "unknown"}
    assert needs.count("needed") >= 16, "the filter's own drops are known"
    for row in lossy:
        assert len(run.retransmissions_of(row)) == row["retransmissions"]


def test_every_congestion_control_of_the_kernel_does_its_own(lab: Lab) -> None:
    run = lab.run(
        *("network=high-speed", "config=tlp", "loss.segments=2", "repeat=1"),
        "tcp.congestion_control=cubic,bbr",
    )
    cubic, bbr = run.rows()
    assert [cubic["congestion_control"], bbr["congestion_control"]] == ["cubic", "bbr"]
    assert all(row["complete"] and row["exact"] for row in (cubic, bbr))
    assert abs(cubic["t_total_s"] - bbr["t_total_s"]) > 0.001, "bbr paces"


def in_flight(run: Run, row: dict[str, Any]) -> int:
    """The most bytes that were sent and not acknowledged, as the server's host saw it."""
    acked = most = 0
    for packet in run.capture(row, "h1"):
        if packet.sport == 80 and packet.payload_len:
            end = (packet.seq + packet.payload_len - row["isn_server"]) & 0xFFFFFFFF
            most = max(most, end - acked)
        elif packet.dport == 80 and packet.flags & 16:
            acked = max(acked, (packet.ack - row["isn_server"]) & 0xFFFFFFFF)
    return most


def test_no_more_is_in_flight_than_the_receive_window(each: Lab) -> None:
    run = each.run(
        *("network=high-speed", "config=tlp", "loss.segments=0", "repeat=1"),
        "workload.receive_window=4kB,8kB,32kB,auto",
        options=("--capture",),
    )
    *bounded, free = run.rows()
    assert in_flight(run, free) > 64_000
    for row in bounded:
        window = row["receive_window_bytes"]
        assert window / 2 < in_flight(run, row) <= window
        # A window a round trip of 10 ms, and the handshake.
        assert row["client_s"] > 144_800 / window * 0.010


def test_retransmissions_of_what_a_full_queue_lost_are_not_called_spurious(lab: Lab) -> None:
    run = lab.run(
        *("network=high-speed", "config=tlp", "loss.segments=5", "repeat=1"),
        "networks.high-speed.queue=20",
    )
    (row,) = run.rows()
    assert row["retransmissions"] > 5
    assert row["spurious_retransmissions"] is None
    assert {retransmission["need"] for retransmission in run.retransmissions_of(row)} == {
        "needed",
        "unknown",
    }


def test_one_segment_is_a_full_one(each: Lab) -> None:
    run = each.run(
        *("network=high-speed", "config=tlp", "loss.segments=0", "repeat=1"),
        "workload.segments=1,2",
    )
    assert [row["transfer_size_bytes"] for row in run.rows()] == [1448, 2896]
    assert [row["transfer_segments"] for row in run.rows()] == [1, 2]


def test_a_transfer_that_trickles_is_given_up_in_time(lab: Lab) -> None:
    # It would take 12 s, and no wait in it is long.
    run = lab.run(
        *("network=high-speed", "config=tlp", "loss.segments=0", "repeat=1"),
        *("networks.high-speed.rate=100kbit", "workload.timeout=2s"),
    )
    (row,) = run.rows()
    assert (row["ended"], row["complete"]) == ("timed-out", False)
    assert 2.0 <= row["client_s"] < 6.0
    (warning,) = run.meta["warnings"]
    assert "did not complete in 2 s: the measurement ended" in warning

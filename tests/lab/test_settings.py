"""Settings that a kernel refuses fail their cells, clearly, and no others."""

from __future__ import annotations

import pytest
from tests.lab.conftest import Lab

ONE = ("network=high-speed", "loss.segments=1", "repeat=1")


def test_a_congestion_control_that_the_kernel_lacks(lab: Lab) -> None:
    run = lab.try_run(*ONE, "config=tlp", "tcp.congestion_control=cubic,nosuch,reno")
    assert run.done.status == 2
    assert "was built without nosuch" in run.done.err
    assert "it has: bbr, bic, cubic," in run.done.err
    assert not run.path.exists()


@pytest.mark.parametrize(
    ("setting", "message"),
    [
        ("net.ipv4.tcp_sack=perhaps", "this kernel refuses net.ipv4.tcp_sack = perhaps"),
        ("net.ipv4.tcp_no_such_thing=1", "this kernel has no setting net.ipv4.tcp_no_such_thing"),
    ],
)
def test_a_setting_that_cannot_be(lab: Lab, setting: str, message: str) -> None:
    run = lab.try_run(*ONE, "config=er,tlp", f"configs.tlp.sysctl.{setting}")
    assert run.done.status == 1
    (failed,) = run.meta["failed_cells"]
    assert failed["label"] == "high-speed tlp 1"
    assert message in failed["message"]
    assert message in run.done.text
    assert [row["config"] for row in run.rows()] == ["er"]


def test_a_run_with_failed_cells_is_not_complete_and_can_be_mended(lab: Lab) -> None:
    settings = (*ONE, "config=tlp", "workload.size=100B,2kB")
    run = lab.try_run(*settings)
    assert run.meta["state"] != "complete"
    before = run.tables()
    again = lab.rexmit(*lab.run_words(run.path, *settings))
    assert again.status == 1, "it is tried again, and fails again"
    assert run.tables() == before


def test_a_page_that_cannot_hold_its_own_head(lab: Lab) -> None:
    run = lab.try_run(*ONE, "config=tlp", "workload.size=100B,2kB")
    assert run.done.status == 1
    (failed,) = run.meta["failed_cells"]
    assert "a transfer of 100 bytes cannot hold the response head" in failed["message"]
    assert [row["transfer_size_bytes"] for row in run.rows()] == [2000]


def test_a_transfer_that_is_given_up_is_not_complete(lab: Lab) -> None:
    # Its timeout comes after 0.2 s.
    run = lab.run(
        *("network=high-speed", "config=er,tlp", "loss.segments=5", "repeat=1"),
        "workload.timeout=100ms",
    )
    given_up, complete = run.rows()
    assert (given_up["config"], given_up["complete"], given_up["exact"]) == ("er", False, False)
    assert "the measurement ended before the transfer" in given_up["note"]
    assert (complete["config"], complete["complete"], complete["exact"]) == ("tlp", True, True)
    assert complete["note"] is None

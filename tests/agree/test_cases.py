"""Random cases: how they are drawn, written and read."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import pytest

from rexmit import _core
from rexmit.errors import UserError
from rexmit_validate.agree.case import Case
from rexmit_validate.agree.draw import CONGESTION_CONTROLS, SYSCTLS, draw
from rexmit_validate.agree.draw_pages import RATE_BPS, RTT_NS, SEGMENTS
from rexmit_validate.agree.read import read
from rexmit_validate.networks import BUFFER_BYTES

EVERYTHING = SYSCTLS | CONGESTION_CONTROLS
CASES = sorted((Path(__file__).parent / "cases").glob("*.toml"))


@pytest.fixture(scope="module")
def drawn() -> list[Case]:
    return [draw(_core, 3, index) for index in range(400)]


def test_a_case_is_the_same_whatever_else_is_drawn(drawn: list[Case]) -> None:
    assert draw(_core, 3, 123) == drawn[123]
    other = draw(_core, 3, 123, EVERYTHING - {"net.ipv4.tcp_rto_min_us"})
    names = set(drawn[123].sysctls) - set(other.sysctls)
    assert names <= {"net.ipv4.tcp_rto_min_us"}
    assert other.pattern == drawn[123].pattern
    assert draw(_core, 4, 123) != drawn[123]


def test_what_a_kernel_does_not_have_is_left_out_and_nothing_else(drawn: list[Case]) -> None:
    """Linux 3.10 has neither of these."""
    newer = {"net.ipv4.tcp_recovery", "net.ipv4.tcp_rto_min_us"}
    old = [draw(_core, 3, index, EVERYTHING - newer) for index in range(400)]
    changed = 0
    for case, other in zip(drawn, old, strict=True):
        left = {name: value for name, value in case.sysctls.items() if name not in newer}
        assert other == replace(case, sysctls=left)
        changed += left != case.sysctls
    assert changed > 100
    without_cubic = [draw(_core, 3, index, EVERYTHING - {"cubic"}) for index in range(50)]
    assert {case.congestion_control for case in without_cubic} == {"reno"}


@pytest.mark.parametrize(
    ("cases", "digest"),
    [
        ([draw(_core, 1411, index) for index in range(200)], "17dfa3b7ddcc3c6e"),
        ([draw(_core, 11, index, paths=2) for index in range(200)], "94316f77de14649d"),
    ],
    ids=["one path", "two paths"],
)
def test_a_seed_draws_the_cases_that_it_always_drew(cases: list[Case], digest: str) -> None:
    """The rates in docs/limitations.md are those of these seeds."""
    texts = "\n".join(case.scenario("") for case in cases)
    assert hashlib.sha256(texts.encode()).hexdigest()[:16] == digest


def test_cases_cover_what_they_should(drawn: list[Case]) -> None:
    rates = [min(case.rates_bps) for case in drawn]
    assert min(rates) >= 0.99 * RATE_BPS[0]
    assert max(rates) <= RATE_BPS[1]
    assert sum(rate < 10_000_000 for rate in rates) > 100
    assert all(0.99 * RTT_NS[0] - 4000 <= case.rtt_ns <= 1.01 * RTT_NS[1] for case in drawn)
    assert {case.segments for case in drawn} <= set(range(SEGMENTS[0], SEGMENTS[1] + 1))
    assert {case.congestion_control for case in drawn} == {"cubic", "reno"}
    for part in ("#2", "fin", "ack", "none"):
        assert any(part in case.pattern for case in drawn), part
    assert sum("data" in case.pattern for case in drawn) > 360
    assert any(case.receive_window_bytes for case in drawn)
    assert any("net.ipv4.tcp_rto_min_us" in case.sysctls for case in drawn)
    assert 20 < sum(case.queue_packets < 4000 for case in drawn) < 100
    for name in ("tcp_rmem", "tcp_wmem"):
        given = [
            case.sysctls[full] for case in drawn if (full := f"net.ipv4.{name}") in case.sysctls
        ]
        assert 20 < len(given) < 100
        for _, first, most in map(str.split, given):
            assert int(first) <= int(most) <= BUFFER_BYTES[1]


def test_a_case_comes_back_from_its_scenario(drawn: list[Case], tmp_path: Path) -> None:
    says = {"initcwnd": 20, "initrwnd": 5, "rto_min_ms": 50, "quickack": True}
    for case in (*drawn[:40], replace(drawn[40], route=says)):
        file = tmp_path / f"{case.name}.toml"
        file.write_text(case.scenario('of "another" kind'), encoding="utf-8")
        assert read(file) == case
        assert Case.from_json(case.as_json()) == case


def test_kept_cases_say_what_they_are() -> None:
    assert len(CASES) >= 10
    titles = {path.read_text().splitlines()[1] for path in CASES}
    assert len(titles) == len(CASES)
    assert all(read(path).name == path.stem for path in CASES)


def test_other_scenarios_are_no_cases(tmp_path: Path) -> None:
    file = tmp_path / "grid.toml"
    text = next(path for path in CASES if path.stem == "one-in-ten-lost").read_text()
    file.write_text(text.replace("segments = ", "segments = [400, 401] # "))
    with pytest.raises(UserError, match="more than one transfer"):
        read(file)
    file.write_text(text.replace("queue = 4000", "queue = 4000\njitter = '1ms'"))
    with pytest.raises(UserError, match="is no case: its network would be left out"):
        read(file)
    file.write_text(text + '\n[stack]\nmin_rto = "80ms"\n\n[offload]\nchecksum = true\n')
    with pytest.raises(UserError, match="is no case: its offload, stack would be left out"):
        read(file)


def test_any_workload_goes_over_any_network(tmp_path: Path) -> None:
    links = draw(_core, 4, 7)
    paths = replace(draw(_core, 4, 7, paths=2), protocol="mptcp")
    for case in (
        replace(links, bursts=2, gap_ns=10**9, receive_window_bytes=None, pattern="data -1"),
        replace(paths, bursts=None, gap_ns=0, pattern="path 1 data -1"),
    ):
        file = tmp_path / f"{case.name}.toml"
        file.write_text(case.scenario("x"), encoding="utf-8")
        assert read(file) == case

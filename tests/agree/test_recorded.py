"""What cases of an old kernel ran under: settings that stay, a bench whose work takes time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from rexmit._core import run_model
from rexmit.campaign.streams import core_streams
from rexmit.validate.agree.bench import bench_of
from rexmit.validate.agree.case import Case
from rexmit.validate.agree.model import Bench, run
from rexmit.validate.agree.recorded import as_run

NAMES = {
    "sack": "net.ipv4.tcp_sack",
    "stamps": "net.ipv4.tcp_timestamps",
    "frto": "net.ipv4.tcp_frto",
    "recovery": "net.ipv4.tcp_recovery",
}


def case(number: int, *, window: int | None = None, **settings: str) -> Case:
    return Case(
        name=f"1-{number}",
        seed=number + 1,
        segments=20,
        pattern="",
        sysctls={NAMES[name]: value for name, value in settings.items()},
        rates_bps=(10_000_000, 10_000_000),
        delays_ns=(5_000_000, 5_000_000),
        queue_packets=1000,
        receive_window_bytes=window,
    )


def ran(size: int, *, complete: bool = True) -> dict[str, Any]:
    return {"transfer": {"mss_bytes": size, "complete": complete}, "packets": []}


LACKS = {"error": "on host h1: this kernel has no setting net.ipv4.tcp_recovery"}


def settings(found: Mapping[int, Case], number: int) -> dict[str, str]:
    short = {name: word for word, name in NAMES.items()}
    return {short.get(name, name): value for name, value in found[number].sysctls.items()}


def test_what_a_bench_was_first_given_stays() -> None:
    cases = dict(
        enumerate([case(0), case(1, stamps="0"), case(2, sack="0"), case(3, sack="1"), case(4)])
    )
    outcomes = {0: ran(1448), 1: ran(1460), 2: ran(1460), 3: ran(1460), 4: ran(1460)}
    found = as_run(cases, outcomes)
    assert settings(found, 0) == {}
    assert settings(found, 1) == {"stamps": "0"}
    assert settings(found, 2) == {"sack": "0", "stamps": "0"}
    assert settings(found, 3) == {"sack": "1", "stamps": "0"}
    assert settings(found, 4) == {"sack": "0", "stamps": "0"}


def test_a_case_that_fails_half_way_leaves_what_it_had_set() -> None:
    # In the order of names: frto, recovery (which the kernel lacks), sack.
    cases = dict(
        enumerate([case(0, stamps="0"), case(1, frto="0", recovery="1", sack="0"), case(2)])
    )
    found = as_run(cases, {0: ran(1460), 1: LACKS, 2: ran(1460)})
    assert settings(found, 2) == {"frto": "0", "stamps": "0"}


def test_a_bound_window_leaves_a_buffer_that_does_not_grow() -> None:
    cases = dict(
        enumerate(
            [case(0, window=20_000), case(1, window=30_000), case(2, stamps="0", window=9000)]
        )
    )
    later = {3: case(3, window=40_000)}
    found = as_run(cases | later, {n: ran(1460 if n >= 2 else 1448) for n in range(4)})
    assert settings(found, 0) == {}
    assert settings(found, 1) == {"net.ipv4.tcp_moderate_rcvbuf": "0"}
    assert settings(found, 3) == {"net.ipv4.tcp_moderate_rcvbuf": "0", "stamps": "0"}


def test_where_nothing_contradicts_them_cases_stand_as_drawn() -> None:
    cases = dict(enumerate([case(0, stamps="0"), case(1)]))
    assert as_run(cases, {0: ran(1460), 1: ran(1448)}) == cases


@pytest.mark.parametrize("gathers", ["true", "false"])
def test_a_bench_is_known_by_its_log(gathers: str) -> None:
    bench = Bench(
        {"scatter_gather": gathers},
        receive_ns=10_000,
        send_ns=35_000,
        acknowledge_ns=20_000,
        filter_ns=30_000,
        judge_ns=11_000,
        retransmission_ns=700_000,
    )
    cases = {
        number: replace(
            case(number),
            pattern="data 20" if number % 2 else "",
            sysctls={"net.ipv4.tcp_early_retrans": "0"},
            rates_bps=(10**9, 10**9 if number % 4 < 2 else 10**7),
            delays_ns=(2_000_000 + number * 1_000_000, 3_000_000),
        )
        for number in range(8)
    }
    outcomes = {
        number: run(
            one, run_model, core_streams(), stack="linux-3.10", hz=250, bench=bench, late_ns=100_000
        )
        for number, one in cases.items()
    }
    found = bench_of(cases, outcomes, "linux-3.10", 250)
    assert found.settings == bench.settings
    assert found.receive_ns == pytest.approx(bench.receive_ns, rel=0.5)
    assert found.send_ns == pytest.approx(bench.send_ns, rel=0.2)
    assert found.logging_ns == pytest.approx(bench.logging_ns, rel=0.1)
    assert found.acknowledge_ns == pytest.approx(bench.acknowledge_ns, rel=0.6)
    assert found.judge_ns == pytest.approx(bench.judge_ns, rel=0.3)
    assert found.retransmission_ns == pytest.approx(bench.retransmission_ns, rel=0.1)

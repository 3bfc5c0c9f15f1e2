"""What cases of an old kernel ran under: settings that stay, a bench whose work takes time."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import groupby, product
from pathlib import Path
from typing import Any

import pytest

from rexmit._core import run_model
from rexmit.campaign.streams import core_streams
from rexmit_validate.agree.bench import bench_of
from rexmit_validate.agree.case import Case
from rexmit_validate.agree.judge import judge
from rexmit_validate.agree.model import Bench, Model, run
from rexmit_validate.agree.packet import SERVER, read
from rexmit_validate.agree.read import read as read_case
from rexmit_validate.agree.recorded import as_run

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


def ran(size: int, *, complete: bool = True, page: int | None = None) -> dict[str, Any]:
    transfer = {"mss_bytes": size, "complete": complete, "transfer_size_bytes": page}
    return {"transfer": transfer, "packets": []}


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


def test_a_page_is_as_long_as_it_was(tmp_path: Path) -> None:
    cases = dict(enumerate([case(0, stamps="0"), case(1), case(2)]))
    pages = {0: 1460 * 20, 1: 1448 * 20, 2: 1460 * 20}
    found = as_run(cases, {n: ran(1460, page=page) for n, page in pages.items()})
    assert [found[n].page_bytes for n in range(3)] == [None, 28_960, None]
    path = tmp_path / f"{found[1].name}.toml"
    path.write_text(found[1].scenario("again"))
    assert replace(read_case(path), pattern="") == found[1]


BENCH = Bench(
    {"scatter_gather": "true"},
    receive_ns=19_000,
    answer_ns=110_000,
    wake_ns=30_000,
    take_ns=2_000,
    leave_ns=12_000,
    write_ns=8_000,
    make_ns=14_000,
    fetch_ns=11_000,
    judge_ns=15_000,
    retransmission_ns=700_000,
)


@pytest.mark.parametrize(
    ("mbit_s", "together"),
    [
        # They come while the reader works: he takes them one by one, and the filter goes between.
        (1000, [1] * 8),
        # The second comes while he leaves, and the others before he waits again: TCP takes them.
        (400, [2, 6]),
        # Each finds him waiting.
        (50, [1] * 8),
    ],
)
def test_acknowledgements_leave_as_the_reader_of_3_10_takes_their_data(
    mbit_s: int, together: list[int]
) -> None:
    one = replace(case(0), rates_bps=(mbit_s * 10**6,) * 2, segments=40)
    found = run(one, Model(run_model, core_streams(), "linux-3.10", 250), bench=BENCH)
    packets = read(found["packets"])
    heard = [p.at_ns for p in packets if p.direction != SERVER and p.length == 0 and p.ack > 1]
    assert [len(list(same)) for _, same in groupby(heard[:8])] == together


def test_a_server_answers_when_the_log_of_the_case_has_it() -> None:
    late = replace(BENCH, answer_ns=BENCH.answer_ns + 1_700_000)
    # Its own time of the hosts' clocks, as a log has.
    told = run(case(0), Model(run_model, core_streams(), "linux-3.10", 250), bench=late)
    judged = judge(case(0), told, Model(run_model, core_streams(), "linux-3.10", 250), bench=BENCH)
    data = [
        [p.at_ns for p in log.packets if p.direction == SERVER and p.length]
        for log in (judged.kernel, judged.model)
    ]
    assert data[0] == pytest.approx(data[1], abs=20_000)


@pytest.mark.parametrize("gathers", ["true", "false"])
def test_a_bench_is_known_by_its_log(gathers: str) -> None:
    bench = replace(BENCH, settings={"scatter_gather": gathers})
    rates = (10**9, 800, 700, 620, 500, 450, 400, 330, 290, 250, 200, 150, 9, 8, 7, 6, 5, 4, 3)
    cases = {
        number: replace(
            case(number),
            pattern=f"data {segments}" if number % 2 else "",
            segments=segments,
            sysctls={"net.ipv4.tcp_early_retrans": "0"},
            rates_bps=(min(rate * 10**6, 10**9),) * 2,
            delays_ns=(2_000_000 + number * 100_000, 9_000_000),
        )
        for number, (segments, rate) in enumerate(product((90, 1, 3, 5), rates))
    }
    outcomes = {
        number: run(
            one, Model(run_model, core_streams(), "linux-3.10", 250), bench=bench, late_ns=100_000
        )
        for number, one in cases.items()
    }
    found = bench_of(cases, outcomes, "linux-3.10", 250)
    assert found.settings == bench.settings
    assert found.receive_ns == pytest.approx(bench.receive_ns, rel=0.3)
    assert found.answer_ns == pytest.approx(bench.answer_ns, rel=0.5)
    assert found.wake_ns == pytest.approx(bench.wake_ns, rel=0.2)
    assert found.make_ns == pytest.approx(bench.make_ns, rel=0.4)
    assert found.fetch_ns == pytest.approx(bench.fetch_ns, rel=0.4)
    assert found.leave_ns == pytest.approx(bench.leave_ns, rel=0.3)
    assert found.logging_ns == pytest.approx(bench.logging_ns, rel=0.1)
    assert found.judge_ns == pytest.approx(bench.judge_ns, rel=0.3)
    assert found.retransmission_ns == pytest.approx(bench.retransmission_ns, rel=0.2)

"""Cases of two paths: how they are drawn, written, read, and held against each other."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

import pytest

from rexmit import _core
from rexmit_validate.agree import model
from rexmit_validate.agree.case import Case
from rexmit_validate.agree.classes import of_retransmissions
from rexmit_validate.agree.compare import Verdict, compare, recovery
from rexmit_validate.agree.draw import draw as draw_case
from rexmit_validate.agree.draw_bursts import DELAY_NS, GAP_NS, QUEUE_PACKETS, RATE_BPS, SEGMENTS
from rexmit_validate.agree.folder import About, Folder
from rexmit_validate.agree.judge import Judged, judge
from rexmit_validate.agree.packet import Log
from rexmit_validate.agree.rates import RETRANSMISSIONS
from rexmit_validate.agree.read import read as read_scenario
from rexmit_validate.agree.report import lines
from rexmit_validate.agree.verdicts import tally

TICK = 4_000_000

Row = list[object]


def draw(seed: int, index: int) -> Case:
    return draw_case(_core, seed, index, paths=2)


CASE = draw(3, 0)


@pytest.fixture(scope="module")
def drawn() -> list[Case]:
    return [draw(3, index) for index in range(300)]


def test_a_case_is_the_same_whatever_else_is_drawn(drawn: list[Case]) -> None:
    assert draw(3, 123) == drawn[123]
    assert draw(4, 123) != drawn[123]
    assert len({case.seed for case in drawn}) == len(drawn)


def test_cases_are_within_bounds(drawn: list[Case]) -> None:
    for case in drawn:
        assert all(DELAY_NS[0] <= delay <= DELAY_NS[1] for delay in case.delays_ns)
        assert all(RATE_BPS[0] <= rate <= RATE_BPS[1] for rate in case.rates_bps)
        assert SEGMENTS[0] <= case.segments <= SEGMENTS[1]
        assert GAP_NS[0] <= case.gap_ns <= GAP_NS[1]
        assert case.first_path in (1, 2)
        if case.protocol == "tcp":
            assert case.pattern.startswith(f"path {case.first_path} ")
            assert ";" not in case.pattern
    assert {case.protocol for case in drawn} == {"tcp", "mptcp"}
    assert {case.bursts for case in drawn} == {1, 2, 3}
    assert {case.sysctls["net.ipv4.tcp_early_retrans"] for case in drawn} == {"0", "3"}
    assert any(";" in case.pattern for case in drawn)
    assert {case.queue_packets == QUEUE_PACKETS for case in drawn} == {True, False}
    for name in ("tcp_rmem", "tcp_wmem"):
        assert {f"net.ipv4.{name}" in case.sysctls for case in drawn} == {True, False}
    assert any("#1..2" in case.pattern for case in drawn)


def test_a_case_is_read_back_as_it_was_written(drawn: list[Case], tmp_path: Path) -> None:
    for case in drawn[:40]:
        assert Case.from_json(case.as_json()) == case
        path = tmp_path / f"{case.name}.toml"
        path.write_text(case.scenario("a case"), encoding="utf-8")
        assert read_scenario(path) == case
    about = About("6.12.117-hz250-x", "6.12.117", 250, "k", "g", seed=3, paths=2)
    folder = Folder.begin(tmp_path / "folder", about, dict(enumerate(drawn)))
    assert folder.cases() == dict(enumerate(drawn))


def data(
    at_ms: float, place: int, path: int, mechanism: str | None = None, *, dropped: int = 0
) -> Row:
    seq = 1 + 1000 * place
    at = round(at_ms * 1e6)
    return [at, 0, seq, 1000, 16, 1, 509, dropped, mechanism, [], path, seq, 1]


def ack(at_ms: float, path: int) -> Row:
    return [round(at_ms * 1e6), 1, 1, 0, 16, 1001, 500, 0, None, [], path, None, 1001]


KERNEL = [
    ack(-30, 1),
    data(0, 0, 1),
    data(0, 1, 2),
    data(1, 2, 1, dropped=1),
    ack(40, 2),
    data(90, 2, 1, "tlp"),
    data(300, 2, 2, "mptcp-reinject"),
]
COMPLETE: list[int | None] = [340_000_000]


class Held(NamedTuple):
    verdict: Verdict
    kind: str | None


def against(model: list[Row], complete: list[int | None] | None = None) -> Held:
    ours = Log.read(KERNEL, COMPLETE, own=True)
    theirs = Log.read(model, complete or COMPLETE, own=True)
    verdict = compare(ours, theirs, TICK)
    kind = of_retransmissions(verdict, ours, theirs, TICK)
    return Held(verdict, kind)


def changed(place: int, *rows: Row) -> list[Row]:
    return [*KERNEL[:place], *rows, *KERNEL[place + 1 :]]


def test_equal_logs_agree_whenever_they_begin() -> None:
    late = [[row[0] + 7_000_000, *row[1:]] for row in KERNEL if isinstance(row[0], int)]
    held = against(late)
    assert held.verdict.agree
    assert held.verdict.exact
    assert held.kind is None


def test_acknowledgements_do_not_count() -> None:
    assert against(changed(4)).verdict.exact


def test_a_retransmission_on_another_path() -> None:
    held = against(changed(6, data(300, 2, 1, "mptcp-reinject")))
    assert not held.verdict.retransmissions
    assert not held.verdict.agree
    assert held.verdict.completion
    assert held.kind == "mptcp-reinject on another path"


def test_a_retransmission_by_another_mechanism() -> None:
    held = against(changed(5, data(90, 2, 1, "rto")))
    assert not held.verdict.retransmissions
    assert held.kind == "kernel tlp / model rto"
    missing = against(changed(6))
    assert missing.kind == "kernel mptcp-reinject / model nothing more"


def test_completion_may_be_a_tick_apart_and_no_more() -> None:
    assert against(KERNEL, [344_000_000]).verdict.agree
    late = against(KERNEL, [344_000_001])
    assert late.verdict.retransmissions
    assert late.verdict.exact
    assert not late.verdict.completion
    assert late.kind == "a burst complete later in the model by 1 to 2 ticks"
    assert against(KERNEL, [None]).kind == "a burst complete in one of the two only"


def test_another_schedule_is_not_exact_and_is_said_where_a_retransmission_differs() -> None:
    other = changed(2, data(0, 1, 1))
    assert against(other).verdict.agree
    assert not against(other).verdict.exact
    other[5] = data(90, 2, 1, "rto")
    assert against(other).kind == "kernel tlp / model rto, after another schedule"


def test_packets_of_two_paths_have_no_order_between_them() -> None:
    swapped = [KERNEL[0], KERNEL[2], KERNEL[1], *KERNEL[3:5], KERNEL[6], KERNEL[5]]
    held = against(swapped)
    assert held.verdict.retransmissions
    assert held.verdict.exact


def test_a_packet_may_be_a_tick_apart_and_no_more() -> None:
    assert against(changed(6, data(304, 2, 2, "mptcp-reinject"))).verdict.exact
    assert not against(changed(6, data(304.1, 2, 2, "mptcp-reinject"))).verdict.exact


def test_a_packet_more_is_not_exact() -> None:
    assert not against([*KERNEL, data(301, 3, 1)]).verdict.exact
    assert not against(KERNEL[:2]).verdict.exact


def test_the_first_repair_of_what_was_dropped_on_whichever_path() -> None:
    assert against(KERNEL).verdict.recovery
    late = against(changed(5, data(94.1, 2, 1, "tlp"))).verdict
    assert late.retransmissions
    assert not late.recovery
    # The same data under the numbers of another subflow.
    reinjected = [*KERNEL[:5], [*data(90, 7, 2, "mptcp-reinject")[:11], 2001, 1]]
    assert recovery(Log.read(reinjected, own=True).data) == ("mptcp-reinject", 89_000_000)
    assert recovery(Log.read(KERNEL[:5], own=True).data) is None


def test_the_first_difference_is_the_earliest_of_all_paths() -> None:
    other = changed(6, data(299, 9, 2))
    other[3] = data(1, 3, 1)
    difference = against(other).verdict.difference
    assert difference is not None
    assert (difference.place, difference.what, difference.late_ns) == (1, "packet", 0)
    assert difference.ours is not None
    assert (difference.ours.path, difference.ours.seq) == (1, 2001)


UNSENT = 'the loss pattern\'s "path 2 burst 1 data -1" names a packet that is never sent'


def test_what_one_side_never_sends_is_a_disagreement_and_what_neither_sends_no_case(
    drawn: list[Case],
) -> None:
    case = drawn[0]

    def refuses(_plan: str, _path: str | None) -> tuple[str, dict[str, _core.Batch]]:
        told = '{"type": "cell-error", "message": "x names a packet that is never sent"}'
        return told, _core.RunRows().tables()

    def sends(_plan: str, _path: str | None) -> tuple[str, dict[str, _core.Batch]]:
        return '{"type": "packets", "packets": []}', _core.RunRows().tables()

    def held(outcome: dict[str, object], side: str) -> Judged:
        run = sends if side == "sends" else refuses
        return judge(case, outcome, model.Model(run, _core, "linux-6.12", 250))

    assert not held({"error": UNSENT}, "refuses").counts
    assert not held({"error": "the guest died"}, "sends").counts
    assert held({"error": UNSENT}, "sends").kind == "only the model sends what is lost"
    kernel: dict[str, object] = {"packets": KERNEL, "completions_ns": COMPLETE}
    one = held(kernel, "refuses")
    assert one.kind == "only the kernel sends what is lost"
    found = tally({0: one, 1: Judged(case, kernel_error="x")}, RETRANSMISSIONS)
    assert (found.cases, found.failed, found.agreed, found.with_retransmissions) == (1, 1, 0, 1)
    said = "\n".join(lines(found, kernel="6.12.117", other="model linux-6.12", ticks=1, hz=250))
    assert f"1  only the kernel sends what is lost: {case.name}" in said


def test_the_model_agrees_with_itself() -> None:
    case = Case(
        name="a",
        seed=1,
        over="paths",
        queue_packets=QUEUE_PACKETS,
        protocol="mptcp",
        first_path=1,
        rates_bps=(54_000_000, 54_000_000),
        delays_ns=(20_000_000, 30_000_000),
        bursts=2,
        segments=80,
        gap_ns=2_000_000_000,
        pattern="path 1 burst 2 data -1",
    )
    ours = model.Model(_core.run_model, _core, "linux-6.12", 250)
    made = model.run(case, ours)
    assert len(made["completions_ns"]) == 2
    assert all(20_000_000 < time_ns < 1_000_000_000 for time_ns in made["completions_ns"])
    one = judge(case, made, ours)
    assert one.verdict is not None
    assert one.retransmitted
    assert one.verdict.exact
    assert one.words == "every packet agrees"
    assert "path 2" in list(one.beside())

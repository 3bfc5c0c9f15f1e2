"""The shortest script of a connection, by stand-ins for a kernel. What kernels say of such:
`tests/lab/test_packet_scripts.py`."""

from __future__ import annotations

import re
from collections.abc import Callable

import pytest
from click.testing import CliRunner
from tests.show.test_packet_script import MS, TAIL, ours, script, theirs

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.ladder.packet_script import Conditions
from rexmit.ladder.picture import Picture
from rexmit.ladder.shorter import Ran, Run, Search, lines_of
from rexmit.ladder.steps import Step

CAUSES = ("probe",)


def page(flight: int, more: int) -> tuple[Step, ...]:
    """A page in a first flight and on its acknowledgements, a packet each. Its last packet, with
    the FIN, is lost and comes again as a probe."""
    count = flight + more

    def data(ms: float, number: int, **others: object) -> Step:
        flags = "FIN, PSH, ACK" if number == count - 1 else "ACK"
        return ours(ms, 1 + 1448 * number, 1448, flags, ack=134, **others)

    def answer(ms: float, number: int, fin: int = 0) -> Step:
        return theirs(ms, 1 + 1448 * number + fin, seq=134)

    request = theirs(10, 1, "PSH, ACK", payload_bytes=133)
    steps = [*TAIL[:3], request, ours(10, 1, 0, ack=134)]
    steps += [data(10, number, dropped=number == count - 1) for number in range(flight)]
    for number in range(count - 1):
        steps.append(answer(20 + number, number + 1))
        if flight + number < count:
            last = flight + number == count - 1
            steps.append(data(20 + number, flight + number, dropped=last))
    probe = data(90, count - 1, mechanism="tlp", need="needed", again=True)
    return (*steps, probe, answer(100, count, fin=1))


def shortened(steps: tuple[Step, ...], run: Run, over: Callable[[], bool] = lambda: False) -> str:
    search = Search(Picture("", steps, data_from_server=True), Conditions(), run, over)
    assert search.whole()
    search.shorten()
    return search.text


def events(text: str) -> list[str]:
    """From the SYN on, without times, options and windows."""
    lines = [line for line in text.splitlines() if line.startswith("+")]
    first = next(at for at, line in enumerate(lines) if " < S " in line)
    return [re.sub(r"^\+\S+ | <(?=\S).*| win \d+", "", line) for line in lines[first:]]


def test_a_kernel_that_does_all_the_same_leaves_the_lost_packet_and_its_answer() -> None:
    runs = []

    def run(text: str, any_time: bool) -> Ran:
        assert not any_time
        runs.append(text)
        return Ran(good=True, causes=CAUSES)

    text = shortened(page(flight=10, more=20), run)
    assert events(text) == [
        "< S 0:0(0)",
        "> S. 0:0(0) ack 1",
        "< . 1:1(0) ack 1",
        "accept(3, ..., ...) = 4",
        "write(4, ..., 1448) = 1448",
        "> P. 1:1449(1448) ack 1",
        "> P. 1:1449(1448) ack 1",
        "< . 1:1(0) ack 1449",
    ]
    assert "// Retransmission: tlp, needed." in text
    assert len(runs) < 20


def test_each_echo_is_of_a_packet_before_it() -> None:
    text = shortened(page(flight=3, more=9), lambda *_: Ran(good=True, causes=CAUSES))
    sent = set()
    for line in text.splitlines():
        stamps = re.search(r"^\S+ ([<>]).*TS val (\d+) ecr (\d+)", line)
        if stamps and stamps[1] == ">":
            sent.add(stamps[2])
        elif stamps and stamps[3] != "0":
            assert stamps[3] in sent, line


def test_what_the_kernel_needs_stays() -> None:
    """Here all data and two of the acknowledgements."""

    def run(text: str, _: bool) -> Ran:
        data = re.findall(r"> \S+ (\d+):(\d+)\(", text)
        whole = max(int(end) for _, end in data) == 12 * 1448 + 1
        return Ran(whole and all(f" ack {n} win" in text for n in (5793, 11585)), CAUSES)

    text = shortened(page(flight=10, more=2), run)
    acked = re.findall(r"< \. \S+ ack (\d+)", text)
    assert acked == ["1", "5793", "11585", "17377"]
    assert text.count("write(") == 1
    assert "FP" not in text


def test_other_causes_are_another_recovery() -> None:
    whole = script(TAIL)

    def run(text: str, _: bool) -> Ran:
        return Ran(
            good=True, causes=CAUSES if lines_of(text) >= lines_of(whole) - 1 else ("timer",)
        )

    assert lines_of(shortened(TAIL, run)) >= lines_of(whole) - 1


def test_a_packet_at_another_time_gets_the_kernels_time() -> None:
    """A probe that goes by the round trips that are left comes sooner."""
    asked = []

    def run(text: str, any_time: bool) -> Ran:
        asked.append(any_time)
        packets = [line for line in text.splitlines() if re.match(r"\S+ [<>] ", line)]
        late = len(packets) == 6 and not packets[4].startswith("+0.0211 ")
        at_ms = (0, 0, 10, 10, 31.1, 41.1)
        at_ns = tuple(round(at * MS) for at in at_ms) if len(packets) == 6 else ()
        return Ran(any_time or not late, CAUSES, late=late, at_ns=at_ns)

    text = shortened(page(flight=2, more=0), run)
    assert "+0.0211 > P. 1:1449(1448) ack 1 " in text
    assert "+0.01 < . 1:1(0) ack 1449 " in text
    assert asked.count(True) == 1


def test_time_is_kept_to() -> None:
    runs = []

    def run(text: str, _: bool) -> Ran:
        runs.append(text)
        return Ran(good=True, causes=CAUSES)

    text = shortened(page(flight=10, more=20), run, over=lambda: len(runs) >= 2)
    assert len(runs) == 2
    assert text == runs[-1]


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (["--shortest"], "--shortest belongs to --packetdrill"),
        (["--packetdrill", "--kernel", "6.1"], "--kernel and --seconds belong to --shortest"),
        (["--packetdrill", "--seconds", "1"], "--kernel and --seconds belong to --shortest"),
    ],
)
def test_its_options_belong_together(words: list[str], why: str) -> None:
    done = CliRunner().invoke(app, ["show", "run", "--flow", "0", *words])
    assert isinstance(done.exception, UserError)
    assert done.exception.usage
    assert why in str(done.exception)

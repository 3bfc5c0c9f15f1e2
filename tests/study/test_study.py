"""The study's tables and the points of its figures, from traces by hand."""

from __future__ import annotations

import io
import json
import math
import random
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner
from rich.console import Console
from tests.trace.rows import connection, detected, mechanism, retransmission, whatif, write_trace

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.present.show import show
from rexmit.store.trace_schema import SMART_CONFIG
from rexmit.tracing.source import Facts
from rexmit_papers.unc_2007 import curves
from rexmit_papers.unc_2007.explained import explained
from rexmit_papers.unc_2007.senders import Study, names, study
from rexmit_papers.unc_2007.show_study import study_blocks
from rexmit_papers.unc_2007.systems import system_of
from rexmit_papers.unc_2007.tables import Classes, FalseAlarms, Threshold, tables

runner = CliRunner()

REPLAYED = Facts(settings=("k=2", "k=3", "k=2,a=1/2", "d=2", "d=3", "d=4", SMART_CONFIG))


def lossy(number: int, stack: str | None, **values: Any) -> dict[str, Any]:  # noqa: ANN401
    """A connection of 10 s whose server sent 100 packets, 20 kB."""
    return connection(
        **{
            "connection": number,
            "duration_s": 10.0,
            "start_s": 0.0,
            "end_s": 10.0,
            "backward_bytes": 20_000,
            "backward_unique_bytes": 20_000,
            "backward_packets": 100,
            "backward_stack": stack,
            "backward_rtt_avg_s": 0.1,
            "backward_best_case_s": 1.0,
            "forward_sack_permitted": True,
            "backward_sack_permitted": True,
            **values,
        }
    )


@pytest.fixture
def made(tmp_path: Path) -> Study:
    """Two traces. One: a Linux and a Windows connection with losses, one that nobody explains, one
    with a spurious retransmission only, one without any. Two: a Linux connection with losses.
    """
    one = write_trace(
        tmp_path / "one",
        captures=("one.pcap",),
        connections=[
            lossy(0, "linux-6"),
            lossy(1, "windows-xp"),
            lossy(2, "none"),
            lossy(3, "linux-6"),
            connection(connection=4, end_s=20.0, forward_bytes=20_000, forward_packets=100),
        ],
        mechanisms=[
            mechanism(connection=0, needed=1),
            mechanism(connection=0, mechanism="rack", needed=1),
            mechanism(connection=1, needed=1, spurious=1),
            mechanism(connection=2, needed=1),
            mechanism(connection=3, mechanism="tlp", spurious=1),
        ],
        retransmissions=[
            retransmission(
                connection=0,
                **detected(4.0, 0.1),
                recovery_s=0.3,
                lost_in_flight=7,
            ),
            retransmission(
                connection=0, mechanism="rack", episode=1, need="unknown", **detected(1.0)
            ),
            retransmission(connection=1, **detected(6.0)),
            # The second copy of a packet: it, too, counts from the original.
            retransmission(
                connection=1,
                episode=1,
                need="spurious",
                detection_rtts=5.0,
                copy=2,
                **detected(8.0),
            ),
            retransmission(connection=2, **detected(99.0)),
            retransmission(connection=3, mechanism="tlp", need="spurious"),
            # The other direction of a connection is another sender.
            retransmission(connection=0, direction="forward", **detected(77.0)),
        ],
        whatif=[
            whatif(connection=0, setting="k=2", change_s=-0.2),
            whatif(connection=0, setting="k=2,a=1/2", change_s=-9.0),
            whatif(connection=0, setting="d=2", rto_to_fr=1, spurious_fr_caused=3),
            whatif(connection=0, setting="d=4", fr_to_rto=1, change_s=0.5),
            whatif(connection=1, setting="d=3", fr_to_rto=2, spurious_fr_avoided=1),
            whatif(connection=1, setting="d=2"),
            whatif(connection=1, setting="d=4", fr_to_rto=5, spurious_fr_avoided=2),
            whatif(connection=1, setting=SMART_CONFIG, change_s=-2.5),
            whatif(connection=2, setting="k=2", change_s=-5.0),
        ],
        facts=REPLAYED,
    )
    two = write_trace(
        tmp_path / "two",
        captures=("two.pcap.gz",),
        connections=[lossy(0, "linux-2.4", backward_unique_bytes=15_000, backward_bytes=15_000)],
        mechanisms=[mechanism(connection=0, needed=1)],
        retransmissions=[retransmission(connection=0, mechanism="sack-recovery", **detected(2.0))],
        facts=REPLAYED,
    )
    return study([one, two])


def test_table_2(made: Study) -> None:
    one, two = tables(made).totals
    assert (one.name, one.connections, one.bytes, one.packets) == ("one", 5, 100_000, 500)
    assert (one.duration_s, one.load_bps) == (20.0, 40_000.0)
    assert (two.name, two.connections) == ("two", 1)


def test_traces_are_told_apart(tmp_path: Path) -> None:
    captures = ("a/captures/x.pcap", "b/captures/x.pcap", "y.pcap.gz", "c/z.pcap", "c/z.pcapng")
    traces = [
        write_trace(tmp_path / str(i), captures=(capture,)) for i, capture in enumerate(captures)
    ]
    assert names(traces) == ["a/x", "b/x", "y", "c/z 1", "c/z 2"]


def test_table_3(made: Study) -> None:
    one, two = tables(made).lossy
    assert one.lossy == (3 / 5, 0.6, 0.6)
    assert one.explained == (2 / 5, 0.4, 0.4)
    assert one.systems == {"Windows": 0.5, "Linux": 0.5}
    assert two.explained == (1.0, 1.0, 1.0)


def test_table_4(made: Study) -> None:
    assert tables(made).classes == (
        Classes("Windows", 2, 1, 0, 1, 0, 0, 0),
        Classes("Linux", 3, 1, 2, 0, 0, 0, 1),
    )


def test_table_5_has_another_first_threshold_for_windows(made: Study) -> None:
    assert tables(made).thresholds == (
        Threshold("Windows", 0, 2, 2, 3, -2, -1, 5, 2),
        Threshold("Linux", 2, 1, 3, 2, 1, 3, 1, 0),
    )


def test_recovery(made: Study) -> None:
    (one,) = tables(made).recovery
    assert (one.sack, one.lost, one.episodes, one.median_s) == (True, 5, 1, 0.3)
    assert one.median_rtts == pytest.approx(3.0)


def test_false_alarms(made: Study) -> None:
    assert tables(made).false_alarms == (
        FalseAlarms("Linux", 1, 1, 1, 0),
        FalseAlarms("-", 1, 0, 0, 0),
    )


@pytest.mark.parametrize(
    ("stack", "stacks", "system"),
    [
        ("linux-6", None, "Linux"),
        ("windows-xp", "windows-xp", "Windows"),
        ("several", "linux-3,linux-6", "Linux"),
        ("several", "linux-3,solaris-10", None),
        ("none", "", None),
        (None, None, None),
        ("mac-os-x", None, "FreeBSD"),
    ],
)
def test_systems(stack: str | None, stacks: str | None, system: str | None) -> None:
    assert system_of(stack, stacks) == system


def test_the_sender_is_the_one_that_retransmitted_more(tmp_path: Path) -> None:
    both = lossy(0, "linux-6", forward_stack="solaris-10")
    alike = lossy(1, "linux-6", forward_unique_bytes=30_000)
    mechanisms = [
        mechanism(connection=0, needed=1),
        mechanism(connection=0, direction="forward", mechanism="tlp", needed=2),
        mechanism(connection=1, needed=1),
        mechanism(connection=1, direction="forward", mechanism="rack", needed=1),
    ]
    trace = write_trace(tmp_path / "t", connections=[both, alike], mechanisms=mechanisms)
    assert study([trace]).senders["direction"].to_list() == ["forward", "forward"]


# Curves.


def test_curves(made: Study) -> None:
    of = {one.label: one.points for one in curves.detection(made)}
    assert of == {
        "Windows RTO": ((6.0, 0.5), (8.0, 1.0)),
        "Linux FR/R": ((1.0, 0.5), (2.0, 1.0)),
        "Linux RTO": ((4.0, 1.0),),
    }
    assert [one.n for one in curves.bytes_sent(made)] == [5, 1]
    (windows, linux) = curves.best_case(made)
    assert windows.points == ((10.0, 1.0),)
    assert linux.n == 2


def test_a_long_curve_keeps_its_ends_and_shares() -> None:
    one = curves.curve("x", pl.Series(range(10_000)))
    assert (one.n, len(one.points)) == (10_000, 400)
    assert one.points[0] == (0.0, 1 / 10_000)
    assert one.points[-1] == (9999.0, 1.0)
    assert one.at(5000) == pytest.approx(0.5, abs=0.01)


def test_connections_without_a_replay_keep_their_duration(made: Study) -> None:
    found = curves.of_setting(made, "Linux", "k=2")
    assert found is not None
    (one,) = found.bins
    assert one.n == 2
    assert one.best_case == pytest.approx(10.0)
    assert one.mean == pytest.approx(1.0)  # 2 RTTs and none
    assert one.p95 == pytest.approx(1.9)
    unchanged = curves.of_setting(made, "Linux", "k=3")
    assert unchanged is not None
    assert [(one.n, one.mean) for one in unchanged.bins] == [(2, 0.0)]
    assert curves.of_setting(made, "Linux", "k=6") is None


def test_bins_of_a_factor_of_two() -> None:
    best = [0.2, 0.3, 0.39, 0.4, 0.0, None]
    rows = pl.DataFrame({"best_case_s": best, "rtt_avg_s": [0.1] * 6, "change_s": [-0.1] * 6})
    found = curves.bins("x", rows)
    assert [(round(one.best_case, 6), one.n) for one in found.bins] == [
        (pytest.approx((2 + 3 + 3.9) / 3), 3),
        (4.0, 1),
    ]
    assert found.left_out == 2


def test_sizes_and_smart(made: Study) -> None:
    small, large = curves.of_sizes(made, "Linux", 4)
    assert [(one.n, one.mean) for one in small.bins] == [(1, 0.0)]
    assert [one.mean for one in large.bins] == [pytest.approx(-5.0)]
    windows, linux = curves.smart_change(made)
    assert windows.points == ((-25.0, 1.0),)
    assert linux.points == ((0.0, 0.5), (0.0, 1.0))


# Shown.


def test_printed(made: Study) -> None:
    out = io.StringIO()
    show(study_blocks(tables(made)), Console(file=out, width=140, color_system=None))
    lines = [" ".join(line.split()) for line in out.getvalue().splitlines()]
    assert "one 20 s 0.04 Mbit/s 5 100,000 500" in lines
    assert "one 60.00 60.00 60.00 40.00 40.00 40.00 50.00 50.00" in lines
    assert "Linux 3 1 (33.3%) 2 (66.7%) 0 (0.0%) 0 (0.0%) 0 (0.0%)" in lines
    assert "Windows 0 2 D=3 -2 (-100.0%) -1 (-50.0%) 5 (250.0%) 2 (100.0%)" in lines
    assert "1 whose need is unknown are counted as non-spurious" in lines
    assert any(line.startswith("RTO: rto, rto-recovery, tlp") for line in lines)


_SHARES = {
    "k=2": 0.4,
    "k=3": 0.2,
    "k=6": -0.3,
    "min_rto=100ms": 0.05,
    "min_rto=400ms": -0.2,
    "a=1/2": 0.1,
    "d=2": 0.05,
    "d=3": 0.02,
    SMART_CONFIG: 0.6,
}


def random_trace(
    path: Path, connections: int = 400, *, rfc: int = 0, captures: tuple[str, ...] = ("x.pcap",)
) -> Path:
    """Connections of four systems with retransmissions and replays, for the figures; the first
    `rfc` of them of none of the four.
    """
    dice = random.Random(2)  # noqa: S311 - no secret
    rows, retransmissions, replays = [], [], []
    stacks = ("windows-xp", "linux-2.4", "solaris-10", "freebsd-5")
    for number in range(connections):
        size = int(10 ** dice.uniform(3, 6))
        rtt = 10 ** dice.uniform(-2, -0.5)
        best = rtt * 10 ** dice.uniform(-1, 2.5)
        rows.append(
            lossy(
                number,
                "rfc" if number < rfc else dice.choice(stacks),
                duration_s=best * dice.uniform(1.1, 50),
                backward_bytes=size,
                backward_unique_bytes=size,
                backward_rtt_avg_s=rtt,
                backward_best_case_s=best,
            )
        )
        for episode in range(dice.randint(1, 4)):
            slow = dice.random() < 0.6
            retransmissions.append(
                retransmission(
                    connection=number,
                    episode=episode,
                    mechanism="rto" if slow else "fast-retransmit",
                    **detected(dice.lognormvariate(math.log(4 if slow else 1.4), 0.6), rtt),
                    recovery_s=rtt * dice.uniform(1, 6),
                    lost_in_flight=dice.randint(1, 8),
                )
            )
        replays += [
            whatif(
                connection=number,
                setting=setting,
                change_s=-best * share * dice.lognormvariate(0, 0.5),
            )
            for setting, share in _SHARES.items()
        ]
    facts = Facts(settings=tuple(_SHARES))
    write_trace(
        path,
        connections=rows,
        mechanisms=[mechanism(connection=number, needed=1) for number in range(connections)],
        retransmissions=retransmissions,
        whatif=replays,
        facts=facts,
        captures=captures,
    )
    return path


@pytest.mark.slow
def test_command_line(tmp_path: Path) -> None:
    trace = random_trace(tmp_path / "trace", connections=160)
    words = ["paper", "unc-2007", str(trace), "--out", str(tmp_path / "out"), "--format", "png"]
    told = runner.invoke(app, words, catch_exceptions=False).output
    assert "Table V" in told
    assert "not drawn" not in told
    names = sorted(path.name for path in (tmp_path / "out" / "figures").iterdir())
    systems = ("freebsd", "linux", "solaris", "windows")
    assert names == sorted(
        [
            *(f"figure-{n}.png" for n in (1, 2, 3, 6, 7)),
            *(f"figure-{n}-{system}.png" for n in (4, 5) for system in systems),
            "recovery.png",
        ]
    )


def test_what_stacks_explain_and_why_not_more(made: Study, tmp_path: Path) -> None:
    found = explained(made, "all")
    assert (found.lossy, found.explained, found.systems) == (4, 3, {"Linux": 2, "Windows": 1})
    assert found.why == {"fit none of them; no SYN": 1}
    assert found.interval is not None
    assert found.interval.has(0.75)
    folder = write_trace(
        tmp_path / "why",
        connections=[
            lossy(0, "several", backward_stacks="linux-6, windows-xp"),
            lossy(1, "none", backward_syn_system="mac-os-x"),
        ],
        mechanisms=[mechanism(connection=0, needed=1), mechanism(connection=1, needed=1)],
    )
    assert explained(study([folder]), "all").why == {
        "fit stacks of several systems, and no SYN names one": 1,
        "fit none of them; by their SYN mac-os-x": 1,
    }


def test_the_share_that_stacks_explain_needs_one_command() -> None:
    captures = Path(__file__).parents[1] / "real" / "captures"
    both = (str(captures / name) for name in ("http-continue.pcap", "dcerpc.pcap"))
    words = ["paper", "unc-2007", "--explained", "--json", *both]
    done = runner.invoke(app, words, catch_exceptions=False)
    assert [one["stacks"] for one in json.loads(done.stdout)] == ["the paper's", "all"]
    refused = runner.invoke(app, [*words, "--stacks", "linux-6"])
    assert isinstance(refused.exception, UserError)
    assert "--explained chooses its stacks" in refused.exception.what


def test_json_has_every_point(tmp_path: Path) -> None:
    trace = random_trace(tmp_path / "trace", connections=80)
    words = ["paper", "unc-2007", str(trace), "--json"]
    data = json.loads(runner.invoke(app, words, catch_exceptions=False).output)
    assert data["rto"] == ["rto", "rto-recovery", "tlp"]
    assert {len(curve["points"]) == curve["n"] for curve in data["curves"]["figure-3"]} == {True}
    assert [one["label"] for one in data["bins"]["Linux"]][:3] == ["k=2", "k=3", "k=6"]


def test_what_cannot_be_drawn_is_said(tmp_path: Path) -> None:
    folder = write_trace(
        tmp_path / "bare", connections=[lossy(0, "linux-6")], mechanisms=[mechanism(needed=1)]
    ).path
    words = ["paper", "unc-2007", str(folder), "--out", str(tmp_path / "out"), "--format", "png"]
    told = runner.invoke(app, words, catch_exceptions=False).output
    assert "not drawn: figure-4-linux: no connection was replayed with these settings" in told

"""`--kinds`: the parts of a corpus once more, with other hosts and captures."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner
from tests.real.packets import read
from tests.tools import needs

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.store.schema import polars_schema
from rexmit_validate.score.corpus import open_corpus
from rexmit_validate.score.join import join
from rexmit_validate.synth import kinds
from rexmit_validate.synth.schema import CONNECTIONS, RETRANSMISSIONS

runner = CliRunner()
WORDS = ("--mix", "rough", "--connections", "40", "--seed", "5", "--jobs", "2")


def synth(out: Path, *words: str) -> Path:
    done = runner.invoke(
        app, ["validate", "synth", *WORDS, *words, "--out", str(out)], catch_exceptions=False
    )
    assert done.exit_code == 0, done.output
    return out


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small corpus in all kinds."""
    return synth(tmp_path_factory.mktemp("kinds") / "all", "--kinds", "all")


def test_plain_parts_are_what_they_are_without_kinds(folder: Path, tmp_path: Path) -> None:
    plain = synth(tmp_path / "plain")
    for capture in (plain / "captures").iterdir():
        assert capture.read_bytes() == (folder / "captures" / capture.name).read_bytes()
    for table in ("retransmissions", "connections"):
        frame = pl.read_parquet(plain / f"{table}.parquet")
        assert frame["kind"].unique().to_list() == ["plain"]
        assert frame.equals(pl.read_parquet(folder / f"{table}.parquet").filter(kind="plain"))


def test_each_kind_of_captures_is_a_part_with_the_same_connections(folder: Path) -> None:
    about = json.loads((folder / "truth.json").read_text())
    assert about["kinds"] == list(kinds.known())
    assert "--kinds" in about["command"]
    for table, columns in (("retransmissions", RETRANSMISSIONS), ("connections", CONNECTIONS)):
        frame = pl.read_parquet(folder / f"{table}.parquet")
        assert dict(frame.schema) == polars_schema(columns)
        plain = frame.filter(kind="plain")
        points = ("sender", "switch", "receiver")
        moved = ["part", "kind", *(f"{point}_{unit}" for point in points for unit in ("s", "ns"))]
        for kind in kinds.of_captures():
            same = frame.filter(kind=kind)
            assert same["part"].unique().to_list() == [f"rough+{kind}"]
            assert same.drop(moved, strict=False).equals(plain.drop(moved, strict=False))


def test_every_time_in_the_truth_is_a_packet_that_holds_the_retransmission(folder: Path) -> None:
    from rexmit._core import read_flows

    corpus = open_corpus(folder)
    for capture in corpus.captures:
        truth = corpus.truth(capture)
        flow = truth["flow"].value_counts(sort=True)["flow"][0]
        retransmissions = truth.filter(flow=flow)
        src, _, dst = flow.partition(" > ")
        packets = [
            (packet.time_ns, flow, packet.seq, (packet.seq + max(1, packet.payload_len)) % 2**32)
            for packet in read_flows([capture.path], [(src, dst, 0, 2**63 - 1)])[0]
            if f"{packet.src}:{packet.sport}" == src
        ]
        seen = pl.DataFrame(
            packets, schema=["time_ns", "flow", "seq_start", "seq_end"], orient="row"
        )
        missed = join(retransmissions, seen).retransmissions.filter("missed")
        assert missed.is_empty(), (capture.path.name, missed)


def test_each_kind_of_hosts_is_a_part_on_the_same_networks(folder: Path) -> None:
    frame = pl.read_parquet(folder / "connections.parquet")
    plain = frame.filter(kind="plain")
    said = {
        "zero-windows": '"stops":',
        "deferred-accepts": '"first_think_s":',
        "resets": '"cut_by":',
        "think-times": '"lingers_s":',
    }
    assert list(said) == list(kinds.of_hosts())
    for kind, word in said.items():
        of_kind = frame.filter(kind=kind)
        assert of_kind["part"].unique().to_list() == [f"rough+{kind}"]
        assert sorted(set(of_kind["network"])) == sorted(set(plain["network"]))
        assert set(of_kind["stack"]) == set(plain["stack"])
        assert of_kind["workload"].str.contains(word, literal=True).all()
        assert not plain["workload"].str.contains(word, literal=True).any()
        if kind != "zero-windows":
            # Receive buffers of a fixed size are no setting that is told.
            assert set(of_kind["settings"]) == set(plain["settings"])


def flags(folder: Path, kind: str) -> list[tuple[int, int, int]]:
    """Flags, window and payload of each packet at the switch."""
    packets = read(folder / "captures" / f"rough+{kind}-switch.pcapng")
    return [(packet.flags, packet.window, packet.length) for packet in packets]


@needs("tshark")
def test_hosts_do_what_their_kind_says(folder: Path) -> None:
    syn, rst, ack = 0x02, 0x04, 0x10
    packets = {kind: flags(folder, kind) for kind in kinds.of_hosts()}
    shut = {
        kind: sum(not window and not bits & rst for bits, window, _ in of_kind)
        for kind, of_kind in packets.items()
    }
    assert shut["zero-windows"] > 40 + shut["resets"] + shut["think-times"]
    resets = {
        kind: sum(bool(bits & rst) for bits, _, _ in of_kind) for kind, of_kind in packets.items()
    }
    assert resets["resets"] > 25 + resets["deferred-accepts"]
    answers = {
        kind: sum(bits & (syn | ack) == syn | ack for bits, _, _ in of_kind)
        for kind, of_kind in packets.items()
    }
    assert answers["deferred-accepts"] > answers["think-times"]
    retransmissions = pl.read_parquet(folder / "retransmissions.parquet").filter(
        kind="deferred-accepts"
    )
    assert "synack-timer" in retransmissions["cause"].to_list()
    assert (retransmissions["seq_start"] != retransmissions["seq_end"]).all()
    durations = (
        pl.read_parquet(folder / "connections.parquet")
        .group_by("kind")
        .agg(pl.col("duration_s").median())
    )
    median = dict(durations.iter_rows())
    assert median["think-times"] > median["plain"] + 10


def test_what_a_capture_missed_has_no_time_there(tmp_path: Path) -> None:
    # A monitor misses a packet in some thousands, or one in fifty.
    some = synth(tmp_path / "some", "--kinds", "monitor-losses", "--connections", "400")
    retransmissions = pl.read_parquet(some / "retransmissions.parquet")

    def times(kind: str, point: str) -> int:
        return retransmissions.filter(kind=kind)[f"{point}_ns"].count()

    points = ("sender", "switch", "receiver")
    plain, missed = (
        sum(times(kind, point) for point in points) for kind in ("plain", "monitor-losses")
    )
    assert 0.5 * plain < missed < plain


def test_a_kind_does_not_depend_on_what_else_is_made(folder: Path, tmp_path: Path) -> None:
    one = synth(tmp_path / "one", "--kinds", "world", "--jobs", "1")
    for point in ("sender", "switch", "receiver"):
        name = f"captures/rough+world-{point}.pcapng"
        assert (one / name).read_bytes() == (folder / name).read_bytes()


@pytest.mark.parametrize("command", ["synth", "truth"])
def test_a_kind_that_there_is_not(command: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as caught:
        runner.invoke(
            app,
            ["validate", command, "--kinds", "ids-hots", "--out", str(tmp_path / "no")],
            catch_exceptions=False,
        )
    assert "did you mean ids-host?" in caught.value.text()
    assert list(tmp_path.iterdir()) == []

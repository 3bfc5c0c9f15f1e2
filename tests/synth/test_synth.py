"""`rexmit validate synth`: a folder of captures and their truth."""

from __future__ import annotations

import json
from pathlib import Path

import polars as pl
import pytest
from click.testing import CliRunner

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.store.schema import polars_schema
from rexmit_validate.synth import kinds, mixes
from rexmit_validate.synth.schema import CONNECTIONS, RETRANSMISSIONS

runner = CliRunner()
POINTS = ("sender", "switch", "receiver")


def synth(*words: str) -> str:
    """Run `rexmit validate synth`; what it prints."""
    done = runner.invoke(app, ["validate", "synth", *words], catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A small corpus of two mixes."""
    out = tmp_path_factory.mktemp("synth") / "two"
    synth("--mix", "campus,rough", "--connections", "60", "--seed", "5", "--out", str(out))
    return out


def read(folder: Path, table: str) -> pl.DataFrame:
    return pl.read_parquet(folder / f"{table}.parquet")


def test_the_folder_holds_what_was_asked_for_and_nothing_else(folder: Path) -> None:
    captures = {f"{part}-{point}.pcapng" for part in ("campus", "rough") for point in POINTS}
    assert {path.name for path in (folder / "captures").iterdir()} == captures
    rest = {path.name for path in folder.iterdir()} - {"captures"}
    assert rest == {"truth.json", "retransmissions.parquet", "connections.parquet"}
    assert [path.name for path in folder.parent.iterdir()] == ["two"]


def test_tables_have_the_columns_of_the_schema(folder: Path) -> None:
    for table, columns in (("retransmissions", RETRANSMISSIONS), ("connections", CONNECTIONS)):
        frame = read(folder, table)
        assert dict(frame.schema) == polars_schema(columns)
        for column in columns:
            assert column.nullable or frame[column.name].null_count() == 0, column.name
    retransmissions = read(folder, "retransmissions")
    assert retransmissions.height > 100
    seconds = [ns / 1e9 for ns in retransmissions["sender_ns"].drop_nulls()]
    assert seconds == retransmissions["sender_s"].drop_nulls().to_list()


def test_truth_json_tells_what_was_made(folder: Path) -> None:
    about = json.loads((folder / "truth.json").read_text())
    assert (about["version"], about["kind"], about["seed"]) == (1, "model", 5)
    assert set(about["mixes"]) == {"campus", "rough"}
    connections = read(folder, "connections")
    for part, counts in about["parts"].items():
        assert counts["connections"] == connections.filter(part=part).height
        assert counts["retransmissions"] == read(folder, "retransmissions").filter(part=part).height
        assert set(counts["packets"]) == set(POINTS)
    assert connections["retransmissions"].sum() == read(folder, "retransmissions").height


def test_the_command_in_truth_json_makes_the_same_bytes(folder: Path, tmp_path: Path) -> None:
    import shlex

    about = json.loads((folder / "truth.json").read_text())
    again = tmp_path / "again"
    words = shlex.split(about["command"])
    assert words[:3] == ["rexmit", "validate", "synth"]
    synth(*words[3:], "--out", str(again), "--jobs", "1")
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            assert path.read_bytes() == (again / path.relative_to(folder)).read_bytes(), path


def test_points_stacks_and_formats_can_be_chosen(tmp_path: Path) -> None:
    out = tmp_path / "one"
    words = ["--at", "switch", "--stacks", "windows-xp", "--format", "pcap", "--json"]
    said = json.loads(synth(*words, "--connections", "20", "--out", str(out)))
    assert said["folder"] == str(out)
    (capture,) = (out / "captures").iterdir()
    assert capture.name == "campus-switch.pcap"
    assert set(read(out, "connections")["stack"]) == {"windows-xp"}
    retransmissions = read(out, "retransmissions")
    assert retransmissions["sender_ns"].null_count() == retransmissions.height
    # Windows of that time has neither probes nor RACK.
    assert not set(retransmissions["mechanism"]) & {"tlp", "rack", "fack"}


def test_settings_of_senders_can_be_changed(tmp_path: Path) -> None:
    out = tmp_path / "set"
    words = ["--stacks", "rfc", "--receivers", "linux-2.4", "--set", "min_rto=7s", "--at", "none"]
    synth(*words, "--perturb", "0", "--connections", "9", "--out", str(out))
    assert list((out / "captures").iterdir()) == []
    settings = [json.loads(text) for text in read(out, "connections")["settings"]]
    assert {both["sender"]["min_rto"] for both in settings} == {"7s"}
    assert {both["receiver"]["min_rto"] for both in settings} == {"200ms"}
    command = json.loads((out / "truth.json").read_text())["command"]
    assert "--set min_rto=7s" in command
    assert "--at none" in command


def test_a_mix_of_ones_own(tmp_path: Path) -> None:
    text = mixes.OWN.read_text(encoding="utf-8").replace("[campus", "[mine")
    own = tmp_path / "mine.toml"
    own.write_text(text[text.index("[mine]") : text.index("[server-farm]")], encoding="utf-8")
    synth("--mix", str(own), "--connections", "3", "--out", str(tmp_path / "own"))
    assert set(read(tmp_path / "own", "connections")["part"]) == {"mine"}


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--mix", "campsu"], "did you mean campus?"),
        (["--mix", "campus,"], "commas"),
        (["--at", "middle"], "sender, switch, receiver"),
        (["--stacks", "linux-2.5"], "linux-2.4"),
        (["--format", "erf"], "pcapng and pcap"),
        (["--set", "min_rto"], "KEY=VALUE"),
        (["--set", "min_rto=1"], "a time such as"),
        (["--mix", "none.toml"], "none.toml"),
    ],
)
def test_wrong_words_are_told_and_nothing_is_made(
    words: list[str], says: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as caught:
        runner.invoke(app, ["validate", "synth", *words], catch_exceptions=False)
    assert says in caught.value.text()
    assert list(tmp_path.iterdir()) == []


def test_a_mix_that_cannot_be_is_told_and_leaves_nothing(tmp_path: Path) -> None:
    text = mixes.OWN.read_text(encoding="utf-8").replace("loss_share = 0.45", "loss_share = 1.45")
    bad = tmp_path / "bad.toml"
    for written, said in (
        (text, r"network\.loss_share: a share must be 0"),
        (f"x = {'[' * 2000}", "recursion"),
        (f"x = {'9' * 5000}", "digits"),
    ):
        bad.write_text(written, encoding="utf-8")
        with pytest.raises(UserError, match=said):
            synth("--mix", str(bad), "--out", str(tmp_path / "out"))
    assert list(tmp_path.iterdir()) == [bad]


def test_a_behaviour_that_cannot_be_is_told(tmp_path: Path) -> None:
    text = (
        mixes.OWN.read_text(encoding="utf-8")
        + """
[quiet.workload.stops]
share = 1.0
count = 2
pause_s = { least = 1, most = 2 }
buffer_share = 0
buffer_bytes = { least = 1000, most = 2000 }
update_loss = 1.5
"""
    )
    bad = tmp_path / "bad.toml"
    bad.write_text(text.replace("[quiet.", f"[{next(reversed(mixes.known()))}."), encoding="utf-8")
    with pytest.raises(UserError, match=r"workload\.stops: a share must be 0"):
        synth("--mix", str(bad), "--connections", "1", "--out", str(tmp_path / "out"))
    assert list(tmp_path.iterdir()) == [bad]


def test_a_folder_that_is_there_is_left_alone(folder: Path) -> None:
    before = (folder / "truth.json").read_bytes()
    with pytest.raises(UserError, match="is there already"):
        synth("--connections", "2", "--out", str(folder))
    assert (folder / "truth.json").read_bytes() == before


def test_the_list_names_every_mix_and_kind() -> None:
    listed = json.loads(synth("--list", "--json"))
    assert listed == {
        "mixes": {name: mix["about"] for name, mix in mixes.known().items()},
        "kinds": kinds.known(),
    }

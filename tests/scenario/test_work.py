"""`[stack.work]`: how long hosts of the model work."""

from __future__ import annotations

import json
from itertools import count
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from click.testing import CliRunner

from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.scenario import stacks
from rexmit.scenario.load import from_plain, load
from rexmit.scenario.plain import effective
from rexmit.scenario.work import NAMES

BASE: dict[str, Any] = {
    "format": 1,
    "networks": {"near": {"rate": "100Mbit", "delay": "2.5ms"}},
    "configs": {"one": {}, "other": {"stack": {"work": {"receive": "0us"}}}},
    "workload": {"segments": 20},
    "loss": {"segments": 2},
    "stack": {"name": "linux-3.10", "work": {"receive": "21us", "make": "1.5us"}},
}


def works(*settings: str) -> dict[str, dict[str, int]]:
    found = stacks.of_scenario(from_plain(BASE, settings=settings), None, None)
    return {config: dict(one.plan()["work"]) for config, one in found.items()}


def test_a_configuration_s_own_go_before_one_by_one() -> None:
    assert works() == {
        "one": {"receive_ns": 21_000, "make_ns": 1500},
        "other": {"receive_ns": 0, "make_ns": 1500},
    }


def test_it_is_set_key_by_key() -> None:
    changed = works("stack.work.judge=9us", "configs.*.stack.work.receive=3us")
    both = {"receive_ns": 3000, "make_ns": 1500, "judge_ns": 9000}
    assert changed == {"one": both, "other": both}


def test_the_plain_form_keeps_it_and_takes_changes() -> None:
    plain = json.loads(json.dumps(effective(from_plain(BASE))))
    assert plain["stack"]["work"] == {"receive": "21us", "make": "1.5us"}
    assert effective(from_plain(plain)) == plain
    changed = effective(from_plain(plain, settings=["stack.work.make=2us"]))
    assert changed["stack"]["work"]["make"] == "2us"


@pytest.mark.parametrize(
    ("setting", "where", "why", "remedy"),
    [
        ("stack.work=9us", "stack.work", "is no table", 'receive = "21us"'),
        ("stack.work.judge=2s", "stack.work.judge", "not between 0s and 1s", "written like"),
        ("stack.work.judge=9", "stack.work.judge", "has no unit", "units: s, ms, us, ns"),
        ("stack.work.juge=9us", "stack.work.juge", "unknown key", "did you mean judge?"),
        ("stack.wrok=9us", "stack.wrok", "unknown key", "did you mean work?"),
        ("configs.one.stack.work.make=-1us", "configs.one.stack.work.make", "no dur", "21us"),
    ],
)
def test_what_is_wrong_is_said(setting: str, where: str, why: str, remedy: str) -> None:
    with pytest.raises(UserError) as error:
        from_plain(BASE, settings=[setting])
    assert f"{setting}: {where}: " in str(error.value)
    assert why in str(error.value)
    assert remedy in str(error.value.hint)


def test_a_list_is_refused_with_its_line(tmp_path: Path) -> None:
    file = tmp_path / "lists.toml"
    file.write_text(
        'format = 1\n[networks.a]\nrate = "1Mbit"\ndelay = "1ms"\n[configs.a]\n'
        '[stack.work]\nmake = ["1us", "2us"]\n',
        encoding="utf-8",
    )
    with pytest.raises(UserError, match=r"lists.toml:7: stack.work.make: is one value"):
        load(file)


def test_a_kernel_has_no_such_setting() -> None:
    with pytest.raises(UserError) as error:
        from_plain(BASE, engine="kernel")
    assert "stack.work.receive: a kernel has no such setting" in error.value.text()


def test_work_moves_what_a_run_measures(tmp_path: Path) -> None:
    runs = count()

    def total_s(*settings: str) -> float:
        out = tmp_path / str(next(runs))
        words = ["run", "smoke", "--engine", "model", "--stack", "linux-3.10", "--out", str(out)]
        words += [word for setting in settings for word in ("--set", setting)]
        done = CliRunner().invoke(app, words)
        assert done.exit_code == 0, done.output
        mean = pl.read_parquet(out / "transfers.parquet")["t_total_s"].mean()
        assert isinstance(mean, float)
        return mean

    assert total_s("stack.work.receive=1ms") > total_s() + 0.001
    # It knows every key.
    assert total_s(*(f"stack.work.{name}=1ms" for name in NAMES)) > total_s() + 0.001

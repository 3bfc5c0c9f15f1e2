"""Numbers out of range are told before any work."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import rexmit
from rexmit.errors import UserError


@pytest.mark.parametrize(
    ("name", "arguments", "argument"),
    [
        ("run", {"scenario": "smoke", "engine": "model", "jobs": -1}, "jobs=-1"),
        ("run", {"scenario": "smoke", "engine": "model", "jobs": "2"}, "jobs='2'"),
        ("run", {"scenario": "smoke", "engine": "model", "seed": -1}, "seed=-1"),
        ("synth", {"connections": 0}, "connections=0"),
        ("synth", {"connections": 2.5}, "connections=2.5"),
        ("synth", {"seed": -1}, "seed=-1"),
        ("synth", {"snaplen": 0}, "snaplen=0"),
        ("synth", {"perturb": float("nan")}, "perturb=nan"),
        ("synth", {"perturb": 9}, "perturb=9"),
        ("agree", {"cases": 0}, "cases=0"),
        ("agree", {"cases": 1, "seed": -1}, "seed=-1"),
        ("truth", {"connections": 0}, "connections=0"),
        ("trace", {"files": "x.pcap", "jobs": -1}, "jobs=-1"),
        ("trace", {"files": "x.pcap", "connections_limit": 1}, "connections_limit=1"),
    ],
)
def test_a_number_out_of_range(
    name: str,
    arguments: dict[str, Any],
    argument: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as error:
        getattr(rexmit, name)(**arguments)
    assert str(error.value).startswith(f"`{argument}`")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("which", ["stacks", "receivers"])
def test_no_stack_at_all(which: str, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no stack is named"):
        rexmit.synth(out=tmp_path / "s", **{which: []})
    assert list(tmp_path.iterdir()) == []

"""`rexmit validate` on a cluster: what one machine finds."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

import rexmit
from rexmit.cli import app
from rexmit.engines.model import ModelEngine
from rexmit_validate.agree import kernel
from rexmit_validate.agree.folder import Folder
from rexmit_validate.truth import kernel as parts


def _not_here(*_: object, **__: object) -> None:
    """In the place of what this process does, where workers are to do it."""
    raise AssertionError("it is not done on the cluster")


@pytest.mark.kernel
def test_cases_of_a_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    # Several boots, so that both workers have some; cases of one boot move each other's times.
    monkeypatch.setattr(kernel, "CASES_A_BOOT", 5)
    found = {"alone": rexmit.agree(cases=17, seed=4, keep=tmp_path / "alone", jobs=1)}
    monkeypatch.setattr(kernel, "run", _not_here)
    found["spread"] = rexmit.agree(cases=17, seed=4, keep=tmp_path / "spread", cluster="local:2")
    alone, spread = (Folder(tmp_path / name).outcomes() for name in ("alone", "spread"))
    assert len(alone) == 17
    assert not any("error" in outcome for outcome in alone.values())
    assert spread == alone
    assert found["spread"].rates == found["alone"].rates


@pytest.mark.kernel
def test_a_corpus_of_a_kernel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    words = ["validate", "truth", "--connections", "60", "--seed", "3", "--kinds", "offload"]
    told = {}
    for name, more in (("alone", ["--jobs", "1"]), ("spread", ["--cluster", "local:2"])):
        out = ["--out", str(tmp_path / name), "--json"]
        done = CliRunner().invoke(app, [*words, *more, *out], catch_exceptions=False)
        assert done.exit_code == 0, done.output
        told[name] = json.loads(done.stdout)
        monkeypatch.setattr(parts, "run", _not_here)
    assert told["alone"]["parts"] >= 3

    def files(folder: Path) -> dict[str, bytes]:
        there = sorted(path for path in folder.rglob("*") if path.is_file())
        return {str(path.relative_to(folder)): path.read_bytes() for path in there}

    alone, spread = files(tmp_path / "alone"), files(tmp_path / "spread")
    assert len(alone) > 12
    # Every file, truth.json too: where it was made is no part of it.
    assert spread == alone


def test_benches_of_the_model(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    asked = {"repeat": 1, "settings": ("network=mobile", "config=tlp,er")}
    alone = rexmit.sensitivity("tlp-2013-bench", out=tmp_path / "alone", **asked)
    monkeypatch.setattr(ModelEngine, "run", _not_here)
    spread = rexmit.sensitivity(
        "tlp-2013-bench",
        out=tmp_path / "spread",
        cluster="local:2",
        **asked,
    )
    assert any(one is not None for row in alone.rows for one in row.off_paper)
    assert spread == alone
    told = [
        json.loads((tmp_path / name / "benches.json").read_text()) for name in ("alone", "spread")
    ]
    measured = [{str(one.pop("settings")): one for one in each["benches"]} for each in told]
    assert len(measured[0]) > 10
    assert measured[1] == measured[0]

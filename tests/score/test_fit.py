"""The program that fits confidences: its features are the analysis' own, its weights the best."""

from __future__ import annotations

import re
from importlib.machinery import SourceFileLoader
from importlib.util import module_from_spec, spec_from_loader
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import polars as pl
import pytest
from click.testing import CliRunner

from rexmit.cli import app
from rexmit.tracing.memory import tables
from rexmit_validate.score.corpus import open_corpus
from rexmit_validate.score.reliability import WHAT

SCRIPT = Path(__file__).parents[2] / "scripts" / "fit-confidence"


@pytest.fixture(scope="module")
def program() -> ModuleType:
    """The script as a module."""
    loader = SourceFileLoader("fit_confidence", str(SCRIPT))
    spec = spec_from_loader(loader.name, loader)
    assert spec
    module = module_from_spec(spec)
    loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A hundred connections with their truth."""
    out = tmp_path_factory.mktemp("fit") / "corpus"
    words = ["validate", "synth", "--connections", "100", "--seed", "12", "--out", str(out)]
    result = CliRunner().invoke(app, words, catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return out


def _weights(program: ModuleType, what: str) -> dict[str, float]:
    """The weights in the source by the names of their features."""
    text = program.FITTED.read_text(encoding="utf-8")
    text = text.partition(f"const {what.upper()}: Map")[2].partition("};")[0]
    made: dict[str, float] = {}
    for field, side in (("base", "base"), ("slope", "odds")):
        numbers = re.search(rf"{field}: \[([^\]]*)\]", text)
        assert numbers
        values = map(float, numbers[1].split(","))
        made |= {
            f"place {place} {side}": v for place, v in zip(program.PLACES, values, strict=True)
        }
    shown = re.search(r"shown: \[(\S+), (\S+)\]", text)
    assert shown
    made |= {"shown yes near": float(shown[1]), "shown yes far": float(shown[2])}
    disordered = re.search(r"disordered: \[(\S+), (\S+)\]", text)
    assert disordered
    base, odds = map(float, disordered.groups())
    made |= {"disordered yes base": base, "disordered yes odds": odds}
    for field, name in (("mechanisms", "mechanism"), ("evidence", "evidence")):
        block = text.partition(f"{field}: &[")[2].partition("\n    ],")[0]
        for word, near, far in re.findall(r'\("([a-z-]+)", \[(\S+), (\S+)\]\)', block):
            made |= {f"{name} {word} near": float(near), f"{name} {word} far": float(far)}
    return made


def test_the_analysis_maps_features_as_the_program_does(program: ModuleType, corpus: Path) -> None:
    """The share goes into the same sums as where the weights were fitted."""
    opened = open_corpus(corpus)
    keys = ["flow", "time_ns", "seq_start"]
    columns = [sure for sure, _ in WHAT.values()]
    compared = 0
    for capture in opened.captures:
        told = tables(capture.path).retransmissions.select(*keys, *columns)
        raw = program.of_capture(opened, capture).filter(
            pl.col("mechanism") != "unknown", pl.col("pair").is_null()
        )
        rows = raw.drop("certainty", "need_confidence").join(told, on=keys, suffix="_told")
        rows = rows.rename({"confidence_told": "mechanism_sure"})
        compared += rows.height
        certain = _mapped(program, "retransmission", rows)
        for what, column in (
            ("retransmission", "certainty"),
            ("mechanism", "mechanism_sure"),
            ("need", "need_confidence"),
        ):
            expected = np.minimum(_mapped(program, what, rows), certain)
            if what == "need":
                expected[rows["need"].to_numpy() == "unknown"] = 0.0
            assert np.allclose(expected, rows[column].to_numpy(), atol=1e-6), what
    assert compared > 50


def _mapped(program: ModuleType, what: str, rows: pl.DataFrame) -> np.ndarray[Any, Any]:
    weights = _weights(program, what)
    odds = program.features(rows, list(weights)) @ np.array(list(weights.values()))
    made: np.ndarray[Any, Any] = 1 / (1 + np.exp(-odds))
    return made


def test_the_weights_that_made_the_rows_are_found(program: ModuleType) -> None:
    chance = np.random.default_rng(7)
    n = 40_000
    share = chance.uniform(0.05, 0.999, n)
    place = chance.choice(["sender", "receiver"], n)
    rack = chance.random(n) < 0.5
    odds = np.log(share / (1 - share))
    z = np.where(place == "sender", 0.9, 0.4) * odds - 1.0 * rack * (place == "receiver")
    rows = pl.DataFrame(
        {
            "confidence": share,
            "place": place,
            "mechanism": np.where(rack, "rack", "rto"),
            "evidence": ["timestamp"] * n,
            "shown": chance.choice(["yes", "no"], n),
            "disordered": chance.choice(["yes", "no"], n),
            "right": chance.random(n) < 1 / (1 + np.exp(-z)),
        }
    )
    weights = program.fit(rows, "right")
    assert weights["place sender odds"] == pytest.approx(0.9, abs=0.05)
    assert weights["place receiver odds"] == pytest.approx(0.4, abs=0.05)
    apart = weights["mechanism rack far"] - weights["mechanism rto far"]
    assert apart == pytest.approx(-1.0, abs=0.1)

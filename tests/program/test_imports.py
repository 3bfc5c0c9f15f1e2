"""Commands load what they need: what is heavy is imported by those alone that use it."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.processes import run_command

CAPTURE = Path(__file__).parents[1] / "real/captures/dcerpc.pcap"

HEAVY = {
    "altair",
    "asyncio",
    "click",
    "dask",
    "distributed",
    "duckdb",
    "matplotlib",
    "numpy",
    "obstore",
    "pandas",
    "polars",
    "prometheus_client",
    "pyarrow",
    "pydantic",
    "rexmit.addresses",
    "rexmit.cli.run",
    "rexmit.engines",
    "rexmit.library",
    "rexmit.tracing.points.analyse",
    "rexmit_papers.cli",
    "rexmit_validate.cli",
    "rich",
    "scipy",
    "shlex",
    "sqlite3",
}
"""A tenth of a second of CPU or more each, or what would bring such in; what errors and quoted
commands alone need, and other commands. Click is for command lines."""


@pytest.mark.parametrize(
    ("words", "needs"),
    [
        (["--version"], set()),
        (["--help"], {"click"}),
        (["trace", "--help"], {"click"}),
        (["no-such-command"], {"click"}),
        (["stacks"], {"click", "rexmit.library"}),
        (
            ["trace", str(CAPTURE)],
            {"click", "polars", "rexmit.addresses", "rexmit.library", "rich", "shlex"},
        ),
        (
            ["trace", "--json", str(CAPTURE)],
            {"click", "polars", "rexmit.addresses", "rexmit.library", "shlex"},
        ),
    ],
)
def test_a_command_imports_what_it_needs(words: list[str], needs: set[str]) -> None:
    ran = run_command([sys.executable, "-X", "importtime", "-m", "rexmit", *words])
    lines = ran.stderr.splitlines()
    loaded = {line.rpartition("|")[2].strip() for line in lines if line.startswith("import time:")}
    assert "rexmit.main" in loaded
    assert loaded & HEAVY == needs

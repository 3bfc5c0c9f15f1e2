"""Inputs of figures: small ones as they come, and ones that are hard to draw."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.library.conftest import bursts, capture, new, old, traced
from tests.study.test_study import random_trace

import rexmit
from rexmit_papers.library.study import UncStudy, study

__all__ = ["bursts", "capture", "new", "old", "traced"]

TWO_OF_NONE = 2
"""Connections that were taken for a system that they are not of."""


def studied(folder: Path, names: list[str], connections: int, rfc: int = 0) -> UncStudy:
    """The study of a trace for each name."""
    return study(
        [
            rexmit.trace(
                random_trace(
                    folder / str(place),
                    connections,
                    rfc=rfc if place == 0 else 0,
                    captures=(f"{name}.pcap",),
                )
            )
            for place, name in enumerate(names)
        ]
    )


@pytest.fixture(scope="session")
def four(tmp_path_factory: pytest.TempPathFactory) -> UncStudy:
    """Four traces, among them two connections of no known system."""
    names = ["freebsd-5-unc2007-campus", "linux-2.4-campus", "solaris-10-campus", "windows-campus"]
    return studied(tmp_path_factory.mktemp("four"), names, 100, TWO_OF_NONE)


@pytest.fixture(scope="session")
def eight(tmp_path_factory: pytest.TempPathFactory) -> UncStudy:
    """Eight traces with long names; some too long for a line."""
    names = [f"a-trace-of-a-link-far-away-{'and-longer-' * place}{place}" for place in range(8)]
    return studied(tmp_path_factory.mktemp("eight"), names, 40)

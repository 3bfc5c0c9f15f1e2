"""Scenarios are checked against the stacks of a model that need not be built."""

from __future__ import annotations

import pytest
from tests.campaign import fake_model

from rexmit import stacks


@pytest.fixture(autouse=True)
def _stacks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stacks, "core", lambda: fake_model)

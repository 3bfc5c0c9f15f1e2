"""Two run folders to compare."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest
from tests.show.conftest import make_row, write_folder

Row = dict[str, Any]
WriteRuns = Callable[..., tuple[Path, Path]]


def cell(number: int, times: Iterable[float | None], **values: Any) -> list[Row]:  # noqa: ANN401
    """The transfers of a cell, a time of recovery each, started a millisecond's phase apart."""
    begin = values.pop("phase_s", 0.0)
    return [
        make_row(
            cell=number,
            repetition=repetition,
            phase_s=begin + repetition * 0.001,
            t_recover_s=time,
            t_total_s=None if time is None else time + 0.1,
            **values,
        )
        for repetition, time in enumerate(times)
    ]


@pytest.fixture
def write_runs(tmp_path: Path) -> WriteRuns:
    """Writes run folders A and B; `meta_b` replaces keys of B's run.json."""

    def write(
        a: Iterable[Row], b: Iterable[Row], meta_b: dict[str, Any] | None = None
    ) -> tuple[Path, Path]:
        return (
            write_folder(tmp_path / "A", a),
            write_folder(tmp_path / "B", b, **(meta_b or {})),
        )

    return write

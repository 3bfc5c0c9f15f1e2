"""What a finding is: what it measures, what that depends on, and its tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Final, Literal, TypeAlias

from scripts.findings.results import Data

if TYPE_CHECKING:
    import polars as pl
    from matplotlib.figure import Figure

Tier: TypeAlias = Literal["minutes", "hours"]
TIERS: Final[tuple[Tier, ...]] = ("minutes", "hours")

LARGE_BYTES: Final = 150_000
"""A figure that is larger is kept as pixels."""


@dataclass
class Work:
    """Where a finding measures. `folder` keeps what was measured of the same code before, so that
    an interrupted measurement goes on; `documents` is the folder of what documents show.
    """

    folder: Path
    documents: Path
    say: Callable[[str], None]
    kernels: set[str] = field(default_factory=set)  #: that ran
    made: list[Path] = field(default_factory=list)  #: figures and long tables

    def draw(self, name: str, figure: Figure) -> None:
        """Keeps a figure as figures/NAME.svg in place of what was there; as NAME.png where it has
        so many points that it would be large.
        """
        from rexmit import save_figures

        folder = self.documents / "figures"
        (file,) = save_figures({name: figure}, folder, formats=["svg"])
        if file.stat().st_size > LARGE_BYTES:
            file.unlink()
            (file,) = save_figures({name: figure}, folder, formats=["png"])
        self.made.append(file)

    def table(self, name: str, rows: pl.DataFrame) -> None:
        """Keeps a long table as results/NAME.csv in place of what was there."""
        from rexmit.store.files import write_text

        file = self.documents / "results" / f"{name}.csv"
        file.parent.mkdir(parents=True, exist_ok=True)
        write_text(file, rows.write_csv(float_precision=4))
        self.made.append(file)


@dataclass(frozen=True)
class Finding:
    """A result file: `docs/findings/results/NAME.json`.

    `code` are patterns of the files that the numbers depend on. `tables` are Markdown made of the
    data, by the name that documents use.

    `sample` measures, in a minute at most, a small part of what `measure` does, and gives digests
    of what came out by what was run. Where later code gives the same, its numbers are taken to be
    the same: runs are repeatable, and a part of a grid gives the same as the whole does.
    """

    name: str
    tier: Tier
    code: tuple[str, ...]
    measure: Callable[[Work], Data]
    tables: Mapping[str, Callable[[Data], str]]
    sample: Callable[[Work], Mapping[str, str]] | None = None

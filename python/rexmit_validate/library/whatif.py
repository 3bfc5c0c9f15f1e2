"""What-if predictions held against transfers really run."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike
from pathlib import Path

from rexmit import stacks
from rexmit.errors import UserError, argument
from rexmit.options import given, takes
from rexmit.progress import Hear, heard
from rexmit.whatif.calibration import Calibration
from rexmit.whatif.settings import expanded
from rexmit_validate.whatif.calibrate import calibrate
from rexmit_validate.whatif.transfers import KERNEL_SETTINGS, Base, usual


@dataclass(frozen=True, slots=True, kw_only=True)
class Check:
    """Which predictions are checked, and what runs the transfers. Raises UserError (usage)."""

    stack: str | None = None
    settings: Sequence[str] = ()
    engine: str = "model"
    kernel: str | None = None
    seed: int = 1
    jobs: int | None = None

    def __post_init__(self) -> None:
        engine = self.engine
        if engine not in ("model", "kernel"):
            raise UserError(f"there is no engine {engine}", "engines: model, kernel", usage=True)
        for name, owner in (("kernel", "kernel"), ("stack", "model")):
            if getattr(self, name) is not None and engine != owner:
                raise UserError(
                    f"{argument(name)} belongs to {argument('engine', owner)}", usage=True
                )

    def bases(self) -> Sequence[Base]:
        """The senders."""
        settings = tuple(self.settings)
        if self.engine == "kernel":
            return [Base("kernel", settings or KERNEL_SETTINGS)]
        if self.stack is None:
            return usual(None, settings or ("default",))
        name = stacks.known(self.stack)
        return [Base(name, expanded(settings))] if settings else usual(name)


@takes(Check)
def check_whatif(
    asked: Check | None = None,
    *,
    out: str | PathLike[str] | None = None,
    progress: Hear = None,
    **keywords: object,
) -> Calibration:
    """Runs transfers, predicts from their captures what a setting changes, runs the same transfers
    with that setting, and says how far the predictions were off.

    `settings` are written as "k=2" or "no-tlp", "default" are those that `trace` replays, "grid"
    UNC 2007's 720; the former where there is none. `engine` is "model" (with one `stack`, or every
    one, each under those of the settings that make it another), or "kernel" (with `kernel`, by
    name). A check of the usual settings on all stacks of the model is kept, and `page` has its
    errors beside its predictions; without one it has those that came with the package. `out` keeps
    captures and check.parquet. `progress` counts senders.

    The answer's `rows` have, for each sender and setting, the number of transfers `n` that it
    changes or was predicted to, the `median` and `p95` of the errors, shares of the transfer's
    duration, and the share of `wrong` signs; of the grid they are of all senders. Raises UserError.
    """
    asked = given(asked, Check, keywords)
    is_model = asked.engine == "model"
    return calibrate(
        asked.bases(),
        seed=asked.seed,
        jobs=asked.jobs,
        out=None if out is None else Path(out),
        kernel=None if is_model else asked.kernel or "",
        keep=asked.stack is None and not asked.settings and is_model,
        progress=heard(progress, "senders"),
    )

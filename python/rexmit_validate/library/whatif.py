"""What-if predictions held against transfers really run."""

from __future__ import annotations

from collections.abc import Sequence
from os import PathLike
from pathlib import Path

from rexmit import stacks
from rexmit.errors import UserError, argument
from rexmit.progress import Hear, heard
from rexmit.whatif.calibration import Calibration
from rexmit.whatif.settings import expanded
from rexmit_validate.whatif.calibrate import calibrate
from rexmit_validate.whatif.transfers import KERNEL_SETTINGS, Base, usual


def check_whatif(
    *,
    stack: str | None = None,
    settings: Sequence[str] = (),
    engine: str = "model",
    kernel: str | None = None,
    seed: int = 1,
    jobs: int | None = None,
    out: str | PathLike[str] | None = None,
    progress: Hear = None,
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
    if engine not in ("model", "kernel"):
        raise UserError(f"there is no engine {engine}", "engines: model, kernel", usage=True)
    for name, value, owner in (("kernel", kernel, "kernel"), ("stack", stack, "model")):
        if value is not None and engine != owner:
            raise UserError(f"{argument(name)} belongs to {argument('engine', owner)}", usage=True)
    return calibrate(
        _bases(stack, tuple(settings), engine),
        seed=seed,
        jobs=jobs,
        out=None if out is None else Path(out),
        kernel=(kernel or "") if engine == "kernel" else None,
        keep=stack is None and not settings and engine == "model",
        progress=heard(progress, "senders"),
    )


def _bases(stack: str | None, settings: tuple[str, ...], engine: str) -> Sequence[Base]:
    if engine == "kernel":
        return [Base("kernel", settings or KERNEL_SETTINGS)]
    if stack is None:
        return usual(None, settings or ("default",))
    name = stacks.known(stack)
    return [Base(name, expanded(settings))] if settings else usual(name)

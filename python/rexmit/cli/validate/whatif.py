"""`rexmit validate whatif`: what-if predictions held against transfers really run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rexmit.cli.limits import MOST_JOBS
from rexmit.errors import UserError
from rexmit.version import version

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rexmit.validate.whatif.transfers import Base

EXAMPLES = """\
Examples:

\b
  rexmit validate whatif                                  every usual setting, on five stacks
  rexmit validate whatif --stack linux-2.4 --setting k=2,min_rto=100ms
  rexmit validate whatif --engine kernel --kernel 6.12    on a real kernel, what it has of them
"""


def whatif(
    stack: Annotated[
        str | None,
        typer.Option(
            "--stack", metavar="STACK", help="One stack of the model, as `rexmit stacks` lists it."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--setting", metavar="SETTING", help="What to change, as k=2 or no-tlp. Repeatable."
        ),
    ] = None,
    engine: Annotated[
        str,
        typer.Option(metavar="model|kernel", help="What runs the transfers."),
    ] = "model",
    kernel: Annotated[
        str | None,
        typer.Option(
            metavar="KERNEL",
            help="6.1, 6.12, 6.12@HZ, 6.12+PATCH, or a name of `rexmit kernel list`.",
        ),
    ] = None,
    seed: Annotated[int, typer.Option(min=0, max=2**63 - 1, help="Of the transfers.")] = 1,
    jobs: Annotated[
        int | None, typer.Option("--jobs", "-j", min=1, max=MOST_JOBS, help="Cells at a time.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            help="Keep the runs with their captures, and check.parquet, in this folder.",
        ),
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the errors as JSON.")] = False,
) -> None:
    """Check what-if: run transfers, predict from their captures what a setting changes, run the
    same transfers with that setting, and say how far the predictions were off.

    The transfers differ in round trip, size and in which packets are lost; under each setting the
    same packets are lost. A check of every usual setting is kept, and `rexmit trace` prints its
    errors beside its predictions.
    """
    if engine not in ("model", "kernel"):
        raise UserError(f"there is no engine {engine}", "engines: model, kernel", usage=True)
    if kernel is not None and engine != "kernel":
        raise UserError("--kernel belongs to --engine kernel", usage=True)
    if stack is not None and engine != "model":
        raise UserError("--stack belongs to --engine model", usage=True)
    import json

    made = calibrate(
        _bases(stack, settings or [], engine),
        seed=seed,
        jobs=jobs,
        out=out,
        kernel=(kernel or "") if engine == "kernel" else None,
        keep=stack is None and not settings and engine == "model",
    )
    if as_json:
        typer.echo(json.dumps(made, indent=2))
    else:
        _print(made["rows"])


def _bases(stack: str | None, settings: list[str], engine: str) -> Sequence[Base]:
    from rexmit import stacks
    from rexmit.validate.whatif.transfers import BASES, KERNEL_SETTINGS, Base

    if engine == "kernel":
        return [Base("kernel", tuple(settings) or KERNEL_SETTINGS)]
    if stack is None and not settings:
        return BASES
    name = stack or stacks.DEFAULT
    usual = [base for base in BASES if base.stack == name]
    if not settings:
        return usual or [Base(name, BASES[2].settings)]
    return [Base(name, tuple(settings))]


def calibrate(
    bases: Sequence[Base],
    *,
    seed: int,
    jobs: int | None,
    out: Path | None,
    kernel: str | None,
    keep: bool,
) -> dict[str, Any]:
    """Runs the check, and with `keep` keeps its errors for `rexmit trace`."""
    from dataclasses import asdict
    from datetime import UTC, datetime

    import polars as pl

    from rexmit.engines.engine import cores
    from rexmit.store.files import scratch_folder, whole_file
    from rexmit.validate.whatif.check import check, errors
    from rexmit.whatif.calibration import Calibration, save

    with scratch_folder() as scratch:
        root = out or scratch
        rows = pl.concat(
            check(base, root / f"{number}", seed=seed, kernel=kernel, jobs=jobs or len(cores()))
            for number, base in enumerate(bases)
        )
        if out is not None:
            with whole_file(out / "check.parquet") as file:
                rows.write_parquet(file)
    calibration = Calibration(
        made=datetime.now(UTC).isoformat(timespec="seconds"),
        program=version(),
        engine="model" if kernel is None else "kernel",
        seed=seed,
        rows=errors(rows),
    )
    if keep:
        save(calibration)
    return asdict(calibration)


def _print(rows: Sequence[dict[str, Any]]) -> None:
    from rexmit.present.terminal import console, say

    shown = console()
    base = None
    for row in rows:
        if row["base"] != base:
            base = row["base"]
            say(shown, f"\n{base}", "bold")
            say(
                shown,
                f"  {'setting':<16}{'transfers':>10}{'predicted':>12}{'really':>12}"
                f"{'off: median':>14}{'p95':>8}",
            )
        say(
            shown,
            f"  {row['setting']:<16}{row['n']:>10}{row['predicted_s']:>+10.4f} s"
            f"{row['actual_s']:>+10.4f} s{row['median']:>13.1%}{row['p95']:>9.1%}",
        )
    say(
        shown,
        "\nTransfers that the setting changes or was predicted to change; mean changes of their "
        "durations, and how far predictions were off, in parts of the duration.",
    )

"""Flow K of a run: the row of its transfer and the steps of its captures."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rexmit import escaping
from rexmit.analysis.axes import AxisGroup, groups, with_axes
from rexmit.errors import UserError, argument
from rexmit.ladder.match import match
from rexmit.ladder.packets import read
from rexmit.ladder.steps import Step, steps
from rexmit.store.open_run import Run


@dataclass(frozen=True)
class Flow:
    """`row` is the transfer's row by column names, `group` what its cell varies beside network,
    configuration and losses.
    """

    number: int
    row: dict[str, Any]
    group: AxisGroup
    steps: tuple[Step, ...]


def captures(run: Run, number: int) -> tuple[Path, Path]:
    """The captures of the transfer at the server and at the client. Raises UserError for a number
    without a row, and a run without captures.
    """
    last = run.transfers.height - 1
    if not 0 <= number <= last:
        raise UserError(
            f"{run.path}: no flow {number}",
            f"the run has {last + 1} transfers: K is 0..{last}, the row of transfers.parquet",
        )
    row = run.transfers.row(number, named=True)
    name = f"{row['cell']}-{row['repetition']}"
    server, client = (run.path / "captures" / f"{name}.{host}.pcapng" for host in ("h1", "h2"))
    missing = [file for file in (server, client) if not file.is_file()]
    if missing:
        raise _without(run, number, [f"{file} is not there" for file in missing])
    return server, client


def open_flow(run: Run, number: int) -> Flow:
    """Raises UserError for a number without a row, a run without captures, unreadable ones."""
    files = captures(run, number)
    row = run.transfers.row(number, named=True)
    port = row["client_port"]
    if port is None:
        raise UserError(
            f"{run.path}: flow {number} has no client port: its connection was never made",
            row["note"] or "choose another transfer",
        )
    at_server, at_client = (read(file, int(port)) for file in files)
    drawn = steps(match(at_server, at_client), row["isn_server"], row["isn_client"])
    if not drawn:
        raise UserError(
            f"{files[0]}: no packet of the client's port {port}",
            f"the captures are not of this run; repeat it with {argument('capture')}",
        )
    return Flow(number, row, group_of(run, number), tuple(drawn))


def group_of(run: Run, number: int) -> AxisGroup:
    """What the transfer's cell varies beside network, configuration and losses."""
    frame = with_axes(run.transfers)
    here = frame[number : number + 1]
    return next(group for group in groups(frame) if here.filter(group.filter()).height)


def _without(run: Run, number: int, missing: list[str]) -> UserError:
    if (run.path / "captures").is_dir():
        return UserError(f"{run.path}: no capture of flow {number}", ["repeat the run", *missing])
    command = run.command or "rexmit run SCENARIO"
    folder = escaping.shell_word(f"{run.path}-captured")
    return UserError(
        f"{run.path}: the run kept no captures, so flow {number} cannot be shown",
        [
            f"repeat it with {argument('capture')}, into another folder:",
            f"  {command} --capture --out {folder}",
        ],
    )

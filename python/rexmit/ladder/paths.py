"""Flow K of a run with bursts over paths: the packets of each subflow, by one clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import polars as pl

from rexmit.errors import UserError, argument
from rexmit.ladder.flow import Flow, captures, group_of
from rexmit.ladder.match import match
from rexmit.ladder.packets import read_subflows
from rexmit.ladder.steps import Step, steps
from rexmit.store.open_run import Run


@dataclass(frozen=True)
class Subflow:
    """The packets of one path; times count from the connection's first packet."""

    path: int  #: from 1
    client: str  #: the client's address and port
    steps: tuple[Step, ...]


@dataclass(frozen=True)
class PathFlow:
    """A connection, path by path. `flow` has the packets of all paths in order of being sent;
    `bursts` are the times of the bursts' first writes, ns since the first packet.
    """

    flow: Flow
    subflows: tuple[Subflow, ...]
    bursts: tuple[int, ...]
    paths: Mapping[int, int]  #: the path that a packet took, by the identity of its step

    @property
    def number(self) -> int:
        """See Flow."""
        return self.flow.number

    @property
    def row(self) -> dict[str, Any]:
        """See Flow."""
        return self.flow.row

    @property
    def steps(self) -> tuple[Step, ...]:
        """See Flow."""
        return self.flow.steps

    def path_of(self, step: Step) -> int:
        """The path that the step's packet took."""
        return self.paths[id(step)]


def open_path_flow(run: Run, number: int) -> PathFlow:
    """Raises UserError for a number without a row, a run without captures, unreadable ones."""
    files = captures(run, number)
    row = run.transfers.row(number, named=True)
    if not row["subflows"]:
        raise UserError(
            f"{run.path}: flow {number} has no subflow: its connection never came up",
            row["note"] or "choose another transfer",
        )
    mine = (pl.col("cell") == row["cell"]) & (pl.col("repetition") == row["repetition"])
    rows = run.subflows().filter(mine).sort("path").to_dicts()
    ports = [int(one["client_port"]) for one in rows]
    at_server, at_client = (read_subflows(file, ports) for file in files)
    if not at_server and not at_client:
        raise UserError(
            f"{files[0]}: no packet of the client's ports {', '.join(map(str, ports))}",
            f"the captures are not of this run; repeat it with {argument('capture')}",
        )
    # Addresses of one port in the order of paths, should two subflows have the same.
    clients = sorted({*at_server, *at_client})
    passages = {}
    for one in rows:
        client = next(c for c in clients if c[1] == one["client_port"] and c not in passages)
        passages[client] = match(at_server.get(client, []), at_client.get(client, []))
    start = min(passage.order_ns for some in passages.values() for passage in some)
    subflows = tuple(
        Subflow(one["path"], f"{client[0]}:{client[1]}", tuple(steps(some, None, None, start)))
        for one, (client, some) in zip(rows, passages.items(), strict=True)
    )
    every = sorted((step for one in subflows for step in one.steps), key=_order)
    # A page is one burst, and has no table of its own.
    bursts = [row["t_start_s"]]
    if (run.path / "bursts.parquet").exists():
        bursts = run.bursts().filter(mine).sort("burst")["t_start_s"].to_list()
    return PathFlow(
        Flow(number, row, group_of(run, number), tuple(every)),
        subflows,
        tuple(round(at * 1e9) - start for at in bursts if at is not None),
        {id(step): one.path for one in subflows for step in one.steps},
    )


def _order(step: Step) -> int:
    at = step.sent_ns if step.sent_ns is not None else step.arrived_ns
    return at if at is not None else 0

"""The part of a page that is about a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from rexmit.analysis.bursts import cases, has_bursts
from rexmit.analysis.overview import overview
from rexmit.analysis.repairs import repairs
from rexmit.analysis.times import times
from rexmit.errors import UserError
from rexmit.ladder.flow import open_flow
from rexmit.ladder.paths import open_path_flow
from rexmit.ladder.render import summary, title
from rexmit.ladder.steps import Step
from rexmit.present.bursts import case_blocks
from rexmit.present.overview import command_blocks, overview_blocks
from rexmit.present.repairs import repair_blocks
from rexmit.present.times import time_blocks
from rexmit.result.blocks import PAGE, Paragraph
from rexmit.store.open_run import Run
from rexmit.webpage import choose, commands, packets
from rexmit.webpage.figures import figures
from rexmit.webpage.part import Opens, Packets, Part, Section, Table, meanings


def part(
    run: Run, *, transfers: Sequence[int] | None, limit: int, besides: Sequence[int] = ()
) -> Part:
    """A run's tables, its figures, and packets of some transfers where it kept
    captures: those named, else those that recovered slowest, up to `limit` packets, and those
    `besides`. Raises UserError.
    """
    choice = _choice(run, transfers, limit)
    numbers = [*choice.numbers, *(n for n in besides if n not in choice.numbers)]
    there = (run.path / "captures").is_dir()
    drawn = [one for number in numbers for one in _packets(run, number)] if there else []
    return Part(
        kind="run",
        name=str(run.path),
        names=[str(run.path)],
        sections=list(_sections(run)),
        tables=_tables(run),
        figures=figures(run),
        view="transfer",
        packets=drawn,
        rule=choice.rule if there else f"This file has no packets: {_no_captures(run)}.",
        missing=commands.for_any([str(run.path)]) if there else "",
    )


def _no_captures(run: Run) -> str:
    return f"the run kept no captures; {run.command or 'rexmit run'} --capture keeps them"


def _sections(run: Run) -> Iterator[Section]:
    view, show = overview(run), commands.command("show", run.path)
    yield Section("Overview", [*overview_blocks(view), *command_blocks(view)], show)
    if has_bursts(run):
        yield Section("Completion times", list(case_blocks(cases(run))), show)
        return
    yield Section("Times", list(time_blocks(times(run), PAGE)), show)
    try:
        blocks = list(repair_blocks(repairs(run), PAGE))
    except UserError as error:
        # A run without losses.
        blocks = [Paragraph(error.what)]
    yield Section("Repairs", blocks, commands.command("show", run.path, "--repairs"))


def _tables(run: Run) -> list[Table]:
    numbered = run.transfers.with_row_index("number").with_columns(pl.col("number").cast(pl.Int64))
    empty = [name for name in numbered.columns if numbered[name].null_count() == numbered.height]
    others = {"retransmissions": run.retransmissions()}
    if has_bursts(run):
        others |= {"bursts": run.bursts(), "subflows": run.subflows()}
    of, on = numbered.select("number", "cell", "repetition"), ["cell", "repetition"]
    joined = {
        name: frame.join(of, on=on, how="left", maintain_order="left").select(
            "number", pl.exclude("number")
        )
        for name, frame in others.items()
        if frame.height
    }
    own = {"number": ("", "row of transfers.parquet: --flow K of `rexmit show`")}
    return [
        Table(
            name,
            name.capitalize(),
            frame,
            commands.report([str(run.path)], "--table", name),
            own | meanings("run", name),
            "number",
            Opens("transfer", "number"),
        )
        for name, frame in {"transfers": numbered.drop(empty), **joined}.items()
    ]


def _choice(run: Run, transfers: Sequence[int] | None, limit: int) -> choose.Choice:
    every = run.transfers.height
    if transfers is not None:
        lost = [number for number in transfers if not 0 <= number < every]
        if lost:
            raise UserError(
                f"--connections {lost[0]}: the run has no such transfer",
                f"numbers are rows of transfers.parquet, 0 to {every - 1}",
                usage=True,
            )
        return choose.named(transfers, every=every, noun="transfer")
    # Each segment, about as many acknowledgements, opening and closing; at both ends one packet.
    size = (pl.col("transfer_segments") * 2 + pl.col("retransmissions") * 2 + 10).alias("packets")
    ranked = (
        run.transfers.with_row_index("number")
        .filter(pl.col("client_port").is_not_null())
        .sort(
            ["t_recover_s", "retransmissions", "number"],
            descending=[True, True, False],
            nulls_last=True,
        )
        .select("number", size)
    )
    return choose.choose(
        ranked.iter_rows(),
        every=every,
        limit=limit,
        order="those whose first retransmission came latest first (t_recover)",
        noun="transfer",
    )


def _packets(run: Run, number: int) -> Iterator[Packets]:
    row = run.transfers.row(number, named=True)
    if row["client_port"] is None:
        return
    if row["subflows"] is None:
        flow = open_flow(run, number)
        yield _drawn(run, str(number), title(flow), [summary(flow)], flow.steps, _timers(row))
        return
    if not row["subflows"]:
        return
    several = open_path_flow(run, number)
    for one in several.subflows:
        name = f"{title(several.flow)}, path {one.path}"
        facts = [summary(several.flow), f"path {one.path}: subflow of {one.client}"]
        yield _drawn(run, f"{number}.{one.path}", name, facts, one.steps, [])


def _timers(row: dict[str, object]) -> list[tuple[str, float]]:
    """What the sender itself had at the first drop."""
    known = (("smoothed round trip", "srtt_s"), ("retransmission timeout", "rto_s"))
    return [(words, float(str(row[name]))) for words, name in known if row[name] is not None]


def _drawn(
    run: Run,
    key: str,
    name: str,
    facts: list[str],
    steps: Sequence[Step],
    own: Sequence[tuple[str, float]],
) -> Packets:
    lines = [
        f"the sender's own {words} at the first drop: {value * 1e3:.1f} ms" for words, value in own
    ]
    drawn = packets.Drawn(
        steps,
        data_from_server=True,
        words=lambda number: _words(steps[number]),
    )
    about = packets.about(
        name,
        [*facts, *lines],
        drawn,
        commands.command("show", run.path, "--flow", key.partition(".")[0], "--all"),
        client="client h2",
        server="server h1",
        start_s=None,
        ends=["h2", "h1"],
    )
    return Packets(key, about, packets.tables(drawn))


def _words(step: Step) -> str:
    spurious = ", spurious" if step.need == "spurious" else ""
    return f"{step.mechanism}{spurious}, by the sender's own record"

"""The part of a page that is about a run."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import polars as pl

from rexmit.analysis.bursts import cases, has_bursts
from rexmit.analysis.overview import overview
from rexmit.errors import UserError
from rexmit.ladder.flow import open_flow
from rexmit.ladder.paths import open_path_flow
from rexmit.ladder.render import summary, title
from rexmit.ladder.steps import Step
from rexmit.papers.print_claims import print_claims
from rexmit.papers.probe_or_wait_2017 import claims as probe_or_wait_2017
from rexmit.papers.probe_or_wait_2017.paper import LOSSES
from rexmit.papers.ryll_2013 import claims as ryll_2013
from rexmit.papers.ryll_2013.print_table1 import print_table1
from rexmit.papers.ryll_2013.print_table4 import print_table4
from rexmit.papers.ryll_2013.table1 import table1
from rexmit.papers.ryll_2013.table4 import table4
from rexmit.present.blocks import Recorder
from rexmit.present.print_bursts import print_cases
from rexmit.present.print_overview import print_command, print_overview
from rexmit.store.open_run import Run
from rexmit.store.schema import declared
from rexmit.webpage import choose, commands, packets
from rexmit.webpage.figures import figures
from rexmit.webpage.part import Opens, Packets, Part, Section, Table


def part(
    run: Run, *, transfers: Sequence[int] | None, limit: int, besides: Sequence[int] = ()
) -> Part:
    """A run's tables beside the paper's, its figures, and packets of some transfers where it kept
    captures: those named, else those that recovered slowest, up to `limit` packets, and those
    `besides`. Raises UserError.
    """
    choice = _choice(run, transfers, limit)
    numbers = [*choice.numbers, *(n for n in besides if n not in choice.numbers)]
    there = (run.path / "captures").is_dir()
    found = [one for number in numbers for one in _packets(run, number)] if there else []
    return Part(
        kind="run",
        name=str(run.path),
        names=[str(run.path)],
        sections=list(_sections(run)),
        tables=_tables(run),
        figures=figures(run),
        view="transfer",
        packets=found,
        rule=choice.rule if there else f"This file has no packets: {_no_captures(run)}.",
        missing=commands.for_any([str(run.path)]) if there else "",
    )


def _no_captures(run: Run) -> str:
    return f"the run kept no captures; {run.command or 'rexmit run'} --capture keeps them"


def _sections(run: Run) -> Iterator[Section]:
    out, view = Recorder(), overview(run)
    print_overview(view, out)
    print_command(view, out)
    yield Section("Overview", out.blocks, commands.command("show", run.path))
    if has_bursts(run):
        out = Recorder()
        print_cases(cases(run, keep_inexact=False), out, LOSSES)
        yield Section("Completion times", out.blocks, commands.command("show", run.path))
    else:
        yield from _tables_of_2013(run)
    out = Recorder()
    make, source = (
        (probe_or_wait_2017.claims, probe_or_wait_2017.SOURCE)
        if has_bursts(run)
        else (ryll_2013.claims, ryll_2013.SOURCE)
    )
    try:
        found = tuple(make(run, keep_inexact=False))
    except UserError:
        # A run of somebody's own, about which the paper says nothing.
        return
    print_claims(found, out, source)
    yield Section("Claims", out.blocks, commands.command("show", run.path, "--claims"))


def _tables_of_2013(run: Run) -> Iterator[Section]:
    for name, option in (("Table 4", "--table4"), ("Table 1", "--table1")):
        out = Recorder()
        try:
            if option == "--table4":
                print_table4(table4(run, None, keep_inexact=False), out, in_full=True)
            else:
                print_table1(table1(run, None, keep_inexact=False), out)
        except UserError as error:
            # A run without losses, or without the configuration that the table is about.
            out.print(error.what)
        yield Section(name, out.blocks, commands.command("show", run.path, option))


def _tables(run: Run) -> list[Table]:
    numbered = run.transfers.with_row_index("number").with_columns(pl.col("number").cast(pl.Int64))
    opens = Opens("transfer", "number")
    empty = [name for name in numbered.columns if numbered[name].null_count() == numbered.height]
    made = [
        Table(
            "transfers",
            "Transfers",
            numbered.drop(empty),
            commands.report([str(run.path)], "--table", "transfers"),
            _about("transfers"),
            "number",
            opens,
        )
    ]
    of = numbered.select("number", "cell", "repetition")
    others = [("retransmissions", "Retransmissions", run.retransmissions())]
    if has_bursts(run):
        others += [("bursts", "Bursts", run.bursts()), ("subflows", "Subflows", run.subflows())]
    for name, words, frame in others:
        joined = frame.join(of, on=["cell", "repetition"], how="left", maintain_order="left")
        if joined.height:
            made.append(
                Table(
                    name,
                    words,
                    joined.select("number", pl.exclude("number")),
                    commands.report([str(run.path)], "--table", name),
                    _about(name),
                    "number",
                    opens,
                )
            )
    return made


def _about(table: str) -> dict[str, tuple[str, str]]:
    columns = declared("run")[table].columns
    own = {"number": ("", "row of transfers.parquet: --flow K of `rexmit show`")}
    return own | {column.name: (column.unit or "", column.meaning) for column in columns}


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
        told = [summary(several.flow), f"path {one.path}: subflow of {one.client}"]
        yield _drawn(run, f"{number}.{one.path}", name, told, one.steps, [])


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
    told = [
        f"the sender's own {words} at the first drop: {value * 1e3:.1f} ms" for words, value in own
    ]
    drawn = packets.Drawn(
        steps,
        data_from_server=True,
        words=lambda number: _words(steps[number]),
    )
    about = packets.about(
        name,
        [*facts, *told],
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

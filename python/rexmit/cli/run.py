"""`rexmit run`: a campaign from a scenario file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rexmit import outputs
from rexmit.cli import completion
from rexmit.cli.front import Argument, Option
from rexmit.cli.html import Html
from rexmit.cli.html import write as write_page
from rexmit.cli.limits import (
    MOST_JOBS,
    ClusterCa,
    ClusterCert,
    ClusterKey,
    OnCluster,
    OnKernel,
    ScenarioSettings,
    on_cluster,
)
from rexmit.errors import EXIT_FAILED, EXIT_SPLAT
from rexmit.options import as_typed, typed

if TYPE_CHECKING:
    from rexmit.library.run import Campaign


@dataclass(frozen=True, slots=True, kw_only=True)
class RunOptions:
    """The scenario, and options in the order in which `--help` has them."""

    scenario: Annotated[
        str,
        Argument(
            metavar="SCENARIO",
            help="A scenario, by its name or its file, or the run.json of a run to repeat.",
            autocompletion=completion.scenarios,
        ),
    ]
    engine: Annotated[
        str,
        Option(
            metavar="kernel|model|live",
            help="What runs the transfers: a real kernel in virtual time, the model, or this "
            "machine's own kernel in real time.",
            autocompletion=completion.engines,
        ),
    ] = "kernel"
    kernel: OnKernel = None
    stack: Annotated[
        str | None,
        Option(
            metavar="STACK",
            help="With the model: the TCP stack of both hosts, as `rexmit stacks` lists them. "
            "Default: the scenario's, else the newest, linux-6.12.",
            autocompletion=completion.stacks,
        ),
    ] = None
    hz: Annotated[
        int | None,
        Option(
            "--hz",
            metavar="HZ",
            min=1,
            help="With the model: timer ticks per second. Default: the scenario's, else the "
            "stack's.",
        ),
    ] = None
    seed: Annotated[
        int | None,
        Option(min=0, max=2**64 - 1, help="Seed of the random numbers, instead of the scenario's."),
    ] = None
    seeds: Annotated[
        str | None,
        Option(
            metavar="A..B",
            help="Several seeds, such as 1..10: run the whole grid with each of them, and pool the "
            "transfers.",
            show_default=False,
        ),
    ] = None
    until: Annotated[
        str | None,
        Option(
            metavar="SHARE",
            help="Add seed after seed until half of the 95 % interval of t_total's mean is within "
            "this share of the mean (2%) in every cell; at most those of --seeds, or 100.",
            show_default=False,
        ),
    ] = None
    jobs: Annotated[
        int | None,
        Option(
            "--jobs",
            "-j",
            min=1,
            max=MOST_JOBS,
            help="Cells that run at the same time. Default: one per core.",
        ),
    ] = None
    settings: ScenarioSettings = None
    out: Annotated[
        Path | None,
        Option(metavar="DIR", help="Folder for the run. Default: a new one in runs/."),
    ] = None
    capture: Annotated[bool, Option("--capture", help="Keep pcapng captures of both hosts.")] = (
        False
    )
    hang_limit: Annotated[
        float | None,
        Option(
            metavar="S",
            min=1,
            help="With kernels: a cell fails if its kernel reports nothing for this many seconds "
            "of real time. Default: 60.",
        ),
    ] = None
    cluster: OnCluster = None
    cluster_ca: ClusterCa = None
    cluster_cert: ClusterCert = None
    cluster_key: ClusterKey = None
    baseline: Annotated[
        Path | None,
        Option(
            "--baseline",
            metavar="FILE",
            help="Write there, too, what `rexmit diff` compares of the finished run: a small file "
            "of text, to commit.",
            show_default=False,
        ),
    ] = None
    html: Html = None
    as_json: Annotated[
        bool, Option("--json", help="Print the finished run as JSON on standard output.")
    ] = False

    def campaign(self) -> Campaign:
        """How the scenario is run. Raises UserError."""
        from rexmit.library.run import Campaign

        return as_typed(
            Campaign,
            self,
            settings=self.settings or (),
            hang_limit_s=self.hang_limit,
            cluster=on_cluster(self.cluster, self.cluster_ca, self.cluster_cert, self.cluster_key),
        )


@typed(RunOptions)
def run(options: RunOptions) -> None:
    """Run a campaign: every transfer of a scenario, on a real kernel in virtual time or in the
    model.

    A run that was interrupted goes on where it stopped when the same command is given again. Rows
    depend on scenario, seed and kernel (or stack) alone, never on --jobs or interruptions.

    Exit status: 0; 1 where a cell failed; 3 where it failed because the kernel warned of a defect
    of its own; 2 wrong usage.

    Examples:

    \b
      rexmit run smoke
      rexmit run smoke --set network=mobile --set config=tlp,er \\
        --set loss.segments=0..20 --set repeat=10
      rexmit run smoke --kernel 6.1 --seed 7 --out runs/on-6.1
      rexmit run smoke --engine model --stack linux-3.10
      rexmit run smoke --engine model --cluster local:8
      rexmit run smoke --engine model --set stack.min_rto=100ms
    """
    # Heavy imports wait until the command line is known to be right.
    import sys

    from rexmit.interrupt import Interrupted
    from rexmit.library.run import prepare
    from rexmit.progress import for_stream

    progress = for_stream(sys.stderr, "transfers")
    prepared = prepare(options.scenario, options.campaign(), progress, options.out)
    for line in prepared.left_out:
        outputs.say(f"rexmit: {line}")
    campaign = prepared.campaign
    try:
        meta = prepared.run()
    except Interrupted as stopped:
        transfers = f"{campaign.totals.transfers:,} transfers"
        stopped.what = f"stopped; {transfers} are kept in {prepared.out}"
        stopped.hint = f"to go on: {prepared.again}"
        raise
    if campaign.was_complete:
        outputs.note(f"{prepared.out} is complete already: nothing to do")
    _report(prepared.out, meta, as_json=options.as_json)
    if options.baseline is not None and meta["transfers"]:
        from rexmit.library.opened import open_run
        from rexmit.store.baseline import write_baseline

        write_baseline(open_run(prepared.out), options.baseline)
        outputs.note(f"baseline: {options.baseline}")
    if options.html is not None and meta["transfers"]:
        from rexmit.library.opened import open_run

        write_page([open_run(prepared.out)], options.html, as_json=options.as_json)
    if failed := meta["failed_cells"]:
        splat = any(cell["splat"] for cell in failed)
        raise SystemExit(EXIT_SPLAT if splat else EXIT_FAILED)


def _report(out: Path, meta: dict[str, Any], *, as_json: bool) -> None:
    """Say what there is now: one JSON object on standard output, or words."""
    import json

    from rexmit import escaping
    from rexmit.analysis.runner import runner
    from rexmit.wording import duration

    if as_json:
        outputs.lines(json.dumps({"run": str(out), **meta}, ensure_ascii=False))
        return
    folder = escaping.shell_word(str(out))
    failed = meta["failed_cells"]
    size = f"{meta['transfers']:,} transfers, {duration(meta['virtual_s'])} of {runner(meta).clock}"
    outputs.line(f"{out}: {size} in {duration(meta['wall_s'])}")
    if failed:
        by_message: dict[str, list[dict[str, Any]]] = {}
        for cell in failed:
            by_message.setdefault(cell["message"], []).append(cell)
        for message, cells in by_message.items():
            more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
            outputs.line(f"failed: {cells[0]['label']}{more}: {message}")
            for line in cells[0]["splat"] or cells[0]["console_tail"]:
                outputs.line(f"  | {line}")
        outputs.line(f"to try the failed cells again: {meta['command']} --out {folder}")
    if meta["transfers"]:
        outputs.line(f"tables: rexmit show {folder}    figures: rexmit plot {folder}")

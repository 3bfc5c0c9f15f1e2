"""`rexmit run`: a campaign from a scenario file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from rexmit.cli.limits import MOST_JOBS
from rexmit.errors import EXIT_FAILED, UserError
from rexmit.version import version

if TYPE_CHECKING:
    from rexmit.engines.engine import Engine


def run(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO",
            help="A scenario's file, its name in the scenarios folder, or a run.json to repeat.",
        ),
    ],
    engine: Annotated[
        str,
        typer.Option(
            metavar="kernel|model",
            help="What runs the transfers: a real kernel in virtual time, or the model.",
        ),
    ] = "kernel",
    kernel: Annotated[
        str | None,
        typer.Option(
            metavar="KERNEL",
            help="6.1, 6.12, 6.12@HZ, 6.12+PATCH, or a name of `rexmit kernel list`.",
        ),
    ] = None,
    stack: Annotated[
        str | None,
        typer.Option(
            metavar="STACK",
            help="With the model: the TCP stack of both hosts, as `rexmit stacks` lists them. "
            "Default: the scenario's, else the newest, linux-6.12.",
        ),
    ] = None,
    hz: Annotated[
        int | None,
        typer.Option(
            "--hz",
            metavar="HZ",
            min=1,
            help="With the model: timer ticks a second. Default: the scenario's, else the stack's.",
        ),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**64 - 1, help="Seed, instead of the scenario's."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, max=MOST_JOBS, help="Cells at a time. Default: one a core."
        ),
    ] = None,
    settings: Annotated[
        list[str] | None,
        typer.Option(
            "--set",
            metavar="KEY=VALUE",
            help="Change a key of the scenario: lists by commas, ranges as 0..20. Repeatable.",
        ),
    ] = None,
    out: Annotated[
        Path | None, typer.Option(metavar="DIR", help="Folder of the run. Default: below runs/.")
    ] = None,
    capture: Annotated[
        bool, typer.Option("--capture", help="Keep pcapng captures of both hosts.")
    ] = False,
    hang_limit: Annotated[
        float | None,
        typer.Option(
            metavar="S",
            min=1,
            help="With kernels: real seconds of silence after which a cell fails. Default: 60.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the finished run as JSON on standard output.")
    ] = False,
) -> None:
    """Run a campaign: every transfer of a scenario, on a real kernel in virtual time or in the
    model.

    A run that was interrupted goes on where it stopped when the same command is given again. Rows
    depend on scenario, seed and kernel (or stack) alone, never on --jobs or interruptions.

    Examples:

    \b
      rexmit run scenarios/tlp-2013.toml
      rexmit run tlp-2013 --set network=mobile --set config=tlp,er \\
        --set loss.segments=0..20 --set repeat=10
      rexmit run tlp-2013 --kernel 6.1 --seed 7 --out runs/on-6.1
      rexmit run tlp-2013 --engine model --stack linux-3.10
      rexmit run smoke --engine model --set stack.min_rto=100ms
    """
    # Heavy imports wait until the command line is known to be right.
    import shlex
    import sys

    from rexmit.campaign import progress as progress_bars
    from rexmit.campaign.identity import digest, identity
    from rexmit.campaign.runner import Campaign, Request
    from rexmit.campaign.streams import core_streams
    from rexmit.campaign.suited import suited
    from rexmit.engines.engine import CELLS_A_CORE, cores
    from rexmit.interrupt import Interrupted

    choice = _Choice(engine, kernel, stack, hz, hang_limit)
    choice.check()
    most = CELLS_A_CORE * len(cores())
    if jobs is not None and jobs > most:
        raise UserError(
            f"--jobs {jobs}: more than {CELLS_A_CORE} cells a core",
            f"at most {most} here; more than {len(cores())} gain nothing",
            usage=True,
        )
    given = settings or []
    name, loaded = _scenario(
        scenario,
        given if seed is None else [*given, f"seed={seed}"],
        stacks=engine == "model",
    )
    opened = choice.open(loaded)
    loaded, left_out = suited(loaded, opened)
    for line in left_out:
        typer.echo(f"rexmit: {line}", err=True)
    mark = digest(identity(opened, loaded, capture=capture))
    words = ["rexmit", "run", scenario, "--seed", str(loaded.seed), *opened.words]
    request = Request(
        name=name,
        scenario=loaded,
        out=out or Path("runs") / f"{name}-{loaded.seed}-{opened.slug}-{mark}",
        command=_command(words, given, capture=capture),
        version=version(),
        jobs=jobs or len(cores()),
        capture=capture,
        warnings=tuple(left_out),
    )
    campaign = Campaign(request, opened, core_streams(), progress_bars.for_stream(sys.stderr))
    again = f"{request.command} --out {shlex.quote(str(request.out))}"
    try:
        meta = campaign.run()
    except Interrupted as stopped:
        stopped.what = f"stopped; {campaign.totals.transfers:,} transfers are kept in {request.out}"
        stopped.hint = f"to go on: {again}"
        raise
    except OSError as error:
        where = error.filename or request.out
        raise UserError(
            f"{where}: {error.strerror or error}",
            f"when that is mended, go on: {again}"
            if (request.out / "run.json").exists()
            else "name another folder with --out",
        ) from None
    if campaign.was_complete:
        typer.echo(f"{request.out} is complete already: nothing to do", err=True)
    _report(request.out, meta, as_json=as_json)
    if meta["failed_cells"]:
        raise typer.Exit(EXIT_FAILED)


@dataclass(frozen=True, slots=True)
class _Choice:
    """What the command line says of the engine."""

    engine: str
    kernel: str | None
    stack: str | None
    hz: int | None
    hang_limit: float | None

    def check(self) -> None:
        """Raises UserError (usage) for options that do not go together."""
        if self.engine not in ("kernel", "model"):
            raise UserError(
                f"there is no engine {self.engine}", "engines: kernel, model", usage=True
            )
        options = {
            "--kernel": (self.kernel, "kernel"),
            "--hang-limit": (self.hang_limit, "kernel"),
            "--stack": (self.stack, "model"),
            "--hz": (self.hz, "model"),
        }
        for option, (value, engine) in options.items():
            if value is not None and engine != self.engine:
                raise UserError(
                    f"{option} belongs to --engine {engine}",
                    f"leave it out, or say --engine {engine}",
                    usage=True,
                )

    def open(self, scenario: Any) -> Engine:  # noqa: ANN401 - a Scenario: imported late
        """The engine, ready to run. Raises UserError where it is not to be had."""
        from rexmit import stacks
        from rexmit.engines import kernel as kernels
        from rexmit.engines.model import ModelEngine
        from rexmit.scenario.stacks import of_scenario

        if self.engine == kernels.NAME:
            return kernels.KernelEngine.open(
                kernels.find_kernel(self.kernel),
                scenario.workload.client,
                self.hang_limit or kernels.HANG_LIMIT_S,
            )
        # By name, whatever the default is when the command is given again.
        name = self.stack or scenario.stack.get("name", stacks.DEFAULT)
        chosen = of_scenario(scenario, name, self.hz)
        words = ["--stack", name, *(() if self.hz is None else ("--hz", str(self.hz)))]
        return ModelEngine.open(version(), chosen, words)


def _scenario(spec: str, settings: list[str], *, stacks: bool) -> tuple[str, Any]:
    """The scenario and its name: from its file, or from what a run.json holds."""
    from rexmit import scenario
    from rexmit.store.run_json import read_run

    if not spec.endswith(".json"):
        file = scenario.find(spec)
        return file.stem, scenario.load(file, settings, stacks=stacks)
    try:
        meta = read_run(Path(spec))
        name, data = meta["name"], meta["scenario"]
    except OSError as error:
        raise UserError(f"cannot read {spec}: {error.strerror}", usage=True) from None
    except KeyError as error:
        what = f"{spec} is no run.json of a run: {error.args[0]} is missing"
        raise UserError(what, usage=True) from None
    except ValueError as error:
        raise UserError(f"{spec} is no run.json of a run: {error}", usage=True) from None
    return name, scenario.from_plain(data, where=spec, settings=settings, stacks=stacks)


def _command(words: list[str], settings: list[str], *, capture: bool) -> str:
    """The command that repeats the run: seed and engine by name, whatever the defaults are then."""
    import shlex

    for setting in settings:
        words += ["--set", setting]
    if capture:
        words.append("--capture")
    return shlex.join(words)


def _report(out: Path, meta: dict[str, Any], *, as_json: bool) -> None:
    """Say what there is now: one JSON object on standard output, or words."""
    import json
    import shlex

    from rexmit.campaign.progress import duration_text

    if as_json:
        typer.echo(json.dumps({"run": str(out), **meta}, ensure_ascii=False))
        return
    folder = shlex.quote(str(out))
    failed = meta["failed_cells"]
    virtual, real = duration_text(meta["virtual_s"]), duration_text(meta["wall_s"])
    typer.echo(f"{out}: {meta['transfers']:,} transfers, {virtual} of virtual time in {real}")
    if failed:
        by_message: dict[str, list[dict[str, Any]]] = {}
        for cell in failed:
            by_message.setdefault(cell["message"], []).append(cell)
        for message, cells in by_message.items():
            more = f" and {len(cells) - 1} more" if len(cells) > 1 else ""
            typer.echo(f"failed: {cells[0]['label']}{more}: {message}")
            for line in cells[0]["console_tail"]:
                typer.echo(f"  | {line}")
        typer.echo(f"to try the failed cells again: {meta['command']} --out {folder}")
    if meta["transfers"]:
        typer.echo(f"tables: rexmit show {folder}    figures: rexmit plot {folder}")

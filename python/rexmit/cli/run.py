"""`rexmit run`: a campaign from a scenario file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from rexmit.errors import EXIT_FAILED, UserError


def run(
    scenario: Annotated[
        str,
        typer.Argument(
            metavar="SCENARIO",
            help="A scenario's file, its name in the scenarios folder, or a run.json to repeat.",
        ),
    ],
    engine: Annotated[
        str, typer.Option(metavar="ENGINE", help="What runs the transfers: kernel.")
    ] = "kernel",
    kernel: Annotated[
        str | None,
        typer.Option(metavar="KERNEL", help="The kernel, as `rexmit kernel list` names it."),
    ] = None,
    seed: Annotated[
        int | None,
        typer.Option(min=0, max=2**64 - 1, help="Seed, instead of the scenario's."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option("--jobs", "-j", min=1, help="Kernels at a time. Default: one a core."),
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
        float,
        typer.Option(metavar="S", min=1, help="Real seconds of silence after which a cell fails."),
    ] = 60.0,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the finished run as JSON on standard output.")
    ] = False,
) -> None:
    """Run a campaign: every transfer of a scenario, on a real kernel in virtual time.

    A run that was interrupted goes on where it stopped when the same command is given again. Rows
    depend on scenario, seed and kernel alone, never on --jobs or interruptions.

    Examples:

    \b
      rexmit run scenarios/tlp-2013.toml
      rexmit run tlp-2013 --set network=mobile --set config=tlp,er \\
        --set loss.segments=0..20 --set repeat=10
      rexmit run tlp-2013 --kernel 6.1 --seed 7 --out runs/on-6.1
    """
    # Heavy imports wait until the command line is known to be right.
    import shlex
    import sys

    from rexmit import cli
    from rexmit.campaign import progress as progress_bars
    from rexmit.campaign import scheduler
    from rexmit.campaign.identity import digest, identity
    from rexmit.campaign.runner import Campaign, Request
    from rexmit.campaign.streams import core_streams
    from rexmit.engines import kernel as kernel_engine

    if engine != kernel_engine.NAME:
        raise UserError(f"there is no engine {engine}", "engines: kernel", usage=True)
    most = scheduler.KERNELS_A_CORE * len(scheduler.cores())
    if jobs is not None and jobs > most:
        raise UserError(
            f"--jobs {jobs}: more than {scheduler.KERNELS_A_CORE} kernels a core",
            f"at most {most} here; more than {len(scheduler.cores())} gain nothing",
            usage=True,
        )
    given = settings or []
    name, loaded = _scenario(scenario, given if seed is None else [*given, f"seed={seed}"])
    found = kernel_engine.find_kernel(kernel)
    opened = kernel_engine.KernelEngine.open(found, loaded.workload.client)
    mark = digest(identity(opened, loaded, capture=capture))
    request = Request(
        name=name,
        scenario=loaded,
        out=out or Path("runs") / f"{name}-{loaded.seed}-{found.version}-{mark}",
        command=_command(
            scenario, kernel=found.name, seed=loaded.seed, settings=given, capture=capture
        ),
        version=cli.version(),
        jobs=jobs or len(scheduler.cores()),
        hang_limit_s=hang_limit,
        capture=capture,
    )
    campaign = Campaign(request, opened, core_streams(), progress_bars.for_stream(sys.stderr))
    again = f"{request.command} --out {shlex.quote(str(request.out))}"
    try:
        meta = campaign.run()
    except scheduler.Interrupted:
        raise UserError(
            f"stopped; {campaign.totals.transfers:,} transfers are kept in {request.out}",
            f"to go on: {again}",
        ) from None
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


def _scenario(spec: str, settings: list[str]) -> tuple[str, Any]:
    """The scenario and its name: from its file, or from what a run.json holds."""
    import json

    from rexmit import scenario

    if not spec.endswith(".json"):
        file = scenario.find(spec)
        return file.stem, scenario.load(file, settings)
    try:
        meta = json.loads(Path(spec).read_text(encoding="utf-8"))
        name, data = Path(str(meta["name"])).name, dict(meta["scenario"])
    except OSError as error:
        raise UserError(f"cannot read {spec}: {error.strerror}", usage=True) from None
    except (ValueError, KeyError, TypeError):
        raise UserError(f"{spec} is no run.json of a run", usage=True) from None
    return name, scenario.from_plain(data, where=spec, settings=settings)


def _command(scenario: str, *, kernel: str, seed: int, settings: list[str], capture: bool) -> str:
    """The command that repeats the run: seed and kernel by name, whatever the defaults are then."""
    import shlex

    words = ["rexmit", "run", scenario, "--seed", str(seed), "--kernel", kernel]
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

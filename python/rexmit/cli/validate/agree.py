"""`rexmit validate agree`: how often the model and a real kernel agree, packet by packet."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rexmit.cli.limits import MOST_JOBS
from rexmit.errors import EXIT_FAILED, UserError

if TYPE_CHECKING:
    from rexmit.validate.agree.case import Case
    from rexmit.validate.agree.folder import About, Folder

EXAMPLES = """\
Examples:

\b
  rexmit validate agree --kernel 6.1 --cases 300 --seed 7     random cases, kernel and model
  rexmit validate agree --again runs/agree-6.1.192-7          the model once more, no kernel
  rexmit validate agree --case runs/agree-6.1.192-7/7-12 --show
  rexmit validate agree --case tests/agree/cases/fin-travels-on-data.toml --kernel 6.1 --show
  rexmit validate agree --kernel 6.12 --cases 2000 --fail-under 95
  rexmit validate agree --kernel 6.12 --paths 2 --cases 500   bursts of TCP and Multipath TCP
"""


def agree(
    context: typer.Context,
    kernel: Annotated[
        str | None,
        typer.Option(
            metavar="KERNEL",
            help="6.1, 6.12, 6.12@HZ, 6.12+PATCH, or a name of `rexmit kernel list`.",
        ),
    ] = None,
    cases: Annotated[int, typer.Option(min=1, max=1_000_000, help="How many cases.")] = 300,
    paths: Annotated[
        int, typer.Option(min=1, max=2, help="2: bursts over two paths, TCP and MPTCP.")
    ] = 1,
    seed: Annotated[int, typer.Option(min=0, max=2**64 - 1, help="What they are drawn from.")] = 1,
    stack: Annotated[
        str | None,
        typer.Option(metavar="STACK", help="The model's stack. Default: the kernel's series."),
    ] = None,
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs", "-j", min=1, max=MOST_JOBS, help="Kernels at a time. Default: one a core."
        ),
    ] = None,
    keep: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR", help="Folder of kernel logs and disagreements. Default: below runs/."
        ),
    ] = None,
    again: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Compare the kernel logs of a folder with the model."),
    ] = None,
    case: Annotated[
        Path | None,
        typer.Option(
            metavar="CASE", help="One case: DIR/NAME out of a folder, or a scenario's file."
        ),
    ] = None,
    show: Annotated[
        bool, typer.Option("--show", help="With --case: both logs beside each other.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print the rates as JSON.")] = False,
    fail_under: Annotated[
        float | None,
        typer.Option(
            metavar="PERCENT",
            help="Exit with 1 if fewer cases agree: on every packet; with --paths 2, on "
            "retransmissions and completion.",
            min=0,
        ),
    ] = None,
) -> None:
    """How often the model and a real kernel agree, packet by packet, over random cases.

    Each case is one transfer over a random network with random losses, of retransmissions and of
    acknowledgements too, and random settings. Both sides log every packet. Kernel logs are kept:
    the same command goes on where it stopped, and compares with the model anew.

    With --paths 2 a case is a connection of TCP or Multipath TCP that sends bursts over two paths
    and loses the end of one; compared are path and mechanism of each retransmission, and
    completion.
    """
    import json
    import sys

    from rexmit import stacks
    from rexmit.progress import for_stream
    from rexmit.validate.agree import report
    from rexmit.validate.agree.logs import Wanted, kernel_logs
    from rexmit.validate.agree.recorded import of_folder
    from rexmit.validate.agree.verdicts import rates

    if show and case is None:
        raise UserError("--show is for one --case", usage=True)
    if case is not None and again is not None:
        raise UserError("give --case or --again, not both", usage=True)
    if again is not None:
        _without(context, "--again", ("kernel", "cases", "paths", "seed", "jobs", "keep"))
    if case is not None:
        _without(
            context, "--case", ("cases", "paths", "seed", "jobs", "keep", "as_json", "fail_under")
        )
    if stack is not None:
        stacks.known(stack)
    if case is not None:
        raise typer.Exit(_one(case, kernel, stack, show=show))
    if again is not None:
        folder, about = _there(again)
    else:
        wanted = Wanted(kernel, cases, paths, seed)
        folder, about = kernel_logs(wanted, keep, jobs, for_stream(sys.stderr, "cases"))
    chosen = stack or about.stack
    ran = of_folder(folder, about, chosen)
    tally = rates(folder, about, chosen, ran)
    if as_json:
        bench = ran.as_json()
        more = {} if bench is None else {"bench": bench}
        told = {"folder": str(folder.path), "stack": chosen, **tally.as_json(), **more}
        typer.echo(json.dumps(told))
    else:
        for line in ran.lines():
            typer.echo(line)
        for line in report.lines(tally, kernel=about.version, stack=chosen, hz=about.hz):
            typer.echo(line)
        typer.echo(f"kept in {folder.path}")
    if fail_under is not None and tally.share(tally.agreed) < fail_under:
        raise typer.Exit(EXIT_FAILED)


def _without(context: typer.Context, option: str, others: tuple[str, ...]) -> None:
    """Refuse what `option` makes no use of."""
    for parameter in context.command.params:
        if parameter.name not in others:
            continue
        source = context.get_parameter_source(parameter.name)
        if source is not None and source.name == "COMMANDLINE":
            raise UserError(
                f"{option} makes no use of {parameter.opts[0]}: leave it out", usage=True
            )


def _there(path: Path) -> tuple[Folder, About]:
    from rexmit.validate.agree.folder import Folder

    folder = Folder(path)
    return folder, folder.about()


def _one(case: Path, kernel: str | None, stack: str | None, *, show: bool) -> int:
    """Compare one case and say how it went: the exit status."""
    from rexmit.campaign.streams import core_streams
    from rexmit.validate.agree.recorded import of_folder
    from rexmit.validate.agree.verdicts import verdict

    streams = core_streams()
    if case.suffix == ".toml":
        from rexmit.engines.kernel import KernelEngine, find_kernel
        from rexmit.validate.agree.kernel import run_alone
        from rexmit.validate.agree.read import read

        wanted: Case = read(case)
        engine = KernelEngine.open(find_kernel(kernel), ["builtin"])
        outcome, bench = run_alone(wanted, engine, streams), None
        version, hz = engine.kernel.version, engine.kernel.hz
    else:
        folder, about = _there(case.parent)
        number = next((n for n, one in folder.cases().items() if one.name == case.name), None)
        if number is None or number not in (outcomes := folder.outcomes()):
            raise UserError(
                f"{case.parent} has no kernel log of a case {case.name}",
                f"cases are named SEED-NUMBER, as in {about.seed}-0",
            )
        ran = of_folder(folder, about, stack or about.stack)
        wanted, outcome, bench = ran.cases[number], outcomes[number], ran.bench
        version, hz = about.version, about.hz
    chosen = stack or "linux-{}.{}".format(*version.split(".")[:2])
    one = verdict(wanted, outcome, chosen, hz, bench)
    if one.kernel_error is not None:
        raise UserError(f"the kernel did not run {wanted.name}: {one.kernel_error}")
    if show:
        typer.echo(wanted.scenario(wanted.name))
        for line in one.beside():
            typer.echo(line)
    typer.echo(f"{wanted.name}: {one.words}")
    return 0 if one.agrees else EXIT_FAILED

"""`rexmit validate agree`: how often the model and a real kernel agree, packet by packet."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

import click

from rexmit import outputs
from rexmit.cli import completion
from rexmit.cli.front import Option
from rexmit.cli.html import Html
from rexmit.cli.html import write as write_page
from rexmit.cli.judged import Junit, check_places, for_machines
from rexmit.cli.limits import (
    ClusterCa,
    ClusterCert,
    ClusterKey,
    KernelsAtATime,
    OnCluster,
    OnKernel,
    on_cluster,
)
from rexmit.errors import EXIT_FAILED, UserError, judging
from rexmit.options import as_typed, typed

EXAMPLES = """\
Examples:

\b
  rexmit validate agree --kernel 6.1 --cases 300 --seed 7     random cases, kernel and model
  rexmit validate agree --again runs/agree-6.1.192-7          the model once more, no kernel
  rexmit validate agree --again runs/image --against runs/agree-6.1.192-7 --ticks 2
  rexmit validate agree --case runs/agree-6.1.192-7/7-12 --show
  rexmit validate agree --case tests/agree/cases/fin-travels-on-data.toml --kernel 6.1 --show
  rexmit validate agree --kernel 6.12 --cases 2000 --fail-under 95
  rexmit validate agree --kernel 6.12 --control bbr           pages of a sender that paces
  rexmit validate agree --kernel 6.12 --paths 2 --cases 500   bursts of TCP and Multipath TCP
  rexmit validate agree --kernel 6.12 --cases 9000 --cluster local:8
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreeOptions:
    """What can be typed, in the order in which `--help` has it."""

    kernel: OnKernel = None
    cases: Annotated[int, Option(min=1, max=1_000_000, help="How many cases.")] = 300
    paths: Annotated[int, Option(min=1, max=2, help="2: bursts over two paths, TCP and MPTCP.")] = 1
    seed: Annotated[int, Option(min=0, max=2**64 - 1, help="What they are drawn from.")] = 1
    control: Annotated[
        str | None,
        Option(metavar="NAME", help="reno, cubic or bbr in all cases. Default: one is drawn."),
    ] = None
    stack: Annotated[
        str | None,
        Option(
            metavar="STACK",
            help="The model's stack. Default: the kernel's series, else the nearest before it.",
            autocompletion=completion.stacks,
        ),
    ] = None
    jobs: KernelsAtATime = None
    cluster: OnCluster = None
    cluster_ca: ClusterCa = None
    cluster_cert: ClusterCert = None
    cluster_key: ClusterKey = None
    keep: Annotated[
        Path | None,
        Option(
            metavar="DIR", help="Folder of kernel logs and disagreements. Default: below runs/."
        ),
    ] = None
    again: Annotated[
        Path | None,
        Option(metavar="DIR", help="Compare the kernel logs of a folder with the model."),
    ] = None
    against: Annotated[
        Path | None,
        Option(
            metavar="DIR", help="With --again: compare with another kernel's logs, not the model."
        ),
    ] = None
    ticks: Annotated[int, Option(min=1, max=1000, help="Times agree within so many ticks.")] = 1
    case: Annotated[
        Path | None,
        Option(metavar="CASE", help="One case: DIR/NAME out of a folder, or a scenario's file."),
    ] = None
    show: Annotated[bool, Option("--show", help="With --case: both logs beside each other.")] = (
        False
    )
    html: Html = None
    ktap: Annotated[bool, Option("--ktap", help="Print KTAP, a line a case.")] = False
    junit: Junit = None
    as_json: Annotated[bool, Option("--json", help="Print the rates as JSON.")] = False
    fail_under: Annotated[
        float | None,
        Option(
            metavar="PERCENT",
            help="Exit with 1 if fewer cases agree: on every packet; with --paths 2, on "
            "retransmissions and completion.",
            min=0,
        ),
    ] = None


@typed(AgreeOptions)
def agree(options: AgreeOptions) -> None:
    """How often the model and a real kernel agree, packet by packet, over random cases.

    Each case is one transfer over a random network with random losses, of retransmissions and of
    acknowledgements too, and random settings. Both sides log every packet. Kernel logs are kept:
    the same command goes on where it stopped, and compares with the model anew.

    With --paths 2 a case is a connection of TCP or Multipath TCP that sends bursts over two paths
    and loses the end of one; compared are path and mechanism of each retransmission, and
    completion.

    Exit status: 0; 1 where fewer cases agree than --fail-under asks for, or the --case does not;
    3 where the kernel warned of a defect of its own; 125 where there is none; 2 wrong usage.
    """
    import json
    import sys

    from rexmit.progress import for_stream
    from rexmit_validate.agree import report
    from rexmit_validate.library import agree as library

    judging()
    check_places(options.junit, options.html)
    at = on_cluster(options.cluster, options.cluster_ca, options.cluster_cert, options.cluster_key)
    if options.against is not None and options.again is None:
        raise UserError("--against is for --again", usage=True)
    if options.against is not None and options.stack is not None:
        raise UserError("--against makes no use of --stack: leave it out", usage=True)
    if options.ktap and options.as_json:
        raise UserError("--ktap and --json are two formats", "leave one of them out", usage=True)
    if options.show and options.case is None:
        raise UserError("--show is for one --case", usage=True)
    if options.case is not None and options.again is not None:
        raise UserError("give --case or --again, not both", usage=True)
    if options.again is not None:
        _without(
            "--again",
            ("kernel", "cases", "paths", "seed", "control", "jobs", "cluster", "keep"),
        )
    if options.case is not None:
        _without(
            "--case",
            (
                *("cases", "paths", "seed", "control", "jobs", "cluster", "keep"),
                *("ticks", "html", "ktap", "junit", "as_json", "fail_under"),
            ),
        )
        status = _one(options.case, options.kernel, options.stack, show=options.show)
        raise SystemExit(status)
    if options.again is not None:
        agreement = library.agree_again(
            options.again, stack=options.stack, against=options.against, ticks=options.ticks
        )
    else:
        asked = as_typed(library.Cases, options, cluster=at)
        progress = for_stream(sys.stderr, "cases")
        agreement = library.agree(asked, keep=options.keep, progress=progress)
    rates, about = agreement.rates, agreement.about
    if options.ktap or options.junit is not None:
        every = library.lines(agreement)
        for_machines(every, "validate agree", ktap=options.ktap, junit=options.junit)
    if options.as_json:
        outputs.lines(json.dumps(agreement.as_json()))
    elif not options.ktap:
        for line in agreement.recorded.lines():
            outputs.line(line)
        for line in report.lines(
            rates, kernel=about.version, other=agreement.other, hz=about.hz, ticks=options.ticks
        ):
            outputs.line(line)
        outputs.line(f"kept in {agreement.folder}")
    write_page([agreement], options.html, as_json=options.as_json)
    if options.fail_under is not None and rates.share(rates.agreed) < options.fail_under:
        raise SystemExit(EXIT_FAILED)


def _without(option: str, others: tuple[str, ...]) -> None:
    """Refuse what `option` makes no use of."""
    context = click.get_current_context()
    for parameter in context.command.params:
        if parameter.name not in others:
            continue
        source = context.get_parameter_source(parameter.name)
        if source is not None and source.name == "COMMANDLINE":
            raise UserError(
                f"{option} makes no use of {parameter.opts[0]}: leave it out", usage=True
            )


def _one(case: Path, kernel: str | None, stack: str | None, *, show: bool) -> int:
    """Compare one case and say how it went: the exit status."""
    from rexmit_validate.library.agree import agree_case

    one = agree_case(case, kernel=kernel, stack=stack)
    if show:
        outputs.lines(one.case.scenario(one.case.name))
        for line in one.beside():
            outputs.line(line)
    outputs.line(f"{one.case.name}: {one.words}")
    return 0 if one.agrees else EXIT_FAILED

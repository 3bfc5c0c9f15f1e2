"""`rexmit validate score DIR`: how often the analysis of captures is right, and tshark."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from rexmit import outputs
from rexmit.cli.as_json import print_result
from rexmit.cli.front import Argument, Option
from rexmit.errors import EXIT_FAILED, UserError
from rexmit.options import typed

if TYPE_CHECKING:
    from rexmit.progress import Step
    from rexmit_validate.score.report import Report

EXAMPLES = """\
Examples:

\b
  rexmit validate truth --seed 7 --out truth             a corpus of real kernels, then
  rexmit validate score truth                            what trace and tshark get right in it
  rexmit validate score truth --point sender --worst 20  and where it errs at the sender
  rexmit validate score truth --points sender,receiver   captures of both ends, together
  rexmit validate score truth --part 6.12-mobile --no-tshark
  rexmit validate score truth --figure reliability.png   whether its confidences can be trusted
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreOptions:
    """What can be typed, in the order in which `--help` has it."""

    corpus: Annotated[
        Path,
        Argument(
            metavar="DIR",
            help="Folder of `rexmit validate truth` or `rexmit validate synth`.",
            show_default=False,
        ),
    ]
    tshark: Annotated[
        bool | None,
        Option(
            "--tshark/--no-tshark",
            help="Score tshark's labels, too. [default: where tshark is installed]",
            show_default=False,
        ),
    ] = None
    point: Annotated[
        str | None,
        Option(
            metavar="POINT",
            help="Only captures of this point: sender, switch or receiver.",
            show_default=False,
        ),
    ] = None
    points: Annotated[
        str | None,
        Option(
            metavar="POINTS",
            help="The captures of these points together, as in sender,receiver.",
            show_default=False,
        ),
    ] = None
    part: Annotated[
        str | None,
        Option(metavar="NAME", help="Only this part of the corpus.", show_default=False),
    ] = None
    flow: Annotated[
        str | None,
        Option(
            metavar="FLOW",
            help="Only this connection: '10.0.0.1:80 > 10.0.0.2:40000', either way round.",
            show_default=False,
        ),
    ] = None
    worst: Annotated[int, Option(metavar="N", min=0, help="List the first N that are wrong.")] = 0
    parts: Annotated[
        bool, Option("--parts", help="Every part in a line, not only their kinds.")
    ] = False
    figure: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="Draw the reliability diagram, too: FILE.pdf, .png or .svg.",
            show_default=False,
        ),
    ] = None
    fail_under: Annotated[
        float | None,
        Option(
            metavar="PERCENT",
            min=0,
            max=100,
            help="Exit with 1 if fewer mechanisms are right at any point.",
            show_default=False,
        ),
    ] = None
    as_json: Annotated[bool, Option("--json", help="Print JSON instead.")] = False


@typed(ScoreOptions)
def score(options: ScoreOptions) -> None:
    """Hold the analysis of captures against a corpus whose retransmissions are known.

    Every capture of the corpus is analysed as by `rexmit trace`, and each retransmission's
    mechanism and need compared with the truth: confusion matrices, accuracy, precision and recall
    of each class, the sending stacks, retransmissions missed and invented, and the same for
    tshark's labels. Confidences are held against how often they are right. Where the kernel
    recorded what its sockets waited for, so is the account of time, instant by instant.
    """
    named = None if options.points is None else [name.strip() for name in options.points.split(",")]
    report = _scored(
        options.corpus,
        point=options.point,
        points=named,
        part=options.part,
        flow=options.flow,
        tshark=options.tshark,
    )
    from rexmit_validate.score.as_json import report_data
    from rexmit_validate.score.show_score import score_blocks

    print_result(
        lambda: report_data(report, worst=options.worst),
        lambda _: score_blocks(report, worst=options.worst, parts=options.parts),
        as_json=options.as_json,
    )
    if options.figure is not None:
        _draw(report, options.figure)
    if options.fail_under is not None and _under(report, options.fail_under / 100):
        raise SystemExit(EXIT_FAILED)


def _under(report: Report, least: float) -> bool:
    shares = (report.at(point).mechanisms.accuracy for point in report.points)
    return any(share is not None and share < least for share in shares)


def _draw(report: Report, path: Path) -> None:
    from rexmit.present.figures.formats import FORMATS, is_drawable
    from rexmit.present.figures.save import save
    from rexmit_validate.library.score import draw_score

    if not is_drawable(path):
        raise UserError(
            f"--figure {path}: there is no format {path.suffix.removeprefix('.') or '(none)'}",
            f"name a file that ends with .{', .'.join(FORMATS)}",
            usage=True,
        )
    save(draw_score(report), [path])
    outputs.note(f"wrote {path}")


def _scored(
    corpus: Path,
    *,
    point: str | None,
    points: list[str] | None,
    part: str | None,
    flow: str | None,
    tshark: bool | None,
) -> Report:
    """With a line that says which capture is at work, on a terminal."""
    import sys

    from rich.status import Status

    from rexmit_validate.library.score import score

    if not sys.stderr.isatty():
        return score(corpus, point=point, points=points, part=part, flow=flow, with_tshark=tshark)
    with Status("", console=outputs.console(stderr=True)) as status:

        def tell(step: Step) -> None:
            if step.note is not None:
                status.update(f"{step.done + 1} of {step.total}: {step.note}")

        return score(
            corpus,
            point=point,
            points=points,
            part=part,
            flow=flow,
            with_tshark=tshark,
            progress=tell,
        )

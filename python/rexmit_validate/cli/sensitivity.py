"""`rexmit validate sensitivity`: how far what is unknown of a bench moves Ryll 2013's Table 4."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

from rexmit import outputs
from rexmit.cli import completion
from rexmit.cli.front import Argument, Option
from rexmit.cli.limits import ClusterCa, ClusterCert, ClusterKey, OnCluster, on_cluster
from rexmit.options import as_typed, typed

EXAMPLES = """\
Examples:

\b
  rexmit validate sensitivity tlp-2013-bench
  rexmit validate sensitivity tlp-2013-bench --repeat 20 --json
  rexmit validate sensitivity tlp-2013-bench --together 5    which bench is nearest to the paper
  rexmit validate sensitivity tlp-2013-bench --together 5 --cluster local:8
  rexmit validate sensitivity tlp-2013-bench --together 3 --start 'a 3.10.4, gathering'
  rexmit validate sensitivity tlp-2013-bench --together 3 --hold-out t_total
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class SensitivityOptions:
    """What can be typed, in the order in which `--help` has it."""

    name: Annotated[
        str,
        Argument(
            metavar="SCENARIO",
            help="A scenario, by file or name.",
            autocompletion=completion.scenarios,
        ),
    ]
    together: Annotated[
        int,
        Option(
            metavar="N",
            min=1,
            max=12,
            help="Search combinations of at most N unknowns for the benches nearest to the paper; "
            "1: each by itself.",
        ),
    ] = 1
    start: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="With --together: begin with the rows that a real kernel left on this bench, and "
            "let the model only say what departures change.",
        ),
    ] = None
    nearest: Annotated[
        int | None,
        Option(
            metavar="N",
            min=1,
            max=1000,
            help="With --together: benches that are named. Default: 10.",
        ),
    ] = None
    width: Annotated[
        int | None,
        Option(
            metavar="N",
            min=1,
            max=10_000,
            help="With --together: benches of each number of departures that one more is added "
            "to. Default: 30.",
        ),
    ] = None
    hold_out: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="With --together: choose benches without the means of a network (high-speed) or "
            "time (t_total), and say how far they are off these.",
        ),
    ] = None
    unknowns: Annotated[
        Path | None,
        Option(
            metavar="FILE",
            help="What is unknown. Default: the file of the scenario's name in the folder "
            "unknowns beside it.",
        ),
    ] = None
    losses: Annotated[
        int, Option("--losses", metavar="N", min=1, help="Lost segments, as in Table 4.")
    ] = 5
    repeat: Annotated[
        int | None,
        Option(metavar="N", min=1, help="Transfers a cell, instead of the scenario's."),
    ] = None
    settings: Annotated[
        list[str] | None,
        Option("--set", metavar="KEY=VALUE", help="Change the scenario before. Repeatable."),
    ] = None
    out: Annotated[
        Path | None,
        Option(metavar="DIR", help="Where means are kept. Default: below runs/."),
    ] = None
    cluster: OnCluster = None
    cluster_ca: ClusterCa = None
    cluster_cert: ClusterCert = None
    cluster_key: ClusterKey = None
    as_json: Annotated[bool, Option("--json", help="Print JSON instead.")] = False


@typed(SensitivityOptions)
def sensitivity(options: SensitivityOptions) -> None:
    """Run a scenario on the model as it is and with each unknown of its bench changed, and print
    how far each cell of Table 4 is off the paper's. With --together: search combinations.

    A bench's score is the root mean square of what its means are off, percent, and a penalty for
    each departure, which stands in the file of unknowns. Benches measured already are not measured
    again.
    """
    import json
    import sys
    from dataclasses import asdict

    from rexmit.cli.as_json import print_blocks
    from rexmit.errors import UserError
    from rexmit.progress import for_stream
    from rexmit_validate.library import sensitivity as library
    from rexmit_validate.sensitivity.search import WIDTH
    from rexmit_validate.sensitivity.show_departures import sensitivity_blocks
    from rexmit_validate.sensitivity.show_nearest import nearest_blocks

    of_search = {
        "--start": options.start,
        "--nearest": options.nearest,
        "--width": options.width,
        "--hold-out": options.hold_out,
    }
    alone = [name for name, value in of_search.items() if value is not None]
    if alone and options.together == 1:
        raise UserError(
            f"{alone[0]} belongs to a search", "add --together N, or leave it out", usage=True
        )
    at = on_cluster(options.cluster, options.cluster_ca, options.cluster_cert, options.cluster_key)
    progress = for_stream(sys.stderr, "benches")
    more: dict[str, Any] = {"settings": options.settings or (), "cluster": at}
    if options.together > 1:
        more |= {"nearest": options.nearest or library.NEAREST, "width": options.width or WIDTH}
        search = as_typed(library.Nearest, options, **more)
        nearest = library.nearest_benches(options.name, search, out=options.out, progress=progress)
        if options.as_json:
            outputs.lines(json.dumps(asdict(nearest)))
        else:
            print_blocks(lambda _: nearest_blocks(nearest))
        return
    how = as_typed(library.Benching, options, **more)
    table = library.sensitivity(options.name, how, out=options.out, progress=progress)
    if options.as_json:
        outputs.lines(json.dumps(asdict(table)))
        return
    print_blocks(lambda _: sensitivity_blocks(table))

"""What can be typed behind `rexmit trace`, `rexmit watch` and what analyses captures like them."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from rexmit.cli import wireshark
from rexmit.cli.front import Argument, Option
from rexmit.cli.html import Html
from rexmit.cli.limits import MOST_JOBS, ClusterCa, ClusterCert, ClusterKey, UnpackLimit, on_cluster
from rexmit.cli.selection import Host, Port, Since, Until
from rexmit.errors import UserError
from rexmit.options import as_typed
from rexmit.store.trace_schema import TABLES
from rexmit.tracing.options import CONNECTIONS_LIMIT, Analysis
from rexmit.values import dataclass

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rexmit.tracing.groups import Key
    from rexmit.tracing.selection import Wanted

Rule = tuple[object, str, str]
"""Whether something does not go together here, what is wrong, and what to do."""


def refuse(rules: Iterator[Rule]) -> None:
    """Raises UserError (usage) for the first rule that is broken."""
    for is_wrong, what, hint in rules:
        if is_wrong:
            raise UserError(what, hint, usage=True)


@dataclass(frozen=True, kw_only=True)
class Analysing:
    """How what is read is analysed, and where its tables go."""

    capture_filter: wireshark.Filter = None
    out: Annotated[
        Path | None,
        Option(
            "--out",
            metavar="DIR",
            help=f"Keep the tables in this folder: {', '.join(TABLES)} (.parquet).",
            show_default=False,
        ),
    ] = None
    replace: Annotated[
        bool,
        Option("--replace", help="With --out: replace the trace that the folder already holds."),
    ] = False
    csv: Annotated[bool, Option("--csv", help="With --out: write the tables as CSV as well.")] = (
        False
    )
    stacks: Annotated[
        list[str] | None,
        Option(
            "--stacks",
            metavar="LIST",
            help="Emulate only these senders, separated by commas: by their names on the page "
            "(linux-6, windows-xp) or in `rexmit stacks`, or unc-2007 for the four of UNC 2007, "
            "Table I; no-NAME leaves one out. [default: all]",
            show_default=False,
        ),
    ] = None
    whatif: Annotated[
        list[str] | None,
        Option(
            "--whatif",
            metavar="SETTING",
            help="Replay the connections under this setting, such as k=2,min_rto=100ms, no-tlp or "
            "init_rto=3s. `default` stands for twenty usual settings, `grid` for the 720 of UNC "
            "2007, `none` for no replay. Repeatable. [default: default]",
            show_default=False,
        ),
    ] = None
    names: Annotated[
        bool,
        Option(
            " /--no-names",
            help="Leave out the names of servers and the paths of requests, which hosts sent "
            "unencrypted.",
            show_default=False,
        ),
    ] = True
    jobs: Annotated[
        int | None,
        Option(
            "--jobs",
            "-j",
            min=1,
            max=MOST_JOBS,
            help="Number of threads. [default: one per core]",
            show_default=False,
        ),
    ] = None
    connections_limit: Annotated[
        int,
        Option(
            "--connections-limit",
            metavar="N",
            min=16,
            help="Connections kept in memory at a time. One that has only begun takes up to 0.3 "
            "kB, a quiet one among many 0.5 kB, any other 1 kB or more. Above the limit those that "
            "have been idle for longest are ended early, half-open ones first.",
        ),
    ] = CONNECTIONS_LIMIT
    as_json: Annotated[bool, Option("--json", help="Print JSON instead.")] = False

    def analysis(self) -> Analysis:
        """How what is read is analysed. Raises UserError."""
        return self._analysis(points=None, tables=None, cluster=None, resume=False)

    def _analysis(self, **others: object) -> Analysis:
        return as_typed(
            Analysis,
            self,
            whatif=[word for word in self.whatif or ["default"] if word != "none"],
            stacks=[word for words in self.stacks or () for word in comma_words(words)],
            **others,
        )

    def _rules(self) -> Iterator[Rule]:
        """What does not go together."""
        yield self.csv and self.out is None, "--csv needs --out", "say where: --out DIR"
        yield self.replace and self.out is None, "--replace needs --out", "leave it out"


@dataclass(frozen=True, kw_only=True)
class Paging(Analysing):
    """What the page of a trace is about, and how it is shown."""

    host: Host = None
    port: Port = None
    since: Since = None
    until: Until = None
    group: Annotated[
        str | None,
        Option(
            "--by",
            metavar="host|port|prefix",
            help="Print a table by host, by the server's port, or by prefix (/24, /64) instead of "
            "the page.",
            show_default=False,
        ),
    ] = None
    slow_ms: Annotated[
        float | None,
        Option(
            "--slow",
            metavar="MS",
            help="Count a wait as slow from this many milliseconds on; shorter waits count that "
            "together are a tenth of their connection. [default: 200]",
            show_default=False,
        ),
    ] = None
    html: Html = None

    def wanted(self) -> Wanted:
        """The connections that the page is about. Raises UserError."""
        from rexmit.library.trace import wanted

        return wanted(self.host, self.port, self.since, self.until)

    def key(self) -> Key | None:
        """By what connections are grouped, instead of the page. Raises UserError."""
        from rexmit.library.page import key

        return key(self.group) if self.group else None

    def slow_s(self) -> float:
        """From how many seconds on a wait is slow. Raises UserError."""
        from rexmit.library.page import slow_s

        return slow_s(self.slow_ms)

    def _rules(self) -> Iterator[Rule]:
        self.slow_s()
        yield from Analysing._rules(self)
        yield (
            self.html is not None and self.group,
            "--html writes the page of a trace, --by prints a table",
            "leave out --by",
        )
        yield (
            self.slow_ms is not None and self.group,
            "--slow is about the page of a trace, --by prints a table",
            "leave out --by",
        )


@dataclass(frozen=True, kw_only=True)
class TraceOptions(Paging):
    """Files, and what is of files alone."""

    captures: Annotated[
        list[str] | None,
        Argument(
            metavar="FILE...",
            help="Captures: pcap, pcapng, ERF or snoop, compressed or not; lists of packets that "
            "tcpdump or tshark printed; - for standard input. Several files of a rotation are read "
            "as one capture. Patterns (*) and addresses (s3://, gs://, az://, https://) may be "
            "given. Or a folder that --out kept.",
            show_default=False,
        ),
    ] = None
    tables: Annotated[
        list[str] | None,
        Option(
            "--tables",
            metavar="LIST",
            help="With --out: make and keep only these tables, separated by commas, and print how "
            "many rows they have instead of the page. [default: all]",
            show_default=False,
        ),
    ] = None
    annotate: wireshark.Annotate = None
    colorfilters: wireshark.Colorfilters = False
    points: Annotated[
        str | None,
        Option(
            "--points",
            metavar="NAME,NAME...",
            help="The captures were taken at several points of the network: the point's name for "
            "each FILE, in the same order. [default: found from the packets]",
            show_default=False,
        ),
    ] = None
    unpack_limit: UnpackLimit = None
    cluster: Annotated[
        str | None,
        Option(
            "--cluster",
            metavar="ADDRESS",
            help="With --out: spread the work over N processes (local:N), or over the workers of a "
            "Dask scheduler (tls://HOST:PORT), which must all see that folder. The tables are the "
            "same.",
            show_default=False,
        ),
    ] = None
    cluster_ca: ClusterCa = None
    cluster_cert: ClusterCert = None
    cluster_key: ClusterKey = None
    resume: Annotated[
        bool,
        Option("--resume", help="With --cluster: continue an analysis that was stopped."),
    ] = False

    def __post_init__(self) -> None:
        self._on_cluster()
        refuse(self._rules())

    def _on_cluster(self) -> Any:  # noqa: ANN401 - an address, or None
        return on_cluster(self.cluster, self.cluster_ca, self.cluster_cert, self.cluster_key)

    def _rules(self) -> Iterator[Rule]:
        captures = self.captures or []
        yield not captures, "there is nothing to analyse", "name a capture, or - for a pipe"
        yield from Paging._rules(self)
        yield (
            "-" in captures and len(captures) > 1,
            "- (standard input) cannot be combined with files",
            "give files, or - for a pipe",
        )
        copied = self.annotate is not None
        yield self.tables and self.out is None, "--tables needs --out", "say where: --out DIR"
        yield (
            self.tables and (copied or self.html or self.group),
            "--tables keeps tables alone: nothing is shown of them",
            "leave --tables out, or --html, --by and --annotate",
        )
        yield (
            copied and self.points,
            "--annotate copies captures of one point only",
            "leave --points out",
        )
        yield (
            copied and str(self.annotate) == "-" and (self.as_json or self.group),
            "--annotate - writes the capture to standard output",
            "name a file: --annotate OUT.pcapng",
        )

    def analysis(self) -> Analysis:
        """As `Analysing` has it, with what is of files alone."""
        points = None if self.points is None else comma_words(self.points)
        tables = list(dict.fromkeys(w for words in self.tables or () for w in comma_words(words)))
        only_page = not (self.out or self.html or self.annotate or self.group)
        return self._analysis(
            points=points,
            tables=tables if tables or only_page else None,
            cluster=self._on_cluster(),
            resume=self.resume,
        )


def comma_words(text: str) -> list[str]:
    """What stands between commas."""
    return [word.strip() for word in text.split(",")]

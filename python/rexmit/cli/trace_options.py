"""What can be typed behind `rexmit trace`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from rexmit.cli import always, wireshark
from rexmit.cli.html import Html
from rexmit.cli.limits import MOST_JOBS, ClusterCa, ClusterCert, ClusterKey, UnpackLimit, on_cluster
from rexmit.cli.selection import Host, Port, Since, Until
from rexmit.errors import UserError
from rexmit.store.trace_schema import TABLES
from rexmit.tracing.options import CONNECTIONS_LIMIT, Analysis

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rexmit.tracing.groups import Key
    from rexmit.tracing.selection import Wanted


@dataclass(frozen=True, slots=True, kw_only=True)
class TraceOptions:
    """Files, and options in the order in which `--help` has them."""

    captures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="Captures (pcap, pcapng, ERF, snoop, also packed), files of a rotation as one, "
            "or -; with --study folders of traces, too. Also patterns of them, and addresses: "
            "s3://, gs://, az://, https://.",
            show_default=False,
        ),
    ] = None
    interface: wireshark.Interface = None
    capture_filter: wireshark.Filter = None
    annotate: wireshark.Annotate = None
    colorfilters: wireshark.Colorfilters = False
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help=f"Keep the tables in this folder: {', '.join(TABLES)} (.parquet).",
            show_default=False,
        ),
    ] = None
    replace: Annotated[
        bool, typer.Option("--replace", help="With --out: in place of a trace that is there.")
    ] = False
    csv: Annotated[bool, typer.Option("--csv", help="With --out: the tables as CSV as well.")] = (
        False
    )
    host: Host = None
    port: Port = None
    since: Since = None
    until: Until = None
    group: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="host|port|prefix",
            help="A table by host, by the server's port, or by prefix (/24, /64) instead of the "
            "page.",
            show_default=False,
        ),
    ] = None
    slow_ms: Annotated[
        float | None,
        typer.Option(
            "--slow",
            metavar="MS",
            help="Of the page: a wait of so many milliseconds is slow, as are shorter ones that "
            "are a tenth of their connection. [default: 200]",
            show_default=False,
        ),
    ] = None
    points: Annotated[
        str | None,
        typer.Option(
            "--points",
            metavar="NAME,NAME...",
            help="The captures are of several points of the network: the name of each one's point, "
            "in their order. [default: by their packets]",
            show_default=False,
        ),
    ] = None
    study: Annotated[
        bool,
        typer.Option(
            "--study",
            help="Tables I to V and figures 1 to 7 of UNC 2007 (figures: with --out), the paper's "
            "values beside the tables, each file as a trace of its own.",
        ),
    ] = False
    claims: Annotated[
        bool,
        typer.Option(
            "--claims", help="With --study: what the paper claims, each computed, after the tables."
        ),
    ] = False
    stacks: Annotated[
        list[str] | None,
        typer.Option(
            "--stacks",
            metavar="LIST",
            help="Emulate these senders only, by commas: as the page names them (linux-6, "
            "windows-xp), a stack of `rexmit stacks`, or unc-2007 for the four of UNC 2007, Table "
            "I; no-NAME leaves one out. [default: all]",
            show_default=False,
        ),
    ] = None
    whatif: Annotated[
        list[str] | None,
        typer.Option(
            "--whatif",
            metavar="SETTING",
            help="Replay the connections under this setting, as in k=2,min_rto=100ms or no-tlp; "
            "default: twenty usual ones; grid: the 720 of UNC 2007; none. Repeatable. "
            "[default: default]",
            show_default=False,
        ),
    ] = None
    jobs: Annotated[
        int | None,
        typer.Option(
            "--jobs",
            "-j",
            min=1,
            max=MOST_JOBS,
            help="Threads. [default: one a core]",
            show_default=False,
        ),
    ] = None
    connections_limit: Annotated[
        int,
        typer.Option(
            "--connections-limit",
            metavar="N",
            min=16,
            help="Connections remembered at a time: up to 0.3 kB for one that has only begun, from "
            "1 kB on for others, 0.5 kB for one that is quiet among many. With more, those unused "
            "for longest are ended early, such as have only begun before others.",
        ),
    ] = CONNECTIONS_LIMIT
    unpack_limit: UnpackLimit = None
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="With --out: spread the work over N processes (local:N), or the workers of a Dask "
            "scheduler (tls://HOST:PORT), which all see that folder. The tables are the same.",
            show_default=False,
        ),
    ] = None
    cluster_ca: ClusterCa = None
    cluster_cert: ClusterCert = None
    cluster_key: ClusterKey = None
    resume: Annotated[
        bool,
        typer.Option("--resume", help="With --cluster: go on with an analysis that was stopped."),
    ] = False
    formats: Annotated[
        str,
        typer.Option("--format", metavar="LIST", help="Of the figures: pdf, png, svg; by commas."),
    ] = "pdf,png"
    as_json: Annotated[bool, typer.Option("--json", help="The page, or the study, as JSON.")] = (
        False
    )
    html: Html = None
    rotate: always.Rotate = None
    keep: always.Keep = None
    metrics: always.Metrics = None
    every: always.Every = None
    tcpdump_log: always.TcpdumpLog = None

    def __post_init__(self) -> None:
        on_cluster(self.cluster, self.cluster_ca, self.cluster_cert, self.cluster_key)
        for is_wrong, what, hint in self._rules():
            if is_wrong:
                raise UserError(what, hint, usage=True)

    def _rules(self) -> Iterator[tuple[object, str, str]]:
        """What does not go together: whether it is so here, what is wrong, and what to do."""
        captures, live, endless = self.captures or [], self.interface is not None, self.rotate
        yield (
            not captures and not live,
            "there is nothing to analyse",
            "name a capture, - for a pipe, or -i IFACE",
        )
        yield self.csv and self.out is None, "--csv writes files", "say where: --out DIR"
        yield (
            self.replace and (self.out is None or endless is not None),
            "--replace is of one trace's --out",
            "leave it out",
        )
        yield (
            "-" in captures and len(captures) > 1,
            "- is read alone",
            "give files, or - for a pipe",
        )
        yield self.claims and not self.study, "--claims are those of --study", "add --study"
        of_rotate = {
            "--keep": self.keep,
            "--metrics": self.metrics,
            "--every": None if live else self.every,
            "--tcpdump-log": self.tcpdump_log,
        }
        for name, value in of_rotate.items():
            yield endless is None and value, f"{name} is of --rotate", "add --rotate 1h"
        copied = self.annotate is not None
        yield (
            copied and (self.study or live or endless or self.points),
            "--annotate copies the captures of one point, which are files or a pipe",
            "leave --study, --points, --rotate and -i out",
        )
        yield (
            copied and str(self.annotate) == "-" and (self.as_json or self.group),
            "standard output has the capture",
            "name a file: --annotate OUT.pcapng",
        )
        yield (
            live and (captures or self.study or self.points or endless or self.cluster),
            "-i captures on one interface, until Ctrl-C",
            (
                "leave captures, --study, --points, --rotate and --cluster out; for days: "
                "dumpcap -i IFACE -w - | rexmit trace - --rotate 1h --out DIR"
            ),
        )
        yield (
            self.slow_ms is not None and (self.study or self.group or endless),
            "--slow is of the page of a trace",
            "leave out --study, --by and --rotate",
        )
        yield (
            self.html is not None and (self.study or self.group or endless),
            "--html is the page of a trace",
            "leave out --study, --by and --rotate",
        )
        chooses = self.host or self.port or self.since or self.until or self.group
        yield (
            endless is not None and (self.out is None or len(captures) > 1),
            "--rotate reads one pipe, and writes folders",
            "rexmit trace - --rotate 1h --out DIR",
        )
        yield (
            endless is not None and (self.study or self.as_json or self.points or chooses),
            "with --rotate no page is printed",
            "print it of the folder: rexmit trace DIR",
        )
        yield (
            self.study and chooses,
            "--host, --port, --from, --to and --by choose what the page is about",
            "leave them out, or --study",
        )
        yield (
            self.study and self.points is not None,
            "--study takes each file as a trace of its own",
            "leave --points out",
        )
        yield (
            self.study and self.cluster is not None,
            "--study takes each file as a trace of its own",
            "leave --cluster out, or --study, and give the finished folder to --study",
        )
        yield (
            self.study and set(self.figure_formats()) - {"pdf", "png", "svg"},
            f"--format: {self.formats}",
            "of pdf, png, svg, by commas",
        )

    def figure_formats(self) -> list[str]:
        """Of the figures of --study, each once."""
        return list(dict.fromkeys(_words(self.formats.lower())))

    def analysis(self) -> Analysis:
        """How the captures are analysed. Raises UserError."""
        return Analysis(
            whatif=[word for word in self.whatif or ["default"] if word != "none"],
            stacks=[word for words in self.stacks or () for word in _words(words)],
            jobs=self.jobs,
            connections_limit=self.connections_limit,
            capture_filter=self.capture_filter,
            points=None if self.points is None else _words(self.points),
            csv=self.csv,
            replace=self.replace,
            cluster=on_cluster(self.cluster, self.cluster_ca, self.cluster_cert, self.cluster_key),
            resume=self.resume,
        )

    def wanted(self) -> Wanted:
        """The connections that the page is about. Raises UserError."""
        from rexmit.library.trace import wanted

        return wanted(self.host, self.port, self.since, self.until)

    def slow_s(self) -> float:
        """From how many seconds on a wait is slow. Raises UserError."""
        from rexmit.library.page import slow_s

        return slow_s(self.slow_ms)

    def key(self) -> Key | None:
        """By what connections are grouped, instead of the page. Raises UserError."""
        from rexmit.library.page import key

        return key(self.group) if self.group else None


def _words(text: str) -> list[str]:
    return [word.strip() for word in text.split(",")]

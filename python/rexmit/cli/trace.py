"""`rexmit trace FILE…`: what the senders in a capture did, why, and what it cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from rexmit.cli import always, trace_analysis, trace_page, trace_study, wireshark
from rexmit.cli.html import Html
from rexmit.cli.html import write as write_page
from rexmit.cli.limits import MOST_JOBS, ClusterCa, ClusterCert, ClusterKey, UnpackLimit, on_cluster
from rexmit.cli.selection import Host, Port, Since, Until
from rexmit.errors import UserError
from rexmit.store.trace_schema import TABLES

EXAMPLES = """\
Examples:

\b
  rexmit trace capture.pcapng                      a page: losses, waits, the worst connections
  tcpdump -w - tcp | rexmit trace -                from a pipe; Ctrl-C at tcpdump ends it
  tcpdump -w - tcp | rexmit trace - --rotate 1h --keep 7d --out always   for days
  rexmit trace ring.pcap0* --out today             a rotation; tables into today/
  rexmit trace capture.pcap.gz --out t --csv       as CSV as well
  rexmit trace --out day 's3://bucket/day/*.pcap.zst'   from an object store, piece by piece
  rexmit trace --out day --cluster local:8 'day/*.pcap'   on eight processes; --resume goes on
  rexmit trace server.pcapng client.pcapng         both ends: where packets were lost, delays
  rexmit trace a0 a1 b0 b1 --points a,a,b,b        the same, and which capture is of which point
  rexmit trace --study capture.pcapng today        tables and figures of UNC 2007
  rexmit trace --study --claims --stacks unc-2007 old.pcap   its claims, on its own four stacks
  rexmit trace --stacks no-rfc,no-windows-xp capture.pcapng  all other emulations
  rexmit trace big.pcapng --filter "host 10.0.0.1 and port 443"   a part of it (man pcap-filter)
  rexmit trace capture.pcapng --annotate out.pcapng   a copy with comments, for Wireshark
  rexmit trace --colorfilters                      colouring rules for these comments
  sudo rexmit trace -i eth0                        what passes an interface, until Ctrl-C
  rexmit trace today --port 443 --host 10.0.0.7    the page of some connections of a kept trace
  rexmit trace today --by prefix                   who has the trouble: a line for each /24 or /64
  rexmit show today                                the connection that waited longest, by packets
  rexmit show today --flow 17                      another one
"""


def trace(
    captures: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="FILE...",
            help="Captures (pcap, pcapng, ERF, snoop, also packed), files of a rotation as one, "
            "or -; with --study folders of traces, too. Also patterns of them, and addresses: "
            "s3://, gs://, az://, https://.",
            show_default=False,
        ),
    ] = None,
    interface: wireshark.Interface = None,
    capture_filter: wireshark.Filter = None,
    annotate: wireshark.Annotate = None,
    colorfilters: wireshark.Colorfilters = False,  # noqa: ARG001 - it was printed
    out: Annotated[
        Path | None,
        typer.Option(
            "--out",
            metavar="DIR",
            help=f"Keep the tables in this folder: {', '.join(TABLES)} (.parquet).",
            show_default=False,
        ),
    ] = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="With --out: in place of a trace that is there.")
    ] = False,
    csv: Annotated[
        bool, typer.Option("--csv", help="With --out: the tables as CSV as well.")
    ] = False,
    host: Host = None,
    port: Port = None,
    since: Since = None,
    until: Until = None,
    group: Annotated[
        str | None,
        typer.Option(
            "--by",
            metavar="host|port|prefix",
            help="A table by host, by the server's port, or by prefix (/24, /64) instead of the "
            "page.",
            show_default=False,
        ),
    ] = None,
    points: Annotated[
        str | None,
        typer.Option(
            "--points",
            metavar="NAME,NAME...",
            help="The captures are of several points of the network: the name of each one's point, "
            "in their order. [default: by their packets]",
            show_default=False,
        ),
    ] = None,
    study: Annotated[
        bool,
        typer.Option(
            "--study",
            help="Tables I to V and figures 1 to 7 of UNC 2007 (figures: with --out), the paper's "
            "values beside the tables, each file as a trace of its own.",
        ),
    ] = False,
    claims: Annotated[
        bool,
        typer.Option(
            "--claims", help="With --study: what the paper claims, each computed, after the tables."
        ),
    ] = False,
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
    ] = None,
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
    ] = None,
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
    ] = None,
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
    ] = 2_000_000,
    unpack_limit: UnpackLimit = None,  # noqa: ARG001 - its callback has set it
    cluster: Annotated[
        str | None,
        typer.Option(
            "--cluster",
            metavar="ADDRESS",
            help="With --out: spread the work over N processes (local:N), or the workers of a Dask "
            "scheduler (tls://HOST:PORT), which all see that folder. The tables are the same.",
            show_default=False,
        ),
    ] = None,
    cluster_ca: ClusterCa = None,
    cluster_cert: ClusterCert = None,
    cluster_key: ClusterKey = None,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="With --cluster: go on with an analysis that was stopped."),
    ] = False,
    formats: Annotated[
        str,
        typer.Option("--format", metavar="LIST", help="Of the figures: pdf, png, svg; by commas."),
    ] = "pdf,png",
    as_json: Annotated[
        bool, typer.Option("--json", help="The page, or the study, as JSON.")
    ] = False,
    html: Html = None,
    rotate: always.Rotate = None,
    keep: always.Keep = None,
    metrics: always.Metrics = None,
    every: always.Every = None,
    tcpdump_log: always.TcpdumpLog = None,
) -> None:
    """Explain every retransmission in a capture: what made the sender retransmit, whether it was
    needed, how long it waited, which stack it was, and what other settings would have changed.

    Prints a page: what was captured; what went wrong; who retransmitted, and the connections that
    waited longest; which setting would have helped. --host, --port, --from and --to choose the
    connections that the page is about, and that --annotate comments on; all packets of the captures
    are analysed, and kept, all the same. --filter chooses packets before that. The captures may be
    cut short, begin in the middle, or hold anything else.

    Captures that show the same packets at several points are taken together: then it is known where
    packets were lost, which retransmissions were needed, and how long packets took.
    """
    captures = captures or []
    at = on_cluster(cluster, cluster_ca, cluster_cert, cluster_key)
    if not captures and interface is None:
        raise UserError(
            "there is nothing to analyse", "name a capture, - for a pipe, or -i IFACE", usage=True
        )
    if csv and out is None:
        raise UserError("--csv writes files", "say where: --out DIR", usage=True)
    if replace and (out is None or rotate is not None):
        raise UserError("--replace is of one trace's --out", "leave it out", usage=True)
    if "-" in captures and len(captures) > 1:
        raise UserError("- is read alone", "give files, or - for a pipe", usage=True)
    if claims and not study:
        raise UserError("--claims are those of --study", "add --study", usage=True)
    of_rotate = {
        "--keep": keep,
        "--metrics": metrics,
        "--every": every,
        "--tcpdump-log": tcpdump_log,
    }
    if interface is not None:
        of_rotate.pop("--every")
    if rotate is None and (given := [name for name, value in of_rotate.items() if value]):
        raise UserError(f"{given[0]} is of --rotate", "add --rotate 1h", usage=True)
    settings = [word for word in whatif or ["default"] if word != "none"]
    emulated = [word.strip() for words in stacks or () for word in words.split(",")]
    if annotate is not None and (study or interface or rotate or points):
        raise UserError(
            "--annotate copies the captures of one point, which are files or a pipe",
            "leave --study, --points, --rotate and -i out",
            usage=True,
        )
    if annotate is not None and str(annotate) == "-" and (as_json or group):
        raise UserError(
            "standard output has the capture", "name a file: --annotate OUT.pcapng", usage=True
        )
    if interface is not None and (captures or study or points or rotate or cluster):
        raise UserError(
            "-i captures on one interface, until Ctrl-C",
            "leave captures, --study, --points, --rotate and --cluster out; for days: "
            "dumpcap -i IFACE -w - | rexmit trace - --rotate 1h --out DIR",
            usage=True,
        )
    if html is not None and (study or group or rotate):
        raise UserError(
            "--html is the page of a trace", "leave out --study, --by and --rotate", usage=True
        )
    if rotate is not None:
        if out is None or len(captures) > 1:
            what = "--rotate reads one pipe, and writes folders"
            raise UserError(what, "rexmit trace - --rotate 1h --out DIR", usage=True)
        if study or as_json or points or group or host or port or since or until:
            what = "with --rotate no page is printed"
            raise UserError(what, "print it of the folder: rexmit trace DIR", usage=True)
        from rexmit.library.always import always as go_on

        go_on(
            captures[0],
            out,
            rotate=rotate,
            keep=keep,
            metrics_address=metrics,
            every=every or "60s",
            tcpdump_log=tcpdump_log,
            csv=csv,
            whatif=settings,
            stacks=emulated,
            jobs=jobs,
            connections_limit=connections_limit,
            capture_filter=capture_filter,
        )
        return
    from rexmit.library.page import key as grouped_by
    from rexmit.library.trace import wanted as chosen_by
    from rexmit.tracing.source import check_filter

    # Of what is asked wrongly is told before anything is read.
    check_filter(capture_filter)
    wanted, key = chosen_by(host, port, since, until), grouped_by(group) if group else None
    if study and (wanted or key):
        raise UserError(
            "--host, --port, --from, --to and --by choose what the page is about",
            "leave them out, or --study",
            usage=True,
        )
    if study and points is not None:
        raise UserError(
            "--study takes each file as a trace of its own", "leave --points out", usage=True
        )
    if study and cluster is not None:
        raise UserError(
            "--study takes each file as a trace of its own",
            "leave --cluster out, or --study, and give the finished folder to --study",
            usage=True,
        )
    if study:
        chosen = list(dict.fromkeys(part.strip().lower() for part in formats.split(",")))
        if set(chosen) - {"pdf", "png", "svg"}:
            raise UserError(f"--format: {formats}", "of pdf, png, svg, by commas", usage=True)
        trace_study.print_study_of(
            captures,
            out,
            chosen,
            replace=replace,
            claims=claims,
            whatif=settings,
            stacks=emulated,
            jobs=jobs,
            connections_limit=connections_limit,
            as_json=as_json,
            capture_filter=capture_filter,
        )
        return
    from contextlib import ExitStack

    from rexmit.sources import find, spooled
    from rexmit.tracing.annotate.write import check as check_annotated

    found, missing = find(captures, every=points is not None)
    paths = [capture for capture in found if isinstance(capture, Path)]
    folder = next((path for path in paths if path.is_dir()), None)
    if annotate is not None:
        check_annotated(found, annotate)
    with ExitStack() as open_tables:
        if annotate is not None and folder is None:
            from rexmit.interrupt import spared
            from rexmit.tracing.run import PipesOwn

            with spared(PipesOwn(any(str(path) == "-" for path in paths))):
                found = open_tables.enter_context(spooled(found))
        if interface is not None:
            made = wireshark.captured(
                interface,
                out,
                open_tables,
                replace=replace,
                csv=csv,
                whatif=settings,
                stacks=emulated,
                jobs=jobs,
                connections_limit=connections_limit,
                capture_filter=capture_filter,
                every=every or "10s",
            )
        else:
            (made,) = trace_analysis.traces(
                [found],
                out,
                open_tables,
                replace=replace,
                csv=csv,
                whatif=settings,
                stacks=emulated,
                jobs=jobs,
                connections_limit=connections_limit,
                points=None if points is None else [name.strip() for name in points.split(",")],
                cluster=at,
                resume=resume,
                missing=missing,
                capture_filter=capture_filter,
            )
        if wanted:
            from rexmit.library.trace import select

            made = select(made, hosts=host or (), ports=port or (), since=since, until=until)
            if not as_json and annotate is None and trace_page.is_unfit(made):
                return
        if annotate is not None:
            if folder is not None:
                found, _ = find(made.meta.get("files", ()), every=True)
            wireshark.write_annotated(made, found, annotate)
            if str(annotate) == "-":
                return
        if key:
            trace_page.print_groups_of(made, key, as_json=as_json)
        else:
            alone = paths[0] if len(found) == 1 and paths and paths[0].is_file() else None
            trace_page.print_page_of(made, kept=out or folder or alone, as_json=as_json)
            write_page([made], html, as_json=as_json)

"""The tables of Probe or Wait 2017, and the paper item by item."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Final

from scripts.findings.markdown import MINUS, NONE, judged, number, table, verdict
from scripts.findings.results import Data, Value

from rexmit_papers.probe_or_wait_2017.paper import BARS_MS, ONE, PAIRS, PROBE, TWO

OLD, NEW = "model of 4.1", "Linux 6.12"
RUNS: Final = (OLD, "model of 6.12", "Linux 6.1", NEW)
LOST: Final = {
    ONE: "last",
    TWO: "last two",
    PROBE: "last and its probe or retransmission",
}
TCP: Final = ("tcp-rto", "tcp-tlp")
MPTCP: Final = ("mptcp-rto", "mptcp-tlp", "mptcp-new")
RUN: Final = "rexmit run mptcp-2017 --engine model --stack linux-4.1 --out runs/4.1"

_CLAIMED: Final = {
    "a": ("TCP, one lost: no difference between RTO and TLP", "the probe's timer is the timeout's"),
    "b": ("TCP, two lost: TLP better at short delays, RTO slightly at 120 ms", ""),
    "c": ("TCP, probe lost too: TLP better", ""),
    "d": (
        "MPTCP, one lost: RTO better where the first path is the slower, else equal",
        "but in 120-20, where the probe is earlier, and the authors' bars have it later",
    ),
    "e": ("MPTCP, two lost: TLP better unless the loss is on the slow path", ""),
    "f": (
        "MPTCP, probe lost too: RTO much better",
        "a probe re-injects nothing and puts the timeout off",
    ),
    "g1": ("New always beats TCP", ""),
    "g2": (
        "New, one lost: beats MPTCP where the loss is on the slower path, else equal",
        "",
    ),
    "g3": (
        "New, two lost: beats MPTCP everywhere but 20-120, where it is equal",
        "with all re-injected; not with the head alone, below",
    ),
    "g4": ("New, probe lost too: beats MPTCP everywhere", ""),
}
"""The paper's claims, and why they come out as they do."""

_TAKEN: Final = (
    ("Fig. 1", "a client with two interfaces, a server with one", "two paths that share nothing"),
    (
        "Table I, burst",
        "80 packets",
        "full segments; 1,448 bytes of TCP, 1,428 of Multipath TCP",
    ),
    ("Table I, separation", "2 s", "from first write to first write"),
    ("Table I, delay", "20 to 120 ms, five pairs", "constant, no jitter"),
    (
        "Table I, bandwidth",
        "54 Mbit/s",
        "each path; queues of 1,000 packets, the paper says nothing of them",
    ),
    (
        "Table I, loss",
        "deterministic, by position (KauNetem)",
        "by rule, of packets in the order that a run without loss has",
    ),
)
"""What is as in the paper by construction."""

_LATER: Final = (
    (
        "section VII",
        "New's traffic is small",
        "[below](#what-new-costs)",
        "",
        "2017",
    ),
    (
        "section II",
        "fast retransmit re-injects nothing",
        "the same",
        "a setting does it, [below](#other-triggers)",
        "triggers",
    ),
    (
        "future: traffic",
        '"various traffic types"',
        "[below](#other-traffic-other-losses)",
        "the probe helps messages on the old line; New adds nothing that shows",
        "messages",
    ),
    (
        "future: loss",
        '"loss patterns"',
        "[below](#other-traffic-other-losses)",
        "random loss, bursts of losses, a broken path",
        "further",
    ),
    (
        "future: triggers",
        '"less conservative approaches for other retransmission events"',
        "[below](#other-triggers)",
        "all on recovery",
        "triggers",
    ),
    ("not asked", "other schedulers", "[below](#other-schedulers)", "", "schedulers"),
    (
        "not asked",
        "coupled congestion control",
        "[below](#coupled-congestion-control)",
        "no difference in a study without congestion",
        "bulk",
    ),
)


def items(data: Data) -> str:
    """The paper, line by line."""
    rows: list[tuple[str, ...]] = [
        (name, said, "the same", "", why, "`A`") for name, said, why in _TAKEN
    ]
    rows.append(
        (
            "version",
            "v0.91, default settings",
            "modelled",
            "",
            "from v0.90, v0.95 and a v0.91 tree; its HZ, buffers and programs are not stated",
            "`rexmit stacks linux-4.1`",
        )
    )
    rows += [_figure(data, figure) for figure in (2, 3, 4, 5, 6)]
    for key, (words, why) in _CLAIMED.items():
        row = data.row("claims", run=OLD, key=key)
        measured = re.sub(r"(?<=[ (])-(?=\d)", MINUS, str(row["measured"]))
        cells = (verdict(row["holds"]), measured, why)
        rows.append((f"claim ({key})", words, *cells, f"`C` ({key})"))
    for name, said, here, why, scenario in _LATER:
        seeds = " --seeds 1..20" if scenario in ("messages", "schedulers") else ""
        command = f"`rexmit run mptcp-{scenario} --engine model --stack linux-4.1{seeds}`"
        rows.append((name, said, here, "", why, command))
    head = ("what", "in the paper", "here", "measured", "why, or how far", "command")
    return table(head, rows)


_DRAWN: Final = {2: "TCP", 4: "MPTCP", 6: "New", 3: "six diagrams", 5: "three diagrams"}


def _figure(data: Data, figure: int) -> tuple[str, ...]:
    """Bars that are met, or diagrams that are the same."""
    what, command = _DRAWN[figure], f"`C` (h{figure})"
    if figure in (3, 5):
        same = str(data.row("claims", run=OLD, key=f"h{figure}")["measured"])
        why = "the same packets go again on the same paths"
        return (f"Fig. {figure}", what, same, "", why, command)
    met, of, more = (data.values[f"figure_{figure}.{key}"] for key in ("met", "bars", "delayed"))
    why = f"{more} more off by 30 to 62 ms, below"
    return (f"Fig. {figure}", f"{of} bars of {what}", f"{met} met", "", why, command)


def bars(data: Data) -> str:
    """Completion times beside the authors' bars."""

    def ours(run: str, network: str, config: str, loss: str) -> str:
        return number(
            data.row("times", run=run, network=network, config=config, loss=loss)["ms"], ".0f"
        )

    rows = []
    for loss, words in LOST.items():
        for pair in PAIRS:
            network = "{}-{}".format(*pair)
            cells = []
            for configs in (TCP, MPTCP):
                of_both = (
                    f"{ours(OLD, network, config, loss)} ({BARS_MS[config, loss][pair]})"
                    for config in configs
                )
                cells.append(" / ".join(of_both))
            cells.append(" / ".join(ours(NEW, network, config, loss) for config in MPTCP))
            rows.append((words if pair == PAIRS[0] else "", network.replace("-", NONE), *cells))
    head = ("lost", "paths", "TCP, RTO / TLP", "MPTCP, RTO / TLP / New")
    return table((*head, "MPTCP, RTO / TLP / New on 6.12"), rows)


def head_alone(data: Data) -> str:
    """New with everything re-injected, and with the first packet alone, two packets lost."""
    rows = []
    for pair in PAIRS:
        network = "{}-{}".format(*pair)
        cells = [
            number(
                data.row("times", run=run, network=network, config=config, loss=TWO)["ms"], ".0f"
            )
            for run, config in ((OLD, MPTCP[2]), ("head", MPTCP[2]), (OLD, MPTCP[1]))
        ]
        bar = BARS_MS[MPTCP[2], TWO][pair]
        rows.append((network.replace("-", NONE), str(bar), *cells))
    head = ("paths", "the authors' New", "all re-injected", "the head alone", "MPTCP, TLP")
    return table(head, rows, right=range(1, 5))


def claims(data: Data) -> str:
    """The claims on models and kernels."""
    rows = [
        (key, words, *(verdict(data.row("claims", run=run, key=key)["holds"]) for run in RUNS))
        for key, (words, _) in _CLAIMED.items()
    ]
    return table(("", "", *RUNS), rows)


def reinjected(data: Data) -> str:
    """Packets re-injected after the loss, and those whose data had arrived."""
    rows = []
    for run in RUNS:
        cells = []
        for config in MPTCP:
            mine = [
                row
                for row in data.rows("times")
                if row["run"] == run and row["config"] == config and row["loss"] in LOST
            ]
            of_all, vain = (
                sum(float(row[key] or 0) for row in mine) / len(mine)
                for key in ("reinjected", "in_vain")
            )
            cells.append(f"{of_all:.2f} ({vain:.2f})")
        rows.append((run, *cells))
    return table(("", "MPTCP, RTO", "MPTCP, TLP", "New"), rows)


def traffic(data: Data) -> str:
    """Messages and pages with 1 % of random loss: the old line's model, in brackets Linux 6.12."""
    rows = []
    kinds = (
        ("messages", "message", ("mean", "99 %", "99 % of what began", "longest", "did not begin")),
        ("pages", "page", ("mean", "99 %")),
    )
    for name, what, columns in kinds:
        for network in ("20-20", "20-120"):
            for words in columns:
                cells = [
                    _both(data, name, network, config, words) for config in ("tcp-tlp", *MPTCP)
                ]
                rows.append((f"{what}, {words}", network.replace("-", NONE), *cells))
    head = ("", "paths", "TCP, TLP", "MPTCP, RTO", "MPTCP, TLP", "New")
    return table(head, rows)


def _both(data: Data, name: str, network: str, config: str, words: str) -> str:
    old, new = (data.row(name, run=run, network=network, config=config) for run in (OLD, NEW))
    return f"{_KINDS[words](old)} ({_KINDS[words](new)})"


def _between(row: Mapping[str, Value], name: str, scale: float = 1.0, spec: str = ".0f") -> str:
    """`111 [109, 112]`: a percentile and its interval; an end that never came is `never`."""
    value, low, high = (
        "never" if row[column] is None else number(float(row[column] or 0) / scale, spec)
        for column in (f"{name}_ms", f"{name}_low_ms", f"{name}_high_ms")
    )
    return value if low == high == value else f"{value} [{low}, {high}]"


def _never(row: Mapping[str, Value]) -> str:
    return f"{number(row['connections_never'])} of {number(row['connections'])}"


def _mean(row: Mapping[str, Value]) -> str:
    return f"{number(row['mean_ms'], '.1f')} ± {number(row['half_ms'], '.1f')}"


_KINDS: Final[Mapping[str, Callable[[Mapping[str, Value]], str]]] = {
    "mean": _mean,
    "99 %": lambda row: _between(row, "p99"),
    "99 % of what began": lambda row: _between(row, "p99_ended"),
    "longest": lambda row: number(row["most_ms"], ".0f"),
    "did not begin": _never,
}


def _against(row: Mapping[str, Value]) -> str:
    """The verdict, what was measured, and what so many units could have shown."""
    text = ": ".join(judged(row))
    if row["smallest_ms"] and str(row["holds"]) == "undecided":
        text += f"; from {number(row['smallest_ms'], '.1f')} ms it would show"
    return text


def earlier(data: Data) -> str:
    """Whether messages and pages end earlier, on the mean, than over Multipath TCP with the probe
    alone.
    """
    rows = []
    configs = ("tcp-tlp", "mptcp-rto", "mptcp-new")
    for name, what in (("messages", "message"), ("pages", "page")):
        for network in ("20-20", "20-120"):
            for run in (OLD, NEW):
                found = (data.row(name, run=run, network=network, config=one) for one in configs)
                cells = map(_against, found)
                rows.append((what, network.replace("-", NONE), run, *cells))
    return table(("", "paths", "on", "TCP, TLP", "MPTCP, RTO", "New"), rows)


def triggers(data: Data) -> str:
    """Completion by what re-injects."""
    configs = ("none", "timeout", "probe", "recovery-head", "recovery")
    keys: Mapping[tuple[Value, Value], None] = {
        (row["network"], row["loss"]): None for row in data.rows("triggers")
    }
    rows = []
    for network, loss in keys:
        cells = [
            number(data.row("triggers", network=network, loss=loss, config=config)["ms"], ".0f")
            for config in configs
        ]
        lost = str(loss).removeprefix("path 1 burst 2 data ")
        rows.append((f"`{lost}`", str(network).replace("-", NONE), *cells))
    head = ("lost", "paths", "none", "timeout", "+ probe", "+ recovery, head", "+ recovery, all")
    return table(head, rows, right=range(2, 7))


def schedulers(data: Data) -> str:
    """Messages by scheduler: mean and its interval, 99th percentile; and whether it is earlier."""
    names = ("lowest-rtt", "round-robin", "redundant", "blest")
    rows = []
    for network in ("20-20", "20-120"):
        found = [data.row("schedulers", network=network, config=name) for name in names]
        cells = [f"{_mean(row)}, {_between(row, 'p99_ended')}" for row in found]
        rows.append((network.replace("-", NONE), *cells))
        rows.append(("earlier than lowest-rtt", "", *map(_against, found[1:])))
    return table(("paths", *names), rows)


def bulk(data: Data) -> str:
    """Medians by congestion control."""
    controls = ("cubic", "reno", "lia", "olia", "balia")
    rows = []
    for network in ("20-20", "20-120"):
        for loss in (0, 0.001, 0.01):
            cells = []
            for config, names in (("tcp", controls[:2]), ("mptcp", controls)):
                cells += [
                    _between(
                        data.row(
                            "bulk",
                            network=network,
                            line_loss=loss,
                            config=config,
                            congestion_control=name,
                        ),
                        "median",
                        1000,
                        ".1f",
                    )
                    for name in names
                ]
            rows.append((network.replace("-", NONE), f"{100 * loss:g} %", *cells))
    head = ("paths", "loss", "TCP, cubic", "TCP, reno", *(f"MPTCP, {one}" for one in controls))
    return table(head, rows, right=range(2, 9))


def bulk_claims(data: Data) -> str:
    """What is said of bulk transfers, on means."""
    words = {
        "lia": "with loss on two equal paths LIA takes no longer than one TCP (RFC 6356)",
        "unlike": "without loss two unlike paths take longer than the fast one",
    }
    rows = [
        (words[str(row["key"])], f"{100 * float(row['line_loss'] or 0):g} %", *judged(row))
        for row in data.rows("bulk-claims")
    ]
    return table(("", "loss", "", "difference of means"), rows)


TABLES: Final[Mapping[str, Callable[[Data], str]]] = {
    "items": items,
    "bars": bars,
    "head": head_alone,
    "claims": claims,
    "reinjected": reinjected,
    "traffic": traffic,
    "earlier": earlier,
    "triggers": triggers,
    "schedulers": schedulers,
    "bulk": bulk,
    "bulk-claims": bulk_claims,
}

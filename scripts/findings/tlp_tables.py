"""The tables of Ryll 2013: on the model of its kernel, the nearest benches, and today."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Final

from scripts.findings.markdown import number, span, table, verdict
from scripts.findings.results import Data, Value

from rexmit_papers.ryll_2013.paper import TABLE_4

NETWORKS: Final = {"high-speed": "10 ms", "mobile": "100 ms", "satellite": "800 ms"}
CONFIGS: Final = ("plain", "er", "tlp")
TIMES: Final = ("t_recover", "t_total")
_CELLS: Final = tuple((network, config) for network in NETWORKS for config in CONFIGS)
_HEAD: Final = (
    "",
    *(
        f"{words}: plain" if config == "plain" else config
        for words in NETWORKS.values()
        for config in CONFIGS
    ),
)

_WHY: Final = {
    "as written down": "",
    "window 32 kB": "two more round trips of slow start, no queue by satellite",
    "window 43 kB": "one more; `t_recover` at 100 and 800 ms comes out",
    "first window 3": "two more",
    "no timestamps": "segments of 1460 bytes: the tail begins elsewhere in its flight",
    "timers 1 ms late": "longer round trips: all three of `t_recover` at 10 ms",
    "timers a tick late": "the same, more",
    "jitter 2 ms": "both parities mix",
    "jitter 5 ms": "HyStart leaves slow start early, the metrics keep it so; both parities mix",
    "reads 10 Mbit/s": "the reader costs most where the round trip is short",
    "no gathering": "six segments in the first flight; no probe",
    "no quick ACKs": "the odd segment waits 200 ms; no probe",
    "queue of 20": "the queue overflows by satellite",
    "99 segments": "the other parity",
    "101 segments": "the other parity",
    "head alone": "the other parity",
    "the lost counted in bytes": "one segment less is lost",
    "the FIN counted for good": "one segment more is lost",
}
"""What departures of the bench do."""


def percent(value: object) -> str:
    """Percent with its sign, one digit below ten."""
    if value is None:
        return number(None)
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is no number")
    return number(value, "+.1f" if abs(value) < 9.95 else "+.0f")


def _off(rows: Iterable[Mapping[str, Value]], time: str) -> list[str]:
    found = {
        (row["network"], row["config"]): row["off_paper_percent"]
        for row in rows
        if row["time"] == time
    }
    return [percent(found.get(cell)) for cell in _CELLS]


def table_4(data: Data) -> str:
    """Percent off the paper: the bench, the lab, and a real kernel beside the model."""
    lines = []
    for time in TIMES:
        printed = [f"{getattr(TABLE_4[cell], f'{time}_s'):.4f}" for cell in _CELLS]
        lines.append((f"**{time}, 2013, s**", *printed))
        for name, words in (("bench", "the bench as written down"), ("lab", "the lab's wires")):
            mine = (row for row in data.rows("table-4") if row["run"] == name)
            lines.append((words, *_off(mine, time)))
        for bench in dict.fromkeys(str(row["bench"]) for row in data.rows("recorded")):
            for who, words in (
                ("kernel", bench.replace("a ", "a real ")),
                ("model", "the model of it"),
            ):
                mine = (
                    row
                    for row in data.rows("recorded")
                    if row["bench"] == bench and row["who"] == who
                )
                lines.append((words, *_off(mine, time)))
    return table(_HEAD, lines)


def unknowns(data: Data) -> str:
    """What each departure moves, those that bring no mean near in one line."""
    lines, rest = [], []
    for row in data.rows("unknowns"):
        name = str(row["name"])
        near = (row["t_recover_near"], row["t_total_near"])
        if any(near) or name == "as written down":
            why = _WHY.get(name, "")
            lines.append((name, *map(number, near), number(row["distance"], ".0f"), why))
        else:
            rest.append(row)
    distances = span((float(row["distance"] or 0) for row in rest), ".0f")
    lines.append((", ".join(str(row["name"]) for row in rest), "0", "0", distances, ""))
    head = ("unknown", "t_recover near, of 9", "t_total near", "distance, %", "what it does")
    return table(head, lines, right=(1, 2, 3))


def claims(data: Data) -> str:
    """What the paper claims, on the bench and on the lab's wires."""
    lines = []
    for row in data.rows("claims"):
        cells = [
            f"{verdict(row[who])}: {_short(row[f'{who}_measured'])}" for who in ("bench", "lab")
        ]
        lines.append((str(row["words"]), *cells))
    return table(("the paper", "the bench", "the lab's wires"), lines)


def _short(measured: object) -> str:
    return (
        str(measured)
        .replace("-", "\N{MINUS SIGN}")
        .replace("high\N{MINUS SIGN}speed", "high-speed")
    )


def table_1(data: Data) -> str:
    """What follows the probe, by number of lost segments."""
    return _table_1(data, "network", tuple(NETWORKS), tuple(NETWORKS.values()))


def table_1_today(data: Data) -> str:
    """The same, of each kernel; all networks agree."""
    return _table_1(data, "run", ("6.1", "6.12"), ("6.1", "6.12"))


_SHOWN: Final = (1, 2, 3, 4, 5, 8, 16)
"""Lost segments that a table has a column for."""

_DRAFT: Final = {
    1: "the probe itself",
    2: "early retransmit",
    3: "early retransmit",
    4: "FACK",
    5: "FACK",
}


def _table_1(data: Data, key: str, columns: tuple[str, ...], words: tuple[str, ...]) -> str:
    lines = []
    for lost, printed in _DRAFT.items():
        cells = []
        for column in columns:
            mine = [
                row for row in data.rows("table-1") if row["lost"] == lost and row[key] == column
            ]
            then = {str(row["then"]).removesuffix(" sack-recovery") for row in mine}
            alike, every = (
                sum(int(row[name] or 0) for row in mine) for name in ("alike", "transfers")
            )
            named = ", ".join(sorted(_named(one) for one in then))
            cells.append(named if alike == every else f"{named} ({alike:,} of {every:,})")
        lines.append((f"{lost} and more (to 20)" if lost == 5 else str(lost), printed, *cells))
    return table(("lost", "2013 (the draft's table)", *words), lines)


def _named(then: str) -> str:
    words = {"": "the probe itself", "early-retransmit": "early retransmit"}
    return words.get(then, then.upper())


def nearest(data: Data) -> str:
    """The benches of least score."""
    lines = []
    for row in data.rows("benches"):
        if row["start"] == "as written down":
            near = f"{row['t_recover_near']}, {row['t_total_near']}"
            numbers = (number(row[name], ".1f") for name in ("score", "distance"))
            place = str(row["place"]) if row["place"] else ""
            lines.append((place, *numbers, near, str(row["departures"] or "none")))
    return table(("", "score", "distance", "t_recover, t_total near", "departures"), lines)


def held_out(data: Data) -> str:
    """What a bench that is chosen without some means makes of them."""
    words = {"t_total": "all `t_total`", **NETWORKS}
    lines = []
    for name, what in words.items():
        base, best = (row for row in data.rows("held-out") if row["held_out"] == name)
        numbers = (number(row[of], ".1f") for of in ("fitted", "other") for row in (base, best))
        lines.append((what, str(best["departures"]), *numbers))
    head = ("held out", "chosen", "the others, as documented", "chosen", "held out, as documented")
    return table((*head, "chosen"), lines, right=(2, 3, 4, 5))


def nearest_claims(data: Data) -> str:
    """The paper's claims on the bench of least distance."""
    rows = data.rows("claims")
    lines = [(str(row["words"]), verdict(row["holds"]), _short(row["measured"])) for row in rows]
    return table(("the paper", "verdict", "measured"), lines)


def shares(data: Data) -> str:
    """How many of the nearest have a departure."""
    rows = data.rows("shares")
    lines = [(str(row["name"]), number(row["of_nearest"])) for row in rows]
    return table(("departure", "of the ten nearest"), lines, right=(1,))


def starts(data: Data) -> str:
    """From what a real kernel left: its distance, and the nearest two benches."""
    lines = []
    for start in ("segmentation", "gathering", "no-gathering"):
        mine = [row for row in data.rows("benches") if row["start"] == start]
        base, *others = sorted(mine, key=lambda row: int(row["place"] or 0))
        for place, row in enumerate(others[:3]):
            words = start.replace("-", " ") if place == 0 else ""
            before = number(base["distance"], ".1f") if place == 0 else ""
            after = number(row["distance"], ".1f")
            lines.append((words, before, after, str(row["departures"])))
    return table(("a real 3.10.4 with", "distance", "becomes", "by"), lines, right=(1, 2))


def least(data: Data) -> str:
    """Percent off the paper of the bench of least distance."""
    return table(_HEAD, [(time, *_off(data.rows("least"), time)) for time in TIMES])


def command(data: Data) -> str:
    """What runs the bench of least distance."""
    words = str(data.values["least_command"]).split(" --set ")
    wide = [one for one in words[1:] if not one.startswith(("loss.segments", "repeat"))]
    lines = [f"{words[0]} --set repeat=10", *(f"  --set {one}" for one in wide)]
    lines.append("  --out runs/nearest")
    judged = "rexmit paper tlp-2013 runs/nearest --claims --departing"
    return "```sh\n" + " \\\n".join(lines) + f"\n{judged}\n```"


def today(data: Data) -> str:
    """Table 4 on kernels of today beside the paper's."""
    lines = []
    for network, words in NETWORKS.items():
        for time in TIMES:
            printed = {config: getattr(TABLE_4[network, config], f"{time}_s") for config in CONFIGS}
            gain = 100 * (printed["tlp"] / printed["er"] - 1)
            numbers = (f"{one:.4f}" for one in printed.values())
            lines.append((words, f"{time}, 2013", *numbers, f"{percent(gain)} %"))
            words = ""
            for run in ("6.12", "6.1"):
                rows = [
                    data.row("table-4", run=run, time=time, network=network, config=config)
                    for config in CONFIGS
                ]
                numbers = (number(row["mean_s"], ".4f") for row in rows)
                lines.append(("", run, *numbers, f"{percent(rows[2]['against_er_percent'])} %"))
    return table(("network", "", *CONFIGS, "tlp against er"), lines, right=range(2, 6))


def claims_today(data: Data) -> str:
    """What the paper claims, on kernels of today."""
    lines = []
    for row in (one for one in data.rows("claims") if one["run"] == "6.12"):
        older = data.row("claims", run="6.1", key=row["key"])
        pairs = ((verdict(one["holds"]), _short(one["measured"])) for one in (row, older))
        lines.append((str(row["words"]), *(cell for pair in pairs for cell in pair)))
    return table(("the paper", "6.12", "", "6.1", ""), lines)


def gains(data: Data) -> str:
    """How much later a transfer ends with the probe, by lost segments."""
    lines = []
    for network, words in NETWORKS.items():
        mine = {
            row["lost"]: row["percent"] for row in data.rows("gains") if row["network"] == network
        }
        shown = [mine[lost] for lost in _SHOWN]
        rest = [float(mine[lost] or 0) for lost in range(1, 21) if lost not in _SHOWN]
        low, high = percent(min(rest)), percent(max(rest))
        lines.append((words, *map(percent, shown), f"{low} to {high}"))
    return table(("%", *map(str, _SHOWN), "others up to 20"), lines, right=range(1, 8))


BENCH: Final[Mapping[str, Callable[[Data], str]]] = {
    "table-4": table_4,
    "unknowns": unknowns,
    "claims": claims,
    "table-1": table_1,
}
NEAREST: Final[Mapping[str, Callable[[Data], str]]] = {
    "nearest": nearest,
    "held-out": held_out,
    "claims": nearest_claims,
    "shares": shares,
    "starts": starts,
    "least": least,
    "command": command,
}
TODAY: Final[Mapping[str, Callable[[Data], str]]] = {
    "table-4": today,
    "table-1": table_1_today,
    "claims": claims_today,
    "gains": gains,
}


def options(data: Data) -> str:
    """With five lost segments on Linux 6.12: seconds without the probe, and what it changes."""

    def cells(row: Mapping[str, Value]) -> tuple[str, str]:
        return number(row["er.t_total_s"], ".3f"), _gain(row, "t_total")

    return _by_option(data, "6.12", ("{}", "the probe"), cells)


def _gain(row: Mapping[str, Value], time: str) -> str:
    """A percentage, and half of its interval where it varied so much that it shows."""
    half = float(row.get(f"{time}_half") or 0)
    width = f" ± {half:.1f}" if half >= 0.05 else ""
    return f"{percent(row[f'{time}_percent'])}{width} %"


def _by_option(
    data: Data,
    run: str,
    head: tuple[str, str],
    cells: Callable[[Mapping[str, Value]], tuple[str, str]],
) -> str:
    """A line an option, two cells a network; `{}` of the head is the network's round trip."""
    options = dict.fromkeys(row["option"] for row in data.rows("options") if row["run"] == run)
    lines = [
        (
            str(option),
            *(
                cell
                for network in NETWORKS
                for cell in cells(data.row("options", run=run, option=option, network=network))
            ),
        )
        for option in options
    ]
    heads = (one.format(words) for words in NETWORKS.values() for one in head)
    return table(("", *heads), lines, right=range(1, 7))


def recover(data: Data) -> str:
    """The first retransmission on Linux 6.12 without the probe and with it, seconds."""
    rows = [row for row in data.rows("options") if row["run"] == "6.12"]
    lines = []
    for row in rows:
        if row["network"] != "high-speed" and str(row["option"]).startswith(("as", "page", "rec")):
            times = (number(row[f"{config}.t_recover_s"], ".3f") for config in ("er", "tlp"))
            gain = _gain(row, "t_recover")
            lines.append((NETWORKS[str(row["network"])], str(row["option"]), *times, gain))
    head = ("", "", "without the probe", "with it", "")
    return table(head, lines, right=(2, 3, 4))


def older(data: Data) -> str:
    """How many transfers the model of 3.10 begins with a probe, and what it changes then."""

    def cells(row: Mapping[str, Value]) -> tuple[str, str]:
        probed, of = row["tlp.transfers"], row["er.transfers"]
        return f"{probed} of {of}", _gain(row, "t_total") if probed else ""

    return _by_option(data, "3.10", ("{}: probed", ""), cells)


def lossy(data: Data) -> str:
    """Means on lines that lose packets, and whether the probe shortens."""
    lines = []
    for row in data.rows("lossy"):
        er, tlp, gain = (
            f"{number(row[f'{name}_s'], spec)} ± {row[f'{name}_half_s']:.2f}"
            for name, spec in (("er", ".2f"), ("tlp", ".2f"), ("gain", "+.2f"))
        )
        loss = f"{100 * float(row['line_loss'] or 0):g} %"
        shortens = verdict(row["shortens"])
        if shortens == "undecided":
            shortens += f"; from {row['smallest_s']:.2f} s it would show"
        cells = (er, tlp, gain, shortens)
        lines.append((loss, NETWORKS[str(row["network"])], *cells))
    head = ("loss of a link", "", "er", "tlp", "the probe", "shortens")
    return table(head, lines, right=(2, 3, 4))


FURTHER: Final[Mapping[str, Callable[[Data], str]]] = {
    "options": options,
    "recover": recover,
    "older": older,
    "lossy": lossy,
}

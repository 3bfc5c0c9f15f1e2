"""The tables of UNC 2007, and the study item by item."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Final

import polars as pl
from scripts.findings import results
from scripts.findings.markdown import MINUS, NONE, alike, number, table, verdict
from scripts.findings.results import Data
from scripts.findings.unc_items import AFTER, BEFORE, WHY

from rexmit.whatif.settings import kind as kind_of
from rexmit_papers.unc_2007.paper import TABLE_4

MIXES: Final = ("campus", "server-farm", "wireless")
KINDS: Final = ("printed", "real")
SYSTEMS: Final = ("Windows", "Linux", "Solaris", "FreeBSD")
STACKS: Final = {
    "linux-2.4": "Linux",
    "windows-xp-unc2007": "Windows, printed",
    "windows-xp": "Windows, real",
    "freebsd-5-unc2007": "FreeBSD, printed",
    "freebsd-5": "FreeBSD, real",
    "solaris-10-unc2007": "Solaris, printed",
    "solaris-10": "Solaris, real",
}
SHOWN: Final = (
    *("k=2", "min_rto=100ms", "min_rto=400ms", "d=2", "d=3", "d=4", "smart", "d=smart"),
    "frto",
)
"""Settings of the table; the file of results has all."""

_KINDS: Final = {"printed": "as printed", "real": "as they are"}
_NAMED: Final = {
    "granularity_s": "timer granularity, s",
    "initial_rto_s": "initial RTO, s",
    "min_rto_s": "minRTO, s",
    "a": "a",
    "b": "b",
    "m": "m",
    "k": "k",
    "d": "D",
}
"""Parameters as Table I has them."""

_NAMES: Final = {"linux": "Linux", "windows": "Windows", "freebsd": "FreeBSD", "solaris": "Solaris"}


def items(data: Data) -> str:
    """Everything the study says: the claims that are computed, with what stands around them."""
    lines: list[tuple[str, ...]] = [_table_i(data)]
    lines += [(*row[:1], "", *row[1:]) for row in BEFORE]
    claims = {
        str(row["key"]): (name, str(row["words"]))
        for name in ("claims", "rerun-claims")
        for row in data.rows(name)
    }
    missing = claims.keys() ^ WHY.keys()
    if missing:
        raise ValueError(f"unc_items.WHY and the study's claims differ in {sorted(missing)}")
    for key, (name, words) in claims.items():
        verdicts = []
        for kind in KINDS:
            mine = (data.row(name, kind=kind, mix=mix, key=key)["holds"] for mix in MIXES)
            verdicts.append(alike(map(verdict, mine)))
        measured = data.row(name, kind="printed", mix="campus", key=key)["measured"]
        lines.append((words, f"`{key}`", *verdicts, _short(str(measured)), WHY[key]))
    lines += [(*row[:1], "", *row[1:]) for row in AFTER]
    head = ("the study", "key", "as printed", "as they are", "campus, as printed", "why")
    return table(head, lines)


def _table_i(data: Data) -> tuple[str, ...]:
    rows = [row for row in data.rows("parameters") if row["kind"] == "real"]
    other = [row for row in rows if row["assumed"] != f"{row['printed']:g}"]
    words = "; ".join(
        f"{row['system']} {_NAMED[str(row['parameter'])]} {row['assumed']} for {row['printed']:g}"
        for row in other
    )
    same = f"{len(rows) - len(other)} of {len(rows)} the same"
    return (
        "Table I: parameters of four stacks",
        "",
        "by construction",
        same,
        "",
        f"as they are: {words} ([what is inferred](#the-six-parameters))",
    )


def parameters(data: Data) -> str:
    """Of each parameter what the paper prints, and what senders showed of it."""
    lines = []
    for parameter, words in _NAMED.items():
        cells = []
        for system in SYSTEMS:
            row = data.row("parameters", kind="printed", system=system, parameter=parameter)
            text = number(row["printed"], "g")
            if row["n"]:
                low, high = (number(row[end], ".4g") for end in ("low", "high"))
                text += f": {low}" if low == high else f": {low} to {high}"
            cells.append(text)
        lines.append((words, *cells))
    return table(("", *SYSTEMS), lines)


def sizes(data: Data) -> str:
    """How many connections the study is of, and what the Best-Case saves."""
    lines = []
    for mix in MIXES:
        for kind in KINDS:
            cells = []
            for system in SYSTEMS:
                row = data.row("sizes", kind=kind, mix=mix, system=system)
                best, low, high = (number(row[key], ".1f") for key in ("best_rtts", "low", "high"))
                cells.append(f"{number(row['connections'])}: {best} ({low} to {high})")
            lines.append((mix if kind == "printed" else "", _KINDS[kind], *cells))
    return table(("", "", *SYSTEMS), lines)


def _short(measured: str) -> str:
    named = re.sub(r"([a-z]+)[\w.-]*/[\w-]+-sender", lambda found: _NAMES[found[1]], measured)
    return re.sub(r"(?<![\w.])-(?=\d)", MINUS, named)


def table_iv(data: Data) -> str:
    """Percent of retransmissions by class: printed, analysed, and as the corpora know them."""
    names = ("rto_percent", "fr_percent", "spurious_rto_percent", "spurious_fr_percent")
    lines = []
    for system in SYSTEMS:
        theirs = TABLE_4[system]
        printed = (
            f"{theirs.needed_rto:g}, {theirs.needed_fr:g}, "
            f"{theirs.spurious_rto:g}, {theirs.spurious_fr:g}"
        )
        for mix in MIXES:
            cells = []
            for kind in KINDS:
                for who in ("analysed", "truth"):
                    row = data.row("table-iv", kind=kind, mix=mix, system=system, who=who)
                    cells.append(", ".join(number(row[name], ".1f") for name in names))
            first = mix == MIXES[0]
            lines.append((system if first else "", printed if first else "", mix, *cells))
    head = ("", "2007", "mix", "as printed: analysed", "truth", "as they are: analysed", "truth")
    return table(head, lines)


def rerun(data: Data) -> str:  # noqa: ARG001 - its rows are a file of their own
    """What a setting really changes, and how many connections become shorter and longer."""
    frame = _long("unc-2007-rerun")
    lines = []
    for stack, words in STACKS.items():
        mine = frame.filter(stack=stack)
        settings = [one for one in SHOWN if one in set(mine["setting"])]
        for place, setting in enumerate(settings):
            cells = [_changed(mine.filter(mix=mix, setting=setting)) for mix in MIXES]
            lines.append((words if place == 0 else "", f"`{setting}`", *cells))
    return table(("", "setting", *MIXES), lines)


def _changed(rows: pl.DataFrame) -> str:
    (row,) = rows.iter_rows(named=True)
    mean = number(float(row["inner_change_rtts"]), "+.2f")
    half = float(row["inner_half_rtts"])
    shorter, longer = (round(float(row[f"{how}_10_percent"])) for how in ("shorter", "longer"))
    return f"{mean} ± {half:.2f} ({shorter}, {longer})"


def predicted(data: Data) -> str:  # noqa: ARG001 - its rows are a file of their own
    """What replays predict, and what became of the same connections."""
    frame = _long("unc-2007-rerun").filter(mix="campus")
    lines = []
    for stack, words in STACKS.items():
        for setting in ("k=2", "min_rto=100ms", "min_rto=400ms", "d=4"):
            for row in frame.filter(stack=stack, setting=setting).iter_rows(named=True):
                told, became, half = (
                    row[name] for name in ("predicted_rtts", "became_rtts", "became_half_rtts")
                )
                if told is not None:
                    really = f"{number(became, '+.2f')} ± {half:.2f}"
                    lines.append((words, f"`{setting}`", number(told, "+.2f"), really))
    return table(("", "setting", "predicted", "became"), lines)


def checked(data: Data) -> str:  # noqa: ARG001 - its rows are a file of their own
    """Predictions beside transfers with known losses: by kind of setting how far they are off."""
    frame = _long("unc-2007-whatif")
    frame = frame.with_columns(pl.Series("kind", [kind_of(one) for one in frame["setting"]]))
    lines = []
    for name in frame["kind"].unique(maintain_order=True):
        mine = frame.filter(kind=name)
        right = mine.filter(_alike()).height
        near = mine.filter(pl.col("median") <= 0.05).height
        worst = 100 * float(mine["p95"].max())  # type: ignore[arg-type]
        lines.append((f"`{name}`", str(mine.height), str(right), str(near), number(worst, ".0f")))
    head = ("", "stacks and values", "sign right", "half within 5 %", "worst 95 %, %")
    return table(head, lines, right=range(1, 5))


def _alike() -> pl.Expr:
    """Same sign, or both less than 10 ms."""
    told, really = pl.col("predicted_s"), pl.col("actual_s")
    small = (told.abs() < 0.01) & (really.abs() < 0.01)
    return small | (told.sign() == really.sign())


def grid(data: Data) -> str:
    """The study's grid, against transfers really run."""
    lines = []
    for row in data.rows("grid"):
        numbers = (number(row[name]) for name in ("settings", "within_2_percent"))
        worst = f"{number(row['worst_percent'], '.0f')} %"
        lines.append((STACKS[str(row["stack"])], *numbers, worst))
    head = ("", "settings that change it", "median error within 2 %", "worst median error")
    return table(head, lines, right=(1, 2, 3))


def false_alarms(data: Data) -> str:
    """Connections without loss in which something was sent again, campus as printed."""
    rows: Iterable[tuple[str, str]] = (
        (str(row["system"]).replace("-", NONE), number(row["connections"]))
        for row in data.rows("false-alarms")
    )
    return table(("", "connections"), rows, right=(1,))


def _long(name: str) -> pl.DataFrame:
    return pl.read_csv(results.FOLDER / f"{name}.csv", infer_schema_length=None)


TABLES: Final[Mapping[str, Callable[[Data], str]]] = {
    "items": items,
    "sizes": sizes,
    "parameters": parameters,
    "table-iv": table_iv,
    "rerun": rerun,
    "predicted": predicted,
    "checked": checked,
    "grid": grid,
    "false-alarms": false_alarms,
}

"""The end of a trace's page: which other settings would have helped, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.console import Console

from rexmit.present.grid import Column, Line, print_grid
from rexmit.present.terminal import say
from rexmit.present.text import Text
from rexmit.tracing.advice import Advice
from rexmit.tracing.sentences.settings import helps, in_words, none_helps
from rexmit.tracing.summary import Totals
from rexmit.tracing.words import share, span
from rexmit.wording import NONE, count

if TYPE_CHECKING:
    from rexmit.whatif.calibration import Calibration

_ESTIMATE: Final = (
    "These are estimates: round trips and losses are taken to be what they were, as in A "
    "Performance Study of Loss Detection/Recovery in Real-world TCP Implementations (2007), "
    "section IV.C."
)


def helping(settings: tuple[Advice, ...], totals: Totals) -> tuple[Advice, ...]:
    """Those of the settings that would have made a difference that somebody notices."""
    return tuple(one for one in settings if helps(one, totals))


def print_settings(
    settings: tuple[Advice, ...],
    totals: Totals,
    checked: Calibration | None,
    console: Console,
    *,
    tried: int,
) -> None:
    """What would have helped, of so many settings that were tried."""
    say(console, Text("What would have helped", "bold"))
    shown = helping(settings, totals)
    if not shown:
        say(console, none_helps(settings, tried, totals).text)
        return
    say(console, _best(shown[0], totals))
    _print_table(shown, checked, console)
    say(console, _ESTIMATE, "dim")
    if checked:
        told = (
            "off by: how far such estimates were from the truth in transfers really run with the "
            f"setting ({checked.engine}, {checked.made}), in shares of their duration: median and "
            "95th percentile"
        )
    else:
        told = "How good they are has not been measured here: `rexmit validate whatif` measures it."
    say(console, told, "dim")


def _best(best: Advice, totals: Totals) -> str:
    saved = f"{span(best.saved_s)} of the {span(totals.waited_s)} waited"
    changes = f"{count(best.shorter, 'connection')} shorter by more than a tenth"
    if best.longer:
        changes += f" and {best.longer:,} longer"
    cost = (
        count(best.spurious, "spurious retransmission")
        if best.spurious
        else "no spurious retransmissions"
    )
    return (
        f"{best.setting}: {in_words(best.setting)}. It would have saved {saved} "
        f"({share(best.saved_s, totals.waited_s)}), made {changes}, and caused {cost}"
    )


def _print_table(
    settings: tuple[Advice, ...], checked: Calibration | None, console: Console
) -> None:
    heads = (
        "time\nsaved",
        "connections\nshorter",
        "\nlonger",
        "timeouts\nfewer",
        "\nmore",
        "spurious\nmore",
        *(("off by\nmedian", "\n95 %") if checked else ()),
    )
    columns = [
        Column("setting", least=12),
        *(Column(head, right=True, before=2) for head in heads),
        Column("what it means", before=2),
    ]
    lines = [
        Line(
            (
                one.setting,
                span(one.saved_s),
                f"{one.shorter:,}",
                f"{one.longer:,}",
                f"{one.to_fr:,}",
                f"{one.to_rto:,}",
                f"{one.spurious:,}",
                *(_off_by(one.setting, checked) if checked else ()),
                in_words(one.setting),
            )
        )
        for one in settings
    ]
    print_grid(columns, lines, console)


def _off_by(setting: str, checked: Calibration) -> tuple[str, str]:
    error = checked.error_of(setting)
    return (f"{error.median:.1%}", f"{error.p95:.1%}") if error else (NONE, NONE)

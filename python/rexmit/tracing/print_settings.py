"""The end of a trace's page: which other settings would have helped, in words."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from rich.console import Console

from rexmit.present.grid import Column, Line, print_grid
from rexmit.present.terminal import say, say_facts
from rexmit.present.text import Text
from rexmit.tracing.advice import Advice
from rexmit.tracing.sentences import unacked
from rexmit.tracing.sentences.settings import helps, in_words, none_helps
from rexmit.tracing.summed import Summary, Totals
from rexmit.tracing.words import listed, share, span
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
    made: Summary,
    checked: Calibration | None,
    console: Console,
    *,
    tried: int,
) -> None:
    """What would have helped, of so many settings that were tried; those that were asked for by
    name, whatever they do; and before it what none can help.
    """
    totals = made.totals
    say(console, Text("What would have helped", "bold"))
    if made.unacked:
        never = unacked.said(made.unacked)
        say_facts(console, ((one.label, one.text) for one in never))
        say(console, "no setting saves what was waited for data that were never acknowledged")
    asked = [one for one in settings if one.named]
    others = tuple(one for one in settings if not one.named)
    found = helping(others, totals)
    for one in asked:
        say(console, _effect(one, totals))
    if found:
        say(console, _effect(found[0], totals))
    elif tried > len(asked):
        none = none_helps(others, tried - len(asked), totals, named=bool(asked))
        say(console, none.text)
    shown = tuple(one for one in settings if one in asked or one in found)
    if not shown:
        return
    _print_table(shown, checked, console)
    say(console, _ESTIMATE, "dim")
    if checked:
        told = (
            "off by: how far such estimates were from the truth in transfers really run with the "
            f"setting ({checked.engine}, {checked.made}), in shares of their duration: median and "
            "95th percentile; and the share of which they said longer where it was shorter, or the "
            "other way round"
        )
    else:
        told = "How good they are has not been measured here: `rexmit validate whatif` measures it."
    say(console, told, "dim")


def _effect(one: Advice, totals: Totals) -> str:
    """What a setting would have done, what it makes worse among it."""
    did = [_waited(one, totals)]
    if one.shorter or one.longer:
        shorter = f"{count(one.shorter, 'connection')} shorter by more than a tenth"
        did.append(f"made {shorter}" + (f" and {one.longer:,} longer" if one.longer else ""))
    if one.avoided:
        every = one.avoided == totals.retransmissions
        avoided = count(one.avoided, "retransmission")
        did.append(f"avoided {'all ' if every and one.avoided > 1 else ''}{avoided}")
    spurious = count(one.spurious, "spurious retransmission")
    did.append(f"caused {spurious if one.spurious else 'no spurious retransmissions'}")
    return f"{one.setting}: {in_words(one.setting)}. It would have {listed(did)}"


def _waited(one: Advice, totals: Totals) -> str:
    if not totals.waited_s or not one.saved_s:
        return "saved nothing of the time waited"
    more = "saved" if one.saved_s > 0 else "added"
    of = "of" if one.saved_s > 0 else "to"
    part = share(abs(one.saved_s), totals.waited_s)
    return f"{more} {span(abs(one.saved_s))} {of} the {span(totals.waited_s)} waited ({part})"


def _print_table(
    settings: tuple[Advice, ...], checked: Calibration | None, console: Console
) -> None:
    heads = (
        "time\nsaved",
        "connections\nshorter",
        "\nlonger",
        "packets\navoided",
        "timeouts\nfewer",
        "\nmore",
        "spurious\nmore",
        *(("off by\nmedian", "\n95 %", "sign\nwrong") if checked else ()),
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
                span(one.saved_s) if one.saved_s >= 0 else f"-{span(-one.saved_s)}",
                f"{one.shorter:,}",
                f"{one.longer:,}",
                f"{one.avoided:,}",
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


def _off_by(setting: str, checked: Calibration) -> tuple[str, ...]:
    error = checked.error_of(setting)
    if error is None:
        return (NONE, NONE, NONE)
    return tuple(f"{part:.1%}" for part in (error.median, error.p95, error.wrong))

"""The end of a trace's page: which other settings would have helped, in words."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Final

from rexmit.result.blocks import Block, Column, Grid, Paragraph, heading, note, table
from rexmit.result.sentence import facts
from rexmit.tracing.advice import Advice
from rexmit.tracing.sentences import unacked
from rexmit.tracing.sentences.settings import helps, in_words, is_held, none_helps, not_applied
from rexmit.tracing.summed import Summary, Totals
from rexmit.tracing.words import listed, share, span
from rexmit.wording import count, known

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


def settings(
    settings: tuple[Advice, ...], summary: Summary, checked: Calibration | None, *, tried: int
) -> Iterator[Block]:
    """What would have helped, of so many settings that were tried; those that were asked for by
    name, whatever they do; before it what none can help, and after it to what none was applied.
    """
    totals = summary.totals
    yield heading("What would have helped")
    if summary.unacked:
        yield facts(unacked.said(summary.unacked))
        yield Paragraph("no setting saves what was waited for data that were never acknowledged")
    elif is_held(summary):
        yield Paragraph("no setting saves what was waited where full-size packets do not pass")
    asked = [one for one in settings if one.named]
    others = tuple(one for one in settings if not one.named)
    helpful = helping(others, totals)
    for one in [*asked, *helpful[:1]]:
        yield Paragraph(_effect(one, totals))
    if not helpful and tried > len(asked):
        none = none_helps(others, tried - len(asked), summary, named=bool(asked))
        yield Paragraph(none.text)
    if left := not_applied(summary):
        yield Paragraph(left.text)
    shown = tuple(one for one in settings if one in asked or one in helpful)
    if not shown:
        return
    yield _table(shown, checked)
    yield note(_ESTIMATE)
    if checked:
        yield note(
            "off by: how far such estimates were from the truth in transfers really run with the "
            f"setting ({checked.engine}, {checked.made}), in shares of their duration: median and "
            "95th percentile; and the share of which they said longer where it was shorter, or the "
            "other way round"
        )
    else:
        yield note(
            "How good they are has not been measured here: `rexmit validate whatif` measures it."
        )


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


def _table(settings: tuple[Advice, ...], checked: Calibration | None) -> Grid:
    errors = {one.setting: checked.error_of(one.setting) for one in settings} if checked else {}

    def off_by(part: str) -> Callable[[Advice], str]:
        return lambda one: known(errors[one.setting], lambda error: f"{getattr(error, part):.1%}")

    return table(
        settings,
        Column("setting", least=12, cell=lambda one: one.setting),
        ("time\nsaved", lambda one: f"{'-' * (one.saved_s < 0)}{span(abs(one.saved_s))}"),
        ("connections\nshorter", lambda one: f"{one.shorter:,}"),
        ("\nlonger", lambda one: f"{one.longer:,}"),
        ("packets\navoided", lambda one: f"{one.avoided:,}"),
        ("timeouts\nfewer", lambda one: f"{one.to_fr:,}"),
        ("\nmore", lambda one: f"{one.to_rto:,}"),
        ("spurious\nmore", lambda one: f"{one.spurious:,}"),
        *(
            (head, off_by(part))
            for head, part in (
                ("off by\nmedian", "median"),
                ("\n95 %", "p95"),
                ("sign\nwrong", "wrong"),
            )
            if checked
        ),
        Column("what it means", before=2, cell=lambda one: in_words(one.setting)),
    )

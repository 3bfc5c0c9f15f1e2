"""Colours of the study's figures: of a system the same in each, of traces others."""

from __future__ import annotations

from typing import Final

#: The palette of Okabe and Ito (2008), <https://jfly.uni-koeln.de/color/>.
SYSTEMS: Final = {
    "Windows": "#0072B2",
    "Linux": "#D55E00",
    "Solaris": "#009E73",
    "FreeBSD": "#CC79A7",
    "RFC": "#000000",
}

#: A marker of each system: its curves are told apart without colours.
MARKS: Final = {"Windows": "o", "Linux": "s", "Solaris": "^", "FreeBSD": "D", "RFC": "v"}

#: Of what is neither a system nor a trace.
WITH_SACK, WITHOUT_SACK = "#56B4E9", "#999999"

_TRACES: Final = ("#000000", "#E69F00", "#56B4E9", "#7A5AC8")
_DASHES: Final = ("-", "--", "-.", ":")


def of_trace(place: int) -> tuple[str, str]:
    """A colour and a dash: no two of sixteen traces have both in common."""
    return _TRACES[place % 4], _DASHES[(place + place // 4) % 4]


def of_curve(label: str, place: int) -> tuple[str, str]:
    """Of a system, with its mechanism behind it, or of a trace."""
    system, _, mechanism = label.partition(" ")
    if system in SYSTEMS and mechanism in ("", "RTO", "FR/R"):
        return SYSTEMS[system], "--" if mechanism == "RTO" else "-"
    return of_trace(place)

"""Colouring rules for Wireshark: one colour a mechanism, pale where it was spurious."""

from __future__ import annotations

from typing import Final

from rexmit.tracing import terms
from rexmit.tracing.annotate.words import BEGINS
from rexmit.tracing.sentences.retransmissions import NEED_OF_ROW

_PALE: Final = 0.72
"""How much white there is in the colour of what was not needed."""

_CAUSE: Final = 0xFBF8D0
"""Behind packets that caused a retransmission."""


def colorfilters() -> str:
    """Rules as Wireshark keeps them in the file `colorfilters` of a profile: the first one that
    fits a packet colours it.
    """
    lines = ["# Retransmissions by mechanism, pale where spurious: rexmit trace --colorfilters"]
    for mechanism, colour in terms.COLOURS.items():
        whole = int(colour[1:], 16)
        spurious = f'frame.comment contains "{BEGINS}{mechanism}, {NEED_OF_ROW["spurious"]}"'
        lines.append(_rule(f"rexmit {mechanism}, spurious", spurious, _mixed(whole)))
        every = f'frame.comment contains "{BEGINS}{mechanism}, "'
        lines.append(_rule(f"rexmit {mechanism}", every, whole))
    for name, words in (("was sent again", "sent again"), ("triggered", "triggered")):
        # An acknowledgement may have caused it, or may most likely have.
        fits = f'frame.comment contains "{BEGINS}{words}"'
        likely = f'frame.comment contains "{BEGINS}most likely {words}"'
        fits = f"{fits} || {likely}" if name == words else fits
        lines.append(_rule(f"rexmit {name}", fits, _CAUSE))
    return "\n".join(lines) + "\n"


def filters() -> list[str]:
    """The display filters of the rules, in their order."""
    return [line.split("@")[2] for line in colorfilters().splitlines() if line[0] == "@"]


def _rule(name: str, fits: str, background: int) -> str:
    front = 0x000000 if _luminance(background) > 0.18 else 0xFFFFFF
    return f"@{name}@{fits}@[{_wide(background)}][{_wide(front)}]"


def _channels(colour: int) -> tuple[int, int, int]:
    return colour >> 16, colour >> 8 & 0xFF, colour & 0xFF


def _mixed(colour: int) -> int:
    red, green, blue = (round(one + (255 - one) * _PALE) for one in _channels(colour))
    return red << 16 | green << 8 | blue


def _wide(colour: int) -> str:
    """Each channel in 16 bits."""
    return ",".join(str(one * 257) for one in _channels(colour))


def _luminance(colour: int) -> float:
    """Relative luminance, as WCAG 2 defines it: above 0.18 black is the better contrast."""

    def linear(channel: int) -> float:
        value = channel / 255
        return value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4

    red, green, blue = (linear(one) for one in _channels(colour))
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue

"""Colours and shapes of a page's figures: those of the figures that are drawn, for both grounds."""

from __future__ import annotations

from typing import Final

from rexmit.present.figures.style import Look, looks

_COLOURS: Final = (
    *("#009E73", "#0072B2", "#D55E00", "#CC79A7", "#E69F00", "#000000"),
    *("#56B4E9", "#7A5AC8", "#8C564B", "#888888", "#BBBBBB", "#666666"),
)
"""`--line0` and on in page.css are these, dark enough for white, and light enough for black."""

_ALIKE: Final = {"#999999": "#888888"}

_SHAPES: Final = {
    "o": "circle",
    "s": "square",
    "^": "triangle",
    "v": "down",
    "<": "left",
    ">": "right",
    "D": "diamond",
    "P": "plus",
    "X": "cross",
    "*": "star",
    "h": "hexagon",
    "p": "pentagon",
}


def place(colour: str) -> int:
    """The place of a drawn figure's colour in the page's palette."""
    return _COLOURS.index(_ALIKE.get(colour, colour))


def shape(marker: str) -> str:
    """What a page calls a marker of matplotlib's."""
    return _SHAPES[marker]


def of_configs(configs: tuple[str, ...]) -> dict[str, tuple[int, str]]:
    """A place in the palette and a shape for each configuration, as `rexmit plot` has them."""
    every: dict[str, Look] = looks(configs)
    return {name: (place(look.colour), shape(look.marker)) for name, look in every.items()}

"""Tables and numbers in Markdown, as a reader has them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

NONE: Final = "–"  # noqa: RUF001 - as documents have it
MINUS: Final = "\N{MINUS SIGN}"


def number(value: object, spec: str = "") -> str:
    """A number by Python's format; a dash where there is none, words as they are."""
    if value is None:
        return NONE
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, str):
        return value
    if not isinstance(value, int | float):
        raise TypeError(f"{value!r} is neither number nor text")
    text = format(value, spec or ("," if isinstance(value, int) else ""))
    # What rounds to zero has no sign.
    if text.startswith(("-", "+")) and not text.strip("+-0.,%"):
        text = text[1:]
    return text.replace("-", MINUS)


def verdict(word: object) -> str:
    """Of a claim, as it is printed; a dash where the run has nothing to tell it by."""
    return NONE if word in (None, "-") else str(word)


def judged(row: Mapping[str, object]) -> tuple[str, str]:
    """The verdict of a row of results (`holds`), and what was `measured`."""
    return verdict(row["holds"]), str(row["measured"]).replace("-", MINUS)


def alike(words: Iterable[str]) -> str:
    """Several verdicts: one word where all agree."""
    every = list(words)
    return every[0] if len(set(every)) == 1 else ", ".join(every)


def table(head: Sequence[str], rows: Iterable[Sequence[str]], right: Iterable[int] = ()) -> str:
    """A table; columns in `right` have their numbers below each other. Raises ValueError for a row
    with more cells than the head, or fewer.
    """
    aligned = set(right)
    rule = ["---:" if i in aligned else "---" for i in range(len(head))]
    lines = [list(head), rule]
    for row in rows:
        if len(row) != len(head):
            raise ValueError(f"{len(row)} cells below a head of {len(head)}: {row}")
        lines.append([cell.replace("|", "\\|") for cell in row])
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def span(values: Iterable[float], spec: str) -> str:
    """From the least to the greatest, as documents write it: "71 to 100"."""
    every = sorted(values)
    low, high = number(every[0], spec), number(every[-1], spec)
    return low if low == high else f"{low} to {high}"

"""What stands in a table's search field, for frames: words to find, and comparisons.

The same as `assets/filter.js` and `assets/sort.js` do in the browser, so that a command prints the
rows that a page shows.
"""

from __future__ import annotations

import operator
import re
from collections.abc import Callable, Mapping
from typing import Final

import polars as pl

from rexmit.errors import UserError, argument

_TOKEN: Final = re.compile(r'"[^"]*"|\S+')
_COMPARISON: Final = re.compile(r"([A-Za-z_]\w*)(<=|>=|!=|=|<|>)(.*)", re.ASCII | re.DOTALL)
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?", re.ASCII | re.IGNORECASE)

_NOTHING: Final = "null"

_SIGNS: Final[Mapping[str, Callable[[pl.Expr, pl.Expr], pl.Expr]]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def fitting(frame: pl.DataFrame, text: str) -> pl.DataFrame:
    """The rows that all terms of `text` fit, in their order: `10.0.0.7 waited_s>0.5 mechanism=rto`.

    A word is found anywhere in any text, "in quotes" with its spaces, whatever the case. A column
    is compared with a number or a text; `= null` and `!= null` ask for nothing, which no other
    comparison fits. Raises UserError (usage) for what is no comparison of this table.
    """
    terms = [_term(frame, token, text) for token in _TOKEN.findall(text)]
    return frame.filter(*terms) if terms else frame


def ordered(frame: pl.DataFrame, sort: str) -> pl.DataFrame:
    """The rows in order of a column, with - before it from the largest down. Null is last either
    way; equal rows stay as they were. Raises UserError (usage).
    """
    name = sort.removeprefix("-")
    _check(frame, name, "sort", sort)
    down = sort.startswith("-")
    return frame.sort(_value(frame, name), descending=down, nulls_last=True, maintain_order=True)


def _value(frame: pl.DataFrame, name: str) -> pl.Expr:
    """A column; no number and an empty text are null."""
    kind = frame.schema[name]
    if kind.is_float():
        return pl.col(name).fill_nan(None)
    if kind.is_numeric() or kind == pl.Boolean:
        return pl.col(name)
    return pl.col(name).cast(pl.String).replace("", None)


def _check(frame: pl.DataFrame, name: str, option: str, given: str) -> None:
    if name not in frame.columns:
        raise UserError(
            f"{argument(option)} {given}: there is no column {name}",
            f"the table has {', '.join(frame.columns)}",
            usage=True,
        )


def _term(frame: pl.DataFrame, token: str, text: str) -> pl.Expr:
    match = None if token.startswith('"') else _COMPARISON.fullmatch(token)
    if match is None:
        return _word(frame, token.strip('"').lower())
    name, sign, value = match.groups()
    _check(frame, name, "where", text)
    column = _value(frame, name)
    if value == _NOTHING and sign in ("=", "!="):
        return column.is_null() if sign == "=" else column.is_not_null()
    if not value or value == _NOTHING:
        raise UserError(
            f"{argument('where')} {text}: {name}{sign} is compared with nothing",
            f"as in {name}{sign}1, {name}=null, {name}!=null",
            usage=True,
        )
    if not frame.schema[name].is_numeric():
        return _SIGNS[sign](column.cast(pl.String).str.to_lowercase(), pl.lit(value.lower()))
    if not _NUMBER.fullmatch(value):
        raise UserError(
            f"{argument('where')} {text}: {name} is compared with a number, not {value}",
            f"as in {name}{sign}1",
            usage=True,
        )
    return _SIGNS[sign](column.cast(pl.Float64), pl.lit(float(value)))


def _word(frame: pl.DataFrame, word: str) -> pl.Expr:
    texts = [
        pl.col(name).cast(pl.String).str.to_lowercase().str.contains(word, literal=True)
        for name, kind in frame.schema.items()
        if not kind.is_numeric() and kind != pl.Boolean
    ]
    return pl.any_horizontal(texts).fill_null(value=False) if texts else pl.lit(value=False)

"""The commands with their options, as `--help` of each has them.

Typer's commands are read by their attributes: it carries its own Click since 0.2x, so extensions
that ask for `click.Command` (sphinx-click) do not know them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from textwrap import dedent
from typing import Any, Final

import typer

from rexmit.cli import app
from rexmit_site.markdown import code, fenced, plain, table, together

_VALUES: Final = {"int": "N", "float": "X", "str": "TEXT", "path": "PATH"}
"""What stands for a value of a type where a parameter has no name for it."""


def every() -> Iterator[tuple[list[str], Any]]:
    """The words of each command that a user is shown, and the command."""

    def below(words: list[str], command: Any) -> Iterator[tuple[list[str], Any]]:  # noqa: ANN401
        inner = getattr(command, "commands", None)
        if inner is None:
            yield words, command
            return
        for name, one in inner.items():
            if not one.hidden:
                yield from below([*words, name], one)

    yield from below(["rexmit"], typer.main.get_command(app))


def _paragraphs(text: str) -> str:
    """Of a docstring: lines run on, paragraphs stay apart, `\\b` keeps lines as they are."""
    parts = []
    for part in re.split(r"\n\s*\n", text.strip()):
        if part.lstrip().startswith("\b"):
            lines = dedent(part.lstrip().removeprefix("\b").strip("\n"))
            parts.append(fenced("text", lines))
        else:
            parts.append(plain(" ".join(part.split())))
    return together(parts)


def _examples(epilog: str | None) -> str:
    """What stands below the options, with its head. Commands have words of ours beside them."""
    head, _, rest = (epilog or "").replace("\b", "").strip().partition("\n")
    lines = dedent("\n".join(line for line in rest.splitlines() if line.strip()))
    return together([plain(head), fenced("text", lines)]) if lines else plain(head)


def _written(option: str) -> str:
    """`--seed N` for `--seed <int range>`: what Typer calls a type says less than a name."""
    found = re.fullmatch(r"(.*?)( [^-\s]\S*)? <([^>]*)>", option)
    if found is None:
        return option
    words, named, kind = found.groups()
    value = kind if "|" in kind else _VALUES.get(kind.split()[0], kind.upper())
    return words + (named or f" {value}")


def _parameters(command: Any, context: Any) -> tuple[list[list[str]], list[list[str]]]:  # noqa: ANN401
    """Arguments and options: how each is written, and what it says."""
    arguments, options = [], []
    for one in command.get_params(context):
        record = one.get_help_record(context)
        if record is None:
            continue
        written, says = record
        if one.param_type_name == "option":
            options.append([code(_written(written)), plain(says)])
        else:
            arguments.append([code(re.sub(r" <[^>]*>$", "", written)), plain(says)])
    return arguments, options


def commands() -> str:
    """All of them, a section each."""
    parts = []
    for words, command in every():
        name = " ".join(words)
        context = command.make_context(name, [], resilient_parsing=True)
        usage = " ".join([name, *command.collect_usage_pieces(context)])
        arguments, options = _parameters(command, context)
        parts += [
            f"## {name}",
            fenced("text", usage),
            _paragraphs(command.help or ""),
            table(["argument", "what"], arguments),
            table(["option", "what"], options),
            _examples(command.epilog),
        ]
    return together(parts)

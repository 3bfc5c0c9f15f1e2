"""The commands with their options, as `--help` of each has them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from textwrap import dedent
from typing import Any, Final

import click

from rexmit.cli import app
from rexmit_site.markdown import code, fenced, plain, table, together

_VALUES: Final = {"int": "N", "float": "X", "str": "TEXT", "path": "PATH"}
"""What stands for a value of a type where a parameter has no name for it."""


def every() -> Iterator[tuple[list[str], Any]]:
    """The words of each command that a user is shown, and the command."""

    def below(words: list[str], command: Any) -> Iterator[tuple[list[str], Any]]:  # noqa: ANN401
        if not isinstance(command, click.Group):
            yield words, command
            return
        context = click.Context(command)
        for name in command.list_commands(context):
            yield from below([*words, name], command.get_command(context, name))

    yield from below(["rexmit"], app)


@dataclass(frozen=True)
class Described:
    """What a command says of itself. Paragraphs are text, or lines that stay as they are."""

    name: str
    usage: str
    short: str
    about: list[tuple[str, bool]]
    arguments: list[tuple[str, str]]
    options: list[tuple[str, str]]
    head: str
    """Of the examples."""
    examples: str


def described(words: list[str], command: Any) -> Described:  # noqa: ANN401
    """A command by its words."""
    name = " ".join(words)
    context = command.make_context(name, [], resilient_parsing=True)
    arguments, options = _parameters(command, context)
    head, examples = _examples(command.epilog)
    return Described(
        name=name,
        usage=" ".join([name, *command.collect_usage_pieces(context)]),
        short=command.get_short_help_str(limit=200),
        about=list(_paragraphs(command.help or "")),
        arguments=arguments,
        options=options,
        head=head,
        examples=examples,
    )


def _paragraphs(text: str) -> Iterator[tuple[str, bool]]:
    """Of a docstring: lines run on, paragraphs stay apart, `\\b` keeps lines as they are."""
    for part in re.split(r"\n\s*\n", text.strip()):
        if part.lstrip().startswith("\b"):
            yield dedent(part.lstrip().removeprefix("\b").strip("\n")), True
        elif part:
            yield " ".join(part.split()), False


def _examples(epilog: str | None) -> tuple[str, str]:
    """What stands below the options: its head, and its lines. Commands have words of ours beside
    them.
    """
    head, _, rest = (epilog or "").replace("\b", "").strip().partition("\n")
    return head, dedent("\n".join(line for line in rest.splitlines() if line.strip()))


def _written(option: str) -> str:
    """`--seed N` for `--seed <int range>`: what a type is called says less than a name."""
    found = re.fullmatch(r"(.*?)( [^-\s]\S*)? <([^>]*)>", option)
    if found is None:
        return option
    words, named, kind = found.groups()
    value = kind if "|" in kind else _VALUES.get(kind.split()[0], kind.upper())
    return words + (named or f" {value}")


def _parameters(
    command: Any,  # noqa: ANN401
    context: Any,  # noqa: ANN401
) -> tuple[list[tuple[str, str]], list[tuple[str, str]]]:
    """Arguments and options: how each is written, and what it says."""
    arguments, options = [], []
    for one in command.get_params(context):
        record = one.get_help_record(context)
        if record is None:
            continue
        written, says = record
        if one.param_type_name == "option":
            options.append((_written(written), says))
        else:
            arguments.append((re.sub(r" <[^>]*>$", "", written), says))
    return arguments, options


def commands() -> str:
    """All of them, a section each."""
    return together(map(_section, [program(), *(described(*one) for one in every())]))


def program() -> Described:
    """The program itself: its options, which may be typed behind each command, too."""
    return described(["rexmit"], app)


def _section(one: Described) -> str:
    def rows(parameters: list[tuple[str, str]]) -> list[list[str]]:
        return [[code(written), plain(says)] for written, says in parameters]

    return together(
        [
            f"## {one.name}",
            fenced("text", one.usage),
            *(fenced("text", text) if fixed else plain(text) for text, fixed in one.about),
            table(["argument", "what"], rows(one.arguments)),
            table(["option", "what"], rows(one.options)),
            plain(one.head),
            fenced("text", one.examples) if one.examples else "",
        ]
    )

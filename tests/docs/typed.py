"""`rexmit` commands in blocks of shell, and whether they can be parsed."""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from typing import Final

import click

from rexmit.cli import app

_BEFORE: Final = {"sudo", "exec", "nohup", "nice", "time"}
"""Programs that start the one behind them."""

_OPERATORS: Final = set("|;&()<>")
_ASSIGNMENT: Final = re.compile(r"\w+=")


def commands(text: str) -> Iterator[list[str]]:
    """The words of each, of a pipe and a list too. What is quoted is not looked into."""
    for line in text.replace("\\\n", " ").splitlines():
        lexer = shlex.shlex(line, posix=True, punctuation_chars="".join(_OPERATORS))
        lexer.whitespace_split = True
        lexer.commenters = "#"
        words: list[str] = []
        for word in [*lexer, ";"]:
            if not set(word) <= _OPERATORS:
                words.append(word)
                continue
            while words and (words[0] in _BEFORE or _ASSIGNMENT.match(words[0])):
                words.pop(0)
            if words and words[0].rpartition("/")[2] == "rexmit":
                yield words
            # What stands behind a redirection is a file, and no program begins with one of ours.
            words = []


def wrong(words: list[str]) -> str | None:
    """What Click says against a command; it is not run."""
    command: click.Command | None = app
    name, *rest = words
    while isinstance(command, click.Group) and rest and not rest[0].startswith("-"):
        name, *rest = rest
        command = command.get_command(click.Context(command), name)
    if command is None:
        return f"no command {name}"
    try:
        if isinstance(command, click.Group):
            context = command.make_context(name, [], resilient_parsing=True)
            command.make_parser(context).parse_args(rest)
        else:
            command.make_context(name, rest)
    except (click.exceptions.Exit, SystemExit):
        return None
    except Exception as error:
        return f"{type(error).__name__}: {getattr(error, 'message', error)}"
    return None

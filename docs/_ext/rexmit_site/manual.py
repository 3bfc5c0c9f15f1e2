"""Pages of the manual (`man rexmit-trace`), of what the commands say of themselves.

    python -m rexmit_site.manual FOLDER

writes `FOLDER/rexmit-trace.1` and the others.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

from rexmit.configuration import VARIABLE
from rexmit_site.commands import Described, described, every, program


def pages() -> dict[str, str]:
    """Every page by the name of its file: the program's, and one a command."""
    commands = [described(*one) for one in every()]
    first = program()
    listed = [("COMMANDS", _terms((one.name, one.short) for one in commands)), *_surroundings()]
    made = {_file(first): _page(first, listed)}
    for one in commands:
        also = f"{_bold(_name(first))}(1) has the options that may be typed behind every command."
        made[_file(one)] = _page(one, [("SEE ALSO", [also])])
    return made


def _name(one: Described) -> str:
    return one.name.replace(" ", "-")


def _file(one: Described) -> str:
    return f"{_name(one)}.1"


def _page(one: Described, more: Iterable[tuple[str, Iterable[str]]]) -> str:
    name = _escaped(_name(one))
    short = _escaped(one.short.rstrip("."))
    sections: list[tuple[str, Iterable[str]]] = [
        ("NAME", [rf"{name} \- {short}"]),
        ("SYNOPSIS", [_bold(one.usage)]),
        ("DESCRIPTION", _text(one.about)),
        ("ARGUMENTS", _terms(one.arguments)),
        ("OPTIONS", _terms(one.options)),
        *more,
        ("EXAMPLES", _fixed(one.examples)),
    ]
    lines = [f'.TH "{name.upper()}" "1" "" "rexmit" "rexmit"']
    for head, said in sections:
        if inner := list(said):
            lines += [f".SH {head}", *inner]
    return "\n".join([*lines, ""])


def _surroundings() -> Iterator[tuple[str, list[str]]]:
    yield "FILES", _terms([("~/.config/rexmit/config.toml", "color, folder and names, as TOML.")])
    variables = [
        (VARIABLE, "Another such file; empty: none."),
        ("NO_COLOR, CLICOLOR, CLICOLOR_FORCE, FORCE_COLOR", "Whether there are colours."),
        ("REXMIT_CACHE", "Where kernels are kept, in place of ~/.cache/rexmit."),
    ]
    yield "ENVIRONMENT", _terms(variables)


def _text(about: Iterable[tuple[str, bool]]) -> Iterator[str]:
    for text, fixed in about:
        yield ".PP"
        yield from _fixed(text) if fixed else [_escaped(text)]


def _fixed(lines: str) -> list[str]:
    """Lines that stay as they are."""
    return [".nf", *map(_escaped, lines.splitlines()), ".fi"] if lines else []


def _terms(pairs: Iterable[tuple[str, str]]) -> list[str]:
    return [line for term, says in pairs for line in (".TP", _bold(term), _escaped(says))]


def _bold(text: str) -> str:
    return rf"\fB{_escaped(text)}\fR"


def _escaped(text: str) -> str:
    """A line in which nothing means anything to roff."""
    line = text.replace("\\", r"\e").replace("-", r"\-")
    return rf"\&{line}" if line.startswith((".", "'")) else line


def main() -> None:
    """Write them all."""
    folder = Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in pages().items():
        (folder / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()

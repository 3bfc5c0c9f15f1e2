"""The fenced blocks of a document, with what a comment directly above says of each.

`<!-- not run: REASON -->`: it is not run by the tests. `<!-- file: NAME -->`: it is a file of this
name for the blocks after it. `<!-- needs: kernel -->` anywhere: the document needs kernels.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

_FENCE: Final = re.compile(r"^(?P<indent> *)(?P<marks>`{3,}|:{3,})(?P<info>.*)$")
_SAID: Final = re.compile(r"^ *<!-- ([\w ]+): (.+?) -->$")
NEEDS_KERNEL: Final = "<!-- needs: kernel -->"


@dataclass(frozen=True, slots=True)
class Block:
    """A fenced block: its language, its text, and what a comment above says by its key."""

    place: str
    """`FILE:LINE` of its first line."""
    language: str
    text: str
    said: dict[str, str]
    follows: bool
    """Nothing but blank lines stand between the block before and this one."""

    @property
    def not_run(self) -> str | None:
        """Why it is not run."""
        return self.said.get("not run")


def blocks(path: Path, text: str) -> list[Block]:
    """Of a document in Markdown. Raises ValueError for a block that is not closed."""
    found: list[Block] = []
    opened: re.Match[str] | None = None
    said: dict[str, str] = {}
    lines: list[str] = []
    start, alone = 0, True
    for number, line in enumerate(text.splitlines(), 1):
        if opened is not None:
            if line.strip() == opened["marks"]:
                body = "\n".join(one.removeprefix(opened["indent"]) for one in lines)
                place = f"{path.name}:{start + 1}"
                found.append(Block(place, opened["info"].strip(), body, said, not alone))
                opened, said, lines, alone = None, {}, [], False
            else:
                lines.append(line)
        elif fence := _FENCE.match(line):
            opened, start = fence, number
        elif comment := _SAID.match(line):
            said = said | {comment[1]: comment[2]}
        elif line.strip():
            said, alone = {}, True
    if opened is not None:
        raise ValueError(f"{path}:{start}: the block is not closed")
    return found


@dataclass(frozen=True, slots=True)
class Command:
    """A command of a block `console`: what is typed, and the lines shown below it."""

    typed: str
    shown: list[str]


def commands(text: str) -> list[Command]:
    """Of a block `console`: lines after `$ `, and `> ` where one goes on."""
    found: list[Command] = []
    for line in text.splitlines():
        if line.startswith("$ "):
            found.append(Command(line[2:], []))
        elif not found:
            raise ValueError(f"no command before {line!r}")
        elif line.startswith("> ") and not found[-1].shown:
            found[-1] = Command(f"{found[-1].typed}\n{line[2:]}", [])
        else:
            found[-1].shown.append(line)
    return found


def like(shown: list[str], told: list[str]) -> bool:
    """Whether lines are as shown. A line `…` stands for any lines, `…` in a line for any text."""
    pattern = ""
    for line in shown:
        if line.strip() == "…":
            pattern += r"(?:[^\n]*\n)*?"
        else:
            pattern += r"[^\n]*?".join(map(re.escape, line.rstrip().split("…"))) + r"\n"
    text = "".join(f"{line.rstrip()}\n" for line in told)
    return re.fullmatch(pattern, text) is not None

"""Errors that a user can do something about, and the exit statuses of the program.

A program calls with arguments, a shell with options: what an error says of them is put into the
words of whoever made the call (`argument`, `by_caller`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final

EXIT_OK: Final = 0
EXIT_FAILED: Final = 1
EXIT_USAGE: Final = 2
EXIT_SPLAT: Final = 3
"""The kernel warned of a defect of its own."""
SPLATTED: Final = "the kernel warns of a defect of its own"
"""What is said of one that did."""
EXIT_CANNOT_TELL: Final = 125
"""Of a command that judges: there is no verdict. `git bisect run` skips a commit at this status."""


class UserError(Exception):
    """What went wrong and what to do about it; the command line prints both, without a traceback.

    `what` says what happened and where, in a line; `hint`, if any, says what to do, in one or in
    several. Both are as they may be shown, whoever chose the names in them. `usage` marks a command
    that was typed wrongly (exit status 2), as against one that failed (exit status 1). `splat` is
    what a kernel said of a defect of its own, where that is what went wrong.
    """

    def __init__(
        self,
        what: str,
        hint: str | Iterable[str] | None = None,
        *,
        usage: bool = False,
        splat: Sequence[str] = (),
    ) -> None:
        what = _shown(what)
        super().__init__(what)
        lines = [hint] if isinstance(hint, str) else hint or ()
        self.what = what
        self.hint = "\n".join(map(_shown, lines)) or None
        self.usage = usage
        self.splat = tuple(splat)

    @property
    def exit_status(self) -> int:
        """The exit status of a command that does not judge (`failed`)."""
        if self.splat:
            return EXIT_SPLAT
        return EXIT_USAGE if self.usage else EXIT_FAILED

    def text(self) -> str:
        """The message as it is printed: `rexmit: WHAT`, then the hint's lines set in by two
        spaces."""
        lines = [f"rexmit: {self.what}"]
        if self.hint:
            lines += [f"  {line}" if line else "" for line in self.hint.splitlines()]
        return "\n".join(lines)


class FaultySourceError(UserError):
    """A kernel's source is at fault, not this machine: it fails anywhere, until it is changed."""


def _shown(line: str) -> str:
    # Nothing has gone wrong where a command begins.
    from rexmit import addresses, escaping

    return escaping.shown(addresses.shown(line))


_judges = False
"""Whether the command at work judges."""


def judging() -> None:
    """Says that from here on 1 is a verdict, or the status of a command that a guest ran: what
    cannot be done ends the program with the status for "cannot tell".
    """
    global _judges
    _judges = True


def failed(status: int = EXIT_FAILED) -> int:
    """What the program ends with where something could not be done, which has that exit status in
    a command that does not judge.
    """
    return EXIT_CANNOT_TELL if _judges and status == EXIT_FAILED else status


_options: Mapping[str, str] | None = None
"""Options by argument, while a command line is at work."""


@contextmanager
def speaking_of_options(others: Mapping[str, str]) -> Iterator[None]:
    """Inside, for all threads, errors speak of options: `--hang-limit` for `hang_limit`, and what
    `others` has for arguments whose options have other names.
    """
    global _options
    before, _options = _options, others
    try:
        yield
    finally:
        _options = before


def argument(name: str, value: object = None) -> str:
    """How the caller writes an argument: "`engine='model'`", or "--engine model"."""
    if _options is None:
        return f"`{name}`" if value is None else f"`{name}={value!r}`"
    option = _options.get(name) or f"--{name.replace('_', '-')}"
    return option if value is None else f"{option} {value}"


def by_caller(*, called: str, typed: str) -> str:
    """`called` for a program, `typed` for a shell."""
    return called if _options is None else typed


_NEAR: Final = 0.65
"""How alike two words are, of 1, for one to be meant by the other."""


def closest(word: str, allowed: list[str]) -> str | None:
    """The allowed word most like `word`, or None where nothing is near. Of names that differ in
    their numbers alone it is that of the nearest version, and of two as near that of the later."""
    import difflib
    import re

    folded = {candidate.lower(): candidate for candidate in allowed}
    frame, numbers = _apart(word.lower())
    versions = [one for one in folded if numbers and _apart(one)[0] == frame]
    if versions:

        def far(name: str) -> tuple[int, int]:
            own = _version(_apart(name)[1])
            return abs(own - _version(numbers)), -own

        return folded[min(versions, key=far)]
    matches = difflib.get_close_matches(word.lower(), list(folded), n=1, cutoff=_NEAR)
    if not matches:
        # `loss` is all of one part of `line_loss`.
        matches = [one for one in folded if word.lower() in re.split("[_-]", one)]
    return folded[matches[0]] if len(matches) == 1 else None


def choice(word: str, there: Iterable[str], label: str, also: Iterable[str] = ()) -> str:
    """A hint for a word that is none of those there are: the one that is near, if any, then all, as
    `did you mean tables? LABEL: tables, times`. `also` has what may be meant, too."""
    listed = list(there)
    near = closest(word, [*listed, *also])
    shown = repr(near) if near and " " in near else near
    guess = f"did you mean {shown}? " if near else ""
    return f"{guess}{label}: {', '.join(listed) or 'none'}"


def _apart(name: str) -> tuple[tuple[str, ...], list[int]]:
    """What is between the numbers of a name, and these."""
    import re

    parts = re.split(r"([0-9]{1,9})", name)
    return tuple(parts[::2]), [int(number) for number in parts[1::2]]


def _version(numbers: list[int]) -> int:
    """Greater for a later version of as many numbers."""
    value = 0
    for number in numbers:
        value = value * 10**9 + number
    return value

"""From what a user typed to captures: patterns are filled in, objects looked at."""

from __future__ import annotations

import fnmatch
import glob
import os
import re
from collections.abc import Iterable, Sequence
from contextlib import closing
from os import PathLike
from pathlib import Path
from typing import Final

from rexmit.addresses import is_address
from rexmit.errors import UserError
from rexmit.sources import stores
from rexmit.sources.capture import STDIN, Capture
from rexmit.sources.remote import Remote
from rexmit.sources.stores import LOOKING

_WILD: Final = re.compile(r"[*?[]")


def find(
    words: Iterable[str | PathLike[str] | Remote], *, every: bool = False
) -> tuple[list[Capture], list[str]]:
    """The captures that paths, addresses and patterns (`*`, `?`, `[a-z]`, `**` for any folders)
    name, those of a pattern in the order of their names; and a line for each that is not there.

    A capture that is not there is an error where `every` one is needed, or nothing else is there;
    so is a pattern that nothing fits, and a store that does not answer. Raises UserError.
    """
    captures: list[Capture] = []
    missing: list[UserError] = []
    for word in words:
        if isinstance(word, Remote):
            stores.check(f"{word.store}/")
            captures.append(word)
            continue
        try:
            captures += [_nameable(one) for one in _found(str(word))]
        except _MissingError as error:
            missing.append(error)
    if missing and (every or not captures):
        raise missing[0]
    return captures, [f"{error.what}; it is left out" for error in missing]


def _nameable(capture: Capture) -> Capture:
    """A capture by a name that tables can hold, and that no command takes for an option."""
    if not isinstance(capture, Path) or str(capture) == STDIN:
        return capture
    try:
        str(capture).encode()
    except UnicodeEncodeError as error:
        shown = os.fsencode(capture).decode(errors="backslashreplace")
        raise UserError(
            f"{shown}: the name is not UTF-8",
            "rename it, or read it from standard input: rexmit trace - < FILE",
        ) from error
    # Path takes ./ away.
    return capture.absolute() if str(capture).startswith("-") else capture


class _MissingError(UserError):
    """One capture is not there; others may be."""


def _found(word: str) -> Sequence[Capture]:
    if is_address(word):
        return _objects(word)
    path = Path(word)
    if word == STDIN or path.exists():
        return [path]
    if _WILD.search(word):
        # pathlib has no pattern that begins at the root, or at `..`.
        names = sorted(glob.glob(word, recursive=True))  # noqa: PTH207
        if not names:
            raise UserError(f"{word}: no file fits", "give captures, or - for a pipe")
        return [Path(name) for name in names if not Path(name).is_dir()]
    raise _MissingError(f"{word}: there is no such file", "give captures, or - for a pipe")


def _objects(address: str) -> list[Capture]:
    where, path = stores.split(address)
    listed = path.endswith("/") or not path
    # On a web server these are letters of names.
    if not listed and (stores.is_web(where) or not _WILD.search(path)):
        try:
            with closing(stores.opened(where, LOOKING)) as store, stores.told(address):
                return [Remote(where, path, *store.look(path))]
        except UserError as error:
            if isinstance(error.__cause__, FileNotFoundError):
                raise _MissingError(error.what, error.hint) from error
            raise
    if stores.is_web(where):
        raise UserError(
            f"{address}: a web server does not say which files it has",
            "name each; a shell fills in {00..23}",
            usage=True,
        )
    from rexmit.sources.objects import Objects

    pattern = f"{path}*" if listed else path
    folder = _WILD.split(pattern, maxsplit=1)[0].rpartition("/")[0]
    parts = pattern.split("/")
    with stores.told(address):
        objects: list[Capture] = [
            Remote(where, name, *attributes)
            for name, attributes in Objects(where, LOOKING).under(folder)
            if fits(name.split("/"), parts)
        ]
    if not objects:
        raise UserError(
            f"{address}: no object fits", "look at the pattern, and at the bucket's name"
        )
    return sorted(objects, key=str)


def fits(names: Sequence[str], parts: Sequence[str]) -> bool:
    """Whether a path fits a pattern, part by part; `**` stands for any number of parts.

    All places of the pattern are tried at once: a store's names may be as deep as it likes.
    """
    reached = _past({0}, parts)
    for name in names:
        fitting = {place for place in reached if place < len(parts)}
        reached = _past(
            {
                place if parts[place] == "**" else place + 1
                for place in fitting
                if parts[place] == "**" or fnmatch.fnmatchcase(name, parts[place])
            },
            parts,
        )
    return len(parts) in reached


def _past(places: Iterable[int], parts: Sequence[str]) -> set[int]:
    """Places of a pattern, and those behind each `**` there, since it may stand for nothing."""
    every = set()
    for place in places:
        every.add(place)
        while place < len(parts) and parts[place] == "**":
            place += 1
            every.add(place)
    return every

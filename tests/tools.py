"""Tests that take more than a bare machine has: programs that `make setup` installs, or rights.

They have the mark `tools`, and `make test-fast` leaves them to `make test`. While a fast test runs,
`PATH` leads to none of these programs, so that it cannot come to need one unseen.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Callable
from os import environ, pathsep
from pathlib import Path
from typing import Final, TypeVar

import pytest

INSTALLS: Final = Path(__file__).parents[1] / "scripts/system-packages"

FIXTURES: Final = frozenset({"browser", "namespace", "on_full_disk", "sandbox", "tree"})
"""A test that uses one of these takes a browser, a namespace, or what kernels are built with."""

SLOWER: Final = ("kernel", "slow", "tools")
"""The marks of tests that `make test-fast` leaves out."""

Test = TypeVar("Test", bound=Callable[..., object])


def needs(program: str) -> Callable[[Test], Test]:
    """Marks a test that takes a program, and skips it where that is not installed."""
    skip = pytest.mark.skipif(not shutil.which(program), reason=f"{program} is not installed")

    def mark(test: Test) -> Test:
        marked: Test = pytest.mark.tools(skip(test))
        return marked

    return mark


def is_fast(item: pytest.Item) -> bool:
    """Whether `make test-fast` runs a test."""
    return not any(map(item.get_closest_marker, SLOWER))


def programs() -> set[str]:
    """Those that `make setup` installs and a bare machine lacks, with what comes beside them."""
    script = INSTALLS.read_text(encoding="utf-8")
    beyond = script.split("kernels() {")[1].split("\n# What Rust links with")[0]
    beside = {"capinfos", "dumpcap", "editcap", "mergecap", "node", "qemu-img", "tc", "zstd"}
    return {*re.findall(r"\bhas ([\w-]+)", beyond), *beside} - {"gcc", "make"}


def bare_path(folder: Path) -> str:
    """`PATH` without them. In place of a folder that has one there is one of links to its other
    programs, in `folder`.
    """
    hidden = programs()
    places = []
    for number, place in enumerate(map(Path, environ["PATH"].split(pathsep))):
        there = {one.name: one for one in place.iterdir()} if place.is_dir() else {}
        if not hidden & there.keys():
            places.append(str(place))
            continue
        links = folder / str(number)
        links.mkdir(parents=True)
        for name in there.keys() - hidden:
            (links / name).symlink_to(there[name])
        places.append(str(links))
    return pathsep.join(places)

"""What is done to a source tree besides compiling it: configuration fragment and patches.

The files are those of `kernel/` in the repository; the package carries them as
`rexmit/kernels/data`, which is a link in a checkout and a folder in a wheel.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rexmit.errors import FaultySourceError, UserError, argument, choice

DATA: Final = Path(__file__).parent / "data"
"""Holds `fragment.config`, `patches/SERIES/` and `patches/others/`."""

OTHERS: Final = "others"
"""The patches of series without a folder of their own: their hunks hang on as few lines as can be.
Those that have one keep the patches that what is measured on them was measured with."""

DISPENSABLE: Final = {
    "0003-tcp-record-why-a-segment-is-sent-again": "mechanisms come from counters",
    "0004-um-let-time-pass-for-a-program-that-spins": "a program that spins stops virtual time",
    "debug.patch": "its stack traces take longer",
}
"""Patches that a kernel does without if its tree has moved on, and what that means for it."""

RECIPE_VERSION: Final = 1
"""Raise it when the way of building changes so that kernels built before must not be used."""

HZ_CHOICES: Final = (100, 250, 1000)
DEFAULT_HZ: Final = 250
DEFAULT_SERIES: Final = "6.12"


CONFIG: Final = ".config"
"""What the name of a fragment of configuration ends with."""


@dataclass(frozen=True)
class Patch:
    """A patch, or a fragment of configuration: its path, and what lists and names call it."""

    path: Path
    name: str

    @property
    def is_config(self) -> bool:
        """Whether it is a fragment of configuration."""
        return self.path.suffix == CONFIG

    def applied(self, series: str | None = None) -> list[Patch]:
        """What the tree gets: the patch; of a fragment of ours those beside it, FRAGMENT.patch and
        FRAGMENT.SERIES.patch of this series, or of every series."""
        if not self.is_config:
            return [self]
        if not self.path.is_relative_to(DATA):
            return []
        paths = sorted(self.path.parent.glob(f"{self.path.stem}*.patch"))
        names = (self.path.stem, f"{self.path.stem}.{series}")
        return [Patch(one, one.name) for one in paths if series is None or one.stem in names]

    def digest(self) -> str:
        """A hash of the content."""
        paths = [*dict.fromkeys((self.path, *(one.path for one in self.applied())))]
        content = b"".join(path.read_bytes() for path in paths)
        return hashlib.blake2b(content, digest_size=16).hexdigest()


def is_series(text: str) -> bool:
    """Whether it is written as a series is: `6.12`."""
    return re.fullmatch(r"[0-9]{1,4}\.[0-9]{1,4}", text) is not None


def numbers(series: str) -> tuple[int, int]:
    """A series as two numbers that compare as versions do: `6.12` after `6.1`."""
    major, minor = series.split(".")
    return int(major), int(minor)


def fragment_text(hz: int) -> str:
    """The configuration that is asked of every kernel, on top of `allnoconfig`."""
    text = (DATA / "fragment.config").read_text(encoding="utf-8")
    return f'{text}\nCONFIG_HZ={hz}\nCONFIG_LOCALVERSION=""\n'


def besides(series: str) -> str:
    """What options of the fragment depend on where a tree gets the patches of `series`: no loss
    where the tree does not know them."""
    path = DATA / "patches" / series / "besides.config"
    return path.read_text(encoding="utf-8") if path.is_file() else ""


def patched_series() -> list[str]:
    """The series that have patches of their own, oldest first."""
    folder = DATA / "patches"
    names = [p.name for p in folder.iterdir() if is_series(p.name)]
    return sorted(names, key=numbers)


def series_for(tree_series: str) -> str:
    """Whose patches a tree of `tree_series` gets: the series' own, or those of `OTHERS`."""
    known = patched_series()
    if tree_series in known:
        return tree_series
    if numbers(tree_series) < numbers(known[0]):
        raise FaultySourceError(
            f"there are no patches for Linux {tree_series}",
            f"The oldest series that rexmit can build is {known[0]}.",
        )
    return OTHERS


def _folders() -> list[str]:
    return [*patched_series(), OTHERS]


def possible_patches(extra: Iterable[str]) -> list[Patch]:
    """All that a tree of whatever series may get, with `--patch WORD` for each of `extra`."""
    asked = [patch for word in extra for patch in patches_called(word)]
    return [*asked, *(patch for series in _folders() for patch in series_patches(series))]


def series_patches(series: str) -> list[Patch]:
    """The patches that every kernel with this series' patches gets, in order."""
    files = sorted((DATA / "patches" / series).glob("[0-9][0-9][0-9][0-9]-*.patch"))
    return [Patch(path, path.stem) for path in files]


def optional_patches(series: str) -> dict[str, Patch]:
    """The patches that a kernel with this series' patches gets if they are asked for, by name."""
    files = sorted((DATA / "patches" / series / "optional").glob("*.patch"))
    return {path.stem: Patch(path, path.stem) for path in files}


def optional_names() -> list[str]:
    """The names of all optional patches, whatever the series."""
    return sorted({name for series in _folders() for name in optional_patches(series)})


def fragments() -> dict[str, Patch]:
    """The fragments of configuration that a kernel gets if they are asked for, by name."""
    files = sorted((DATA / "configs").glob(f"*{CONFIG}"))
    return {path.stem: Patch(path, path.stem) for path in files}


def fragment(word: str) -> Patch:
    """What `--config WORD` means: a file, or the name of a fragment of ours."""
    path = Path(word)
    if path.is_file():
        if path.suffix != CONFIG:
            raise UserError(
                f"{argument('configs')} {word}: the name of a fragment ends with {CONFIG}",
                usage=True,
            )
        return Patch(path.absolute(), path.stem)
    known = fragments()
    if word not in known:
        raise UserError(
            f"{argument('configs')} {word}: no such file, and no fragment of that name",
            f"fragments: {', '.join(known)}",
        )
    return known[word]


def with_fragments(text: str, extra: Iterable[Patch]) -> str:
    """A configuration with those of `extra` that are fragments; of two lines for an option the
    later one counts."""
    for one in extra:
        if one.is_config:
            text += f"\n{one.path.read_text(encoding='utf-8', errors='replace')}\n"
    return text


def by_llvm(extra: Iterable[Patch]) -> bool:
    """Whether a fragment of configuration asks for clang."""
    return "CONFIG_CC_IS_CLANG=y" in with_fragments("", extra).splitlines()


def optional_patch(word: str, series: str) -> Patch:
    """The patch that `--patch WORD` means: a file, or the name of an optional one of the series."""
    if file := _patch_file(word):
        return file
    known = optional_patches(series)
    if word in known:
        return known[word]
    raise UserError(
        f"{argument('patches')} {word}: no such file, and no optional patch of that name",
        optional_hint(word, series),
    )


def optional_hint(word: str, series: str) -> str:
    """What to say to somebody who asked for the optional patch `word`, which there is not."""
    return choice(word, optional_patches(series), f"optional patches for {series}")


def patches_called(word: str) -> list[Patch]:
    """All that `--patch WORD` may mean, whatever the series."""
    if file := _patch_file(word):
        return [file]
    each = [optional_patches(series) for series in _folders()]
    return [known[word] for known in each if word in known]


def _patch_file(word: str) -> Patch | None:
    path = Path(word)
    if not path.is_file():
        return None
    return Patch(path.absolute(), path.name.removesuffix(".patch").removesuffix(".diff"))


def digest(hz: int, series: str) -> str:
    """A hash of what this version of rexmit does to a tree with the patches of `series`.

    A kernel whose recipe differs was built by another version of rexmit or of its patches.
    """
    text = [f"recipe {RECIPE_VERSION}", fragment_text(hz) + besides(series)]
    text += [f"{patch.name} {patch.digest()}" for patch in series_patches(series)]
    return hashlib.blake2b("\n".join(text).encode(), digest_size=16).hexdigest()

"""Splats: what a kernel says of a defect of its own, with files and lines of its source."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Final

from rexmit.kernels.confine import Bounds, Confinement
from rexmit.kernels.kernel import SYMBOLS

_FIRST: Final = re.compile(
    r"(?<!\w)(WARNING: |BUG: |kernel BUG at |UBSAN: |KASAN: |refcount_t: |kmemleak: [1-9]|Oops: "
    r"|BUG [\w-]{1,64} \(|Kernel mode fault|Segfault with no mm|general protection fault"
    r"|unregister_netdevice: waiting for"
    r"|INFO: (task .* blocked for|rcu.* (stall|detected)|trying to register non-static key))"
)
"""A panic alone is none: memory may have run out."""

_LONGEST: Final = 1024
"""A line of the kernel's is no longer (`LOG_LINE_MAX`)."""

_MOST_LINES: Final = 250
"""So many are kept. KASAN's reports have three stacks."""

_PLACE: Final = re.compile(
    r"(?P<symbol>[A-Za-z_][\w.$]*)\+0x(?P<offset>[0-9a-f]{1,16})/0x(?P<size>[0-9a-f]{1,16})"
)
"""A place in the kernel's code, as printk's `%pS` has it."""

_KNOWN: Final = ("start_kernel", "init/main.c")
"""A function of every kernel, and its file."""

_BOUNDS: Final = Bounds(60.0, 64 << 20)


def splat(lines: Sequence[str], kernel: Path) -> tuple[str, ...]:
    """What a kernel's console has from the first line on that tells of a defect of the kernel's
    own; nothing where none does. Where the kernel was built with debug information, each place in
    its code has file and line, and those of what was inlined there before them.
    """
    for place, line in enumerate(lines):
        if _FIRST.search(line, 0, _LONGEST):
            kept = [line[:_LONGEST] for line in lines[place : place + _MOST_LINES]]
            return tuple(_with_source(kept, kernel.with_name(SYMBOLS)))
    return ()


def _with_source(lines: list[str], symbols: Path) -> list[str]:
    places = {match[0]: match for line in lines for match in _PLACE.finditer(line)}
    if not places or not symbols.exists():
        return lines
    try:
        sources = _sources(list(places.values()), symbols)
    except (OSError, subprocess.TimeoutExpired):
        return lines

    def shown(match: re.Match[str]) -> str:
        source = sources.get(match[0])
        return f"{match[0]} ({source})" if source else match[0]

    return [_PLACE.sub(shown, line) for line in lines]


def _sources(places: list[re.Match[str]], symbols: Path) -> dict[str, str]:
    """Files and lines by place, of those whose symbol is known and there once."""
    confinement = Confinement.probe()

    def output(*argv: str, stdin: bytes = b"") -> list[str]:
        done = confinement.run(
            [*argv, symbols], show=[symbols], stdin=stdin, errors=False, bounds=_BOUNDS
        )
        return done.text.splitlines()

    starts = _starts(output("nm", "--numeric-sort", "--defined-only"))
    top, file = _KNOWN
    asked = {top: starts[top][0][0]} if top in starts else {}
    for place in places:
        ranges = starts.get(place["symbol"], [])
        # Several functions may have one name: they are told apart by their sizes.
        of_size = [one for one in ranges if one[1] == int(place["size"], 16)]
        for start, _ in ranges if len(ranges) == 1 else of_size if len(of_size) == 1 else ():
            # On a stack is where a call returns to: the call itself is before that.
            asked[place[0]] = start + max(int(place["offset"], 16) - 1, 0)
    lines = output("addr2line", "-i", "-a", "-e", stdin=_hexadecimal(asked.values()))
    answers: list[list[str]] = []
    for line in lines:
        if line.startswith("0x"):
            answers.append([])
        elif answers and not line.startswith("?"):
            answers[-1].append(line.partition(" (discriminator")[0])
    known = dict(zip(asked, answers, strict=False))
    # Where the tree lay does not matter to anybody.
    folder = next((one.partition(file)[0] for one in known.pop(top, [])), "")
    return {
        place: ", ".join(one.removeprefix(folder).removeprefix("./") for one in chain)
        for place, chain in known.items()
    }


def _hexadecimal(addresses: Iterable[int]) -> bytes:
    return "".join(f"{address:x}\n" for address in addresses).encode()


def _starts(listing: list[str]) -> dict[str, list[tuple[int, int]]]:
    """Where the symbols of each name begin, and how far it is from there to the next one."""
    symbols = [(int(words[0], 16), words[2]) for line in listing if len(words := line.split()) == 3]
    starts: dict[str, list[tuple[int, int]]] = {}
    end = 0
    for number in range(len(symbols) - 1, -1, -1):
        start, name = symbols[number]
        if number + 1 < len(symbols) and symbols[number + 1][0] != start:
            end = symbols[number + 1][0]
        starts.setdefault(name, []).append((start, end - start))
    return starts

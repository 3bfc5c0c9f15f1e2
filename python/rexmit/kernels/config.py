"""What kernels are configured with, and whether a configured tree has what the fragment asks for.

`allnoconfig` drops silently what it cannot set: an option that depends on another one, or that
another series calls something else. A kernel without its queueing discipline would only be found
out in the middle of a campaign.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rexmit.errors import FaultySourceError
from rexmit.kernels.recipe import CONFIG
from rexmit.kernels.within import files_within, read_within

_OTHERS = re.compile(r"arch/(?!um/|x86/)")
_DEFINES = re.compile(r"^[ \t]*+(?:menu)?config[ \t]++(\w+)[ \t]*$", re.M)
_EXCLUDES = re.compile(r"^[ \t]++depends on !(ARCH_NO_\w+)[ \t]*$", re.M)
_ASSIGNED = re.compile(r"^CONFIG_(\w+)=(.*)$", re.M)

_INSTEAD: Final = {
    # Random bytes of the processor and the boot loader count unless the command line says not.
    "RANDOM_TRUST_CPU": None,
    "RANDOM_TRUST_BOOTLOADER": None,
    "PROC_SYSCTL": "SYSCTL",
}
"""Options that newer series lack without a loss: what they have in their place, or None."""


def check(fragment: str, tree: Path) -> list[str]:
    """Compare `tree/.config` with the fragment.

    Returns the options that this tree does not define, or its architecture excludes, which is no
    error: series differ. Raises UserError for any other that is not set as asked.
    """
    got = dict(_ASSIGNED.findall(read_within(tree / ".config") or ""))
    wrong = {
        option: value
        for option, value in dict(_ASSIGNED.findall(fragment)).items()
        if not _same(got.get(option), value)
    }
    if not wrong:
        return []
    known = _definitions(tree, set(wrong))
    refused = [option for option in wrong if option in known and not known[option].excluded(got)]
    if refused:
        lines = [
            f"CONFIG_{option}={wrong[option]} became {got.get(option, 'unset')}"
            f" (defined in {known[option].place})"
            for option in refused
        ]
        raise FaultySourceError(
            f"the kernel's configuration refuses {len(refused)} of the options that rexmit needs",
            [
                *lines,
                "Usually an option that it depends on is missing or has a new name.",
                f"To build without: --config FILE{CONFIG} with CONFIG_{refused[0]}=n, for example",
            ],
        )
    return sorted(
        option for option in wrong if option not in _INSTEAD or not _has(got, _INSTEAD[option])
    )


def is_set(config: Path, option: str) -> bool:
    """Whether a kernel with this configuration has the option built in."""
    got = dict(_ASSIGNED.findall(config.read_text(encoding="utf-8")))
    return got.get(option) == "y"


_CONTROLS: Final = {
    **{name.upper(): name for name in ("bbr", "bic", "cdg", "cubic", "dctcp", "htcp", "hybla")},
    **{name.upper(): name for name in ("illinois", "lp", "nv", "scalable", "vegas", "veno")},
    **{name.upper(): name for name in ("westwood", "yeah", "lia", "olia", "balia", "wvegas")},
    "HSTCP": "highspeed",
}
"""Congestion controls by their options, TCP_CONG_ left out (net/ipv4/Kconfig)."""


def congestion_controls(config: Path) -> list[str] | None:
    """Those of a kernel with this configuration. None where that names none, for there is always
    one, or some that Linux has not: what these are called stands in their source."""
    got = dict(_ASSIGNED.findall(config.read_text(encoding="utf-8")))
    options = {name.removeprefix("TCP_CONG_") for name in got if name.startswith("TCP_CONG_")}
    options -= {"ADVANCED"}
    if not options or options - _CONTROLS.keys():
        return None
    return sorted({"reno", *(_CONTROLS[name] for name in options)})


def _has(got: dict[str, str], option: str | None) -> bool:
    return option is None or got.get(option) == "y"


def _same(got: str | None, asked: str) -> bool:
    return (got or "n").strip('"') == asked.strip('"')


@dataclass(frozen=True, slots=True)
class _Definition:
    """An option's, in a Kconfig file: which one, and the lines."""

    place: str
    text: str

    def excluded(self, got: dict[str, str]) -> bool:
        """Whether the architecture says so: arch/um of 6.1 sets ARCH_NO_PREEMPT, which excludes
        DEBUG_ATOMIC_SLEEP.
        """
        return any(got.get(name) == "y" for name in _EXCLUDES.findall(self.text))


def _definitions(tree: Path, options: set[str]) -> dict[str, _Definition]:
    """Those of the options that the tree has."""
    symbols: dict[str, _Definition] = {}
    for name in sorted(files_within(tree)):
        # Other architectures' options are not this kernel's.
        if not name.rpartition("/")[2].startswith("Kconfig") or _OTHERS.match(name):
            continue
        _, *defined = _DEFINES.split(read_within(tree / name) or "")
        for option, text in zip(defined[::2], defined[1::2], strict=True):
            if option in options:
                symbols.setdefault(option, _Definition(name, text))
    return symbols

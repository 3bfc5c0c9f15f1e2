"""What rexmit finds of what it needs on this machine, and the command that brings the rest."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import cache_from_source, find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Final

from rexmit import configuration
from rexmit.errors import UserError, choice
from rexmit.extras import brought_by
from rexmit.version import mended_by

if TYPE_CHECKING:
    from rexmit.kernels.confine import Confinement

_ALLOWS: Final = {
    "user.max_user_namespaces": "15000",
    "kernel.unprivileged_userns_clone": "1",
    "kernel.apparmor_restrict_unprivileged_userns": "0",
}
"""Sysctls that may keep the guest program from making a sandbox, and what lets it."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that a part of rexmit needs, or would use.

    `found` says where it is or what of it there is, None where it is missing; `remedy` is the
    command that brings it. `needed`: without it the part does not work.
    """

    part: str
    name: str
    found: str | None
    needed: bool
    remedy: str | None
    use: str

    @property
    def missing(self) -> bool:
        """Whether the part does not work because of it."""
        return self.needed and self.found is None


def doctor(parts: Iterable[str] = ()) -> list[Finding]:
    """What is there and what is missing, of these parts of rexmit; of all where none is named.

    The parts: "trace" (captures explained, and the model), "kernel" (building kernels and running
    on them), "images" (kernel images of others), "wireshark" (its opinion beside ours), "figures"
    (pictures in files), "cluster" (workers of others), "settings" (the file that the program reads
    them from). Nothing is changed. Raises UserError (usage) for a part that there is not.
    """
    asked = list(dict.fromkeys(parts)) or list(PARTS)
    for part in asked:
        if part not in PARTS:
            raise UserError(f"there is no part {part}", choice(part, PARTS, "parts"), usage=True)
    return [finding for part in asked for finding in PARTS[part]()]


def _trace() -> list[Finding]:
    from rexmit import stacks

    try:
        place: str | None = stacks.core().__file__
    except UserError:
        place = None
    return [
        Finding("trace", "compiled core", place, True, mended_by(), "captures and the model"),
        _bytecode(),
    ]


def _bytecode() -> Finding:
    """Whether all modules of the package were compiled since they were written."""
    package = Path(__file__).parents[1]
    sources = list(package.rglob("*.py"))
    is_compiled = all(map(_is_compiled, sources))
    return Finding(
        part="trace",
        name="bytecode",
        found=f"of {len(sources)} modules" if is_compiled else None,
        needed=False,
        remedy=f"{sys.executable} -m compileall -q {package}",
        use="without it each start compiles its modules anew",
    )


def _is_compiled(source: Path) -> bool:
    compiled = Path(cache_from_source(str(source)))
    return compiled.exists() and compiled.stat().st_mtime >= source.stat().st_mtime


def _kernel() -> list[Finding]:
    from rexmit.engines.guest import PACKAGES
    from rexmit.guest import guest_binary
    from rexmit.kernels import recipe, source, tools
    from rexmit.kernels.cache import kernels
    from rexmit.kernels.confine import Confinement

    try:
        guest: str | None = str(guest_binary())
    except UserError:
        guest = None
    built = [kernel.name for kernel in kernels()]
    findings = [
        Finding(
            "kernel",
            "guest program",
            guest,
            True,
            mended_by(),
            "it boots kernels",
        ),
        _sandbox(Confinement.probe()),
        Finding(
            "kernel",
            "kernel",
            ", ".join(built) or None,
            True,
            f"rexmit kernel build {recipe.DEFAULT_SERIES}",
            "what runs are made on; building one takes minutes",
        ),
    ]
    needed = {"nginx": "the server"}
    asked = {
        "openssl": "a server's certificate: scenarios with TLS need it",
        "tc": "what links do in a corpus of known causes: rexmit validate truth needs it",
    }
    for name, package in PACKAGES.items():
        use = (needed | asked).get(name, "a client: scenarios may ask for it")
        findings.append(_program("kernel", name, package, name in needed, use))
    # What compiles is needed until there is a kernel.
    for name, package in tools.PROGRAMS.items():
        findings.append(_program("kernel", name, package, not built, "building kernels"))
    for series in recipe.patched_series():
        path = source.debian(series)
        first = not built and series == recipe.DEFAULT_SERIES
        findings.append(
            Finding(
                "kernel",
                f"Linux {series}",
                str(path) if path.exists() else None,
                first,
                _install(f"linux-source-{series}"),
                f"rexmit kernel build {series}; a tree or tarball does as well",
            )
        )
    return findings


def _images() -> list[Finding]:
    from rexmit.engines import image

    return [
        _program("images", image.PROGRAM, image.PACKAGE, True, "rexmit kernel add"),
        _program("images", "zstd", "zstd", False, "modules that are packed by it"),
    ]


def _wireshark() -> list[Finding]:
    return [
        _program("wireshark", "tshark", "tshark", True, "rexmit validate score, beside ours"),
    ]


def _figures() -> list[Finding]:
    return [_extra("figures", "matplotlib", "rexmit plot, and --figure of others")]


def _cluster() -> list[Finding]:
    return [_extra("cluster", "distributed", "--cluster")]


def _extra(part: str, package: str, use: str) -> Finding:
    spec = find_spec(package)
    place = spec.origin if spec else None
    return Finding(part, package, place, True, brought_by(package), use)


def _sandbox(confinement: Confinement) -> Finding:
    why = confinement.why_not
    place = None if why else "it can be made"
    remedy = next((f"sysctl {key}={value}" for key, value in _ALLOWS.items() if key in why), None)
    use = why or "kernels run in it, and what builds them"
    return Finding("kernel", "sandbox", place, True, remedy and f"{_as_root()}{remedy}", use)


def _program(part: str, name: str, package: str, needed: bool, use: str) -> Finding:
    # As inside a guest: system folders count even where PATH leaves them out.
    path = os.pathsep.join([os.environ.get("PATH", ""), "/usr/sbin", "/sbin", "/usr/bin", "/bin"])
    return Finding(part, name, shutil.which(name, path=path), needed, _install(package), use)


def _install(package: str) -> str:
    return f"{_as_root()}apt-get install --no-install-recommends {package}"


def _as_root() -> str:
    return "" if os.geteuid() == 0 else "sudo "


def _settings() -> list[Finding]:
    path = configuration.place()
    use = "colours, the folder of results, names: a file of yours"
    if path is None:
        return [
            Finding(
                "settings", "file", f"none: {configuration.VARIABLE} is empty", False, None, use
            )
        ]
    remedy = f"write {path}, or name another: {configuration.VARIABLE}=FILE"
    try:
        there = configuration.read().path
    except UserError as error:
        hint = (error.hint or remedy).splitlines()[0]
        return [Finding("settings", "file", None, True, hint, error.what)]
    return [Finding("settings", "file", str(there) if there else None, False, remedy, use)]


PARTS: Final[dict[str, Callable[[], list[Finding]]]] = {
    "trace": _trace,
    "kernel": _kernel,
    "images": _images,
    "wireshark": _wireshark,
    "figures": _figures,
    "cluster": _cluster,
    "settings": _settings,
}
"""What looks at each part."""

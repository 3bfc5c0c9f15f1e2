"""Packet scripts: which files they are, with which addresses they run, on what kernel."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rexmit.engines.command import Command, Done
from rexmit.errors import UserError, argument
from rexmit.gate.attempts import Attempt, Verdict

SUFFIX: Final = ".pkt"

_IPV4: Final = (
    "--local_ip=192.168.0.1",
    "--gateway_ip=192.168.0.1",
    "--netmask_ip=255.255.0.0",
    "--remote_ip=192.0.2.1",
    *("-D", "TFO_COOKIE=3021b9d889017eeb"),
    *("-D", "CODE=host_unreachable"),
)
FAMILIES: Final[Mapping[str, Sequence[str]]] = {
    "ipv4": (
        "--ip_version=ipv4",
        *_IPV4,
        *("-D", "CMSG_LEVEL_IP=SOL_IP"),
        *("-D", "CMSG_TYPE_RECVERR=IP_RECVERR"),
    ),
    "ipv6": (
        "--ip_version=ipv6",
        "--mtu=1520",
        "--local_ip=fd3d:0a0b:17d6::1",
        "--gateway_ip=fd3d:0a0b:17d6:8888::1",
        "--remote_ip=fd3d:fa7b:d17d::1",
        *("-D", "TFO_COOKIE=c1d1e9742a47a9bc"),
        *("-D", "CMSG_LEVEL_IP=SOL_IPV6"),
        *("-D", "CMSG_TYPE_RECVERR=IPV6_RECVERR"),
    ),
    "ipv4-mapped-ipv6": (
        "--ip_version=ipv4-mapped-ipv6",
        *_IPV4,
        *("-D", "CMSG_LEVEL_IP=SOL_IPV6"),
        *("-D", "CMSG_TYPE_RECVERR=IPV6_RECVERR"),
    ),
}
"""packetdrill's arguments for each family of addresses, as its own `run_all.py` and the kernel's
`ksft_runner.sh` have them."""

ALWAYS: Final = ("--send_omit_free", "--verbose")
"""What packetdrill gets in any case: without the first it frees the memory of zero-copy sends
before it is sent, and what is sent then is chance; the second makes it tell of each packet."""

DEFAULT_FAMILIES: Final = ("ipv4", "ipv6")

_FOR_ONE: Final = re.compile(r"v([46])$")
_HZ: Final = re.compile(r"^CONFIG_HZ(?:_|=)([0-9]{1,5})(?:=y)?$", re.MULTILINE)
_LONGEST_CONFIG: Final = 1 << 20


FAILED: Final = 1
"""packetdrill's exit status where a kernel does something else than its script says."""

_NOT_FOUND: Final = re.compile(
    r"^(?:\S*/)?sh: (?:line )?[0-9]+: \S+: (?:command )?not found$", re.M
)
"""What a shell says of a program."""

_TOLD: Final = re.compile(
    r"^(?:\S+ syscall|inbound injected packet|outbound sniffed packet): ", re.M
)
"""What packetdrill says of what it did (`--verbose`)."""


@dataclass(frozen=True, slots=True)
class Case:
    """A script with one family of addresses, and the packetdrill that runs it."""

    script: Path
    """Absolute."""
    group: str
    """The script, as its caller named it."""
    part: str
    """The family."""
    tool: Path
    arguments: Sequence[str] = ()

    @property
    def name(self) -> str:
        """What it is called in results."""
        return f"{self.group} {self.part}"

    def command(self) -> Command:
        """In the folder of the script and a network namespace of its own; tells of each packet."""
        words = [str(self.tool), *FAMILIES[self.part], *ALWAYS, *self.arguments]
        return Command([*words, self.script.name], folder=self.script.parent, alone=True)

    def judge(self, done: Done, out: str, err: str) -> Attempt:
        """By packetdrill's exit status."""
        verdict = judged(done.status, out, err, self.script)
        text = err or (f"exit status {done.status}" if done.status else "")
        if verdict is not Verdict.GOOD and done.status == 0:
            text = f"{err}{silent()}"
        return Attempt(verdict, text, out, causes=done.causes)


def silent() -> str:
    """What is said of a program that is content, and did nothing."""
    return (
        "it told of no packet and no system call: either the script has none, or it is not "
        f"packetdrill, which {argument('tool')} names"
    )


def judged(status: int, out: str, err: str, script: Path) -> Verdict:
    """What packetdrill says: of a kernel that does something else it names the script. With the
    same exit status it ends where it is older or newer than the kernel, and where the script calls
    a program that is not there. What tells of nothing that it did is not believed.
    """
    if status == 0:
        return Verdict.GOOD if _TOLD.search(out) else Verdict.CANNOT_TELL
    if _NOT_FOUND.search(err):
        return Verdict.CANNOT_TELL
    names_it = any(line.startswith(f"{script.name}:") for line in err.splitlines())
    # Other statuses are of the shell (not found) or of a signal.
    return Verdict.WORSE if status == FAILED and names_it else Verdict.CANNOT_TELL


def cases(
    paths: Iterable[str | os.PathLike[str]],
    families: Sequence[str],
    tool: Path,
    arguments: Sequence[str] = (),
) -> list[Case]:
    """The scripts that `paths` name, files and folders with all below them, each once with each
    family. A script whose name ends with v4 or v6 is for that family alone.

    Raises UserError where there is none.
    """
    scripts: dict[Path, str] = {}
    for path in map(Path, paths):
        try:
            below = sorted(path.rglob(f"*{SUFFIX}")) if path.is_dir() else [path]
        except OSError as error:
            raise UserError(f"cannot read {path}: {error.strerror}") from None
        if not path.exists():
            raise UserError(f"{path}: there is no such file or folder", usage=True)
        if not below:
            raise UserError(
                f"{path}: there is no script in this folder",
                f"the name of a script ends with {SUFFIX}",
                usage=True,
            )
        for script in below:
            scripts.setdefault(script.absolute(), str(script))
    every = [
        Case(script, shown, family, tool, arguments)
        for script, shown in scripts.items()
        for family in families
        if _fits(script, family)
    ]
    if not every:
        raise UserError("no script is for these families of addresses", usage=True)
    return every


def known(families: Sequence[str]) -> None:
    """Raises UserError (usage) where one is no family of addresses."""
    if unknown := [family for family in families if family not in FAMILIES]:
        raise UserError(
            argument("families", unknown[0]), f"families: {', '.join(FAMILIES)}", usage=True
        )


def _fits(script: Path, family: str) -> bool:
    only = _FOR_ONE.search(script.stem)
    return only is None or family.startswith(f"ipv{only[1]}")


def hz(scripts: Iterable[Path]) -> int | None:
    """The timer frequency that the file `config` beside scripts asks for, where one does."""
    for folder in dict.fromkeys(script.parent for script in scripts):
        config = folder / "config"
        try:
            # Opening a pipe waits for its writer.
            if not config.is_file():
                continue
            with config.open(encoding="utf-8", errors="replace") as file:
                text = file.read(_LONGEST_CONFIG)
        except OSError:
            continue
        if asked := _HZ.search(text):
            return int(asked[1])
    return None


def tool(named: str | os.PathLike[str] | None) -> Path:
    """The packetdrill that is meant: `named`, else the one on PATH. Raises UserError."""
    path = shutil.which("packetdrill" if named is None else named)
    if path is None and named is None:
        raise UserError(
            "packetdrill is not on PATH",
            [
                "Build it from https://github.com/google/packetdrill, as old as the scripts are,",
                "and put it on PATH.",
            ],
        )
    if path is None:
        raise UserError(f"{argument('tool')} {named}: no such program", usage=True)
    return Path(path).absolute()

"""The kernel's own tests (kselftest), by the runner that their tree brings."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from rexmit.engines.command import Command, Done
from rexmit.errors import UserError, argument
from rexmit.gate import scripts
from rexmit.gate.attempts import Attempt, Verdict
from rexmit.kernels import lookup, recipe, source, tarball
from rexmit.kernels.confine import Confinement
from rexmit.kernels.kernel import QEMU, Kernel
from rexmit.kernels.newtree import NewTree
from rexmit.kernels.source import Source
from rexmit.store.files import scratch_folder, write_text

FOLDER: Final = "tools/testing/selftests"
"""Of a kernel's tree."""

RUNNER: Final = "ksft_runner.sh"
"""Runs what cannot run itself, as the `runner.sh` of kselftest has it."""

_SKIPPED: Final = 4
"""KSFT_SKIP."""

_MOST_STATUS: Final = 125
"""Above are those of the shell (not found) and of signals."""

_LOG: Final = "rexmit log: "

_TARGET: Final = re.compile(r"(?P<target>\w[\w.+-]*(?:/\w[\w.+-]*)*)(?::(?P<test>\w[\w.+-]*))?")
_ENDED: Final = re.compile(r"^rexmit: packetdrill ended with ([0-9]{1,3}): (.*)$")
_PART: Final = re.compile(r"(?:not )?ok [0-9]{1,6}\b")

_TELLING: Final = """\
#!/bin/sh
# The kernel's runner throws away what packetdrill tells of packets.
"$REXMIT_PACKETDRILL" --verbose "$@" > /tmp/rexmit-log
status=$?
echo >&2
sed 's/^/rexmit log: /' /tmp/rexmit-log >&2
echo "rexmit: packetdrill ended with $status: $*" >&2
exit $status
"""


@dataclass(frozen=True, slots=True)
class Selftest:
    """One test of a folder of tests."""

    script: Path
    """Absolute."""
    group: str
    """The folder, as kselftest calls it."""
    tool: Path | None
    """packetdrill, where the test needs one."""
    programs: Path
    """A folder with programs that come before those of PATH."""

    @property
    def part(self) -> str:
        """Its file."""
        return self.script.name

    @property
    def name(self) -> str:
        """As `run_kselftest.sh --test` takes it."""
        return f"{self.group}:{self.part}"

    def command(self) -> Command:
        """In its folder. KSFT_MACHINE_SLOW is not set: no machine is slow in virtual time."""
        words = [f"./{self.part}"]
        if not os.access(self.script, os.X_OK):
            words.insert(0, f"./{RUNNER}")
        path = f"{self.programs}:{os.environ.get('PATH', os.defpath)}"
        env = {} if self.tool is None else {"PATH": path, "REXMIT_PACKETDRILL": str(self.tool)}
        return Command(words, folder=self.script.parent, env=env)

    def judge(self, done: Done, out: str, err: str) -> Attempt:
        """By the runner's exit status; its KTAP says which part failed."""
        parts = tuple(
            line for line in out.splitlines() if _PART.match(line) or line.startswith("1..")
        )
        runs = list(_runs(err))
        verdict = Verdict.GOOD if done.status == 0 else Verdict.WORSE
        if done.status == _SKIPPED or done.status > _MOST_STATUS:
            verdict = Verdict.CANNOT_TELL
        # The runner cannot tell a packetdrill that crashed from one that judged.
        judged = {run: scripts.judged(run.status, run.log, run.faults, self.script) for run in runs}
        failed = [
            run
            for run, one in judged.items()
            if one is not Verdict.GOOD and (verdict is Verdict.WORSE or run.status == 0)
        ]
        if verdict is not Verdict.CANNOT_TELL and failed:
            shown = min(failed, key=lambda run: judged[run] is not Verdict.WORSE)
            causes = shown.own(done.causes)
            return Attempt(judged[shown], shown.text, shown.log, causes, parts=parts)
        text = "" if verdict is Verdict.GOOD else f"exit status {done.status}\n{out}{err}"
        log = "\n".join(run.log for run in runs)
        return Attempt(verdict, text, log, done.causes, parts=parts)


@dataclass(frozen=True, slots=True)
class _Run:
    """What a packetdrill told until it ended."""

    status: int
    options: str
    log: str
    faults: str

    @property
    def text(self) -> str:
        """What is wrong."""
        if self.status == scripts.FAILED:
            return self.faults
        if self.status == 0:
            return scripts.silent()
        return f"packetdrill ended with {self.status}\n{self.faults}"

    def own(self, causes: str) -> str:
        """The lines of the kernel's record with addresses of this run's family."""
        is_v6 = "--ip_version=ipv6" in self.options
        every = causes.splitlines(keepends=True)
        # Only addresses of IPv6 stand in brackets.
        return "".join(line for line in every if ("[" in line) == is_v6)


def _runs(err: str) -> Iterator[_Run]:
    log: list[str] = []
    faults: list[str] = []
    for line in err.splitlines():
        if ended := _ENDED.match(line):
            yield _Run(int(ended[1]), ended[2], "\n".join(log), "\n".join(faults))
            log, faults = [], []
        elif line.startswith(_LOG):
            log.append(line.removeprefix(_LOG))
        elif line:
            faults.append(line)


@contextmanager
def selftests(
    wanted: str,
    tree: Source,
    tool: str | os.PathLike[str] | None,
    tell: Callable[[str], object] = lambda _: None,
) -> Iterator[list[Selftest]]:
    """The tests that `wanted` means, as kselftest writes it: a folder, or a folder and a test
    (`net/packetdrill:tcp_inq_client.pkt`). They are there until the end of the block. `tell` hears
    of what takes long: a compressed tarball has no list of its files, and is read to its end.

    Raises UserError where the tree has none.
    """
    match = _TARGET.fullmatch(wanted)
    if match is None:
        raise UserError(
            f"{wanted}: this is no folder of tests",
            "write it as kselftest does: net/packetdrill, net/packetdrill:tcp_inq_client.pkt",
            usage=True,
        )
    with scratch_folder() as scratch:
        top = tree.path
        if tree.kind != "tree":
            top = scratch / "tree"
            tell(f"Reading all of {tree.path} for its tests")
            with NewTree(top, tree.spec) as new:
                tarball.extract(
                    tree.path,
                    lambda name: new if name.startswith(f"{FOLDER}/") else None,
                    tree.spec,
                    Confinement.probe(),
                )
        folder = top / FOLDER / match["target"]
        if not folder.is_dir():
            raise UserError(
                f"{tree.spec} has no {FOLDER}/{match['target']}",
                f"{argument('scripts_from')} names a tree or tarball that has it",
            )
        names = _named(folder, match["test"])
        programs = scratch / "programs"
        packetdrill = None
        if any(name.endswith(scripts.SUFFIX) for name in names):
            packetdrill = scripts.tool(tool)
            programs.mkdir()
            write_text(programs / "packetdrill", _TELLING)
            (programs / "packetdrill").chmod(0o755)
        yield [Selftest(folder / name, match["target"], packetdrill, programs) for name in names]


def _named(folder: Path, test: str | None) -> list[str]:
    """The files of the tests. Which a folder of programs has, its makefile alone knows."""
    if test is not None:
        if not (folder / test).is_file():
            raise UserError(f"{folder}: there is no test {test}", usage=True)
        return [test]
    names = sorted(path.name for path in folder.glob(f"*{scripts.SUFFIX}"))
    if not names or not (folder / RUNNER).is_file():
        raise UserError(
            f"{folder} has no {RUNNER} with tests for it",
            "name one of its tests: FOLDER:TEST",
            usage=True,
        )
    return names


def tree(scripts_from: str | os.PathLike[str] | None, kernel: str | None) -> Source:
    """Where tests come from: what is named, else what the kernel was built from, or would be."""
    if scripts_from is None:
        plain = (kernel or recipe.DEFAULT_SERIES).partition("+")[0].partition("@")[0]
        debians = recipe.is_series(plain) and lookup.is_debians(plain)
        scripts_from = plain if debians else _source(lookup.find(kernel))
    return source.resolve(os.fspath(scripts_from), missing=_name_package)


def _name_package(package: str) -> None:
    raise UserError(
        f"the Debian package {package} is not installed",
        f"install it, or name a tree or a tarball: {argument('scripts_from')} TREE",
    )


def _source(kernel: Kernel) -> str:
    if kernel.engine == QEMU:
        raise UserError(
            f"{kernel.name} is an image, of which the source is not known",
            f"{argument('scripts_from')} names one",
            usage=True,
        )
    return kernel.source.partition(" ")[2]

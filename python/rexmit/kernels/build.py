"""Builds a kernel as a user-mode program and puts it into the cache."""

from __future__ import annotations

import hashlib
import os
import re
import signal
import subprocess
import time
from collections import deque
from collections.abc import Generator, Sequence
from contextlib import ExitStack, closing
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from os import PathLike, fspath
from pathlib import Path
from typing import Final, TypedDict, Unpack

from rexmit import interrupt
from rexmit.errors import FaultySourceError, UserError
from rexmit.kernels import cache, config, objects, patches, recipe, source, tools, worktree
from rexmit.kernels.confine import Bounds, Confinement
from rexmit.kernels.git import At
from rexmit.kernels.kernel import SYMBOLS, Kernel, printable, save
from rexmit.kernels.newtree import NewTree
from rexmit.kernels.objects import Objects
from rexmit.kernels.recipe import Patch
from rexmit.kernels.source import Source
from rexmit.kernels.within import files_within, read_within
from rexmit.progress import Progress, Silent
from rexmit.store.files import write_text
from rexmit.store.opening import inner_folder, lasting_file
from rexmit.store.untrusted import copy_file

# What make prints for the kernels of Debian's packages; later builds go by their predecessor.
EXPECTED_STEPS: Final = 1390
LOG_LINES_SHOWN: Final = 20
LONGEST_NAME: Final = 200
"""Of a kernel, in bytes: it is a folder's."""

_LONGEST_LINE: Final = 1 << 16
_LARGEST_LOG: Final = 64 << 20
_KILLED: Final = 128
"""Or more is the status of what a signal ended."""
_TRY_OUT_S: Final = 60.0

_OF_THIS_MACHINE: Final = re.compile(
    rb"[^|]*(No space left on device|Disk quota exceeded|Read-only file system|Input/output error"
    rb"|Cannot allocate memory|virtual memory exhausted|Too many open files"
    rb"|Resource temporarily unavailable|\bKilled\b|\bTerminated\b|\bError 137\b)"
    rb"|/bin/(ba)?sh: (line )?[0-9]+: [^/\s]+: (command )?not found"
    rb"|make(\[[0-9]+\])?: [^/\s]+: (No such file or directory|Command not found)"
)
"""Programs say so where no source is at fault. A line of code that a compiler shows has a bar."""

# Variables that would change what make builds, and those of a make that runs this program.
_SCRUBBED: Final = re.compile(
    r"(MAKE(FLAGS|LEVEL|OVERRIDES|FILES)|MFLAGS|GNUMAKEFLAGS|ARCH|SUBARCH|CROSS_COMPILE|O|V|C|W|M"
    r"|LOCALVERSION|KBUILD_.*|KCONFIG_.*|KCFLAGS|KCPPFLAGS|HOSTCFLAGS|TZ|LC_.*|LANG|LANGUAGE)"
)
_COMPILED: Final = re.compile(rb"  (HOST)?(CC|AS)\b")
# Whoever builds it, wherever and whenever: the same kernel.
_FIXED: Final = {
    "KBUILD_BUILD_USER": "rexmit",
    "KBUILD_BUILD_HOST": "rexmit",
    "KBUILD_BUILD_TIMESTAMP": "Thu Jan  1 00:00:00 UTC 1970",
    "KBUILD_BUILD_VERSION": "1",
    "LC_ALL": "C",
    "TZ": "UTC",
}
# No part of these kernels; but their versions, where the user has them, would be part of the
# configuration, and so of the program.
_ABSENT: Final = ("RUSTC=false", "BINDGEN=false", "PAHOLE=false")


@dataclass(frozen=True)
class Order:
    """What is to be built, once its source is known."""

    source: Source
    identity: str
    version: str
    hz: int
    extra: tuple[Patch, ...]

    @property
    def trusted(self) -> bool:
        """Whether all code in it comes from Debian or with rexmit."""
        return self.source.kind == "debian" and all(
            patch.path.is_relative_to(recipe.DATA) for patch in self.extra
        )

    @property
    def series(self) -> str:
        """`6.12` of `6.12.117`."""
        return ".".join(self.version.split(".")[:2])

    @property
    def patches_of(self) -> str:
        """The series whose patches the tree gets."""
        return recipe.series_for(self.series)

    @property
    def recipe(self) -> str:
        """See `recipe.digest`."""
        return recipe.digest(self.hz, self.patches_of)

    @property
    def key(self) -> str:
        """The hash of all that the kernel is made from."""
        text = [self.identity, self.recipe, *(patch.digest() for patch in self.extra)]
        return hashlib.blake2b("\n".join(text).encode(), digest_size=16).hexdigest()

    @property
    def name(self) -> str:
        """The name in the cache: what a person looks for, and the beginning of the hash."""
        patched = [patch.name[:40] for patch in self.extra]
        words = [self.version, f"hz{self.hz}", *patched, self.key[:12]]
        name = "-".join(re.sub(r"[^\w.+-]+", "_", word) for word in words)
        if len(os.fsencode(name)) <= LONGEST_NAME:
            return name
        return f"{self.version}-hz{self.hz}-{len(patched)}_patches-{self.key[:12]}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Build:
    """How a kernel is built: at so many ticks a second (`hz`), with `patches`, files or names of
    optional ones, applied in this order after those of the series, and with `configs`, files or
    names of fragments of configuration. So many `jobs` compilers work at a time, one a core that
    this process may use where it is None.
    """

    hz: int = recipe.DEFAULT_HZ
    patches: Sequence[str | PathLike[str]] = ()
    configs: Sequence[str | PathLike[str]] = ()
    jobs: int | None = None
    unconfined: bool = False
    """Without a sandbox, which sources other than Debian's need."""
    install: bool = False
    """By apt-get, where Debian's package of the series is missing."""


class BuildKeywords(TypedDict, total=False):
    """What a caller may say of a build by keywords; see `Build`."""

    hz: int
    patches: Sequence[str | PathLike[str]]
    configs: Sequence[str | PathLike[str]]
    jobs: int | None
    unconfined: bool
    install: bool


def build(
    spec: str = recipe.DEFAULT_SERIES,
    *,
    at: At | None = None,
    progress: Progress | None = None,
    **keywords: Unpack[BuildKeywords],
) -> tuple[Kernel, bool]:
    """Build the kernel unless the cache has it. Returns it and whether it was built just now.

    `spec` is a series of Debian's, a source tree or a tarball; with `at`, a tree of which that
    commit is built, whatever lies there. The keywords are those of `Build`.

    Building runs code of the source, in the guest program's sandbox. Where there can be none, only
    Debian's source is built, or with `unconfined`, which does without the sandbox, any. Raises
    UserError for anything that the user can mend; FaultySourceError where that is the source.
    """
    asked = Build(**keywords)
    hz, extra = asked.hz, [fspath(patch) for patch in asked.patches]
    if hz not in recipe.HZ_CHOICES:
        choices = ", ".join(map(str, recipe.HZ_CHOICES))
        raise UserError(f"HZ {hz} is not possible", f"Choose one of {choices}.", usage=True)
    began = time.monotonic()
    progress = progress or Silent()
    fragments = [recipe.fragment(fspath(word)) for word in asked.configs]
    llvm = recipe.by_llvm(fragments)
    tools.require(llvm=llvm)
    compiler = tools.compiler(llvm=llvm)
    if recipe.is_series(spec):
        # Before anything is fetched for it.
        recipe.series_for(spec)
    missing = (
        partial(tools.install_package, tell=progress.note) if asked.install else tools.name_package
    )
    place = source.resolve(spec, missing=missing, at=at)
    confinement = Confinement(None) if asked.unconfined else Confinement.probe()
    with (
        interrupt.undone_by(interrupt.nothing),
        ExitStack() as stack,
        closing(progress),
    ):

        def wait_for_it(order: Order) -> Kernel | None:
            return stack.enter_context(
                cache.building(
                    order.key,
                    compiler=compiler,
                    waiting=lambda: progress.note("Waiting for another build of this kernel"),
                )
            )

        order: Order | None = None
        if place.kind == "debian":
            # The version is found out when it is needed; the series is known.
            identity = source.tarball_digest(place.path)
            order = _order(place, identity, f"{place.spec}.0", hz, extra, fragments)
            if ready := wait_for_it(order):
                return ready, False
        work, lock = stack.enter_context(cache.workplace())
        progress.note("Copying the tree" if place.kind == "tree" else f"Unpacking {place.spec}")
        kept: Objects | None = None
        if place.kind == "tree":
            words = [str(hz), *extra, *(str(one.path) for one in fragments)]
            kept = stack.enter_context(objects.kept(place.path, words, tools.compilers(llvm=llvm)))
        folder, before = (kept.tree, kept.files) if kept else (work / "tree", None)
        tree = stack.enter_context(NewTree(folder, place.spec, before))
        # Which series' patch a name means is known only once the tree is there.
        besides = (one for fragment in fragments for one in fragment.applied())
        possible = patches.files([*recipe.possible_patches(extra), *besides])
        identity = source.unpack(place, tree, work, confinement, possible)
        version = source.tree_version((work / "patched", folder), place.spec)
        final = _order(place, identity, version, hz, extra, fragments)
        if order is None and (ready := wait_for_it(final)):
            if kept:
                kept.files = {**kept.files, **tree.made}
                kept.keep()
            return ready, False
        if confinement.why_not:
            _without_sandbox(final, confinement.why_not, progress)
        _patch(final, work / "patched", confinement, progress)
        worktree.copy(work / "patched", files_within(work / "patched"), lambda _: tree)
        if kept:
            tree.remove_others()
            kept.copied(tree.made)
        make = _Make(final, work, folder, lock, confinement, kept, llvm=llvm)
        jobs = asked.jobs or len(os.sched_getaffinity(0))
        kernel = _compile(final, work, make, jobs, compiler, progress, began)
    return kernel, True


def _without_sandbox(order: Order, why: str, progress: Progress) -> None:
    """Say that the build is not confined. Raises UserError for foreign source."""
    if not order.trusted:
        raise UserError(
            f"{order.source.spec} cannot be built in a sandbox here: {why}",
            "Building runs the makefiles and scripts of the source and its patches. If you trust "
            "them: rexmit kernel build --unconfined …",
        )
    progress.note(f"Building without a sandbox: {why}")


def _order(
    place: Source,
    identity: str,
    version: str,
    hz: int,
    extra: Sequence[str],
    fragments: Sequence[Patch],
) -> Order:
    series = recipe.series_for(".".join(version.split(".")[:2]))
    patched = [recipe.optional_patch(word, series) for word in extra]
    return Order(place, identity, version, hz, (*patched, *fragments))


def _patch(order: Order, tree: Path, confinement: Confinement, progress: Progress) -> None:
    extra = (one for patch in order.extra for one in patch.applied(order.patches_of))
    for patch in [*recipe.series_patches(order.patches_of), *extra]:
        without = recipe.DISPENSABLE.get(patch.name)
        if without and not patches.applies(patch, tree, confinement):
            progress.note(f"Patch {patch.name}: left out, as it does not apply: {without}")
        elif notice := patches.apply(patch, tree, order.version, confinement):
            progress.note(f"Patch {notice}")


def _compile(
    order: Order,
    work: Path,
    make: _Make,
    jobs: int,
    compiler: str,
    progress: Progress,
    began: float,
) -> Kernel:
    tree, confinement = make.tree, make.confinement
    fragment = recipe.with_fragments(recipe.fragment_text(order.hz), order.extra)
    write_text(work / "fragment", recipe.besides(order.patches_of) + fragment)

    progress.note(f"Configuring Linux {order.version}")
    make.configure()
    if missing := config.check(fragment, tree):
        progress.note(f"Linux {order.version} has no option {', '.join(missing)} on arch/um")

    warm = make.kept is not None and make.kept.warm
    progress.note(f"Building Linux {order.version}, HZ {order.hz}")
    # How much what has changed takes, make alone finds out.
    progress.start(None if warm else _expected_steps(order))
    steps = 0
    with closing(make.steps([f"-j{jobs}", "linux"])) as lines:
        for _ in lines:
            steps += 1
            progress.advance(1)
    if make.kept:
        make.kept.keep(steps, whole=True)
        steps = make.kept.steps

    out = work / "out"
    out.mkdir()
    _derive(order, tree / "linux", out / "linux", confinement, "--strip-all")
    _try_out(out / "linux", order, confinement)
    write_text(out / "config", read_within(tree / ".config") or "")
    if config.is_set(out / "config", "DEBUG_INFO"):
        options = ("--only-keep-debug", "--compress-debug-sections")
        _derive(order, tree / "linux", out / SYMBOLS, confinement, *options)
    kernel = Kernel(
        name=order.name,
        path=out / "linux",
        version=order.version,
        series=order.series,
        hz=order.hz,
        patches=tuple(patch.name for patch in order.extra),
        patch_hashes=tuple(patch.digest() for patch in order.extra),
        hash=order.key,
        recipe=order.recipe,
        source=str(order.source),
        compiler=compiler,
        built=datetime.now(UTC).isoformat(timespec="seconds"),
        size=(out / "linux").stat().st_size,
        seconds=round(time.monotonic() - began, 1),
        steps=steps,
    )
    save(kernel, out)
    return cache.install(out, order.name)


def _expected_steps(order: Order) -> int:
    """What the kernel took that is most like this one: in its series, its patches and fragments."""
    names = {patch.name for patch in order.extra}
    known = [k for k in cache.kernels() if k.steps]
    if not known:
        return EXPECTED_STEPS
    return min(known, key=lambda k: (k.series != order.series, len(names ^ {*k.patches}))).steps


def _derive(
    order: Order, built: Path, program: Path, confinement: Confinement, *options: str
) -> None:
    done = confinement.run(
        ["objcopy", *options, built, program], write=[program.parent], show=[built.parent]
    )
    if done.status or program.is_symlink() or not program.is_file():
        raise _failed(
            f"Linux {order.version} was built but is no program", done.status, done.output
        )
    program.chmod(0o755)


def _try_out(program: Path, order: Order, confinement: Confinement) -> None:
    try:
        done = confinement.run(
            [program, "--version"], show=[program.parent], bounds=Bounds(_TRY_OUT_S)
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        raise UserError(f"Linux {order.version} was built but does not start: {error}") from error
    if done.status or not done.text.strip():
        raise _failed(
            f"Linux {order.version} was built but does not start (status {done.status})",
            done.status,
            done.output,
        )


def _failed(what: str, status: int, output: bytes) -> UserError:
    """Whose fault it is, by how a program ended and what it printed."""
    here = any(map(_OF_THIS_MACHINE.match, output.splitlines()))
    kind = UserError if here or _by_signal(status) else FaultySourceError
    return kind(what, output.decode(errors="replace").strip() or None)


def _by_signal(status: int) -> bool:
    return not 0 <= status < _KILLED


class _Make:
    """Runs make in a tree; what it prints goes to a log."""

    def __init__(
        self,
        order: Order,
        work: Path,
        tree: Path,
        lock: int,
        confinement: Confinement,
        kept: Objects | None,
        *,
        llvm: bool,
    ) -> None:
        self.tree = tree
        self.confinement = confinement
        self.kept = kept
        self._order = order
        self._fragment = work / "fragment"
        self._log = work / "log"
        self._last: deque[bytes] = deque(maxlen=LOG_LINES_SHOWN)
        self._here: list[bytes] = []
        """What programs said of this machine."""
        self._locks = (lock, kept.lock) if kept else (lock,)
        self._variables = [*_ABSENT, *(["LLVM=1"] if llvm else ())]
        inherited = {k: v for k, v in os.environ.items() if not _SCRUBBED.fullmatch(k)}
        self._environment = confinement.environment({**inherited, **_FIXED})

    def configure(self) -> None:
        """Write `.config`. One that is as before keeps its time: all objects hang on it."""
        config = self.tree / ".config"
        before = read_within(config)
        times = config.lstat() if before else None
        self.run([f"KCONFIG_ALLCONFIG={self._fragment}", "allnoconfig"])
        if times and read_within(config) == before:
            os.utime(config, ns=(times.st_atime_ns, times.st_mtime_ns), follow_symlinks=False)

    def run(self, arguments: list[str]) -> None:
        """Run make to its end."""
        with closing(self.steps(arguments)) as lines:
            for _ in lines:
                pass

    def steps(self, arguments: list[str]) -> Generator[int, None, None]:
        """Run make, yielding after each file that it compiles how many those are. All other steps
        take next to no time, and most of them come first."""
        with os.fdopen(lasting_file(self._log), "ab") as log:
            process = subprocess.Popen(
                self.confinement.command(
                    ["make", "-C", self.tree, "ARCH=um", *self._variables, *arguments],
                    write=[self.tree],
                    show=[self._fragment],
                ),
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                env=self._environment,
                # Its own group, so that it ends with all its compilers when this does; and the
                # workplace stays locked as long as any of them lives.
                process_group=0,
                pass_fds=self._locks,
            )
            assert process.stdout is not None  # noqa: S101
            try:
                done = 0
                while line := process.stdout.readline(_LONGEST_LINE):
                    self._last.append(line)
                    if len(self._here) < LOG_LINES_SHOWN and _OF_THIS_MACHINE.match(line):
                        self._here.append(line)
                    if log.tell() < _LARGEST_LOG:
                        log.write(line)
                    if _COMPILED.match(line):
                        done += 1
                        yield done
                status = process.wait()
            except BaseException:
                _end_group(process)
                raise
            finally:
                process.stdout.close()
        if status:
            self._fail(status, done)

    def _fail(self, status: int, done: int) -> None:
        if self.kept and not _by_signal(status):
            self.kept.keep(done)
        kept = cache.root() / ".logs" / f"{self._order.name}.log"
        inner_folder(kept.parent)
        copy_file(self._log, kept)
        lines = [
            printable(line.decode(errors="replace").rstrip("\n").expandtabs(), 500)
            for line in (*(one for one in self._here if one not in self._last), *self._last)
        ]
        kind = UserError if self._here or _by_signal(status) else FaultySourceError
        raise kind(
            f"building Linux {self._order.version} failed (make ended with status {status})",
            [*lines, f"The whole log: {kept}"],
        )


def _end_group(process: subprocess.Popen[bytes]) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.killpg(process.pid, number)
            process.wait(timeout=5)
        except ProcessLookupError:
            return
        except subprocess.TimeoutExpired:
            continue

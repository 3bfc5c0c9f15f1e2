"""The kernels that are built: where they lie, what they are, and which one is meant.

A kernel is a folder `NAME/` with `linux`, `config` and `kernel.json` in it. It gets that name by
one rename, when it is finished; whatever else lies in the cache has a name that starts with a dot.
"""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Final

from rexmit.errors import UserError
from rexmit.kernels import recipe

FORMAT: Final = 1
_TEMPORARY: Final = ".new-"


@dataclass(frozen=True)
class Kernel:
    """A built kernel."""

    name: str
    path: Path
    """The program."""
    version: str
    """As its source states it, such as `6.12.117`."""
    series: str
    """As in `6.12`."""
    hz: int
    patches: tuple[str, ...]
    """Patches besides those that every kernel of the series gets."""
    hash: str
    """Of what it was made from: source, configuration, patches, HZ."""
    recipe: str
    """Of what this version of rexmit puts to the source (see `recipe.digest`)."""
    source: str
    """`debian`, `tarball` or `tree`, and the path, set apart by a space."""
    compiler: str
    """Not part of the hash: in virtual time computing takes no time, so it cannot be seen."""
    built: str
    """When, in UTC, ISO 8601."""
    size: int
    """Of the program, in bytes."""
    seconds: float
    """How long it took to build."""
    steps: int
    """Lines that make printed, for the progress of later builds."""
    patch_hashes: tuple[str, ...] = ()
    """Of the content of `patches`, in their order."""

    @property
    def config(self) -> Path:
        """The configuration it was built with."""
        return self.path.parent / "config"

    @property
    def current(self) -> bool:
        """Whether this version of rexmit would build it in the same way."""
        try:
            patches_of = recipe.series_for(self.series)
        except UserError:
            return False
        if self.recipe != recipe.digest(self.hz, patches_of):
            return False
        ours = recipe.optional_patches(patches_of)
        return all(
            ours[name].digest() == digest
            for name, digest in zip(self.patches, self.patch_hashes, strict=False)
            if name in ours
        )

    def as_json(self) -> dict[str, Any]:
        """What `kernel.json` holds, and the path."""
        return {**asdict(self), "path": str(self.path)}


def root() -> Path:
    """The folder of the kernels."""
    if given := os.environ.get("REXMIT_CACHE"):
        return Path(given).expanduser().absolute() / "kernels"
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "rexmit" / "kernels"


def load(folder: Path) -> Kernel | None:
    """The kernel in a folder, or None where there is no whole one."""
    try:
        stored = json.loads((folder / "kernel.json").read_text(encoding="utf-8"))
        if stored.pop("format") != FORMAT:
            return None
        path = folder / "linux"
        lists = {key: tuple(stored[key]) for key in ("patches", "patch_hashes") if key in stored}
        kernel = Kernel(**{**stored, "name": folder.name, "path": path, **lists})
        whole = path.stat().st_size == kernel.size and os.access(path, os.X_OK)
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return None
    return kernel if whole else None


def save(kernel: Kernel, folder: Path) -> None:
    """Write `kernel.json` into the folder of a kernel that is being finished."""
    stored = {"format": FORMAT, **kernel.as_json()}
    del stored["path"]
    text = json.dumps(stored, indent=2) + "\n"
    (folder / "kernel.json").write_text(text, encoding="utf-8")


def kernels() -> list[Kernel]:
    """All whole kernels in the cache, by version, HZ and patches."""
    if not root().is_dir():
        return []
    folders = [p for p in root().iterdir() if p.is_dir() and not p.name.startswith(".")]
    found = [kernel for folder in folders if (kernel := load(folder))]
    return sorted(found, key=lambda k: (recipe.numbers(k.series), k.version, k.hz, k.name))


def find(spec: str | None = None) -> Kernel:
    """The kernel that `spec` means.

    None: the newest 6.12 of Debian's with HZ 250 and no patches of the user's. `6.1`, `6.1@1000`:
    likewise of that series (where there is none of Debian's, the only other one);
    `6.12+NAME`, `6.12@1000+NAME+NAME`: the same with these patches, in this order. Anything else is
    the beginning of a name or hash that only one kernel has.

    Raises UserError, which lists what there is and how to build what was asked for.
    """
    present = kernels()
    wanted = spec or recipe.DEFAULT_SERIES
    plain, *patches = wanted.split("+")
    series, _, hz_text = plain.partition("@")
    if _is_series(series) and (not hz_text or hz_text.isdigit()):
        hz = int(hz_text or recipe.DEFAULT_HZ)
        meant = [k for k in present if (k.series, k.hz, list(k.patches)) == (series, hz, patches)]
        usable = [k for k in meant if k.current]
        chosen = [k for k in usable if k.source.startswith("debian ")]
        if not chosen and spec is not None:
            chosen = usable
            if len(usable) > 1:
                raise UserError(f"kernel {wanted} may be several", _listing(usable))
        if chosen:
            return max(chosen, key=lambda k: k.built)
        if patches and not meant:
            _check_patches(wanted, series, patches, present)
        command = " ".join(
            [
                f"rexmit kernel build {series}",
                *([f"--hz {hz}"] if hz_text else []),
                *(f"--patch {name}" for name in patches),
            ]
        )
        why = "was built with other options or patches" if meant else "is not built"
        raise UserError(f"kernel {wanted} {why}", f"Build it: {command}\n{_listing(present)}")
    matches = [k for k in present if k.name == wanted] or [
        k for k in present if k.name.startswith(wanted) or k.hash.startswith(wanted)
    ]
    if len(matches) == 1:
        return matches[0]
    if matches:
        raise UserError(f"kernel {wanted} may be several", _listing(matches))
    raise UserError(
        f"there is no kernel {wanted}",
        f"{_listing(present)}\nBuild one: rexmit kernel build 6.1|6.12|FOLDER|TARBALL",
    )


def default() -> Kernel | None:
    """The kernel that is used where none is named, if it is built."""
    try:
        return find(None)
    except UserError:
        return None


def _check_patches(wanted: str, series: str, names: list[str], present: list[Kernel]) -> None:
    """Raise UserError for a patch that is neither ours nor in any kernel."""
    patches_of = recipe.series_for(series)
    known = {*recipe.optional_patches(patches_of), *(name for k in present for name in k.patches)}
    for name in names:
        if name not in known:
            raise UserError(
                f"kernel {wanted}: there is no patch {name or '(empty)'}",
                recipe.optional_hint(name, patches_of),
            )


def _is_series(text: str) -> bool:
    major, dot, minor = text.partition(".")
    return bool(dot) and major.isdigit() and minor.isdigit()


def _listing(found: list[Kernel]) -> str:
    if not found:
        return "No kernel is built."
    return "\n".join(["There are:", *(f"  {kernel.name}" for kernel in found)])


@contextmanager
def workplace() -> Iterator[tuple[Path, int]]:
    """A temporary folder beside the kernels, removed at the end, and its lock's file descriptor.

    The lock is held by this process and by children that are given the descriptor, so the folder
    of a builder that was killed is known as such once its last compiler has ended; such folders
    are removed here.
    """
    root().mkdir(parents=True, exist_ok=True)
    with _locked(root() / ".lock"):
        for stale in root().glob(f"{_TEMPORARY}*"):
            _remove_if_stale(stale)
        folder = Path(tempfile.mkdtemp(prefix=_TEMPORARY, dir=root()))
        descriptor = os.open(folder / "lock", os.O_CREAT | os.O_RDWR, 0o644)
        fcntl.flock(descriptor, fcntl.LOCK_EX)
    try:
        yield folder, descriptor
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(descriptor)


@contextmanager
def building(key: str, *, waiting: Callable[[], None]) -> Iterator[Kernel | None]:
    """Hold the right to build the kernel with the hash `key`; `waiting` is called if it must wait.

    Yields that kernel if it is there, built by whoever was waited for or earlier.
    """
    folder = root() / ".locks"
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(folder / key, waiting=waiting):
        yield next((kernel for kernel in kernels() if kernel.hash == key), None)


@contextmanager
def _locked(path: Path, *, waiting: Callable[[], None] | None = None) -> Iterator[None]:
    descriptor = os.open(path, os.O_CREAT | os.O_RDWR, 0o644)
    try:
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            if waiting:
                waiting()
            fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _remove_if_stale(folder: Path) -> None:
    try:
        descriptor = os.open(folder / "lock", os.O_RDWR)
    except OSError:
        shutil.rmtree(folder, ignore_errors=True)
        return
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(folder, ignore_errors=True)
    except BlockingIOError:
        pass
    finally:
        os.close(descriptor)


def install(finished: Path, name: str) -> Kernel:
    """Give a finished kernel its name in the cache. The caller holds `building`."""
    for path in finished.iterdir():
        _sync(path)
    _sync(finished)
    place = root() / name
    if place.exists():
        shutil.rmtree(place)  # not a whole kernel, or it would have been used
    finished.rename(place)
    _sync(root())
    kernel = load(place)
    if kernel is None:
        raise UserError(f"{place} was damaged while it was written", "Is the disk full or broken?")
    return kernel


def _sync(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)

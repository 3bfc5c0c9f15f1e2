"""A kernel of the cache, and its description in `kernel.json`."""

from __future__ import annotations

import json
import os
from dataclasses import MISSING, asdict, dataclass, fields
from pathlib import Path
from typing import Any, Final

from rexmit import escaping
from rexmit.errors import UserError
from rexmit.kernels import recipe
from rexmit.store.files import write_text

FORMAT: Final = 1
DESCRIPTION: Final = "kernel.json"
SYMBOLS: Final = "linux.debug"
"""Debug information, of a kernel that was configured to have it."""

UML: Final = "uml"
"""The engine of a kernel that is a program itself (User-mode Linux)."""
QEMU: Final = "qemu"
"""The engine of a kernel image: an emulated machine."""
_LARGEST_DESCRIPTION: Final = 1 << 20

_TYPES: Final[dict[str, type | tuple[type, ...]]] = {"str": str, "int": int, "float": (int, float)}
_STRINGS: Final = "tuple[str, ...]"


@dataclass(frozen=True)
class Kernel:
    """A kernel that was built, or an image that was added."""

    name: str
    path: Path
    """The program, or the image."""
    version: str
    """As its source states it, such as `6.12.117`; the release of an image."""
    series: str
    """As in `6.12`."""
    hz: int
    patches: tuple[str, ...]
    """Patches besides those that every kernel of the series gets, then fragments of
    configuration."""
    hash: str
    """Of what it was made from: source, configuration, patches, HZ."""
    recipe: str
    """Of what this version of rexmit puts to the source (see `recipe.digest`)."""
    source: str
    """`debian`, `tarball`, `tree`, `image`, or `commit` and its name; and the path."""
    compiler: str
    """Not part of the hash: in virtual time computing takes no time, so it cannot be seen. All the
    same a build with another one makes the kernel anew."""
    built: str
    """When it was built or added, in UTC, ISO 8601."""
    size: int
    """Of the program or image, in bytes."""
    seconds: float
    """How long it took to build."""
    steps: int
    """Files that were compiled, for the progress of later builds; 0 where others were taken over
    from an earlier build."""
    patch_hashes: tuple[str, ...] = ()
    """Of the content of `patches`, in their order."""
    engine: str = UML
    """What runs it."""

    @property
    def folder(self) -> Path:
        """Where it lies, with all that belongs to it."""
        return self.path.parent

    @property
    def config(self) -> Path:
        """The configuration it was built with."""
        return self.folder / "config"

    @property
    def modules(self) -> Path:
        """The archive of an image's modules."""
        return self.folder / "modules"

    @property
    def current(self) -> bool:
        """Whether this version of rexmit would build it in the same way. An image is as it is."""
        if self.engine == QEMU:
            return True
        try:
            patches_of = recipe.series_for(self.series)
        except UserError:
            return False
        if self.recipe != recipe.digest(self.hz, patches_of):
            return False
        ours = {**recipe.optional_patches(patches_of), **recipe.fragments()}
        return all(
            ours[name].digest() == digest
            for name, digest in zip(self.patches, self.patch_hashes, strict=False)
            if name in ours
        )

    @property
    def build_command(self) -> str:
        """The command that builds it again. A patch of the user's own goes by its name there."""
        kind, _, path = self.source.partition(" ")
        if kind == "image":
            return escaping.shell(["rexmit", "kernel", "add", path, "--name", self.name])
        if kind == "commit":
            commit, _, path = path.partition(" ")
            checkout = escaping.shell(["git", "-C", path, "checkout", commit])
            return f"{checkout} && {self._build(path)}"
        return self._build(self.series if kind == "debian" else path)

    def _build(self, spec: str) -> str:
        words = ["rexmit", "kernel", "build", spec]
        if self.hz != recipe.DEFAULT_HZ:
            words += ["--hz", str(self.hz)]
        for patch in self.patches:
            words += ["--config" if patch in recipe.fragments() else "--patch", patch]
        return escaping.shell(words)

    def as_json(self) -> dict[str, Any]:
        """What `kernel.json` holds, and the path."""
        return {**asdict(self), "path": str(self.path)}


def load(folder: Path) -> Kernel | None:
    """The kernel in a folder, or None where there is no whole one.

    Of the program's content only the size is looked at: see `checksums` for more.
    """
    try:
        with (folder / DESCRIPTION).open(encoding="utf-8") as file:
            stored = json.loads(file.read(_LARGEST_DESCRIPTION))
        if stored.pop("format") != FORMAT:
            return None
        kernel = _kernel({**stored, "name": folder.name}, folder / "linux")
        whole = kernel.path.stat().st_size == kernel.size and os.access(kernel.path, os.X_OK)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    return kernel if whole else None


def _kernel(stored: dict[str, Any], path: Path) -> Kernel:
    """Raises ValueError, TypeError or KeyError for what describes no kernel."""
    values: dict[str, Any] = {"path": path}
    for field in fields(Kernel):
        if field.name == "path" or (field.default is not MISSING and field.name not in stored):
            continue
        value = stored.pop(field.name)
        if field.type == _STRINGS:
            if not isinstance(value, list) or not all(isinstance(each, str) for each in value):
                raise TypeError(field.name)
            value = tuple(value)
        elif isinstance(value, bool) or not isinstance(value, _TYPES[str(field.type)]):
            raise TypeError(field.name)
        values[field.name] = value
    if stored or not recipe.is_series(values["series"]):
        raise ValueError(str(path))
    return Kernel(**values)


def save(kernel: Kernel, folder: Path) -> None:
    """Write `kernel.json` into the folder of a kernel that is being finished."""
    stored = {"format": FORMAT, **kernel.as_json()}
    del stored["path"]
    text = json.dumps(stored, indent=2) + "\n"
    write_text(folder / DESCRIPTION, text)


def printable(text: str, most: int = 100) -> str:
    """Text of somebody else's, such as a file name, for a line on a terminal."""
    cut = text if len(text) <= most else text[: most - 1] + "…"
    return escaping.shown(cut)

"""Takes a kernel image that somebody has built into the cache."""

from __future__ import annotations

import contextlib
import hashlib
import re
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Final

from rexmit.errors import UserError, argument
from rexmit.kernels import cache, checksums
from rexmit.kernels.images import header, modules
from rexmit.kernels.kernel import QEMU, Kernel, load, save
from rexmit.kernels.within import whole
from rexmit.store.files import write_bytes, write_text

LARGEST: Final = 1 << 28
"""Bytes of an image."""
LARGEST_CONFIG: Final = 4 << 20
"""Distributions' have 300 kB."""

_NAME: Final = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_SERIES: Final = re.compile(r"[0-9]+\.[0-9]+")
_HZ: Final = re.compile(r"^CONFIG_HZ=([0-9]{2,5})$", re.M)


def add(
    image: Path,
    *,
    module_folder: Path | None = None,
    config: Path | None = None,
    name: str | None = None,
) -> tuple[Kernel, bool]:
    """Copy an image, and what a guest needs of its modules, into the cache, unless it is there.

    Returns it and whether it was added just now. Raises UserError for what is no image, has no
    configuration, or has the name of another kernel.
    """
    began = time.monotonic()
    release = header.release(image)
    name = _checked(name or re.sub(r"[^A-Za-z0-9._-]", "_", release))
    content = whole(image, LARGEST, "a kernel image")
    configuration = _configuration(config, image, module_folder, release)
    hz = _HZ.search(configuration)
    if hz is None:
        raise UserError(
            "the kernel's configuration does not say how often its timer ticks (CONFIG_HZ)",
            "name the one that this image was built with",
            usage=True,
        )
    packed = modules.archive(modules.needed(module_folder, release) if module_folder else [])
    digest = hashlib.blake2b(digest_size=16)
    for part in (content, configuration.encode(), packed):
        digest.update(hashlib.sha256(part).digest())
    key = digest.hexdigest()
    with cache.building(f"image-{name}", waiting=lambda: None):
        # The same image may have several names.
        there = load(cache.root() / name)
        if there is not None and there.hash == key and checksums.fault(there) is None:
            return there, False
        if (cache.root() / name).exists():
            raise UserError(
                f"there is another kernel with the name {name}",
                f"give this one a name: {argument('name')} NAME",
                usage=True,
            )
        with cache.workplace() as (work, _):
            out = work / "out"
            out.mkdir()
            write_bytes(out / "linux", content, 0o777)
            write_text(out / "config", configuration)
            write_bytes(out / "modules", packed)
            kernel = Kernel(
                name=name,
                path=out / "linux",
                version=release,
                series=header.series(release),
                hz=int(hz[1]),
                patches=(),
                hash=key,
                recipe="",
                source=f"image {image.absolute()}",
                compiler="",
                built=datetime.now(UTC).isoformat(timespec="seconds"),
                size=len(content),
                seconds=round(time.monotonic() - began, 1),
                steps=0,
                engine=QEMU,
            )
            save(kernel, out)
            return cache.install(out, name), True


def _checked(name: str) -> str:
    if _SERIES.fullmatch(name) or not _NAME.fullmatch(name):
        raise UserError(
            f"{name} cannot be the name of an image",
            "letters, digits, '.', '_' and '-', and not a series such as 6.1 alone",
            usage=True,
        )
    return name


def _configuration(
    config: Path | None, image: Path, module_folder: Path | None, release: str
) -> str:
    """The configuration that was named, or that lies where distributions have it."""
    places = [config] if config else [image.with_name(f"config-{release}")]
    if config is None and module_folder:
        places += [module_folder / "config", module_folder / release / "config"]
    for place in places:
        if config is None and not place.is_file():
            continue
        content = whole(place, LARGEST_CONFIG, "a kernel's configuration")
        with contextlib.suppress(UnicodeDecodeError):
            text = content.decode()
            if "CONFIG_" in text:
                return text
        raise UserError(f"{place} is no kernel's configuration", usage=True)
    raise UserError(
        f"the configuration of {image} is not beside it",
        f"name the file: {argument('config')} FILE (a distribution's /boot/config-{release}, or "
        "the .config of the tree)",
        usage=True,
    )

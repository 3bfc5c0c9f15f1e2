"""Builds the package: maturin, and what it does not make itself.

pip, uv and `make wheel` call these hooks (PEP 517). A wheel has the guest program, the commit that
it was made of, the licences of the crates in it and the pages of the manual besides; a source
archive has what git has, and the commit. Both are the same bytes whenever they are made.
"""

from __future__ import annotations

import base64
import gzip
import hashlib
import io
import os
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

import maturin

get_requires_for_build_editable = maturin.get_requires_for_build_editable
prepare_metadata_for_build_wheel = maturin.prepare_metadata_for_build_wheel
prepare_metadata_for_build_editable = maturin.prepare_metadata_for_build_editable

ROOT: Final = Path(__file__).resolve().parents[2]
COMMIT: Final = ROOT / "python/rexmit/commit"
LICENCES: Final = ROOT / "python/rexmit/THIRD-PARTY-LICENCES"
EPOCH: Final = "315532800"
"""1980-01-01, the first day that a wheel can tell of, where SOURCE_DATE_EPOCH says no other."""

Settings = Mapping[str, Any] | None


def get_requires_for_build_wheel(settings: Settings = None) -> list[str]:
    """Beside what maturin takes, what the commands take to say of themselves."""
    return [*maturin.get_requires_for_build_wheel(settings), "click>=8.5"]


def build_wheel(folder: str, settings: Settings = None, metadata: str | None = None) -> str:
    """Makes the wheel and returns its name."""
    with _made():
        name = str(maturin.build_wheel(folder, settings, metadata))
    _add_manual(Path(folder) / name)
    return name


def _add_manual(wheel: Path) -> None:
    """Puts the pages of the manual into a wheel, made by what it has: they go to `share/man`."""
    stem = "-".join(wheel.name.split("-")[:2])
    record = f"{stem}.dist-info/RECORD"
    with tempfile.TemporaryDirectory() as place, zipfile.ZipFile(wheel) as old:
        old.extractall(place)  # noqa: S202 - made a moment ago
        pages = Path(place) / "pages"
        path = os.pathsep.join([place, str(ROOT / "docs/_ext")])
        subprocess.run(
            [sys.executable, "-m", "rexmit_site.manual", str(pages)],
            env={**os.environ, "PYTHONPATH": path},
            check=True,
        )
        made = {
            f"{stem}.data/data/share/man/man1/{page.name}": page.read_bytes()
            for page in sorted(pages.iterdir())
        }
        listed = "".join(
            f"{name},sha256={_digest(data)},{len(data)}\n" for name, data in made.items()
        )
        new = wheel.with_suffix(".new")
        with zipfile.ZipFile(new, "w") as archive:
            for entry in old.infolist():
                if entry.filename != record:
                    archive.writestr(entry, old.read(entry))
            last = old.getinfo(record)
            for name, data in made.items():
                page = zipfile.ZipInfo(name, last.date_time)
                page.compress_type, page.external_attr = last.compress_type, last.external_attr
                archive.writestr(page, data)
            archive.writestr(last, old.read(record).decode() + listed)
        new.replace(wheel)


def _digest(data: bytes) -> str:
    return base64.urlsafe_b64encode(hashlib.sha256(data).digest()).decode().rstrip("=")


def build_editable(folder: str, settings: Settings = None, metadata: str | None = None) -> str:
    """The same of a wheel that leads here."""
    _run("scripts/build-guest")
    with _environment():
        return str(maturin.build_editable(folder, settings, metadata))


def get_requires_for_build_sdist(_settings: Settings = None) -> list[str]:
    """Nothing besides what pyproject.toml names."""
    return []


def build_sdist(folder: str, settings: Settings = None) -> str:
    """Makes the source archive and returns its name. It takes a checkout."""
    listed = _output("git", "ls-files", "-z").split("\0")
    with tempfile.TemporaryDirectory() as metadata:
        place = maturin.prepare_metadata_for_build_wheel(metadata, settings)
        about = (Path(metadata) / place / "METADATA").read_bytes()
    files = {name: ROOT / name for name in listed if name and os.path.lexists(ROOT / name)}
    made = {"PKG-INFO": about, str(COMMIT.relative_to(ROOT)): _commit().encode()}
    stem = place.removesuffix(".dist-info")
    archive = Path(folder) / f"{stem}.tar.gz"
    with (
        archive.open("wb") as raw,
        gzip.GzipFile("", "wb", mtime=0, fileobj=raw) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as tar,
    ):
        for name in sorted({*files, *made}):
            if (content := made.get(name)) is not None:
                entry = _plain(tarfile.TarInfo(f"{stem}/{name}"), len(content))
                tar.addfile(entry, io.BytesIO(content))
            else:
                _add(tar, files[name], f"{stem}/{name}")
    return archive.name


def _add(tar: tarfile.TarFile, file: Path, name: str) -> None:
    entry = tarfile.TarInfo(name)
    if file.is_symlink():
        entry.type, entry.linkname = tarfile.SYMTYPE, str(file.readlink())
        tar.addfile(_plain(entry, 0))
        return
    content = file.read_bytes()
    entry = _plain(entry, len(content))
    if os.access(file, os.X_OK):
        entry.mode = 0o755
    tar.addfile(entry, io.BytesIO(content))


def _plain(entry: tarfile.TarInfo, size: int) -> tarfile.TarInfo:
    entry.size, entry.mode = size, 0o644
    entry.mtime = int(os.environ.get("SOURCE_DATE_EPOCH", EPOCH))
    return entry


@contextmanager
def _made() -> Iterator[None]:
    """Inside, all is there that maturin takes into the wheel, and what it runs writes no path of
    this machine."""
    _run("scripts/build-guest")
    new = []
    try:
        # An unpacked source archive has it; in a checkout one is left of a build that was killed.
        if (ROOT / ".git").exists() or not COMMIT.exists():
            new.append(COMMIT)
            COMMIT.write_text(_commit(), encoding="utf-8")
        new.append(LICENCES)
        LICENCES.write_text(_output("scripts/rust-licences"), encoding="utf-8")
        with _environment():
            yield
    finally:
        # In a checkout git says what the commit is.
        for path in new:
            path.unlink(missing_ok=True)


@contextmanager
def _environment() -> Iterator[None]:
    made = {
        "CARGO_ENCODED_RUSTFLAGS": _output("scripts/rust-flags"),
        "SOURCE_DATE_EPOCH": os.environ.get("SOURCE_DATE_EPOCH", EPOCH),
    }
    before = {name: os.environ.get(name) for name in made}
    os.environ.update(made)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name)
            if value is not None:
                os.environ[name] = value


def _commit() -> str:
    """The commit, with `+dirty` where files differ from it; empty where git does not know."""
    if not (ROOT / ".git").exists():
        return ""
    head = _output("git", "rev-parse", "--short=12", "HEAD").strip()
    return head + (
        "+dirty" if _output("git", "--no-optional-locks", "status", "--porcelain") else ""
    )


def _run(*command: str) -> None:
    subprocess.run(command, cwd=ROOT, check=True)


def _output(*command: str) -> str:
    return subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE, text=True).stdout

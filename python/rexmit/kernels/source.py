"""Kernel sources: Debian's package of a series, a tarball, or a tree of the user's own.

Whatever it is, the build works on a copy of the part that it needs, so a user's tree is only ever
read, and may be in any state: built in, configured, changed.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import subprocess
import tarfile
from collections.abc import Callable, Iterator, Set
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Final, Literal

from rexmit.errors import UserError

DEBIAN_SOURCES: Final = Path("/usr/src")

# What a user-mode kernel for x86-64 is not made of: 1.2 of 1.7 GB in 6.12. Files that the build
# system reads everywhere are kept (KEPT).
UNUSED: Final = re.compile(
    r"(arch/(?!um/|x86/)[^/]+|Documentation|sound|tools/(testing|perf)"
    r"|drivers/(gpu|media|net/ethernet|net/wireless|scsi|staging|infiniband|usb))/.*"
)
KEPT: Final = re.compile(r"(.*/)?(Kconfig|Makefile|Kbuild|Platform)[^/]*")

# What building leaves in a tree, for trees where git cannot tell.
BUILT: Final = re.compile(
    r"(.*/)?(\.[^/]*\.(cmd|d|o)|[^/]*\.(o|a|ko|mod|mod\.c|order|symvers)|\.config[^/]*|\.tmp_[^/]*)"
    r"|(arch/[^/]+/)?include/(generated|config)/.*|linux|vmlinux[^/]*|System\.map|\.version"
    r"|\.missing-syscalls\.d"
)


@dataclass(frozen=True)
class Source:
    """Where a kernel's source comes from."""

    kind: Literal["debian", "tarball", "tree"]
    path: Path
    spec: str
    """What the user called it."""


def resolve(spec: str, *, install: Callable[[str], None]) -> Source:
    """The source that `spec` means: a series, a folder or a tarball.

    `install` is called with the name of the Debian package when that is missing; it installs it or
    raises UserError.
    """
    if re.fullmatch(r"\d+\.\d+", spec):
        path = DEBIAN_SOURCES / f"linux-source-{spec}.tar.xz"
        if not path.exists():
            install(f"linux-source-{spec}")
        if not path.exists():
            raise UserError(
                f"{path} is not there", f"Does the package linux-source-{spec} hold it elsewhere?"
            )
        return Source("debian", path, spec)
    path = Path(spec).expanduser().absolute()
    if path.is_dir():
        if not (path / "Makefile").is_file() or not (path / "arch" / "um").is_dir():
            raise UserError(f"{spec} is not a kernel source tree (no Makefile or no arch/um)")
        return Source("tree", path, spec)
    if path.is_file():
        return Source("tarball", path, spec)
    raise UserError(
        f"kernel source {spec}: no such file or folder",
        "Give a series (6.1, 6.12), a kernel source tree or a tarball of one.",
    )


def wanted(name: str) -> bool:
    """Whether the build needs the file `name` (relative to the top of the tree)."""
    return not UNUSED.fullmatch(name) or KEPT.fullmatch(name) is not None


def unpack(source: Source, tree: Path, *, also: Set[str] = frozenset()) -> str:
    """Copy what the build needs of the source, and the files `also`, into the new folder `tree`.

    Returns what identifies the source: a hash of the tarball or of what was copied.
    """
    tree.mkdir(parents=True)
    if source.kind == "tree":
        return _copy_tree(source.path, tree, also)
    _extract(source, tree, also)
    return tarball_digest(source.path)


def tarball_digest(path: Path) -> str:
    """What identifies a tarball: a hash of it."""
    digest = hashlib.blake2b(digest_size=16)
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()


def version(makefile: str, where: str) -> str:
    """The version that a kernel's top Makefile states, such as `6.12.117`."""
    fields: dict[str, str] = dict(
        re.findall(r"^(VERSION|PATCHLEVEL|SUBLEVEL|EXTRAVERSION) *= *(.*)$", makefile, re.M)
    )
    if not {"VERSION", "PATCHLEVEL"} <= fields.keys():
        raise UserError(f"{where} is not a kernel source: its Makefile states no version")
    text = f"{fields['VERSION']}.{fields['PATCHLEVEL']}.{fields.get('SUBLEVEL') or '0'}"
    return text + fields.get("EXTRAVERSION", "").strip()


def tree_version(tree: Path, where: str) -> str:
    """The version of an unpacked tree; `where` names it in an error."""
    try:
        text = (tree / "Makefile").read_text(encoding="utf-8", errors="replace")
    except FileNotFoundError:
        raise UserError(f"{where} is not a kernel source: it has no Makefile") from None
    return version(text, where)


def _copy_tree(top: Path, tree: Path, also: Set[str]) -> str:
    identity = hashlib.blake2b(digest_size=16)
    made = {""}
    for name in sorted(_tree_files(top)):
        if not wanted(name) and name not in also:
            continue
        source = top / name
        folder = name.rpartition("/")[0]
        if folder not in made:
            (tree / folder).mkdir(parents=True, exist_ok=True)
            made.add(folder)
        if source.is_symlink():
            link = source.readlink()
            (tree / name).symlink_to(link)
            identity.update(f"link {name} {link}\n".encode())
            continue
        try:
            content = source.read_bytes()
        except (FileNotFoundError, IsADirectoryError):
            continue  # removed but still in git's index, or a submodule
        executable = os.access(source, os.X_OK)
        (tree / name).write_bytes(content)
        if executable:
            (tree / name).chmod(0o755)
        identity.update(f"file {name} {executable} {len(content)}\n".encode())
        identity.update(content)
    return identity.hexdigest()


def _tree_files(top: Path) -> Iterator[str]:
    """The files of a tree that are source: what git does not ignore, or else what is not built."""
    if (top / ".git").exists() and shutil.which("git"):
        # The owner of the tree may be somebody else, which git refuses unless told.
        git = ["git", "-c", "safe.directory=*", "-C", str(top), "ls-files", "-z"]
        listed = subprocess.run(
            [*git, "--cached", "--others", "--exclude-standard"], capture_output=True, check=False
        )
        if listed.returncode == 0:
            yield from (os.fsdecode(name) for name in listed.stdout.split(b"\0") if name)
            return
    for folder, folders, files in os.walk(top):
        prefix = os.path.relpath(folder, top) + "/" if folder != str(top) else ""
        if ".git" in folders:
            folders.remove(".git")
        links = [d for d in folders if os.path.islink(os.path.join(folder, d))]  # noqa: PTH114, PTH118
        for name in files + links:
            if not BUILT.fullmatch(prefix + name):
                yield prefix + name


def _extract(source: Source, tree: Path, also: Set[str]) -> None:
    made = {""}
    with _tar_stream(source.path) as stream:
        try:
            with tarfile.open(fileobj=stream, mode="r|*", bufsize=1 << 20) as archive:
                prefix: str | None = None
                for member in archive:
                    name = member.name.removeprefix("./").removeprefix(".")
                    if prefix is None:
                        # The first entry is the folder that holds the tree, or a file in it.
                        prefix = name.partition("/")[0] + "/" if name else ""
                    if name + "/" == prefix or not name:
                        continue
                    if not name.startswith(prefix):
                        raise UserError(f"{source.spec}: not one folder with a kernel in it")
                    name = name.removeprefix(prefix)
                    if ".." in name.split("/") or name.startswith("/"):
                        raise UserError(f"{source.spec}: {member.name} leads out of the tarball")
                    if wanted(name) or name in also:
                        _write_member(archive, member, tree, name, made)
        except tarfile.TarError as error:
            raise UserError(f"{source.spec}: not a readable tarball ({error})") from error


def _write_member(
    archive: tarfile.TarFile, member: tarfile.TarInfo, tree: Path, name: str, made: set[str]
) -> None:
    folder = name.rpartition("/")[0]
    if folder not in made:
        # A link made by an earlier member must not lead this one out of the tree.
        (tree / folder).mkdir(parents=True, exist_ok=True)
        if not (tree / folder).resolve().is_relative_to(tree.resolve()):
            raise UserError(f"{member.name} leads out of the tarball")
        made.add(folder)
    if member.issym():
        (tree / name).symlink_to(member.linkname)
    elif member.isfile() and (content := archive.extractfile(member)):
        with open(tree / name, "xb") as file:  # noqa: PTH123 (35,000 files)
            shutil.copyfileobj(content, file, 1 << 20)
        if member.mode & 0o111:
            (tree / name).chmod(0o755)


@contextmanager
def _tar_stream(path: Path) -> Iterator[IO[bytes]]:
    """The bytes of a tarball; of one in xz those of the tar in it (by a process of its own)."""
    with path.open("rb") as file:
        if file.read(6) != b"\xfd7zXZ\0":
            file.seek(0)
            yield file
            return
    with subprocess.Popen(
        ["xz", "-dc", str(path)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    ) as xz:
        assert xz.stdout is not None  # noqa: S101
        try:
            yield xz.stdout
        finally:
            xz.stdout.close()
            xz.wait()

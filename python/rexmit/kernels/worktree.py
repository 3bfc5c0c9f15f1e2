"""Reads a source tree of the user's or of somebody else's, and runs nothing that it says.

Which files are source is best known by git. A repository's own settings name programs that git
runs (`core.fsmonitor`, for one); so git is given a repository of ours that has only the list of
the tree's files, and never reads that of the tree.
"""

from __future__ import annotations

import hashlib
import os
import re
import shutil
import stat
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Final

from rexmit.errors import UserError
from rexmit.kernels.confine import Bounds, Confinement
from rexmit.kernels.git import without_git
from rexmit.kernels.kernel import printable
from rexmit.kernels.newtree import Folders, NewTree, stamp
from rexmit.kernels.within import file_content, files_within
from rexmit.store.files import write_bytes, write_text

# What building leaves in a tree, for trees where git cannot tell.
BUILT: Final = re.compile(
    r"(.*/)?(\.[^/]*\.(cmd|d|o)|[^/]*\.(o|a|ko|mod|mod\.c|order|symvers)|\.config[^/]*|\.tmp_[^/]*)"
    r"|(arch/[^/]+/)?include/(generated|config)/.*|linux|vmlinux[^/]*|System\.map|\.version"
    r"|\.missing-syscalls\.d"
)

_BLOCK: Final = 1 << 20
_MOST_NAMES: Final = 1 << 28
_LARGEST_INDEX: Final = 1 << 28
_LARGEST_TEXT: Final = 1 << 20
_GIT_S: Final = 600.0
_RACY_NS: Final = 2_000_000_000
_FILE: Final = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK


def copy(top: Path, names: Iterable[str], sort: Callable[[str], NewTree | None]) -> str:
    """Copy the files and links of the folder `top` that have these names, each into the tree that
    `sort` has for its name. What that tree has from before and has not changed is not read.

    Returns a hash of what was copied. No link is followed; what is neither file nor link is left
    out. Raises UserError.
    """
    identity = hashlib.blake2b(digest_size=16)
    settled_ns = time.time_ns() - _RACY_NS
    with Folders(top) as folders:
        for name in sorted(names):
            tree = sort(name)
            if tree is None:
                continue
            folder, _, base = name.rpartition("/")
            try:
                within = folders.open(folder)
                status = os.stat(base, dir_fd=within, follow_symlinks=False)
                if stat.S_ISLNK(status.st_mode):
                    digest = tree.link(name, os.readlink(base, dir_fd=within))
                elif not stat.S_ISREG(status.st_mode):
                    continue
                elif tree.keep(name, None, stamp(status)):
                    digest = tree.made[name].digest
                else:
                    descriptor = os.open(base, _FILE, dir_fd=within)
                    digest = _copy_file(descriptor, name, tree, settled_ns)
            except (FileNotFoundError, NotADirectoryError):
                continue  # removed but still in git's index
            except OSError as error:
                raise UserError(f"{top}/{printable(name)}: {error.strerror}") from error
            identity.update(os.fsencode(f"{name} {digest}\n"))
    return identity.hexdigest()


def _copy_file(descriptor: int, name: str, tree: NewTree, settled_ns: int) -> str:
    with os.fdopen(descriptor, "rb", buffering=0) as file:
        status = os.fstat(descriptor)
        executable = status.st_mode & 0o111 != 0
        # A file that changes again within one tick of the clock keeps its stamp.
        source = stamp(status) if status.st_ctime_ns < settled_ns else None

        def blocks() -> Iterator[bytes]:
            file.seek(0)
            left = status.st_size
            while block := file.read(_BLOCK):
                left -= len(block)
                yield block
            if left:
                raise UserError(f"{printable(name)} changed while it was copied")

        return tree.take(name, blocks, executable=executable, source=source)


def source_names(top: Path, scratch: Path, confinement: Confinement) -> Iterator[str]:
    """The files of a tree that are source: what git does not ignore, or else what is not built.
    `scratch` is a folder for temporary files.
    """
    if (top / ".git").exists() and shutil.which("git"):
        listed = _names_of_git(top, scratch / "git", confinement)
        if listed is not None:
            yield from listed
            return
    yield from (name for name in files_within(top) if not BUILT.fullmatch(name))


def _names_of_git(top: Path, repository: Path, confinement: Confinement) -> list[str] | None:
    """What git lists for the tree, or None where it cannot."""
    for folder in ("objects", "refs", "info"):
        (repository / folder).mkdir(parents=True)
    write_text(repository / "HEAD", "ref: refs/heads/main\n")
    write_text(
        repository / "config",
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tfsmonitor = false\n"
        "\thooksPath = /dev/null\n\texcludesFile = /dev/null\n\tuntrackedCache = false\n",
    )
    place, common = _repository_of(top)
    if index := file_content(place / "index", _LARGEST_INDEX):
        write_bytes(repository / "index", index)
    ignored = [_short(path) for path in (_users_ignores(), common / "info" / "exclude")]
    write_bytes(repository / "info" / "exclude", b"\n".join(ignored))
    command = ["git", f"--git-dir={repository}", f"--work-tree={top}", "-C", str(top)]
    command += ["--no-pager", "--no-optional-locks", "ls-files", "-z"]
    environment = without_git() | {
        "GIT_CONFIG_NOSYSTEM": "1",
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_ATTR_NOSYSTEM": "1",
        "GIT_TERMINAL_PROMPT": "0",
        "GIT_ALLOW_PROTOCOL": "",
    }
    try:
        listed = confinement.run(
            [*command, "--cached", "--others", "--exclude-standard"],
            show=[top, repository],
            env=environment,
            errors=False,
            bounds=Bounds(_GIT_S, _MOST_NAMES),
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    names = [os.fsdecode(name) for name in listed.output.split(b"\0") if name]
    # Debian's source says of all its files that git is to ignore them.
    return names if listed.status == 0 and "Makefile" in names else None


def _users_ignores() -> Path:
    """The file in which the user, not the tree, says what is never source."""
    asked = subprocess.run(
        ["git", "config", "--global", "--type=path", "core.excludesFile"],
        cwd="/",
        capture_output=True,
        check=False,
        env=without_git(),
    )
    if asked.returncode == 0:
        return Path(os.fsdecode(asked.stdout.rstrip(b"\n")))
    base = os.environ.get("XDG_CONFIG_HOME") or Path.home() / ".config"
    return Path(base) / "git" / "ignore"


def _repository_of(top: Path) -> tuple[Path, Path]:
    """Where git keeps the tree's index, and what it has in common with other trees of it."""
    place = top / ".git"
    if not place.is_dir():
        text = os.fsdecode(_short(place))
        place = top / text.removeprefix("gitdir:").strip()
    shared = os.fsdecode(_short(place / "commondir")).strip()
    return place, place / shared


def _short(path: Path) -> bytes:
    return file_content(path, _LARGEST_TEXT) or b""

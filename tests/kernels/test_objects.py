"""Objects that are kept: what the next build takes over, and never what is outdated."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from rexmit.errors import FaultySourceError, UserError
from rexmit.kernels import cache, git, objects, worktree
from rexmit.kernels.build import build
from rexmit.kernels.git import At
from rexmit.kernels.kernel import Kernel
from rexmit.kernels.newtree import NewTree
from rexmit.progress import PlainProgress

from .conftest import Tree

pytestmark = pytest.mark.tools

# make keeps objects as the kernel's does: by the times of what they are made from, their flags and
# the options that they look at.
MAKEFILE = """\
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 9
FLAGS = -O1

allnoconfig:
\t@cp $(KCONFIG_ALLCONFIG) .config

-include *.d

linux: main.o other.o .config
\t@gcc -o linux main.o other.o

%.o: %.c .config flags
\t@echo "  CC      $@"
\t@echo $@ >>compiled
\t@gcc -Iarch/um -Iinclude $(FLAGS) $$(cat .config | sed -n 's/^CONFIG_/-D/p') -MMD -c -o $@ $<

flags: FORCE
\t@test "$$(cat flags 2>/dev/null)" = "$(FLAGS)" || echo "$(FLAGS)" >flags

.PHONY: FORCE
"""

MAIN = """\
#include <stdio.h>
#include <value.h>
int other(void);
int main(void)
{
\tprintf("6.12.9 %d %d\\n", VALUE, other());
\treturn 0;
}
"""

SCRIPT = """\
import sys
from pathlib import Path
from rexmit.kernels import recipe
from rexmit.kernels.build import build
recipe.DATA = Path(sys.argv[1])
build(sys.argv[2])
"""

GCC = """\
#!/bin/sh
test "$*" != --version || exec echo gcc 99
exec /usr/bin/gcc "$@"
"""

TWO_VALUES = """\
#ifdef THEIRS
#define RESULT 7
#else
#define RESULT 6
#endif
int other(void) { return RESULT; }
"""


@pytest.fixture
def compiled(tree: Tree) -> Tree:
    """A tree of two files and a header."""
    tree.write("Makefile", MAKEFILE)
    tree.write("main.c", MAIN)
    tree.write("other.c", "int other(void) { return 1; }\n")
    tree.write("include/value.h", "#define VALUE 1\n")
    _settle(tree)
    return tree


def _settle(tree: Tree) -> None:
    """As if all files had been there for long: their stamps alone are looked at."""
    for name in tree.snapshot():
        os.utime(tree.path / name, (1, 1))


def _prints(kernel: Kernel) -> str:
    return subprocess.run([kernel.path], capture_output=True, text=True, check=True).stdout.strip()


def _tree(cache_root: Path) -> Path:
    (found,) = cache_root.glob(".objects/*/tree")
    return found


def _compiled_next(cache_root: Path, tree: Tree, **options: object) -> tuple[list[str], str]:
    """What a build compiles, and what its kernel prints."""
    log = _tree(cache_root) / "compiled"
    log.unlink(missing_ok=True)
    kernel, new = build(str(tree.path), **options)  # type: ignore[arg-type]
    assert new
    text = log.read_text() if log.exists() else ""
    return sorted(text.split()), _prints(kernel)


def test_only_what_has_changed_is_compiled(compiled: Tree, cache_root: Path) -> None:
    assert _prints(build(str(compiled.path))[0]) == "6.12.9 1 1"
    before = compiled.snapshot()
    assert not build(str(compiled.path))[1]
    assert compiled.snapshot() == before
    compiled.write("other.c", "int other(void) { return 2; }\n")
    assert _compiled_next(cache_root, compiled) == (["other.o"], "6.12.9 1 2")
    compiled.write("include/value.h", "#define VALUE 3\n")
    assert _compiled_next(cache_root, compiled) == (["main.o"], "6.12.9 3 2")


def test_a_file_with_an_old_time_is_a_change(compiled: Tree, cache_root: Path) -> None:
    build(str(compiled.path))
    path = compiled.path / "other.c"
    status = path.stat()
    path.write_text("int other(void) { return 4; }\n")
    os.utime(path, ns=(status.st_atime_ns, status.st_mtime_ns))
    assert path.stat().st_size == status.st_size
    assert _compiled_next(cache_root, compiled) == (["other.o"], "6.12.9 1 4")


def test_the_same_content_again_is_none(compiled: Tree, cache_root: Path) -> None:
    build(str(compiled.path))
    for name in ("main.c", "include/value.h"):
        text = (compiled.path / name).read_text()
        (compiled.path / name).unlink()
        compiled.write(name, text)
    compiled.write("README", "as new\n")
    assert _compiled_next(cache_root, compiled) == ([], "6.12.9 1 1")


def test_flags_and_options_are_changes(compiled: Tree, cache_root: Path, tmp_path: Path) -> None:
    build(str(compiled.path))
    compiled.write("Makefile", MAKEFILE.replace("-O1", "-O1 -DVALUE=5"))
    compiled.write("include/value.h", "")
    assert _compiled_next(cache_root, compiled) == (["main.o", "other.o"], "6.12.9 5 1")
    mine = tmp_path / "mine.config"
    mine.write_text("CONFIG_MINE=y\n")
    compiled.write("other.c", TWO_VALUES)
    first, _ = build(str(compiled.path), configs=[str(mine)])
    assert _prints(first) == "6.12.9 5 6"
    mine.write_text("CONFIG_THEIRS=y\n")
    second, new = build(str(compiled.path), configs=[str(mine)])
    assert new
    assert _prints(second) == "6.12.9 5 7"


def test_another_compiler_begins_from_nothing(
    compiled: Tree, cache_root: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = build(str(compiled.path))
    assert not build(str(compiled.path))[1]
    (tmp_path / "bin").mkdir()
    other = tmp_path / "bin" / "gcc"
    other.write_text(GCC)
    other.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}/bin:{os.environ['PATH']}")
    names, printed = _compiled_next(cache_root, compiled)
    assert names == ["main.o", "other.o"]
    assert printed == "6.12.9 1 1"
    kernel, new = build(str(compiled.path))
    assert (kernel.compiler, new) == ("gcc 99", False)
    assert kernel.name == first.name


def test_a_header_that_hides_another_begins_from_nothing(compiled: Tree, cache_root: Path) -> None:
    build(str(compiled.path))
    # No object names it, and make sees no change.
    compiled.write("arch/um/value.h", "#define VALUE 8\n")
    assert _compiled_next(cache_root, compiled) == (["main.o", "other.o"], "6.12.9 8 1")
    compiled.write("arch/um/unlike.h", "")
    assert _compiled_next(cache_root, compiled) == ([], "6.12.9 8 1")


def test_a_removed_file_leaves_no_object(compiled: Tree) -> None:
    build(str(compiled.path))
    (compiled.path / "other.c").unlink()
    with pytest.raises(Exception, match="failed"):
        build(str(compiled.path))


def test_what_a_build_did_to_its_sources_is_undone(
    compiled: Tree, cache_root: Path, tmp_path: Path
) -> None:
    build(str(compiled.path))
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "value.h").write_text("secret\n")
    tree = _tree(cache_root)
    (tree / "other.c").write_text("int other(void) { return 9; }\n")
    (tree / "include/value.h").unlink()
    (tree / "include").rmdir()
    (tree / "include").symlink_to(outside)
    compiled.write("README", "new\n")
    names, printed = _compiled_next(cache_root, compiled)
    assert printed == "6.12.9 1 1"
    assert "other.o" in names
    assert (outside / "value.h").read_text() == "secret\n"
    assert not (tree / "include").is_symlink()


def test_a_failed_build_goes_on_where_it_was(compiled: Tree, cache_root: Path) -> None:
    build(str(compiled.path))
    compiled.write("other.c", "no C\n")
    with pytest.raises(Exception, match="failed"):
        build(str(compiled.path))
    compiled.write("other.c", "int other(void) { return 3; }\n")
    assert _compiled_next(cache_root, compiled) == (["other.o"], "6.12.9 1 3")


def test_a_commit_is_built_like_a_tree_that_has_its_files(compiled: Tree, cache_root: Path) -> None:
    (compiled.path / "link.c").symlink_to("other.c")
    commit = _committed(compiled)
    compiled.write("other.c", "int other(void) { return 2; }\n")
    compiled.write("left.c", "no part of the commit\n")
    before = compiled.snapshot()
    of_commit, new = build(str(compiled.path), at=commit)
    assert (_prints(of_commit), new) == ("6.12.9 1 1", True)
    assert compiled.snapshot() == before
    assert (_tree(cache_root) / "link.c").readlink() == Path("other.c")
    assert f"git -C {compiled.path} checkout {commit.commit}" in of_commit.build_command
    # The tree itself goes on from its objects, and the commit from those of the tree.
    assert _compiled_next(cache_root, compiled) == (["other.o"], "6.12.9 1 2")
    (compiled.path / "left.c").unlink()
    compiled.write("other.c", "int other(void) { return 1; }\n")
    assert build(str(compiled.path))[0] == of_commit
    compiled.write("other.c", "int other(void) { return 3; }\n")
    names, printed = _compiled_next(cache_root, compiled, at=_committed(compiled))
    assert (names, printed) == (["other.o"], "6.12.9 1 3")


def test_what_a_commit_has_in_common_with_another_is_not_read(
    compiled: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(str(compiled.path), at=_committed(compiled))
    compiled.write("other.c", "int other(void) { return 2; }\n")
    second = _committed(compiled)
    read: list[bytes] = []
    real = git._object

    def object_(top: Path, blob: str, asked: IO[bytes], answer: IO[bytes]) -> Iterator[bytes]:
        content = b"".join(real(top, blob, asked, answer))
        read.append(content)
        yield content

    monkeypatch.setattr(git, "_object", object_)
    assert _prints(build(str(compiled.path), at=second)[0]) == "6.12.9 1 2"
    # What patches change is patched anew. What has changed is first compared.
    text = b"int other(void) { return 2; }\n"
    assert read == [(compiled.path / "arch/um/Kconfig").read_bytes(), text, text]


def test_a_commit_without_its_objects_is_refused(compiled: Tree) -> None:
    commit = _committed(compiled)
    for folder in (compiled.path / ".git" / "objects").glob("??"):
        cache.remove(folder)
    with pytest.raises(UserError, match="git ls-tree failed for") as fault:
        build(str(compiled.path), at=commit)
    assert not isinstance(fault.value, FaultySourceError)


def _committed(tree: Tree) -> At:
    """All that is there, in a commit."""
    for words in (["init", "--quiet"], ["add", "--all"], ["commit", "--quiet", "-m", "all"]):
        who = ["-c", "user.name=n", "-c", "user.email=e"]
        subprocess.run(["git", "-C", tree.path, *who, *words], check=True)
    done = subprocess.run(
        ["git", "-C", tree.path, "rev-parse", "HEAD"], capture_output=True, text=True, check=True
    )
    return At(done.stdout.strip(), tree.path)


@pytest.mark.parametrize(
    ("line", "here"),
    [
        ("other.c:1:1: error: unknown type name", False),
        ("    1 | puts(No space left on device)", False),
        ("/bin/sh: 1: scripts/absent.sh: not found", False),
        ("cc.s: Fatal error: cannot write other.o: No space left on device", True),
        ("gcc: fatal error: Killed signal terminated program cc1", True),
        ("/bin/sh: 1: bison: not found", True),
        ("/bin/bash: line 1: bison: command not found", True),
    ],
)
def test_whose_fault_it_is_that_a_kernel_does_not_build(
    compiled: Tree, line: str, here: bool
) -> None:
    # Other compilers go on for a while, and say more than is shown.
    fails = f"\t@printf '%s\\n' '{line}'; seq 30; false\n"
    compiled.write("Makefile", MAKEFILE.replace("\t@gcc -Iarch", f"{fails}\t@gcc -Iarch"))
    with pytest.raises(UserError, match="failed") as fault:
        build(str(compiled.path))
    assert isinstance(fault.value, FaultySourceError) is not here
    assert not here or line in str(fault.value.hint)


def test_what_a_killed_build_left_is_not_used(compiled: Tree, cache_root: Path) -> None:
    build(str(compiled.path))
    folder = _tree(cache_root).parent
    (folder / "unfinished").touch()
    (folder / "tree" / "other.o").write_bytes(b"half")
    compiled.write("README", "new\n")
    assert _compiled_next(cache_root, compiled) == (["main.o", "other.o"], "6.12.9 1 1")
    assert not (folder / "unfinished").exists()


def test_an_interrupted_build_says_so_to_the_next(
    compiled: Tree, cache_root: Path, data: Path
) -> None:
    build(str(compiled.path))
    text = "int other(void) { return 3; }\n"
    compiled.write("other.c", text)
    compiled.write(
        "Makefile",
        MAKEFILE.replace("\t@gcc -Iarch", "\t@test $@ = main.o || sleep 60\n\t@gcc -Iarch"),
    )
    marker = _tree(cache_root).parent / "unfinished"
    with subprocess.Popen([sys.executable, "-c", SCRIPT, str(data), str(compiled.path)]) as builder:
        end = time.monotonic() + 20
        while not marker.exists():
            assert time.monotonic() < end
            time.sleep(0.02)
        builder.send_signal(signal.SIGINT)
    assert marker.exists()


def test_a_clock_that_was_set_back_begins_from_nothing(
    compiled: Tree, cache_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(str(compiled.path))
    compiled.write("README", "new\n")
    monkeypatch.setattr("rexmit.kernels.objects.time.time", lambda: 0.0)
    assert _compiled_next(cache_root, compiled)[0] == ["main.o", "other.o"]


def test_how_many_steps_there_are_is_not_guessed_of_a_part(compiled: Tree) -> None:
    first, _ = build(str(compiled.path))
    assert first.steps == 2
    compiled.write("other.c", "int other(void) { return 2; }\n")
    out = io.StringIO()
    second, _ = build(str(compiled.path), progress=PlainProgress("steps", out))
    assert second.steps == 2, "those of a whole one"
    assert "of" not in out.getvalue().splitlines()[-1]


def test_objects_are_bounded_and_can_be_dropped(
    compiled: Tree, cache_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(objects, "MOST_KEPT", 2)
    for hz in (100, 250, 1000):
        build(str(compiled.path), hz=hz)
    assert len(list(cache_root.glob(".objects/*"))) == 2
    assert objects.size() > 0
    (_, in_use) = sorted(cache_root.glob(".objects/*"))
    with cache.locked(in_use / "lock"):
        assert objects.remove_all() > 0
        assert list(cache_root.glob(".objects/*")) == [in_use]
    objects.remove_all()
    assert objects.size() == 0
    compiled.write("other.c", "int other(void) { return 2; }\n")
    assert build(str(compiled.path))[1]


def test_a_tree_that_is_read_twice_is_not_read_whole(
    compiled: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    build(str(compiled.path))
    time.sleep(2.1)  # what changed within two seconds before is read again
    build(str(compiled.path))
    read: list[str] = []
    real = worktree._copy_file

    def copied(descriptor: int, name: str, tree: NewTree, settled_ns: int) -> str:
        read.append(name)
        return real(descriptor, name, tree, settled_ns)

    monkeypatch.setattr(worktree, "_copy_file", copied)
    assert not build(str(compiled.path))[1]
    assert read == ["arch/um/Kconfig"], "what patches change is patched anew"


def _replace(path: Path, by: str) -> None:
    """Something else in the place of a file or a folder."""
    cache.remove(path)
    path.unlink(missing_ok=True)
    if by == "folder":
        path.mkdir()
    elif by == "file":
        path.write_text("else")
    else:
        path.symlink_to(path.with_name("nowhere"))


@pytest.mark.parametrize("by", ["folder", "file", "link"])
@pytest.mark.parametrize(
    "what",
    ["", "K", "K/lock", "K/index.json", "K/tree", "K/tree/arch", "K/tree/main.o"],
)
def test_whatever_has_their_place_a_build_works(
    compiled: Tree, cache_root: Path, what: str, by: str
) -> None:
    build(str(compiled.path))
    top = cache_root / ".objects"
    key = _tree(cache_root).parent.name
    _replace(top / what.replace("K", key), by)
    compiled.write("other.c", "int other(void) { return 2; }\n")
    kernel, new = build(str(compiled.path))
    assert (new, _prints(kernel)) == (True, "6.12.9 1 2")
    compiled.write("other.c", "int other(void) { return 3; }\n")
    assert _compiled_next(cache_root, compiled) == (["other.o"], "6.12.9 1 3")


@pytest.mark.parametrize("name", ["main.o", "main.d", "linux", "main.c", "more.o"])
def test_files_that_are_not_as_they_were_left_are_not_used(
    compiled: Tree, cache_root: Path, name: str
) -> None:
    build(str(compiled.path))
    path = _tree(cache_root) / name
    before = path.stat() if path.exists() else None
    path.write_bytes(b"x" * (before.st_size if before else 9))
    if before:
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
    compiled.write("other.c", "int other(void) { return 2; }\n")
    assert _compiled_next(cache_root, compiled) == (["main.o", "other.o"], "6.12.9 1 2")

"""A source tree that behaves as the kernel's does under `make ARCH=um`, in a few milliseconds."""

from __future__ import annotations

import subprocess
import textwrap
from pathlib import Path

import pytest

from rexmit.kernels import recipe

MAKEFILE = """\
VERSION = 6
PATCHLEVEL = 12
SUBLEVEL = 9
EXTRAVERSION =

allnoconfig:
\t@test "$(ARCH)" = um
\t@echo "  HOSTCC  scripts/kconfig/conf"
\t@cp $(KCONFIG_ALLCONFIG) .config
\t@for option in `cat refused 2>/dev/null`; do sed -i "/^CONFIG_$$option=/d" .config; done

linux: main.c
\t@test "$(ARCH)" = um -a -f .config
\t@echo built >>"$${COUNT_FILE:-/dev/null}"
\t@for i in 1 2 3; do echo "  CC      kernel/$$i.o"; done
\t@test ! -e hook || sh ./hook
\t@gcc -g -o linux main.c
"""

MAIN = """\
#include <stdio.h>
int main(void)
{
\tputs("6.12.9");
\treturn 0;
}
"""

SERIES_PATCH = """\
The patch that every kernel gets.
--- a/arch/um/Kconfig
+++ b/arch/um/Kconfig
@@ -1,5 +1,5 @@
 config HZ
-\tint
+\tint "HZ"
\x20
 config GOOD
 \tbool
"""


class Tree:
    """A fake source tree and what can be wrong with it."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.write("Makefile", MAKEFILE)
        self.write("main.c", MAIN)
        self.write("arch/um/Kconfig", "config HZ\n\tint\n\nconfig GOOD\n\tbool\n")

    def write(self, name: str, text: str) -> None:
        """Write a file of the tree."""
        (self.path / name).parent.mkdir(parents=True, exist_ok=True)
        (self.path / name).write_text(text, encoding="utf-8")

    def hook(self, script: str) -> None:
        """What the build does half way through."""
        self.write("hook", textwrap.dedent(script))

    def snapshot(self) -> dict[str, tuple[bytes, int]]:
        """Content and time of change of all files."""
        return {
            str(p.relative_to(self.path)): (p.read_bytes(), p.stat().st_mtime_ns)
            for p in sorted(self.path.rglob("*"))
            if p.is_file()
        }

    def tarball(self, path: Path, *, flags: str, members: str) -> Path:
        """Pack the tree: `flags` as tar's for the compression, `members` with or without folder."""
        where = self.path.parent if members == self.path.name else self.path
        subprocess.run(["tar", f"-c{flags}f", path, "-C", where, members], check=True)
        return path


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """A tree of Linux 6.12.9."""
    return Tree(tmp_path / "linux-6.12.9")


@pytest.fixture(autouse=True)
def cache_root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache of the test's own; the folder of its kernels."""
    monkeypatch.setenv("REXMIT_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "kernels"


GUEST = """\
#!/bin/sh
test "$1" = confine || exit 2
echo "$*" >>"$0.calls"
while test "$1" != --; do shift; done
shift
exec "$@"
"""


@pytest.fixture(autouse=True)
def guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A guest program that confines nothing, and has in `calls` what it was asked to."""
    path = tmp_path / "guest"
    path.write_text(GUEST)
    path.chmod(0o755)
    monkeypatch.setenv("REXMIT_GUEST", str(path))
    return path


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A fragment and patches for the fake tree, instead of the real ones."""
    folder = tmp_path / "data"
    for series in ("6.1", "6.12", "others"):
        (folder / "patches" / series / "optional").mkdir(parents=True)
        (folder / "patches" / series / "0001-hz.patch").write_text(SERIES_PATCH)
    (folder / "fragment.config").write_text("CONFIG_GOOD=y\n")
    monkeypatch.setattr(recipe, "DATA", folder)
    return folder


def visible(root: Path) -> list[str]:
    """What lies in the cache besides its locks, logs and kept objects."""
    hidden = (".lock", ".locks", ".logs", ".objects")
    return sorted(p.name for p in root.iterdir() if p.name not in hidden)

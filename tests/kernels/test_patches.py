"""Patches of somebody else's: they change the copy of the tree and nothing else."""

from __future__ import annotations

from pathlib import Path

import pytest

from rexmit.errors import UserError
from rexmit.kernels.build import build

from .conftest import Tree, visible

PATCHES = {
    "through a link": "--- a/link/file\n+++ b/link/file\n@@ -1 +1 @@\n-old\n+new\n",
    "new through a link": "--- /dev/null\n+++ b/link/new\n@@ -0,0 +1 @@\n+new\n",
    "upwards": "--- a/../outside/file\n+++ b/../outside/file\n@@ -1 +1 @@\n-old\n+new\n",
    "through a link of its own": (
        "diff --git a/own b/own\nnew file mode 120000\n--- /dev/null\n+++ b/own\n@@ -0,0 +1 @@\n"
        "+../outside\n\\ No newline at end of file\n"
        "diff --git a/own/new b/own/new\nnew file mode 100644\n--- /dev/null\n+++ b/own/new\n"
        "@@ -0,0 +1 @@\n+new\n"
    ),
    "by ed": "--- a/main.c\n+++ b/main.c\n1a\nnew\n.\n!touch new\n",
}


@pytest.mark.parametrize("how", PATCHES)
def test_a_patch_changes_nothing_outside(
    tree: Tree, tmp_path: Path, cache_root: Path, how: str
) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "file").write_text("old\n")
    (tree.path / "link").symlink_to(outside)
    patch = tmp_path / "mine.patch"
    patch.write_text(PATCHES[how])
    with pytest.raises(UserError, match=r"mine\.patch (does not|holds no)|is no folder"):
        build(str(tree.path), patches=[str(patch)])
    assert [p.read_text() for p in outside.iterdir()] == ["old\n"]
    assert visible(cache_root) == []

"""Trees of somebody else's: copied without running or following anything in them."""

from __future__ import annotations

import os
import shlex
import subprocess
from pathlib import Path

import pytest

from rexmit.errors import UserError
from rexmit.kernels import newtree
from rexmit.kernels.build import build

from .conftest import Tree, visible


def _git(tree: Tree, *words: str, env: dict[str, str] | None = None) -> None:
    who = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    command = ["git", "-C", str(tree.path), *who, *words]
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **(env or {})})


@pytest.fixture
def repository(tree: Tree) -> Tree:
    """The tree with all its files in git."""
    _git(tree, "init", "--quiet")
    _git(tree, "add", ".")
    _git(tree, "commit", "--quiet", "-m", "All")
    return tree


@pytest.mark.parametrize("how", ["config", "include", "worktree-config", "environment"])
def test_nothing_that_a_repository_names_is_run(
    repository: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    ran = tmp_path / "ran"
    spy = tmp_path / "spy"
    spy.write_text(f"#!/bin/sh\ntouch {shlex.quote(str(ran))}\n")
    spy.chmod(0o755)
    names = ("core.fsmonitor", "core.sshCommand", "core.pager", "filter.spy.clean", "diff.external")
    if how == "config":
        for name in names:
            _git(repository, "config", name, str(spy))
    elif how == "include":
        (tmp_path / "included").write_text(f"[core]\n\tfsmonitor = {spy}\n")
        _git(repository, "config", "include.path", str(tmp_path / "included"))
    elif how == "worktree-config":
        _git(repository, "config", "extensions.worktreeConfig", "true")
        _git(repository, "config", "--worktree", "core.fsmonitor", str(spy))
    else:
        monkeypatch.setenv("GIT_CONFIG_COUNT", "1")
        monkeypatch.setenv("GIT_CONFIG_KEY_0", "core.fsmonitor")
        monkeypatch.setenv("GIT_CONFIG_VALUE_0", str(spy))
    for hook in ("post-index-change", "fsmonitor-watchman", "query-watchman"):
        (repository.path / ".git/hooks").mkdir(exist_ok=True)
        (repository.path / ".git/hooks" / hook).symlink_to(spy)
    repository.write(".gitattributes", "* filter=spy\n")
    build(str(repository.path))
    assert not ran.exists()


def test_a_repository_cannot_say_where_its_tree_is(repository: Tree, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "secret").write_text("secret\n")
    first, _ = build(str(repository.path))
    _git(repository, "config", "core.worktree", str(elsewhere))
    assert build(str(repository.path)) == (first, False)


def test_what_a_repository_and_the_user_ignore_is_no_source(
    repository: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first, _ = build(str(repository.path))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.setenv("GIT_CONFIG_GLOBAL", "/dev/null")
    (tmp_path / "config/git").mkdir(parents=True)
    (tmp_path / "config/git/ignore").write_text("*.mine\n")
    repository.write(".git/info/exclude", "*.ours\n")
    repository.write("a.mine", "")
    repository.write("a.ours", "")
    assert build(str(repository.path)) == (first, False)
    # A tracked file is source, whatever is ignored.
    _git(repository, "add", "--force", "a.mine")
    assert build(str(repository.path))[1]


def test_a_second_tree_of_a_repository(repository: Tree, tmp_path: Path) -> None:
    first, _ = build(str(repository.path))
    repository.write(".git/info/exclude", "*.ours\n")
    second = tmp_path / "second"
    _git(repository, "worktree", "add", "--quiet", str(second))
    (second / "a.ours").write_text("")
    assert build(str(second)) == (first, False)


@pytest.mark.parametrize("damage", [b"", b"DIRC", b"\xff" * 100])
def test_a_repository_that_git_cannot_read_is_a_plain_tree(repository: Tree, damage: bytes) -> None:
    (repository.path / ".git/index").write_bytes(damage)
    repository.write("kernel/1.o", "rubbish\n")
    repository.hook("test ! -e .git")
    build(str(repository.path))


def test_nothing_is_read_through_a_link(repository: Tree, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "secret").write_text("secret\n")
    os.utime(outside / "secret", (0, 0))
    repository.write("data/secret", "public\n")
    _git(repository, "add", ".")
    (repository.path / "data/secret").unlink()
    (repository.path / "data").rmdir()
    (repository.path / "data").symlink_to(outside)
    # The list of files still has data/secret; what there is now is a link.
    repository.hook("test -L data && test -z $(find . -type f -name secret)")
    build(str(repository.path))
    assert (outside / "secret").stat().st_mtime == 0, "written to through the link"


@pytest.mark.parametrize("with_git", [True, False])
def test_pipes_are_not_waited_for(tree: Tree, with_git: bool) -> None:
    if with_git:
        _git(tree, "init", "--quiet")
    os.mkfifo(tree.path / "pipe")
    tree.hook("test ! -e pipe")
    build(str(tree.path))


def test_names_in_no_encoding_are_names(tree: Tree) -> None:
    name = os.fsdecode(b"caf\xe9")
    (tree.path / name).write_text("")
    tree.hook("test -e caf*")
    build(str(tree.path))


def test_a_tree_without_end_is_refused(
    tree: Tree, cache_root: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tree.write("large", "x" * 100_000)
    monkeypatch.setattr(newtree, "MOST_BYTES", 50_000)
    with pytest.raises(UserError, match="more than"):
        build(str(tree.path))
    monkeypatch.setattr(newtree, "MOST_ENTRIES", 3)
    with pytest.raises(UserError, match="more than 3 files"):
        build(str(tree.path))
    assert visible(cache_root) == []

"""Fragments of configuration: part of the kernel, of its name and of what it goes by."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from rexmit import kernels
from rexmit.errors import UserError
from rexmit.kernels import recipe
from rexmit.kernels.build import build

from .conftest import Tree

OURS = Path(__file__).parents[2] / "kernel" / "configs"


@pytest.mark.usefixtures("cache_root")
def test_a_fragment_makes_another_kernel(tree: Tree, tmp_path: Path) -> None:
    mine = tmp_path / "mine.config"
    mine.write_text("CONFIG_GOOD=n\nCONFIG_MINE=y\n")
    plain, _ = build(str(tree.path))
    kernel, new = build(str(tree.path), configs=[str(mine)])
    assert new
    assert kernel.hash != plain.hash
    assert "-mine-" in kernel.name
    assert "CONFIG_MINE=y" in kernel.config.read_text()
    assert kernels.find("6.12+mine").name == kernel.name
    assert kernels.find("6.12").name == plain.name
    mine.write_text("CONFIG_MINE=m\n")
    assert build(str(tree.path), configs=[str(mine)])[1], "another content, another kernel"


@pytest.mark.usefixtures("cache_root")
def test_a_fragment_of_ours_goes_by_its_name(
    tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (recipe.DATA / "configs").mkdir()
    (recipe.DATA / "configs" / "ours.config").write_text("CONFIG_OURS=y\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError) as told:
        kernels.find("6.12+ours")
    assert "rexmit kernel build 6.12 --config ours" in str(told.value.hint)
    kernel, _ = build(str(tree.path), configs=["ours"])
    assert kernel.build_command.endswith("--config ours")
    assert kernel.current
    (recipe.DATA / "configs" / "ours.config").write_text("CONFIG_OURS=m\n")
    assert not kernel.current


@pytest.mark.usefixtures("cache_root")
def test_a_fragment_of_ours_may_come_with_a_patch(tree: Tree, tmp_path: Path) -> None:
    change = '--- a/main.c\n+++ b/main.c\n@@ -4 +4 @@\n-\tputs("6.12.9");\n+\tputs("ours");\n'
    for folder in (recipe.DATA / "configs", tmp_path):
        folder.mkdir(exist_ok=True)
        (folder / "ours.config").write_text("CONFIG_OURS=y\n")
        (folder / "ours.patch").write_text(change)
    tree.hook("grep -q ours main.c")
    kernel, _ = build(str(tree.path), configs=["ours"])
    assert kernel.patches == ("ours",)
    (recipe.DATA / "configs" / "ours.6.1.patch").write_text("of another series\n")
    tree.write("other.c", "another tree\n")
    kernel, _ = build(str(tree.path), configs=["ours"])
    assert kernel.current
    with pytest.raises(UserError):
        build(str(tree.path), configs=[str(tmp_path / "ours.config")])
    (recipe.DATA / "configs" / "ours.patch").write_text(change.replace('"ours"', '"others"'))
    assert not kernel.current


@pytest.mark.usefixtures("cache_root")
def test_an_option_that_the_tree_refuses_is_named(tree: Tree, tmp_path: Path) -> None:
    mine = tmp_path / "mine.config"
    mine.write_text("CONFIG_GOOD=y\nCONFIG_HZ=250\n")
    (tree.path / "refused").write_text("GOOD\n")
    with pytest.raises(UserError, match="refuses 1 of the options"):
        build(str(tree.path), configs=[str(mine)])
    with pytest.raises(UserError, match="no fragment of that name"):
        build(str(tree.path), configs=["no-such"])
    odd = tmp_path / "odd.txt"
    odd.touch()
    with pytest.raises(UserError, match=r"ends with \.config"):
        build(str(tree.path), configs=[str(odd)])


def test_our_fragments_are_options() -> None:
    found = sorted(OURS.glob(f"*{recipe.CONFIG}"))
    assert [path.stem for path in found] == ["debug", "llvm", "selftests"]
    for path in found:
        lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
        assert all(re.fullmatch(r"CONFIG_\w+=(y|[0-9]+)", line) for line in lines)

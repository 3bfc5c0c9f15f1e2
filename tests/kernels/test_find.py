"""Which kernel is meant, and what is listed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from click.testing import CliRunner

from rexmit import kernels
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.kernels import checksums, recipe
from rexmit.kernels.kernel import save

from .conftest import Tree


def _put(
    root: Path, version: str, hz: int = 250, source: str = "debian", **more: object
) -> kernels.Kernel:
    series = ".".join(version.split(".")[:2])
    key = f"{len(list(root.glob('*'))) if root.exists() else 0:02x}{'ab' * 15}"
    fields: dict[str, object] = {
        "name": f"{version}-hz{hz}-{key[:12]}",
        "version": version,
        "series": series,
        "hz": hz,
        "patches": (),
        "hash": key,
        "recipe": recipe.digest(hz, series),
        "source": f"{source} /somewhere",
        "compiler": "gcc",
        "built": "2026-01-01T00:00:00+00:00",
        "size": 9,
        "seconds": 1.0,
        "steps": 3,
        **more,
    }
    folder = root / str(fields["name"])
    folder.mkdir(parents=True)
    (folder / "linux").write_text("#!/bin/sh")
    (folder / "linux").chmod(0o755)
    kernel = kernels.Kernel(path=folder / "linux", **fields)  # type: ignore[arg-type]
    save(kernel, folder)
    (folder / "config").write_text("CONFIG_GOOD=y\n")
    checksums.write(folder)
    return kernel


def test_the_default_is_debians_6_12_at_250(cache_root: Path) -> None:
    _put(cache_root, "6.1.9")
    _put(cache_root, "6.12.9", hz=1000)
    _put(cache_root, "6.12.9", source="tree")
    _put(cache_root, "6.12.9", patches=("mine",))
    with pytest.raises(UserError, match=r"6\.12 is not built|6\.12 was built"):
        kernels.find(None)
    older = _put(cache_root, "6.12.8")
    assert kernels.find(None) == older == kernels.default()
    newer = _put(cache_root, "6.12.10", built="2026-02-01T00:00:00+00:00")
    assert kernels.find() == kernels.find("6.12") == newer


def test_a_series_is_not_the_beginning_of_another(cache_root: Path) -> None:
    twelve = _put(cache_root, "6.12.9")
    with pytest.raises(UserError, match=r"6\.1 is not built") as caught:
        kernels.find("6.1")
    assert "rexmit kernel build 6.1\n" in str(caught.value.hint)
    assert twelve.name in str(caught.value.hint)
    one = _put(cache_root, "6.1.9")
    assert kernels.find("6.1") == one


def test_what_cannot_be_built_is_not_offered(cache_root: Path) -> None:
    _put(cache_root, "6.12.9")
    with pytest.raises(UserError, match=r"5\.15, and rexmit builds none that is older") as caught:
        kernels.find("5.15")
    assert "rexmit kernel add FILE" in str(caught.value.hint)
    assert "rexmit kernel build" not in str(caught.value.hint)
    with pytest.raises(UserError, match=r"6\.13 is not built") as caught:
        kernels.find("6.13")
    assert "Build it from its source: rexmit kernel build FOLDER|TARBALL" in str(caught.value.hint)
    with pytest.raises(UserError, match=r"there is no kernel linux-6\.13") as caught:
        kernels.find("linux-6.13")
    assert "Did you mean 6.12?" in str(caught.value.hint)


def test_a_frequency_may_be_asked_for(cache_root: Path) -> None:
    _put(cache_root, "6.12.9")
    with pytest.raises(UserError) as caught:
        kernels.find("6.12@1000")
    assert "rexmit kernel build 6.12 --hz 1000\n" in str(caught.value.hint)
    fast = _put(cache_root, "6.12.9", hz=1000)
    assert kernels.find("6.12@1000") == fast


def test_the_only_kernel_of_another_frequency_is_named(cache_root: Path) -> None:
    _put(cache_root, "6.12.9", hz=1000, patches=("selftests",))
    with pytest.raises(UserError, match=r"6\.12\+selftests is not built") as caught:
        kernels.find("6.12+selftests")
    first = str(caught.value.hint).splitlines()[0]
    assert first == "Did you mean `kernel='6.12@1000+selftests'`?"
    _put(cache_root, "6.12.9", hz=100, patches=("selftests",))
    with pytest.raises(UserError, match="is not built") as caught:
        kernels.find("6.12+selftests")
    assert "Did you mean" not in str(caught.value.hint)


def test_a_patched_kernel_is_asked_for_by_its_patches(cache_root: Path) -> None:
    _put(cache_root, "6.12.9")
    mine = _put(cache_root, "6.12.9", patches=("mine",))
    both = _put(cache_root, "6.12.9", patches=("mine", "other"))
    fast = _put(cache_root, "6.12.9", hz=1000, patches=("mine",))
    assert kernels.find("6.12+mine") == mine
    assert kernels.find("6.12+mine+other") == both
    assert kernels.find("6.12@1000+mine") == fast
    for absent, command in {
        "6.1+mine": "rexmit kernel build 6.1 --patch mine\n",
        "6.12+other+mine": "rexmit kernel build 6.12 --patch other --patch mine\n",
        "6.12@1000+other": "rexmit kernel build 6.12 --hz 1000 --patch other\n",
    }.items():
        with pytest.raises(UserError, match="is not built") as caught:
            kernels.find(absent)
        assert command in str(caught.value.hint)


@pytest.mark.parametrize("word", ["reinject-on-tlp", "mptcp_reinject_on_tlp", ""])
def test_an_unknown_patch_is_named_with_the_nearest(
    cache_root: Path, data: Path, word: str
) -> None:
    (data / "patches/6.12/optional/mptcp-reinject-on-tlp.patch").write_text("")
    _put(cache_root, "6.12.9")
    with pytest.raises(UserError, match=f"there is no patch {word}") as caught:
        kernels.find(f"6.12+{word}")
    hint = str(caught.value.hint)
    assert "optional patches for 6.12: mptcp-reinject-on-tlp" in hint
    assert ("did you mean mptcp-reinject-on-tlp?" in hint) == bool(word)


def test_the_only_kernel_of_a_series_need_not_be_debians(cache_root: Path) -> None:
    mine = _put(cache_root, "6.13.0", source="tree", recipe=recipe.digest(250, "6.12"))
    assert kernels.find("6.13") == mine
    _put(cache_root, "6.13.1", source="tarball", recipe=recipe.digest(250, "6.12"))
    with pytest.raises(UserError, match="is ambiguous"):
        kernels.find("6.13")


def test_kernels_of_another_recipe_are_found_only_by_name(cache_root: Path) -> None:
    old = _put(cache_root, "6.12.9", recipe="another")
    with pytest.raises(UserError, match="was built with other options or patches"):
        kernels.find("6.12")
    assert kernels.find(old.name) == old


def test_names_and_hashes_by_their_beginning(cache_root: Path) -> None:
    one, two = _put(cache_root, "6.12.9"), _put(cache_root, "6.12.9", patches=("mine",), hz=100)
    assert kernels.find("6.12.9-hz1") == two
    assert kernels.find(one.hash[:8]) == one
    with pytest.raises(UserError, match="is ambiguous") as caught:
        kernels.find("6.12.9-hz")
    assert one.name in str(caught.value.hint)
    with pytest.raises(UserError, match="there is no kernel nonsense"):
        kernels.find("nonsense")


@pytest.mark.parametrize("damage", ["program", "size", "json", "format", "fields"])
def test_a_damaged_kernel_is_none(cache_root: Path, damage: str) -> None:
    kernel = _put(cache_root, "6.12.9")
    assert kernels.kernels() == [kernel]
    described = kernel.path.parent / "kernel.json"
    if damage == "program":
        kernel.path.unlink()
    elif damage == "size":
        kernel.path.write_text("cut")
    elif damage == "json":
        described.write_text(described.read_text()[:-9])
    elif damage == "format":
        described.write_text(described.read_text().replace('"format": 1', '"format": 2'))
    else:
        described.write_text('{"format": 1, "patches": []}')
    assert kernels.kernels() == []
    with pytest.raises(UserError):
        kernels.find(kernel.name)


def test_the_list_marks_the_default(cache_root: Path) -> None:
    runner = CliRunner()
    assert "No kernel is built" in runner.invoke(app, ["kernel", "list"]).output
    kernel = _put(cache_root, "6.12.9")
    other = _put(cache_root, "6.1.9", hz=1000, patches=("mine",))
    lines = runner.invoke(app, ["kernel", "list"]).output.splitlines()
    assert [line.split()[0] for line in lines[1:]] == [other.name, "*"]
    assert kernel.name in lines[2]
    assert {"1000", "mine"} <= set(lines[1].split())
    rows = json.loads(runner.invoke(app, ["kernel", "list", "--json"]).output)
    assert [(row["name"], row["default"]) for row in rows] == [
        (other.name, False),
        (kernel.name, True),
    ]
    assert rows[1]["path"] == str(kernel.path)


def test_building_prints_the_name_for_scripts(tree: Tree) -> None:
    runner = CliRunner()
    for _ in range(2):
        result = runner.invoke(app, ["kernel", "build", str(tree.path), "--hz", "100"])
        assert result.exit_code == 0
        assert result.stdout == f"{kernels.find('6.12@100').name}\n"
    assert "already built" in result.stderr

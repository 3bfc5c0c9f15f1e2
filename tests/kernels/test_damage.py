"""Kernels whose files are not those that were built: named, never booted, built again."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from rexmit import kernels
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.kernels.build import build

from .conftest import Tree

SUMS = "SHA256SUMS"


def _overwrite(path: Path) -> None:
    """Change some bytes in the middle, as a broken disk would: the size stays."""
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 0xFF
    path.write_bytes(content)


def _listed() -> dict[str, str]:
    """The last word of each kernel's line."""
    lines = CliRunner().invoke(app, ["kernel", "list"], env={"COLUMNS": "200"}).stdout.splitlines()
    return {next(w for w in line.split() if w[0].isdigit()): line.split()[-1] for line in lines[1:]}


def test_the_checksums_are_those_that_sha256sum_checks(tree: Tree) -> None:
    kernel, _ = build(str(tree.path))
    check = ["sha256sum", "--check", "--strict", "--quiet", SUMS]
    subprocess.run(check, cwd=kernel.folder, check=True)
    assert len((kernel.folder / SUMS).read_text().splitlines()) == 3


@pytest.mark.parametrize("file", ["linux", "config", "kernel.json"])
def test_a_changed_file_is_found_out_and_the_kernel_built_again(tree: Tree, file: str) -> None:
    kernel, _ = build(str(tree.path))
    if file == "kernel.json":
        text = (kernel.folder / file).read_text()
        (kernel.folder / file).write_text(text.replace('"steps": ', '"steps": 1'))
    else:
        _overwrite(kernel.folder / file)
    for spec in ("6.12", kernel.name):
        with pytest.raises(UserError, match=f"{kernel.name} is damaged: .*{file}") as caught:
            kernels.find(spec)
        assert f"rexmit kernel build {tree.path}\n" in str(caught.value.hint)
    assert _listed() == {kernel.name: "damaged"}
    again, new = build(str(tree.path))
    assert new
    assert kernels.find("6.12") == again
    assert again.name == kernel.name


def test_a_missing_file_is_named(tree: Tree) -> None:
    kernel, _ = build(str(tree.path))
    kernel.config.unlink()
    with pytest.raises(UserError, match="is damaged: config is missing"):
        kernels.find("6.12")


@pytest.mark.parametrize(
    "change",
    [
        {"series": "x.y"},
        {"series": "6"},
        {"series": "6.²"},
        {"series": 6.12},
        {"hz": "250"},
        {"hz": True},
        {"patches": "mine"},
        {"patches": [1]},
        {"version": None},
        {"built": []},
        {"steps": "many"},
        {"format": [1]},
        {"source": 1},
        {"unknown": 1},
    ],
    ids=str,
)
def test_a_description_that_is_none_is_damage(tree: Tree, change: dict[str, object]) -> None:
    kernel, _ = build(str(tree.path))
    described = kernel.folder / "kernel.json"
    described.write_text(json.dumps({**json.loads(described.read_text()), **change}))
    assert _listed() == {kernel.name: "damaged"}
    with pytest.raises(UserError):
        kernels.find("6.12")
    with pytest.raises(UserError):
        kernels.find(kernel.name)
    assert build(str(tree.path))[1]
    assert kernels.find("6.12").name == kernel.name


@pytest.mark.parametrize("text", ["", "[]", "[" * 100_000, '{"a":' * 100_000, "\x00", "9" * 5000])
def test_a_description_that_is_no_json_is_damage(tree: Tree, text: str) -> None:
    kernel, _ = build(str(tree.path))
    (kernel.folder / "kernel.json").write_text(text)
    assert _listed() == {kernel.name: "damaged"}
    rows = json.loads(CliRunner().invoke(app, ["kernel", "list", "--json"]).output)
    assert [(row["name"], row["fault"]) for row in rows] == [(kernel.name, "damaged")]


@pytest.mark.parametrize("spec", ["6.²", "6.12@²", "9" * 5000 + ".1", "6.12@" + "9" * 5000, "x.y"])
def test_odd_words_for_a_kernel_name_none(spec: str) -> None:
    with pytest.raises(UserError, match="there is no kernel"):
        kernels.find(spec)


def test_a_kernel_without_checksums_is_damaged_and_built_again(tree: Tree) -> None:
    kernel, _ = build(str(tree.path))
    (kernel.folder / SUMS).unlink()
    with pytest.raises(UserError, match="is damaged: SHA256SUMS is missing"):
        kernels.find("6.12")
    assert _listed() == {kernel.name: "damaged"}
    again, new = build(str(tree.path))
    assert new
    assert kernels.find("6.12") == again

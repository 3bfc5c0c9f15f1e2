"""The generated parts of the reference have all that the code has."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from pydantic import BaseModel
from tests.docs.documents import DOCS

import rexmit
import rexmit_site
from rexmit import additions, scenario
from rexmit.scenario.part import Part
from rexmit_site.scenario_keys import HEAD, scenario_keys, tables
from rexmit_site.stacks import stacks


def parts() -> list[type[BaseModel]]:
    """Every table that a scenario may have, whether anything leads to it or not."""
    found = list(Part.__subclasses__())
    for one in found:
        found += one.__subclasses__()
    own = scenario.__name__
    return [one for one in found if one.__module__.startswith(own) and one.__name__[0] != "_"]


def test_every_key_of_every_table_is_there() -> None:
    shown = [model for kinds in tables().values() for model in kinds]
    assert {model.__name__ for model in shown} == {model.__name__ for model in parts()}
    sections = re.split(r"^## ", scenario_keys(), flags=re.MULTILINE)[1:]
    for section, kinds in zip(sections, tables().values(), strict=False):
        keys = set(re.findall(r"^\| `(\w+)` \|", section, re.MULTILINE))
        assert keys == {key for model in kinds for key in model.model_fields}, section


def test_the_document_of_keys_is_current() -> None:
    document = (DOCS / "reference" / "scenario-keys.md").read_text(encoding="utf-8")
    assert document == f"{HEAD}\n{scenario_keys()}\n"


def test_every_key_says_what_may_be_written() -> None:
    for kinds in tables().values():
        for model in kinds:
            for key, field in model.model_fields.items():
                assert field.description, f"{model.__name__}.{key}"


def test_every_setting_of_every_stack_has_its_source() -> None:
    sections = re.split(r"^\([\w.-]+\)=$", stacks(), flags=re.MULTILINE)[1:]
    pages = rexmit.list_stacks()
    assert len(sections) == len(pages)
    for section, page in zip(sections, pages, strict=True):
        rows = re.findall(r"^\| `([\w.]+)` \| `[^`]*` \| \S", section, re.MULTILINE)
        assert rows == [setting.name for setting in page.settings]


def test_the_library_is_whole() -> None:
    told = re.findall(r"rexmit\.(\w+)$", rexmit_site.PARTS["library"](), re.MULTILINE)
    offered = [*rexmit.__all__, *additions.functions()]
    assert sorted(told) == sorted(offered)
    for name in offered:
        assert getattr(rexmit, name).__doc__, name


@pytest.mark.parametrize("part", rexmit_site.PARTS)
def test_each_part_stands_in_one_document(part: str) -> None:
    mark = f"<!-- generated: {part} -->"
    found = [one for one in DOCS.rglob("*.md") if mark in one.read_text(encoding="utf-8")]
    assert len(found) == 1
    text = rexmit_site.filled(found[0].read_text(encoding="utf-8"))
    assert mark not in text
    assert rexmit_site.PARTS[part]() in text


def test_every_document_is_in_a_table_of_contents() -> None:
    """Sphinx says so as well; of folders that are listed by a pattern it would not."""
    listed = set()
    for index in DOCS.rglob("*.md"):
        for block in re.findall(r"```\{toctree\}\n(.*?)```", index.read_text("utf-8"), re.DOTALL):
            for line in block.splitlines():
                if line and not line.startswith(":"):
                    listed |= {path.resolve() for path in index.parent.glob(f"{line}.*")}
                    listed |= {path.resolve() for path in index.parent.glob(line)}
    for document in (*DOCS.rglob("*.md"), *DOCS.rglob("*.ipynb")):
        if document != DOCS / "index.md":
            assert document in listed, document


def test_a_notebook_is_a_document() -> None:
    from rexmit_site.notebook import document

    text = document((DOCS / "library.ipynb").read_text(encoding="utf-8"))
    assert text.startswith("# rexmit from Python\n")
    assert "```python\nimport rexmit\n" in text
    assert "```text\n(60, 55)\n```" in text


def test_pictures_of_the_readme_are_kept_and_small() -> None:
    readme = (DOCS.parent / "README.md").read_text(encoding="utf-8")
    names = re.findall(r"!\[[^]]+\]\((docs/pictures/\S+)\)", readme)
    assert len(names) == 4
    for name in names:
        assert (DOCS.parent / name).stat().st_size < 250_000
    kept = (DOCS / "pictures" / ".gitignore").read_text(encoding="utf-8")
    assert {f"!{Path(name).name}" for name in names} <= set(kept.split())

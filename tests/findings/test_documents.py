"""What stands between the markers of docs/findings is what the result files have, and all of it."""

from __future__ import annotations

import difflib
import re
from pathlib import Path
from typing import Final

import pytest
from scripts.findings import documents, keep, results
from scripts.findings.documents import filled
from scripts.findings.registry import FINDINGS, sources

_IMAGE: Final = re.compile(r"\]\((figures/[^)]+)\)")


@pytest.mark.parametrize("path", documents.documents(), ids=lambda path: path.name)
def test_documents_say_what_the_results_have(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    new = filled(text, sources(), path.name)
    changes = difflib.unified_diff(
        text.splitlines(), new.splitlines(), "it is", "it should be", n=0
    )
    assert new == text, "run `make findings`:\n" + "\n".join(list(changes)[:40])


def test_all_that_was_measured_is_in_a_document() -> None:
    known = sources()
    for path in documents.documents():
        filled(path.read_text(encoding="utf-8"), known, path.name)
    assert {name: left for name, one in known.items() if (left := one.unused())} == {}


@pytest.mark.parametrize("name", FINDINGS)
def test_results_are_of_the_code_as_it_is(name: str) -> None:
    finding, result = FINDINGS[name], results.read(name)
    changed = keep.older(finding, result)
    assert not changed, (
        f"{results.path(name)} is older than {', '.join(changed)}: `make findings` confirms it by "
        f"a sample or says what differs; `{keep.command(finding)}` measures all of it"
    )
    assert keep.changed(result) == []


def test_all_is_measured_in_an_hour() -> None:
    """On a machine of its own: no more time goes by there than a processor works, or than went by
    beside others.
    """
    made = [results.read(name).made for name in FINDINGS]
    assert sum(one.cores_s or one.seconds for one in made) <= 3600


def test_each_figure_is_shown_and_each_file_is_of_a_result() -> None:
    kept = {name for finding in FINDINGS for name in results.read(finding).files}
    shown = {
        link
        for path in documents.documents()
        for link in _IMAGE.findall(path.read_text(encoding="utf-8"))
    }
    figures = {name for name in kept if name.startswith("figures/")}
    assert shown == figures
    there = {
        file.relative_to(documents.FOLDER).as_posix()
        for folder in ("figures", "results")
        for file in (documents.FOLDER / folder).iterdir()
    }
    assert there == kept | {f"results/{name}.json" for name in FINDINGS}
    assert max((documents.FOLDER / name).stat().st_size for name in figures) < 200_000

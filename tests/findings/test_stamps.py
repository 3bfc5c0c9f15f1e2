"""Which changes of code make a result stale: those that a number can hang on."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest
from scripts.findings import normal, stamps
from scripts.findings.registry import FINDINGS

RUST: Final = """
//! What it is.
use std::fmt; // as ever

/* a /* nested */ comment */
fn shape<'a>(text: &'a str) -> char {
    let quoted = "// no comment \\" /* nor this";
    let raw = r#"a " b // c"#;
    if text == quoted { '"' } else { '\\'' }
}

#[cfg(test)]
mod tests {
    #[test]
    fn one() { assert_eq!(shape("}"), 'x'); }
}

const LAST: u8 = b'}';
"""


def test_rust_without_comments_layout_and_tests() -> None:
    kept = " ".join(normal.rust(RUST))
    assert "What it is" not in kept
    assert "nested" not in kept
    assert "assert_eq" not in kept
    assert '"// no comment \\" /* nor this"' in kept
    assert 'r#"a " b // c"#' in kept
    assert kept.endswith("const LAST : u8 = b'}' ;")
    assert normal.rust(RUST.replace("    ", "\t").replace("// as ever", "")) == normal.rust(RUST)


@pytest.mark.parametrize(
    ("old", "new"),
    [("no comment", "a comment"), ("u8", "u16"), ("'\"'", "'x'"), ("&'a str", "&'b str")],
)
def test_rust_that_does_something_else_counts(old: str, new: str) -> None:
    assert RUST.replace(old, new, 1) != RUST
    assert normal.rust(RUST.replace(old, new, 1)) != normal.rust(RUST)


def test_only_the_item_below_the_mark_is_a_test() -> None:
    text = "#[cfg(test)]\npub use a::{b, c};\nfn d() {}\n#[cfg(test)]\nmod tests;\nfn e() {}\n"
    assert normal.rust(text) == ["fn", "d", "(", ")", "{", "}", "fn", "e", "(", ")", "{", "}"]


PYTHON: Final = '''"""What it is."""

LIMIT = 3  # of them
"""A word about it."""


def words(n: int) -> str:
    """Says it."""
    "joined".join("x")
    return f"{n:>{LIMIT}} # of {'them'!r}"
'''


def test_python_without_comments_and_documentation() -> None:
    kept = normal.python(PYTHON)
    assert "LIMIT" in kept
    assert not any(
        part in "".join(kept) for part in ("What it is", "word about", "Says", "of them")
    )
    assert '"joined"' in kept
    assert "f\"{n:>{LIMIT}} # of {'them'!r}\"" in kept
    assert normal.python(PYTHON.replace("  # of them", "").replace("Says it", "Tells")) == kept


@pytest.mark.parametrize(
    ("old", "new"),
    [("= 3", "= 4"), ("joined", "other"), ("# of {", "# in {"), ("    return", "return")],
)
def test_python_that_does_something_else_counts(old: str, new: str) -> None:
    assert normal.python(PYTHON.replace(old, new, 1)) != normal.python(PYTHON)


def test_what_does_not_parse_is_an_error() -> None:
    with pytest.raises(ValueError, match="no Python"):
        normal.python("f(\n")


def tree(root: Path) -> Path:
    for name, text in (("a.rs", "fn a() {}"), ("tests.rs", "fn t() {}"), ("b.toml", "x = 1")):
        (root / name).write_text(text)
    return root


def test_a_stamp_is_of_all_files_but_tests(tmp_path: Path) -> None:
    def now(*patterns: str) -> dict[str, str]:
        # A stamp is of one moment: what was read stays read.
        stamps._digest.cache_clear()
        return stamps.stamps(patterns, tree_root)

    tree_root = tree(tmp_path)
    first = now("*.rs", "*.toml")
    (tree_root / "tests.rs").write_text("fn other() {}")
    (tree_root / "b.toml").write_text("# why\nx   = 1")
    (tree_root / "a.rs").write_text("fn a() { } // nothing")
    assert now("*.rs", "*.toml") == first
    (tree_root / "b.toml").write_text("x = 2")
    second = now("*.rs", "*.toml")
    assert second["*.toml"] != first["*.toml"]
    assert second["*.rs"] == first["*.rs"]
    (tree_root / "c.rs").write_text("fn a() {}")
    assert now("*.rs")["*.rs"] != first["*.rs"]


def test_a_pattern_of_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="crates/gone"):
        stamps.stamps(["crates/gone/**/*.rs"], tmp_path)


def test_a_crate_comes_with_those_that_it_is_made_of(tmp_path: Path) -> None:
    for name, of in (
        ("a", 'rexmit-b.workspace = true\nserde = "1"'),
        ("b", "rexmit-c = {}\n[dev-dependencies]\nrexmit-d = {}"),
        ("c", ""),
        ("d", ""),
    ):
        (tmp_path / "crates" / name).mkdir(parents=True)
        text = f"[dependencies]\n{of}\n"
        (tmp_path / "crates" / name / "Cargo.toml").write_text(text, encoding="utf-8")
    assert stamps.crates("a", tmp_path) == tuple(f"crates/{one}/src/**/*.rs" for one in "abc")
    assert not any("/trace/" in one or "/guest/" in one for one in stamps.MODEL)
    assert "crates/schema/src/**/*.rs" in stamps.MODEL


def test_findings_hang_on_what_they_run() -> None:
    """Of each: the model's sender; of those with captures the analysis; of kernels the guest."""
    for name, finding in FINDINGS.items():
        files = {path.relative_to(stamps.ROOT).as_posix() for path in stamps.files(finding.code)}
        assert any(file.startswith("crates/tcp/src/sender") for file in files), name
        assert f"scripts/findings/{finding.measure.__module__.rpartition('.')[2]}.py" in files
        assert not any("/figures" in file or file.endswith("tests.rs") for file in files), name
        assert not any(file.endswith("_tables.py") for file in files), name

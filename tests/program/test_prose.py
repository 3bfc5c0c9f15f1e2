"""No sentence is one that a careless replacement of words has cut."""

from __future__ import annotations

import pytest
from tests.program.prose import everywhere, of_markdown, of_python, of_rust, types, wrong


def test_no_sentence_is_cut() -> None:
    names = types()
    paragraphs = list(everywhere())
    assert len(paragraphs) > 10_000
    assert len(names) > 100
    told = [
        f"{one.path}:{one.line}: {what}"
        for one in paragraphs
        for what in wrong(one.text, names if one.path.endswith(".rs") else frozenset())
    ]
    assert told == []


@pytest.mark.parametrize(
    "sentence",
    [
        "It reads reads the file.",
        "Gives the its packets.",
        "Each is an of the others.",
        "What it knows of the.",
        "Makes a emulated sender.",
        "Feeds an direction.",
        "Nothing was sent. a packet came.",
        "It was sent , and lost.",
        "Every packets is counted.",
        "Of these direction one is idle.",
        "SubflowDirection a handshake does not tell the order.",
    ],
)
def test_a_cut_sentence_is_told(sentence: str) -> None:
    assert len(wrong(sentence, frozenset({"SubflowDirection"}))) == 1


@pytest.mark.parametrize(
    "sentence",
    [
        "A `SubflowDirection` and the `the the` of a table.",
        'An RTT, an hour, a one-way delay, a user; it says "the the".',
        "As in `a. b`. nginx writes [the rest](a.md).",
        "The in-flight data of two packet sizes and three timer ticks.",
    ],
)
def test_a_whole_sentence_is_none_of_them(sentence: str) -> None:
    assert wrong(sentence, frozenset({"SubflowDirection"})) == []


def test_paragraphs_are_found() -> None:
    text = "# Head\n\nOne\ntwo.\n\n```sh\ncode\n```\n- Item\n  goes on.\n\n| a | b |\n"
    assert [(one.line, one.text) for one in of_markdown("x", text)] == [
        (1, "Head"),
        (3, "One two."),
        (9, "Item goes on."),
    ]
    rust = "//! One\n//! two.\nfn f() {} // no\n    // Three.\n"
    assert [(one.line, one.text) for one in of_rust("x", rust)] == [(1, "One two."), (4, "Three.")]
    python = '"""One\ntwo."""\nx = 1  # Three.\nhelp = "Four words of help."\n'
    assert [(one.line, one.text) for one in of_python("x", python)] == [
        (3, "Three."),
        (1, "One two."),
        (4, "Four words of help."),
    ]

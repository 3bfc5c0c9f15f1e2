"""What Python reads and others write: the kept seeds, and what is like them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.fuzz.edits import WORDS, replace_piece, replace_token
from tests.fuzz.targets import SEEDS, TARGETS

MOST_BYTES = 40_000
LONGEST = 10_000
"""As crates have it (fuzz/targets/tests/seeds.rs): what a repository can keep."""

FILES = {name: sorted((SEEDS / name).iterdir()) for name in TARGETS}


EVERY = [file for files in FILES.values() for file in files]


@pytest.mark.parametrize("file", EVERY, ids=lambda file: f"{file.parent.name}-{file.name}")
def test_every_kept_seed_passes(file: Path) -> None:
    data = file.read_bytes()
    assert len(data) <= LONGEST
    TARGETS[file.parent.name](data)


@pytest.mark.parametrize("name", TARGETS)
def test_there_are_seeds_and_not_too_many(name: str) -> None:
    assert 0 < sum(file.stat().st_size for file in FILES[name]) <= MOST_BYTES


def like(seeds: list[bytes]) -> st.SearchStrategy[bytes]:
    """Seeds with a few words or pieces replaced."""
    words = st.sampled_from(WORDS) | st.binary(max_size=4)
    places = st.integers(0, LONGEST)
    lengths = st.sampled_from([0, 1, 2, 10, 1000])
    token = st.tuples(st.just(replace_token), places, words)
    piece = st.tuples(st.just(replace_piece), places, lengths, words)

    def edited(seed: bytes, edits: list[tuple[Any, ...]]) -> bytes:
        for edit, *how in edits:
            seed = edit(seed, *how)
        return seed

    # Mostly words: one edit of a piece and the text is seldom TOML or JSON any more.
    edits = st.lists(st.one_of(token, token, token, piece), min_size=1, max_size=3)
    return st.builds(edited, st.sampled_from(seeds), edits)


@pytest.mark.parametrize("name", TARGETS)
def test_what_is_like_a_seed_passes(name: str) -> None:
    seeds = [file.read_bytes() for file in FILES[name]]

    # The same examples every time: to look for new ones is what `make fuzz` does.
    @settings(derandomize=True, database=None, max_examples=200)
    @given(like(seeds))
    def passes(data: bytes) -> None:
        TARGETS[name](data)

    passes()

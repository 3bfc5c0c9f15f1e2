"""Random streams are the Rust core's, value for value."""

from __future__ import annotations

import pytest

from rexmit import _core


def test_values_are_those_of_the_core() -> None:
    # The values that crates/time fixes for every version.
    assert _core.stream_u64(1, "boot", 0, 2) == [0xECED20EEEE45220B, 0xC27481CB6A5C6E6E]
    last = 2**64 - 1
    assert _core.stream_u64(last, "phase", 17, 2) == [0x5FCCAC6D8569B291, 0x0444_9055_8DF2_C4EF]
    assert _core.stream_uniform(last, "phase", 17, 3)[2] == 0.777657256751213


def test_a_longer_draw_continues_a_shorter_one() -> None:
    assert _core.stream_uniform(7, "x", 3, 100)[:10] == _core.stream_uniform(7, "x", 3, 10)
    assert _core.stream_uniform(7, "x", 3, 0) == []
    assert _core.stream_uniform(7, "x", 4, 5) != _core.stream_uniform(7, "x", 3, 5)


@pytest.mark.parametrize("seed", [-1, 2**64])
def test_seeds_out_of_range_are_refused(seed: int) -> None:
    with pytest.raises(OverflowError):
        _core.stream_u64(seed, "x", 0, 1)

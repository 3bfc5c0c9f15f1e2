"""Which names of a store fit a pattern."""

from __future__ import annotations

import itertools

import pytest

from rexmit.sources.find import fits


@pytest.mark.parametrize(
    ("pattern", "name", "fitting"),
    [
        ("a/*.pcap", "a/1.pcap", True),
        ("a/*.pcap", "a/b/1.pcap", False),
        ("**/*.pcap", "1.pcap", True),
        ("**/*.pcap", "a/b/1.pcap", True),
        ("a/**", "a", True),
        ("a/**/**/z", "a/z", True),
        ("a/**/z", "a/b", False),
        ("a/**/m/**/z", "a/m/m/n/z", True),
        ("a/**/m/**/z", "a/n/n/z", False),
    ],
)
def test_two_stars_stand_for_any_number_of_parts(pattern: str, name: str, fitting: bool) -> None:
    assert fits(name.split("/"), pattern.split("/")) is fitting


def test_every_short_pattern_fits_as_counting_the_ways_does() -> None:
    def ways(names: tuple[str, ...], parts: tuple[str, ...]) -> int:
        if not parts:
            return not names
        if parts[0] == "**":
            return sum(ways(names[some:], parts[1:]) for some in range(len(names) + 1))
        return ways(names[1:], parts[1:]) if names and parts[0] in {"*", names[0]} else 0

    for length, places in itertools.product(range(4), range(5)):
        for names in itertools.product("ab", repeat=length):
            for parts in itertools.product(("a", "*", "**"), repeat=places):
                assert fits(names, parts) == bool(ways(names, parts)), (names, parts)


def test_a_deep_name_costs_its_length_times_the_patterns() -> None:
    """One that tries each way of sharing a name out among eight `**` does not come to an end."""
    assert not fits(["a"] * 500, ["**", "a"] * 8 + ["z"])
    assert fits(["a"] * 500, ["**", "a"] * 8)

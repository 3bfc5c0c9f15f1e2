"""Colouring rules, as Wireshark takes them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.wireshark.conftest import Program
from tests.wireshark.tshark import comments, fields, needs_tshark, run

import rexmit
from rexmit import _core
from rexmit.tracing import terms
from rexmit.tracing.annotate.colours import filters


def test_there_is_a_rule_for_every_mechanism(program: Program) -> None:
    assert set(terms.COLOURS) == set(_core.mechanisms())
    done = program("--colorfilters")
    assert done.returncode == 0
    assert done.stdout.decode() == rexmit.colorfilters()
    for mechanism in _core.mechanisms():
        assert f"@rexmit {mechanism}@" in rexmit.colorfilters()


@needs_tshark
@pytest.mark.parametrize("number", range(len(filters())))
def test_each_filter_compiles(number: int, capture: Path) -> None:
    run("-r", str(capture), "-c", "1", "-Y", filters()[number])


@needs_tshark
def test_packets_get_the_colours_of_their_mechanism(capture: Path, tmp_path: Path) -> None:
    out, home = tmp_path / "out.pcapng", tmp_path / "home"
    rexmit.annotate(rexmit.trace(capture, whatif=()), out)
    home.mkdir()
    (home / "colorfilters").write_text(rexmit.colorfilters())
    numbers = ("frame.number", "frame.coloring_rule.name")
    lines = run("-r", str(out), "--color", home=home).splitlines()
    assert len(lines) == len(fields(out, ("frame.number",)))
    backgrounds = [re.search(r"\x1b\[48;2;(\d+);(\d+);(\d+)m", line) for line in lines]
    coloured = {
        n + 1: tuple(map(int, found.groups())) for n, found in enumerate(backgrounds) if found
    }
    said = comments(out)
    assert coloured.keys() == said.keys(), numbers
    seen = set()
    for number, text in said.items():
        found = re.search(r"rexmit trace: ([a-z-]+), (needed|spurious|need unclear); ", text)
        if found is None:
            continue
        colour = int(terms.COLOURS[found[1]][1:], 16)
        whole = (colour >> 16, colour >> 8 & 255, colour & 255)
        seen.add(found[1])
        assert (coloured[number] == whole) == (found[2] != "spurious"), text
    assert len(seen) > 3

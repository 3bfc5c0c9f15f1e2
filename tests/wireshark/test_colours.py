"""Colouring rules, as Wireshark takes them."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from tests.wireshark.conftest import Program
from tests.wireshark.tshark import comments, needs_tshark, on_terminal, run

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
    out = tmp_path / "out.pcapng"
    rexmit.annotate(rexmit.trace(capture, whatif=()), out)
    (tmp_path / "wireshark").mkdir()
    (tmp_path / "wireshark" / "colorfilters").write_text(rexmit.colorfilters())
    lines = on_terminal("-r", str(out), "--color", configuration=tmp_path)
    coloured = {}
    for line in lines:
        place = re.match(r"(?:\x1b\[[\d;]*m)*\s*(\d+) ", line)
        background = re.search(r"\x1b\[48;2;(\d+);(\d+);(\d+)m", line)
        if place and background:
            coloured[int(place[1])] = tuple(map(int, background.groups()))
    said = comments(out)
    assert coloured.keys() == said.keys()
    seen = set()
    for number, text in said.items():
        found = re.search(r"rexmit trace: ([a-z-]+), (needed|spurious|need not known); ", text)
        if found is None:
            continue
        colour = int(terms.COLOURS[found[1]][1:], 16)
        whole = (colour >> 16, colour >> 8 & 255, colour & 255)
        seen.add(found[1])
        assert (coloured[number] == whole) == (found[2] != "spurious"), text
    assert len(seen) > 3

"""Figures of a page: the colours of the drawn ones, and those of UNC 2007."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from tests.study.test_study import random_trace
from tests.webpage.conftest import Open

import rexmit
from rexmit.present.figures.style import looks
from rexmit.webpage import looks as of_pages
from rexmit.webpage.figures import figures
from rexmit.webpage.scripts import styles
from rexmit_papers.unc_2007.distributions import LEAST

_INK = """(figure) => {
  const plot = figure.querySelector('.plot canvas');
  const data = plot.getContext('2d').getImageData(0, 0, plot.width, plot.height).data;
  const found = {};
  for (let i = 0; i < data.length; i += 4)
    if (data[i + 3] === 255) {
      const name = `${data[i]},${data[i + 1]},${data[i + 2]}`;
      found[name] = (found[name] || 0) + 1;
    }
  return found;
}"""
"""Pixels of a figure's canvas by their colour."""


def palette(page: Page, place: int) -> str:
    """A colour of the page's palette as a canvas has it."""
    value = page.evaluate(
        f"getComputedStyle(document.documentElement).getPropertyValue('--line{place}').trim()"
    )
    return ",".join(str(int(value[at : at + 2], 16)) for at in (1, 3, 5))


@pytest.fixture(scope="module")
def studied(tmp_path_factory: pytest.TempPathFactory) -> rexmit.Trace:
    """A trace that was replayed under the study's settings, with two connections of no system."""
    return rexmit.trace(random_trace(tmp_path_factory.mktemp("studied") / "trace", 160, rfc=2))


def test_a_configuration_looks_as_it_is_drawn(new: rexmit.Run) -> None:
    drawn = looks(("er", "tlp"))
    for figure in figures(new):
        for line in figure.lines:
            assert line.colour == of_pages.place(drawn[line.name].colour)
            assert line.shape == of_pages.shape(drawn[line.name].marker)


def test_every_look_has_a_colour_and_a_shape_on_pages() -> None:
    names = (*(f"x{place}" for place in range(60)), "plain", "er", "tlp", "tcp-rto", "tcp-tlp")
    made = of_pages.of_configs((*names, "mptcp-rto", "mptcp-tlp", "mptcp-new"))
    for colour, shape in made.values():
        assert len(re.findall(rf"--line{colour}: #", styles())) == 4, "light, dark twice, print"
        assert shape


def test_figures_of_the_study_stand_on_the_page(
    studied: rexmit.Trace, tmp_path: Path, show: Open
) -> None:
    page = show(
        rexmit.report(rexmit.study([studied]), tmp_path / "study.html").path, "view=figures"
    )
    heads = page.locator("section.figure h2")
    expect(heads.first).to_have_text("Figure 1 of UNC 2007: Bytes transmitted in each connection")
    numbers = {re.sub(r"Figure (\d).*", r"\1", text) for text in heads.all_inner_texts()}
    assert numbers == set("1234567")
    third = page.locator("section.figure", has_text="Figure 3 of UNC 2007")
    expect(third).to_contain_text(f"not drawn, fewer than {LEAST} connections: RFC (2)")
    linux = rexmit.study([studied]).study.explained.filter(system="Linux").height
    expect(third.locator(".legend")).to_contain_text(f"Linux (n = {linux})")
    third.locator("summary").click()
    median = third.locator("tr", has=page.locator("th", has_text=re.compile("^50 %$")))
    assert re.fullmatch(r"50 %(\t[\d.]+){4}", median.inner_text())
    # Each of its lines is drawn, in the colour of its system.
    page.wait_for_timeout(300)
    ink = third.evaluate(_INK)
    for colour in ("#0072B2", "#D55E00", "#009E73", "#CC79A7"):
        assert ink.get(palette(page, of_pages.place(colour)), 0) > 100, colour


def test_the_slope_of_1_is_straight_on_the_page(
    studied: rexmit.Trace, tmp_path: Path, show: Open
) -> None:
    page = show(
        rexmit.report(rexmit.study([studied]), tmp_path / "study.html").path, "view=figures"
    )
    figure = page.locator("section.figure", has_text="Figure 4 of UNC 2007 a): Linux")
    page.wait_for_timeout(300)
    # The leftmost dark grey of rows that hold the reference line alone.
    places = figure.evaluate(
        """(figure, grey) => {
          const canvas = figure.querySelector('.plot canvas');
          const wide = canvas.width;
          const data = canvas.getContext('2d').getImageData(0, 0, wide, canvas.height).data;
          const found = [];
          for (let y = 0; y < canvas.height; y++) {
            const xs = [];
            for (let x = 0; x < wide; x++) {
              const [r, g, b, opaque] = data.slice(4 * (y * wide + x), 4 * (y * wide + x) + 4);
              if (`${r},${g},${b}` === grey && opaque === 255) xs.push(x);
            }
            if (xs.length) found.push([(xs[0] + xs[xs.length - 1]) / 2, y]);
          }
          return found;
        }""",
        palette(page, of_pages.place("#888888")),
    )
    assert len(places) > 60
    (x0, y0), (x1, y1) = places[0], places[-1]
    length = ((x1 - x0) ** 2 + (y1 - y0) ** 2) ** 0.5
    off = [abs((x - x0) * (y1 - y0) - (y - y0) * (x1 - x0)) / length for x, y in places]
    assert max(off) < 4


def test_one_connection_has_no_figures(capture: Path, tmp_path: Path, show: Open) -> None:
    study = rexmit.study([rexmit.trace(capture)])
    page = show(rexmit.report(study, tmp_path / "one.html").path)
    assert page.get_by_role("link", name="Figures").count() == 0


def test_the_page_of_a_trace_has_no_figures_of_a_paper(traced: Path, show: Open) -> None:
    assert show(traced).get_by_role("link", name="Figures").count() == 0

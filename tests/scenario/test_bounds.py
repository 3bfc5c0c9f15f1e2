"""Scenarios, settings and choices that are too large or too deep: a clear line, and soon."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from rexmit.campaign.grid import cells
from rexmit.comparison.pairs import selection
from rexmit.errors import UserError
from rexmit.scenario import find, load


def refused(*settings: str) -> str:
    with pytest.raises(UserError) as caught:
        load(find("smoke"), settings)
    return caught.value.text()


@pytest.mark.parametrize(
    ("setting", "said"),
    [
        ("loss.segments=0..1000000000", "1000000000 is more than 100,000"),
        (f"loss.segments=0..{'9' * 5000}", "is no whole number and no range"),
        ("loss.segments=0..100000,0..100000", "some numbers are there more than once"),
        (f"loss.segments={'1' * 5000}", "is no whole number"),
        (f"a{'.a' * 50_000}=1", "a key of 50,001 parts"),
        (f"workload.receive_window={'[' * 500}1{']' * 500}", "the value is no TOML"),
        (f"workload.receive_window={'[' * 40}1{']' * 40}", "lie too deep in one another"),
        (f"networks.high-speed.links.{'1' * 5000}.rate=1bit", "does not fit"),
        (f"seed=[{'1' * 5000}]", "the value is no TOML"),
    ],
)
def test_settings(setting: str, said: str) -> None:
    assert said in refused(setting)


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (["mobile.outages=3s"], '"3s" is no time from one to another'),
        (["mobile.outages=4s..3s"], "does not run forwards"),
        (["mobile.outages=1s..3s,2s..4s"], "each must begin after the one before it has ended"),
        (["mobile.outages=1..3s"], '"1" has no unit'),
        (["mobile.reorder=101%"], "is not between 0% and 100%"),
        (["mobile.reorder=1%", "mobile.at=host"], 'acts on the wire\n  write at = "wire"'),
        (["mobile.up.rate=1Mbit", "mobile.at=host"], "mobile.up: acts on the wire"),
        (["mobile.up.rat=1Mbit"], "did you mean rate?"),
        (["mobile.up.up.rate=1Mbit"], "unknown key"),
        (["mobile.policer.rate=1Mbit"], "policer.burst: missing"),
        (["mobile.stalls.every=1s", "mobile.stalls.least=2s", "mobile.stalls.most=1s"], "1ns"),
        (
            ["mobile.loss_bursts.to_bad=1%", "mobile.loss_bursts.to_good=9%", "mobile.loss=1%"],
            "there is random loss as well",
        ),
    ],
)
def test_links_that_make_no_sense(settings: list[str], said: str) -> None:
    changes = ["networks.mobile.rate=1Mbit", "networks.mobile.delay=9ms", "network=mobile"]
    assert said in refused(*changes, *(f"networks.{setting}" for setting in settings))


def test_a_grid_that_is_too_large() -> None:
    said = refused("workload.segments=1000..10999", "loss.segments=0..1000")
    assert "the grid has 40,040,000 cells" in said


def test_a_grid_that_is_too_large_under_its_seeds() -> None:
    said = refused("workload.segments=1000..1099", "loss.segments=0", "seeds=1..10000")
    assert "the grid has 400 cells, each under 10,000 seeds" in said


def test_a_long_range_takes_as_long_as_it_is() -> None:
    began_s = time.process_time()
    scenario = load(find("smoke"), ["workload.segments=1000..30999", "loss.segments=0"])
    grid = cells(scenario)
    assert len(grid) == 120_000
    assert grid[-1].label.endswith(" page=30999 0")
    assert time.process_time() - began_s < 20


@pytest.mark.parametrize(
    "text",
    [
        f"a{'.a' * 50_000} = 1",
        f"[{'a.' * 50_000}a]",
        '"a" . ' * 50_000 + "a = 1",
        f"a = {'[' * 50_000}",
        f"a = {'[' * 200}{']' * 200}",
        f"a = {'{a=' * 100}1{'}' * 100}",
    ],
)
def test_files_that_are_nested_too_deep(tmp_path: Path, text: str) -> None:
    file = tmp_path / "deep.toml"
    file.write_text(text)
    with pytest.raises(UserError, match="lie too deep in one another"):
        load(file)


def test_a_file_with_a_number_of_thousands_of_digits(tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    file.write_text(f"format = {'1' * 6000}")
    with pytest.raises(UserError, match="digits"):
        load(file)


@pytest.mark.parametrize("number", [f"0x{'f' * 6000}", str(2**64), str(-(2**64))])
def test_numbers_of_more_than_64_bits(tmp_path: Path, number: str) -> None:
    file = tmp_path / "long.toml"
    file.write_text(find("smoke").read_text() + f"\n[stack]\nmin_rto = {number}\n")
    with pytest.raises(UserError, match="a number has too many digits"):
        load(file)


def test_a_file_that_is_too_long(tmp_path: Path) -> None:
    file = tmp_path / "long.toml"
    file.write_text("#" * 1_000_001)
    with pytest.raises(UserError, match="has more than 1,000,000 bytes"):
        load(file)


@pytest.mark.parametrize("each", ["[t{}]\n", "[configs.er.stack]\nk{} = '1'\n"])
def test_of_very_many_errors_some_are_told(tmp_path: Path, each: str) -> None:
    file = tmp_path / "wrong.toml"
    head, line = each.split("\n", 1) if "stack" in each else ("", each)
    lines = "\n".join(line.format(number) for number in range(20_000))
    text = find("smoke").read_text().replace("[configs.er]", f"{head}\n{lines}\n[configs.er]")
    file.write_text(text)
    began_s = time.process_time()
    with pytest.raises(UserError, match="more than 20 errors") as caught:
        load(file)
    assert len(caught.value.text()) < 100_000
    assert time.process_time() - began_s < 20


@pytest.mark.parametrize(
    "text", ["lost=1..100000000", f"lost={'9' * 5000}", "lost=5..1", "lost=0..100001", "lost=a"]
)
def test_cells_that_no_run_has(text: str) -> None:
    with pytest.raises(UserError, match="`cells` lost=") as caught:
        selection([text], [])
    assert caught.value.usage


def test_cells_that_a_run_may_have() -> None:
    assert selection(["lost=1..3,2,100000"], []).only["lost_segments"] == {"1", "2", "3", "100000"}

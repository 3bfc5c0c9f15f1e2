"""Congestion controls that an engine does not have are refused before anything runs."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import pytest
from tests.campaign.conftest import SCENARIO, Lab

from rexmit._core import run_model
from rexmit.campaign.suited import suited
from rexmit.engines.kernel import KernelEngine
from rexmit.engines.model import ModelEngine
from rexmit.errors import UserError
from rexmit.library.run import Campaign, prepare
from rexmit.progress import heard
from rexmit.scenario.stacks import of_scenario


def refused(path: Path, text: str) -> UserError:
    """What a scenario of this text is refused with."""
    path.write_text(text, encoding="utf-8")
    with pytest.raises(UserError) as caught:
        prepare(path, Campaign(engine="model"), heard(None, "transfers"), path.parent / "o")
    assert not (path.parent / "o").exists()
    return caught.value


@pytest.mark.parametrize(
    ("name", "said", "remedy"),
    [
        ("cubik", "linux-6.12: cubik: must be one of reno, cubic", "did you mean cubic?"),
        ("hybla", "linux-6.12: hybla: must be one of reno, cubic", "engine='kernel'"),
        (
            "lia",
            "lia is of multipath-tcp.org's kernels",
            "it has: cubic, reno, bbr, dctcp; or run it with",
        ),
    ],
)
def test_the_model(tmp_path: Path, name: str, said: str, remedy: str) -> None:
    file, lines = tmp_path / "mine.toml", SCENARIO.count("\n")
    error = refused(file, f'{SCENARIO}[tcp]\ncongestion_control = ["reno", "{name}"]\n')
    assert error.what.startswith(f"{file}:{lines + 2}: tcp.congestion_control: ")
    assert said in error.what
    assert remedy in str(error.hint)
    error = refused(file, f'{SCENARIO}[[vary]]\ncongestion_control = "{name}"\n')
    assert error.what.startswith(f"{file}:{lines + 2}: vary.0.congestion_control: ")


def test_a_setting_of_a_stack_is_refused_where_it_stands(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    text = SCENARIO.replace('"net.ipv4.tcp_fack" = 1', '"net.ipv4.tcp_sak" = 1')
    line = text[: text.index("tcp_sak")].count("\n") + 1
    error = refused(file, text)
    assert error.what.startswith(f"{file}:{line}: configuration er: linux-6.12: ")
    assert "did you mean net.ipv4.tcp_sack?" in error.what


def test_a_kernel(lab: Lab, tmp_path: Path) -> None:
    config = tmp_path / "config"
    kernel = dataclasses.replace(lab.kernel, config=config)
    engine = KernelEngine(kernel, Path(), "g", {})
    scenario = lab.scenario("tcp.congestion_control=reno,cubik")
    # Where nobody knows, the kernel will say.
    assert suited(scenario, engine) == (scenario, [])
    config.write_text(
        "CONFIG_TCP_CONG_ADVANCED=y\nCONFIG_TCP_CONG_CUBIC=y\nCONFIG_TCP_CONG_HSTCP=y\n"
    )
    with pytest.raises(UserError, match=r"scenario: tcp\.congestion_control: .* cubik") as caught:
        suited(scenario, engine)
    assert caught.value.usage
    assert caught.value.hint == "did you mean cubic? it has: cubic, highspeed, reno"
    there = lab.scenario("tcp.congestion_control=reno,cubic,highspeed")
    assert suited(there, engine) == (there, [])
    # What a control of one's own is called stands in its source.
    config.write_text("CONFIG_TCP_CONG_CUBIC=y\nCONFIG_TCP_CONG_OWN=y\n")
    assert suited(scenario, engine) == (scenario, [])


def test_a_stack_has_what_its_line_has(lab: Lab) -> None:
    scenario = lab.scenario("tcp.congestion_control=lia,reno")
    stacks = of_scenario(scenario, "linux-4.1", None)
    engine = ModelEngine(run_model, "1", "h", stacks, ())
    assert suited(scenario, engine) == (scenario, [])

"""Scripts that `rexmit show --packetdrill` makes of runs, and ours in `packet-scripts`, by
packetdrill itself, where it is on PATH, on the kernel that they are about."""

from __future__ import annotations

import re
import shutil
from pathlib import Path

import pytest
from tests.lab.conftest import Lab

SCRIPTS = Path(__file__).parents[2] / "packet-scripts"

SCENARIO = """
format = 1
seed = 5
networks.near = { rate = "100Mbit", delay = "2.5ms" }
configs.tlp = {}
workload.segments = 40
loss.rule = "pattern"
loss.pattern = ["data -3..-1", "data 12 20..22", "ack 5..12; data 30", "data 25#1..2", "none"]
"""
"""Its tail, its middle, its acknowledgements, a retransmission; and nothing."""


def drill(lab: Lab, paths: Path) -> None:
    """Every script passes; without packetdrill, that the command says so."""
    done = lab.rexmit("packetdrill", str(paths), "--kernel", lab.kernel, "--family", "ipv4")
    if shutil.which("packetdrill") is None:
        assert done.status == 125
        assert "packetdrill is not on PATH" in done.err
        pytest.skip("packetdrill is not on PATH")
    done.ok()
    count = len(list(paths.glob("*.pkt")))
    assert len([line for line in done.lines if line.startswith("ok ")]) == count


def test_what_a_run_shows_passes_on_its_kernel(each: Lab, tmp_path: Path) -> None:
    scenario, run = tmp_path / "scenario.toml", tmp_path / "run"
    scenario.write_text(SCENARIO)
    words = ("--kernel", each.kernel, "--capture", "--out", str(run))
    each.rexmit("run", str(scenario), *words).ok()
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    for flow in range(5):
        done = each.rexmit("show", str(run), "--flow", str(flow), "--packetdrill").ok()
        (scripts / f"{flow}.pkt").write_bytes(done.out)
    assert "// Retransmission: tlp, needed." in (scripts / "0.pkt").read_text()
    assert "// Lost on its way to the sender: the ACK of " in (scripts / "2.pkt").read_text()
    drill(each, scripts)


def test_a_kernel_with_another_setting_fails_it(lab: Lab, tmp_path: Path) -> None:
    scenario, run = tmp_path / "scenario.toml", tmp_path / "run"
    scenario.write_text(SCENARIO)
    words = ("--kernel", lab.kernel, "--capture", "--out", str(run))
    lab.rexmit("run", str(scenario), *words, "--set", "loss.pattern=data -3..-1").ok()
    text = lab.rexmit("show", str(run), "--flow", "0", "--packetdrill").ok().text
    script = tmp_path / "case.pkt"
    script.write_text(text.replace("`", "`echo 0 > /proc/sys/net/ipv4/tcp_early_retrans\n ", 1))
    if shutil.which("packetdrill") is None:
        pytest.skip("packetdrill is not on PATH")
    done = lab.rexmit("packetdrill", str(script), "--kernel", lab.kernel, "--family", "ipv4")
    assert done.status == 1, "without the probe another packet comes, and later"


def test_the_shortest_shows_the_same_recovery(each: Lab, tmp_path: Path) -> None:
    scenario, run = tmp_path / "scenario.toml", tmp_path / "run"
    scenario.write_text(SCENARIO)
    words = ("--kernel", each.kernel, "--capture", "--out", str(run))
    each.rexmit("run", str(scenario), *words, "--set", "loss.pattern=data -3..-1").ok()
    whole = each.rexmit("show", str(run), "--flow", "0", "--packetdrill").ok().text
    done = each.rexmit("show", str(run), "--flow", "0", "--packetdrill", "--shortest")
    if shutil.which("packetdrill") is None:
        assert "packetdrill is not on PATH" in done.err
        pytest.skip("packetdrill is not on PATH")
    text = done.ok().text
    (tmp_path / "case.pkt").write_text(text)
    drill(each, tmp_path)
    again = re.compile("^// Retransmission: .*$", re.MULTILINE)
    assert again.findall(text) == again.findall(whole)
    assert len(text.splitlines()) < len(whole.splitlines()) / 2


def test_ours_pass(each: Lab) -> None:
    drill(each, SCRIPTS)


@pytest.mark.parametrize("script", sorted(SCRIPTS.glob("*.pkt")), ids=lambda path: path.stem)
def test_each_says_whose_rule_it_holds(script: Path) -> None:
    comment = "".join(line for line in script.read_text().splitlines() if line.startswith("//"))
    assert re.search(r"RFC [0-9]{4}", comment)
    assert re.search(r"\b(tcp|inet_csk)_[a-z_]+|CA_Disorder", comment)

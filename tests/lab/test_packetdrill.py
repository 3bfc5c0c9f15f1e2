"""`rexmit packetdrill` on real kernels: packetdrill itself where it is on PATH, and everywhere a
stand-in of ours, which does to clock, TUN and namespace what packetdrill does."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from xml.etree import ElementTree

import pytest
from tests.lab.conftest import Done, Lab

STANDIN = Path(__file__).with_name("packetdrill_standin.py")

GOOD = """\
// A SYN-ACK, and again when nobody answered for a second.
0.000 < S
0.000 > S.
1.024 > S.
"""
WORSE = GOOD.replace("1.024", "2.500")
REAL = """\
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 setsockopt(3, SOL_SOCKET, SO_REUSEADDR, [1], 4) = 0
+0 bind(3, ..., ...) = 0
+0 listen(3, 1) = 0
+0 < S 0:0(0) win 32792 <mss 1000,sackOK,nop,nop,nop,wscale 7>
+0 > S. 0:0(0) ack 1 <...>
+.1 < . 1:1(0) ack 1 win 257
+0 accept(3, ..., ...) = 4
"""


@pytest.fixture
def scripts(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of scripts."""
    folder = tmp_path_factory.mktemp("scripts")
    for number in range(3):
        (folder / f"good{number}.pkt").write_text(GOOD)
    return folder


def drill(lab: Lab, *words: str) -> Done:
    """With the stand-in, IPv4."""
    tool = ("--packetdrill", str(STANDIN), "--family", "ipv4")
    return lab.rexmit("packetdrill", *words, "--kernel", lab.kernel, *tool)


def packets(done: Done) -> list[list[str]]:
    return [one["packets"] for one in json.loads(done.text)["results"]]


def test_scripts_pass_and_repeat_wherever_they_stand(each: Lab, scripts: Path) -> None:
    done = drill(each, str(scripts), "--repeat", "2", "--jobs", "2", "--json").ok()
    found = json.loads(done.text)
    assert [one["verdict"] for one in found["results"]] == ["good"] * 3
    assert [one["packet_logs"] for one in found["results"]] == [1] * 3, "twice the same"
    first, *others = packets(done)
    assert len(first) == 3
    assert others == [first, first], "of the same text the same packets, first or last"
    alone = drill(each, str(scripts / "good2.pkt"), "--json").ok()
    assert packets(alone) == [first]


def test_a_script_that_fails_is_shown_beside_the_kernel(lab: Lab, scripts: Path) -> None:
    (scripts / "late.pkt").write_text(WORSE)
    report = scripts / "report.xml"
    done = drill(lab, str(scripts), "--junit", str(report))
    assert done.status == 1
    assert done.lines[:2] == ["KTAP version 1", "1..4"]
    assert [line for line in done.lines if "ok " in line[:7]] == [
        *(f"ok {n + 1} {scripts}/good{n}.pkt ipv4" for n in range(3)),
        f"not ok 4 {scripts}/late.pkt ipv4",
    ]
    told = [line for line in done.lines if line.startswith("# ")]
    assert "late.pkt:4: timing error" in told[0]
    assert "2.500 > S." in told[-1]
    assert "(timer of the SYN-ACK; open)" in told[-1], told
    assert ">    4" in told[-1]
    assert len(told) == 5, "the fault, a heading and three steps"
    suite = ElementTree.fromstring(report.read_text())  # noqa: S314 - we have written it
    assert dict(suite.attrib) == {
        "name": "rexmit packetdrill",
        "tests": "4",
        "failures": "1",
        "errors": "0",
    }


def test_a_kernel_that_warns_is_a_splat(lab: Lab, scripts: Path) -> None:
    line = "<4>WARNING: CPU: 0 PID: 1 at net/ipv4/planted.c:7 planted+0x1/0x2"
    (scripts / "bad.pkt").write_text(f"`echo '{line}' > /dev/kmsg`\n" + GOOD)
    done = drill(lab, str(scripts / "bad.pkt"), str(scripts / "good0.pkt"))
    assert done.status == 3
    assert "planted.c:7" in done.text
    assert f"ok 2 {scripts}/good0.pkt ipv4" in done.lines, "each has its own kernel"
    inside = lab.sh(f"echo '{line}' > /dev/kmsg; exit 7")
    assert inside.status == 3
    assert "planted.c:7" in inside.err


def test_what_does_not_judge_is_no_verdict(lab: Lab, scripts: Path) -> None:
    tool = scripts / "tool"
    tool.write_text("#!/bin/sh\nkill -SEGV $$\n")
    tool.chmod(0o755)
    words = ("packetdrill", str(scripts / "good0.pkt"), "--family", "ipv4")
    done = lab.rexmit(*words, "--packetdrill", str(tool))
    assert done.status == 125
    assert "# ERROR cannot tell" in done.text
    (scripts / "hang.pkt").write_text("`while :; do :; done`\n")
    done = drill(lab, str(scripts / "hang.pkt"), "--hang-limit", "2")
    assert done.status == 125
    assert "no sign of life" in done.text


def test_where_there_is_no_packetdrill_it_says_so(lab: Lab, scripts: Path) -> None:
    done = lab.rexmit("packetdrill", str(scripts), env={"PATH": str(scripts)})
    assert done.status == 125
    assert "packetdrill is not on PATH" in done.err


def test_packetdrill_itself(each: Lab, tmp_path: Path) -> None:
    """The real one where it is on PATH. Where it is not, that the command says so."""
    script = tmp_path / "handshake.pkt"
    script.write_text(REAL)
    done = each.rexmit("packetdrill", str(script), "--kernel", each.kernel, "--repeat", "2")
    if shutil.which("packetdrill") is None:
        assert "packetdrill is not on PATH" in done.err
        return
    assert done.lines[-2:] == [f"ok 1 {script} ipv4", f"ok 2 {script} ipv6"], done.text
    assert "different packet logs" not in done.text


RUNNER = """\
#!/bin/bash
# As the kernel's own: two parts, packetdrill by its name, and what it tells thrown away.
[ -n "$KSFT_MACHINE_SLOW" ] && exit 9
echo "1..2"
status=0
for part in 1 2; do
  unshare -n packetdrill --ip_version=ipv4 "$1" > /dev/null && echo "ok $part run" ||
    { echo "not ok $part run"; status=1; }
done
exit $status
"""


def test_selftests_by_the_runner_of_their_tree(each: Lab, tmp_path: Path) -> None:
    folder = tmp_path / "tools" / "testing" / "selftests" / "net" / "mine"
    folder.mkdir(parents=True)
    (tmp_path / "arch" / "um").mkdir(parents=True)
    (tmp_path / "Makefile").touch()
    (folder / "ksft_runner.sh").write_text(RUNNER)
    (folder / "ksft_runner.sh").chmod(0o755)
    (folder / "good.pkt").write_text(GOOD)
    (folder / "late.pkt").write_text(WORSE)
    (folder / "skipped.sh").write_text("#!/bin/sh\nexit 4\n")
    (folder / "skipped.sh").chmod(0o755)
    tool = ("--packetdrill", str(STANDIN))
    options = ("--scripts-from", str(tmp_path), "--kernel", each.kernel, *tool)
    done = each.rexmit("kselftest", "net/mine", *options)
    assert done.status == 1, done.err
    told = [line for line in done.lines if line.startswith("# ")]
    assert [line for line in done.lines if line not in told] == [
        *("KTAP version 1", "1..2"),
        *("  KTAP version 1", "  1..2", "  ok 1 run", "  ok 2 run", "ok 1 net/mine:good.pkt"),
        *("  KTAP version 1", "  1..2", "  not ok 1 run", "  not ok 2 run"),
        "not ok 2 net/mine:late.pkt",
    ]
    assert "late.pkt:4: timing error" in told[0]
    assert "(timer of the SYN-ACK; open)" in told[-1]
    assert each.rexmit("kselftest", "net/mine:good.pkt", *options).status == 0
    assert each.rexmit("kselftest", "net/mine:skipped.sh", *options).status == 125


def test_a_tree_without_such_tests_says_so(lab: Lab) -> None:
    done = lab.rexmit("kselftest", "net/packetdrill", "--scripts-from", "6.1")
    assert done.status == 125
    assert "6.1 has no tools/testing/selftests/net/packetdrill" in done.err

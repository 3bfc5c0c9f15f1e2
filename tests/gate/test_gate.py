"""Packet scripts without a kernel: which run, what is said of them, and what that means."""

from __future__ import annotations

import json
import os
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

from rexmit.engines.boot import NoLongerWantedError
from rexmit.engines.command import Done
from rexmit.engines.splat import splat
from rexmit.errors import UserError, failed
from rexmit.gate import attempts, selftests
from rexmit.gate.attempts import Attempt, Bench, Verdict
from rexmit.gate.beside import beside, packets, steps
from rexmit.gate.formats import as_json, junit, ktap
from rexmit.gate.scripts import Case, cases, hz, tool
from rexmit.gate.selftests import Selftest
from rexmit.gate.verdicts import Result, exit_status

GOOD, WORSE = Attempt(Verdict.GOOD, ""), Attempt(Verdict.WORSE, "a.pkt:3: it differs")
SPLATTED = Attempt(Verdict.SPLAT, "", splat=("BUG: here",))
UNKNOWN = Attempt(Verdict.CANNOT_TELL, "no sign of life")


def result(*attempts: Attempt) -> Result:
    return Result(Case(Path("/x/a.pkt"), "x/a.pkt", "ipv4", Path("/p")), attempts)


def test_scripts_are_found_once_with_each_family(tmp_path: Path) -> None:
    for name in ("b.pkt", "deep/a.pkt", "deep/only-v6.pkt", "only-v4.pkt", "readme"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()
    families = ["ipv4", "ipv6", "ipv4-mapped-ipv6"]
    found = cases([tmp_path / "b.pkt", tmp_path], families, Path("/bin/packetdrill"), ["--x"])
    names = [one.name.removeprefix(f"{tmp_path}/") for one in found]
    assert names == [
        *("b.pkt ipv4", "b.pkt ipv6", "b.pkt ipv4-mapped-ipv6"),
        *("deep/a.pkt ipv4", "deep/a.pkt ipv6", "deep/a.pkt ipv4-mapped-ipv6"),
        "deep/only-v6.pkt ipv6",
        *("only-v4.pkt ipv4", "only-v4.pkt ipv4-mapped-ipv6"),
    ]
    words = found[1].command().argv
    assert words[0] == "/bin/packetdrill"
    assert words[-3:] == ["--verbose", "--x", "b.pkt"], "it runs in the script's folder"
    assert "--send_omit_free" in words
    for wrong in (["missing.pkt"], [tmp_path / "readme" / "x"]):
        with pytest.raises(UserError, match="no such file"):
            cases(wrong, ["ipv4"], Path("/bin/packetdrill"))


@pytest.mark.parametrize(
    ("config", "want"),
    [
        ("CONFIG_IPV6=y\nCONFIG_HZ_1000=y\nCONFIG_HZ=1000\n", 1000),
        ("CONFIG_HZ=250\n", 250),
        ("CONFIG_NO_HZ_1000=y\n# CONFIG_HZ_100=y\n", None),
    ],
)
def test_the_scripts_say_how_fast_the_timer_ticks(
    tmp_path: Path, config: str, want: int | None
) -> None:
    assert hz([tmp_path / "a.pkt"]) is None
    (tmp_path / "config").write_text(config)
    assert hz([tmp_path / "a.pkt"]) == want


def test_a_pipe_called_config_is_not_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "config")
    assert hz([tmp_path / "a.pkt"]) is None


@pytest.mark.usefixtures("judging")
def test_without_packetdrill_there_is_no_verdict(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nowhere")
    with pytest.raises(UserError, match="not on PATH") as told:
        tool(None)
    assert failed(told.value.exit_status) == 125
    with pytest.raises(UserError) as named:
        tool("/nowhere/packetdrill")
    assert failed(named.value.exit_status) == 2


@pytest.mark.parametrize(
    ("results", "want"),
    [
        ([result(GOOD), result(GOOD, GOOD)], 0),
        ([result(GOOD), result(WORSE), result(UNKNOWN)], 1),
        ([result(WORSE), result(SPLATTED)], 3),
        ([result(GOOD), result(UNKNOWN)], 125),
        ([result(GOOD, WORSE)], 125),
    ],
)
def test_of_several_verdicts_the_worst_is_the_exit_status(results: list[Result], want: int) -> None:
    assert exit_status(results) == want


def test_results_for_machines() -> None:
    results = [result(GOOD), result(WORSE), result(SPLATTED), result(GOOD, WORSE)]
    lines = [list(ktap(number, one)) for number, one in enumerate(results, 1)]
    assert lines[0] == ["ok 1 x/a.pkt ipv4"]
    assert lines[1] == ["# a.pkt:3: it differs", "not ok 2 x/a.pkt ipv4"]
    assert lines[2][-2:] == ["# BUG: here", "not ok 3 x/a.pkt ipv4"]
    assert lines[3] == [
        *("# 1 of 2 runs are good", "# a.pkt:3: it differs"),
        "not ok 4 x/a.pkt ipv4 # ERROR cannot tell",
    ]
    document = json.loads(json.dumps(as_json(results, {"kernel": "k"})))
    assert (document["kernel"], document["exit_status"]) == ("k", 3)
    verdicts = [one["verdict"] for one in document["results"]]
    assert verdicts == ["good", "worse", "splat", "cannot tell"]
    suite = ElementTree.fromstring(junit(results, "packetdrill"))  # noqa: S314 - we have written it
    assert [suite.get(name) for name in ("tests", "failures", "errors")] == ["4", "1", "2"]
    assert [child.tag for case in suite for child in case] == ["failure", "error", "error"]


def test_a_report_is_xml_whatever_was_said() -> None:
    odd = Attempt(Verdict.WORSE, "a.pkt:1: \0 \x1b[31m <&>\n\ufffe")
    ElementTree.fromstring(junit([result(odd)], "packetdrill"))  # noqa: S314 - we have written it


def test_a_report_is_xml_whatever_a_script_is_called() -> None:
    case = Case(Path("/x/a\x1b\udcff.pkt"), "x/a\x1b\udcff.pkt", "ipv4", Path("/p"))
    document = junit([Result(case, [Attempt(Verdict.GOOD, "")])], "packetdrill")
    ElementTree.fromstring(document)  # noqa: S314 - we have written it


def test_a_script_that_never_ends_saying_is_ended(monkeypatch: pytest.MonkeyPatch) -> None:
    def endless(*_: object, on_stdout: Any, end: Callable[[], bool], **__: object) -> None:  # noqa: ANN401
        for _piece in range(100):
            if end():
                raise NoLongerWantedError
            on_stdout(b"x" * (1 << 20))

    monkeypatch.setattr(attempts, "execute", endless)
    bench = Bench(Path("/k"), 1, "64M", None)
    case = Case(Path("/a.pkt"), "a.pkt", "ipv4", Path("/p"))
    attempt = bench.attempt(case, 0, lambda: False)
    assert attempt == Attempt(Verdict.CANNOT_TELL, "it said more than 16 MiB")
    with pytest.raises(NoLongerWantedError):
        bench.attempt(case, 0, lambda: True)


@pytest.mark.parametrize("line", ["1" * 200_000, " " * 200_000, "+1~" + "1" * 200_000 + ".", ""])
def test_a_long_line_of_a_script_takes_no_time(line: str) -> None:
    began_s = time.process_time()
    assert steps([line, f"{line}x", "0.1 > ."])[-1].text == "0.1 > ."
    assert time.process_time() - began_s < 2


def test_what_others_print_as_packets_and_causes_is_passed_over() -> None:
    told = [
        f"outbound sniffed packet:  {packet}"
        for packet in ("1.2.3 . 1:1(0)", "- .", f"0.1 . {'1' * 5000}:1(0)", "0.200000 S 5:5(0)")
    ]
    causes = "a=\nb=1 2 3\nc=1 2 x y z w v\n"
    found = list(packets(Attempt(Verdict.WORSE, "", "\n".join(told), causes)))
    assert [one.text for one in found][-1].endswith("0.200000 > S 0:0(0)")
    assert len(found) == 2


SCRIPT = """\
// A comment.
0 socket(..., SOCK_STREAM, IPPROTO_TCP) = 3
+0 < S 0:0(0) win 1000
+0 > S. 0:0(0) ack 1
+.1 < . 1:1(0) ack 1 win 257
+0 write(4, ..., 2000) = 2000
+0 > . 1:1001(1000) ack 1
+0~+.01 > P. 1001:2001(1000) ack 1
* > P. 1001:2001(1000) ack 1
"""
TOLD = """\
socket syscall: 1
inbound injected packet:  0.000010 S 0:0(0) win 1000
outbound sniffed packet:  0.000020 S. 4000000000:4000000000(0) ack 1 win 65535
inbound injected packet:  0.100010 . 1:1(0) ack 4000000001 win 257
outbound sniffed packet:  0.100020 . 4000000001:4000001001(1000) ack 1 win 65535
outbound sniffed packet:  0.100030 P. 4000001001:4000002001(1000) ack 1 win 65535
outbound sniffed packet:  0.300000 P. 4000000001:4000001001(1000) ack 1 win 65535
"""
CAUSES = """\
5 10.0.0.1:8080 10.0.0.2:1 4000000001 4000001001 probe open sack=1
refused 0
"""


def test_a_script_and_the_kernel_side_by_side(tmp_path: Path) -> None:
    script = tmp_path / "a.pkt"
    script.write_text(SCRIPT)
    assert [step.line for step in steps(SCRIPT.splitlines())] == list(range(2, 10))
    failed = Attempt(Verdict.WORSE, "a.pkt:9: error handling packet", TOLD, CAUSES)
    heading, *lines = beside(script, failed)
    assert "line of a.pkt" in heading
    left, right = zip(*((line[:72].rstrip(), line[72:].strip()) for line in lines), strict=True)
    assert [text.split()[0] for text in left] == ["7", "8", ">"]
    assert right[0].endswith("> . 1:1001(1000) ack 1 win 65535")
    assert right[1].startswith("0.100030 > P. 1001:2001")
    assert right[2] == "0.300000 > P. 1:1001(1000) ack 1 win 65535  (tail loss probe; open)"
    assert beside(script, Attempt(Verdict.WORSE, "no line", TOLD)) == []


@pytest.mark.parametrize(
    ("line", "is_one"),
    [
        ("[    1.0] WARNING: CPU: 0 PID: 9 at net/ipv4/tcp.c:1 x+0x1/0x2", True),
        ("[    1.0] WARNING: possible circular locking dependency detected", True),
        ("BUG: KASAN: slab-use-after-free in tcp_ack+0x1/0x2", True),
        ("[ 1.0] UBSAN: array-index-out-of-bounds in net/x.c:1:2", True),
        ("[ 1.0] refcount_t: underflow; use-after-free.", True),
        ("[ 1.0] INFO: task x:1 blocked for more than 120 seconds.", True),
        ("[ 1.0] rcu: INFO: rcu_sched self-detected stall on CPU", True),
        ("[ 1.0] kmemleak: 3 new suspected memory leaks", True),
        ("[ 1.0] Kernel panic - not syncing: Out of memory", False),
        ("[ 1.0] warning: process `x' used the deprecated sysctl", False),
        ("[ 1.0] DEBUG: nothing", False),
    ],
)
def test_what_a_kernel_calls_a_defect_of_its_own(line: str, is_one: bool) -> None:
    assert bool(splat([line], Path("linux"))) == is_one


KTAP = "TAP version 13\n1..2\nok 1 ipv4\nnot ok 2 ipv6\n# Totals: pass:1 fail:1\n"


def said(status: int, version: int, *faults: str) -> str:
    """What the packetdrill of a runner says on standard error."""
    log = TOLD.replace("\n", "\nrexmit log: ")
    ended = f"rexmit: packetdrill ended with {status}: --ip_version=ipv{version} a.pkt"
    return "\n".join([*faults, "", f"rexmit log: {log}", ended, ""])


def ended(status: int) -> Done:
    causes = CAUSES + CAUSES.replace("10.0.0.1", "[::1]").replace("probe", "timer")
    return Done(status, (), causes, 1.0, 1.0)


def test_of_a_selftest_the_part_that_failed_is_shown(tmp_path: Path) -> None:
    script = tmp_path / "a.pkt"
    script.write_text(SCRIPT)
    test = Selftest(script, "net/packetdrill", Path("/p"), tmp_path)
    fault = "a.pkt:9: error handling packet"
    attempt = test.judge(ended(1), KTAP, said(0, 4) + said(1, 6, "sysctl: no such file", fault))
    assert attempt.verdict is Verdict.WORSE
    assert attempt.text.splitlines()[-1] == fault
    one = Result(test, [attempt])
    lines = list(ktap(1, one))
    assert lines[:4] == ["  KTAP version 1", "  1..2", "  ok 1 ipv4", "  not ok 2 ipv6"]
    assert lines[-2].endswith("(retransmission timeout; open)"), "of the record the part's own"
    assert lines[-1] == "not ok 1 net/packetdrill:a.pkt"
    good = test.judge(ended(0), KTAP, said(0, 4) + said(0, 6))
    assert (good.verdict, good.text) == (Verdict.GOOD, "")
    assert len(good.packets) == 12


@pytest.mark.parametrize(
    ("status", "err"),
    [
        (1, said(1, 4, "assertion len >= sizeof(struct _tcp_info) failed at code.c line 148")),
        (1, said(139, 4, "a.pkt:3: half a line")),
        (4, ""),
        (127, "./ksft_runner.sh: not found"),
    ],
)
def test_a_tool_that_does_not_judge_gives_no_verdict(tmp_path: Path, status: int, err: str) -> None:
    test = Selftest(tmp_path / "a.pkt", "net/packetdrill", Path("/p"), tmp_path)
    assert test.judge(ended(status), KTAP, err).verdict is Verdict.CANNOT_TELL
    case = Case(tmp_path / "a.pkt", "a.pkt", "ipv4", Path("/p"))
    assert case.judge(ended(1), "", "assertion failed").verdict is Verdict.CANNOT_TELL
    assert case.judge(ended(1), "", "a.pkt:1: timing error").verdict is Verdict.WORSE


def test_a_program_that_tells_of_nothing_is_not_believed(tmp_path: Path) -> None:
    case = Case(tmp_path / "a.pkt", "a.pkt", "ipv4", Path("/bin/true"))
    for out in ("", "--ip_version=ipv4 a.pkt\n"):
        attempt = case.judge(ended(0), out, "")
        assert attempt.verdict is Verdict.CANNOT_TELL
        assert "no packet and no system call" in attempt.text
    for out in (TOLD, "socket syscall:  0.000005\n"):
        assert case.judge(ended(0), out, "").verdict is Verdict.GOOD
    test = Selftest(tmp_path / "a.pkt", "net/packetdrill", Path("/bin/true"), tmp_path)
    silence = "rexmit: packetdrill ended with 0: --ip_version=ipv4 a.pkt\n"
    attempt = test.judge(ended(0), KTAP, silence)
    assert attempt.verdict is Verdict.CANNOT_TELL
    assert "no packet and no system call" in attempt.text


def names_in(tree: Path, target: str) -> list[str]:
    place = selftests.tree(tree, None)
    told: list[str] = []
    with selftests.selftests(target, place, "/bin/true", told.append) as found:
        assert told == ([] if tree.is_dir() else [f"Reading all of {tree} for its tests"])
        return [one.name for one in found]


@pytest.mark.parametrize("packed", [False, True])
def test_selftests_are_those_of_a_tree_or_of_a_tarball(tmp_path: Path, packed: bool) -> None:
    tree = tmp_path / "linux"
    folder = tree / "tools" / "testing" / "selftests" / "net" / "packetdrill"
    folder.mkdir(parents=True)
    (tree / "arch" / "um").mkdir(parents=True)
    for name in ("b.pkt", "a.pkt", "ksft_runner.sh", "config"):
        (folder / name).touch()
    (folder.parent / "fib.sh").touch()
    (tree / "Makefile").touch()
    if packed:
        with tarfile.open(tmp_path / "linux.tar", "w") as file:
            file.add(tree, "linux")
        tree = tmp_path / "linux.tar"
    assert names_in(tree, "net/packetdrill") == ["net/packetdrill:a.pkt", "net/packetdrill:b.pkt"]
    assert names_in(tree, "net/packetdrill:b.pkt") == ["net/packetdrill:b.pkt"]
    assert names_in(tree, "net:fib.sh") == ["net:fib.sh"]
    for target, what in {
        "net": "has no ksft_runner.sh",
        "net/mptcp": "has no tools/testing/selftests/net/mptcp",
        "net/packetdrill:c.pkt": "no test c.pkt",
        "../net": "no folder of tests",
        "net/../..": "no folder of tests",
    }.items():
        with pytest.raises(UserError, match=what):
            names_in(tree, target)

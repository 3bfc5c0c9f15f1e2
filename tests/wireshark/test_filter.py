"""`--filter`: libpcap's language, held against tcpdump or tshark."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from tests.tools import needs
from tests.wireshark.conftest import REAL, Program
from tests.wireshark.tshark import needs_tshark, packets, run

import rexmit
from rexmit.errors import UserError

SMALL = sorted(REAL.glob("*.pcap"))

EXPRESSIONS = {
    "tcp": "(eth.type == 0x0800 && ip.proto == 6) || (eth.type == 0x86dd && ipv6.nxt == 6)",
    "not tcp": "!((eth.type == 0x0800 && ip.proto == 6) || (eth.type == 0x86dd && ipv6.nxt == 6))",
    "tcp[tcpflags] & tcp-syn != 0": "ip && tcp.flags.syn == 1",
    "tcp src port 80 or tcp src port 135": "tcp.srcport == 80 || tcp.srcport == 135",
    "greater 100": "frame.len >= 100",
    "ip[8] < 128 and tcp": "ip.ttl < 128 && tcp",
}
"""libpcap's, and Wireshark's for the same packets (outermost headers)."""


def passing(capture: Path, expression: str) -> int:
    return rexmit.trace(capture, whatif=(), capture_filter=expression).facts.packets


@needs_tshark
@pytest.mark.parametrize("capture", SMALL, ids=lambda path: path.stem)
def test_as_many_packets_pass_as_tshark_counts(capture: Path) -> None:
    every = rexmit.trace(capture, whatif=()).facts.packets
    for expression, display in EXPRESSIONS.items():
        shown = len(
            run("-r", str(capture), "-Y", display, "-T", "fields", "-e", "frame.number").split()
        )
        trace = rexmit.trace(capture, whatif=(), capture_filter=expression)
        assert trace.facts.packets == shown, expression
        assert trace.facts.left_out == every - shown


@needs("tcpdump")
@pytest.mark.parametrize("capture", SMALL, ids=lambda path: path.stem)
def test_as_many_packets_pass_as_tcpdump_writes(capture: Path, tmp_path: Path) -> None:
    for expression in EXPRESSIONS:
        done = subprocess.run(
            ["tcpdump", "-n", "-t", "-r", str(capture), "-w", "-", expression],
            capture_output=True,
            check=True,
        )
        copy = tmp_path / "passing.pcap"
        copy.write_bytes(done.stdout)
        assert passing(capture, expression) == rexmit.trace(copy, whatif=()).facts.packets


@pytest.mark.tools  # of libpcap
def test_the_tables_are_those_of_a_capture_without_the_others(
    capture: Path,
) -> None:
    trace = rexmit.trace(capture, whatif=())
    flow = trace.scan("retransmissions").select("flow").first().collect()["flow"][0]
    port = flow.split(" > ")[0].rpartition(":")[2]
    part = rexmit.trace(capture, whatif=(), capture_filter=f"tcp port {port}")
    alone = rexmit.select(trace, ports=[int(port)])
    columns = ["flow", "time_ns", "seq_start", "copy", "need", "evidence"]
    ours, theirs = (
        one.scan("retransmissions").select(columns).sort("time_ns").collect()
        for one in (part, alone)
    )
    assert ours.height > 0
    assert ours.equals(theirs)


@needs_tshark
def test_the_copy_has_the_packets_that_pass(corpus: Path, tmp_path: Path, program: Program) -> None:
    capture = corpus / "sender.pcap"
    trace = rexmit.trace(capture, whatif=())
    flow = trace.scan("retransmissions").select("flow").first().collect()["flow"][0]
    port = flow.split(" > ")[0].rpartition(":")[2]
    done = program(capture, "--filter", f"port {port}", "--annotate", "out.pcapng")
    assert done.returncode == 0, done.stderr
    chosen = [packet[1:] for packet in packets_of(capture, f"tcp.port == {port}")]
    assert [packet[1:] for packet in packets(tmp_path / "out.pcapng")] == chosen
    assert b"only packets     that pass port" in done.stdout


def packets_of(capture: Path, display: str) -> list[list[str]]:
    from tests.wireshark.tshark import PACKET, fields

    return fields(capture, PACKET, "-Y", display)


@pytest.mark.tools  # of libpcap
def test_several_captures_and_web_servers(capture: Path, corpus: Path) -> None:
    expression = "tcp[tcpflags] & tcp-syn != 0"
    counts = [passing(corpus / f"{point}.pcap", expression) for point in ("sender", "receiver")]
    both = rexmit.trace(
        [corpus / "sender.pcap", corpus / "receiver.pcap"], whatif=(), capture_filter=expression
    )
    assert both.facts.packets == sum(counts)
    assert both.facts.left_out > 0

    from tests.sources.servers import web_server

    with web_server({"sender.pcap": capture.read_bytes()}) as web:
        address = f"{web.address}/sender.pcap"
        remote = rexmit.trace(address, whatif=(), capture_filter=expression)
    assert remote.facts.packets == counts[0]


@needs_tshark
def test_link_types_have_a_program_each(capture: Path, tmp_path: Path) -> None:
    raw, both = tmp_path / "raw.pcap", tmp_path / "both.pcapng"
    ethernet = REAL / "dcerpc.pcap"
    # Without its Ethernet headers a frame is an IP packet.
    subprocess.run(["editcap", "-C", "0:14", "-L", "-T", "rawip", capture, raw], check=True)
    subprocess.run(["mergecap", "-a", "-w", both, raw, ethernet], check=True)
    assert passing(both, "tcp") == passing(raw, "tcp") + passing(ethernet, "tcp")
    # Of one of them alone it has a meaning.
    trace = rexmit.trace(both, whatif=(), capture_filter="ether broadcast or tcp")
    assert any(
        "does not compile for packets of link type 101" in told for told in trace.facts.warnings
    )
    with pytest.raises(UserError, match="does not compile for packets of link type 101"):
        rexmit.trace(raw, whatif=(), capture_filter="ether broadcast")


@pytest.mark.tools  # of libpcap
def test_what_is_typed_wrongly_is_told_in_libpcaps_words(capture: Path, program: Program) -> None:
    done = program(capture, "--filter", "port 80 and")
    assert done.returncode == 2
    assert b"--filter port 80 and: " in done.stderr
    assert b"syntax error" in done.stderr
    assert b"man pcap-filter" in done.stderr
    with pytest.raises(UserError, match="NUL"):
        rexmit.trace(capture, capture_filter="port 80\0")
    done = program(capture, "--filter", "tcp", "--out", "t")
    assert done.returncode == 0
    done = program("t", "--filter", "udp")
    assert done.returncode == 2
    assert b"before they are analysed" in done.stderr
    assert program(capture, "--filter", "tcp", "--cluster", "local:1", "--out", "u").returncode == 2

"""Captures as the ladder reads them."""

from __future__ import annotations

import ipaddress
import struct
from pathlib import Path

import pytest

from rexmit import _core

RAW, ETHERNET = 101, 1


def _block(kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    size = len(body) + 12
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def _capture(packets: list[tuple[int, bytes, str]], linktype: int = RAW) -> bytes:
    out = _block(0x0A0D0D0A, struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1))
    out += _block(1, struct.pack("<HHI", linktype, 0, 0) + _option(9, b"\x09") + _option(0, b""))
    for time_ns, data, comment in packets:
        fixed = struct.pack("<IIIII", 0, time_ns >> 32, time_ns & 0xFFFFFFFF, len(data), len(data))
        options = _option(1, comment.encode()) + _option(0, b"") if comment else b""
        out += _block(6, fixed + data + bytes(-len(data) % 4) + options)
    return out


def _tcp(seq: int, ack: int, flags: int, payload: bytes, options: bytes = b"") -> bytes:
    offset = (20 + len(options)) << 2
    head = struct.pack("!HHIIBBHHH", 80, 40000, seq, ack, offset, flags, 512, 0, 0)
    return head + options + payload


def _ipv4(segment: bytes, protocol: int = 6) -> bytes:
    head = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(segment), 0, 0, 64, protocol, 0)
    return head + bytes([10, 0, 0, 1, 10, 0, 0, 2]) + segment


def _ipv6(segment: bytes) -> bytes:
    ends = ipaddress.ip_address("fd00::1").packed + ipaddress.ip_address("fd00::2").packed
    return struct.pack("!IHBB", 6 << 28, len(segment), 6, 64) + ends + segment


def test_packets_come_out_with_all_their_fields(tmp_path: Path) -> None:
    sack = b"\x01\x01\x05\x0a" + struct.pack("!II", 4294967295, 9)
    data = _ipv4(_tcp(4000000000, 77, 0x18, b"abc", sack))
    path = tmp_path / "h1.pcapng"
    time_ns = 5_000_000_123
    path.write_bytes(
        _capture(
            [(time_ns, data, "rexmit: dropped"), (time_ns + 1, _ipv6(_tcp(1, 2, 0x11, b"")), "")]
        )
    )
    first, second = _core.read_pcapng(path)
    assert (first.time_ns, first.src, first.dst) == (time_ns, "10.0.0.1", "10.0.0.2")
    assert (first.sport, first.dport, first.seq, first.ack) == (80, 40000, 4000000000, 77)
    assert (first.flags, first.payload_len, first.window) == (0x18, 3, 512)
    assert first.sack == [(4294967295, 9)]
    assert first.comment == "rexmit: dropped"
    assert (second.src, second.flags, second.payload_len) == ("fd00::1", 0x11, 0)
    assert (second.sack, second.comment) == ([], None)


def test_other_packets_are_left_out(tmp_path: Path) -> None:
    path = tmp_path / "h1.pcapng"
    udp = _ipv4(bytes(8), protocol=17)
    path.write_bytes(_capture([(1, udp, ""), (2, b"", ""), (3, _ipv4(_tcp(1, 2, 2, b"")), "")]))
    assert [packet.time_ns for packet in _core.read_pcapng(str(path))] == [3]


def test_a_file_that_is_not_there_is_named_so(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        _core.read_pcapng(tmp_path / "none")


def test_damage_is_an_error_and_no_shorter_list(tmp_path: Path) -> None:
    path = tmp_path / "h1.pcapng"
    whole = _capture([(1, _ipv4(_tcp(1, 2, 2, b"")), "")])
    path.write_bytes(whole[:-7])
    with pytest.raises(OSError, match="middle of a packet"):
        _core.read_pcapng(path)
    path.write_bytes(b"no capture at all, but long enough to be looked at")
    with pytest.raises(OSError, match="pcapng"):
        _core.read_pcapng(path)


def test_another_link_type_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "h1.pcapng"
    path.write_bytes(_capture([(1, bytes(60), "")], linktype=ETHERNET))
    with pytest.raises(ValueError, match="link type 1"):
        _core.read_pcapng(path)


CLIENT, SERVER = "10.0.0.2:40000", "10.0.0.1:80"


def test_a_flow_comes_out_of_several_captures_in_order_of_time(tmp_path: Path) -> None:
    def packet(seq: int, payload: bytes = b"") -> bytes:
        return _ipv4(_tcp(seq, 7, 0x10, payload))

    late, early = tmp_path / "late.pcapng", tmp_path / "early.pcapng"
    other = _ipv4(struct.pack("!HHIIBBHHH", 81, 40000, 9, 0, 0x50, 2, 0, 0, 0))
    late.write_bytes(_capture([(50, packet(3), ""), (60, packet(4, b"ab"), ""), (90, other, "")]))
    early.write_bytes(_capture([(10, packet(1), ""), (20, packet(2), "")], linktype=RAW))
    for ends in ((CLIENT, SERVER), (SERVER, CLIENT)):
        (found,) = _core.read_flows([late, early], [(*ends, 0, 100)])
        assert [(p.time_ns, p.seq) for p in found] == [(10, 1), (20, 2), (50, 3), (60, 4)]
    among = [(CLIENT, SERVER, 20, 50), (CLIENT, "10.0.0.9:80", 0, 100), (CLIENT, SERVER, 60, 60)]
    times = [[p.time_ns for p in one] for one in _core.read_flows([late, early], among)]
    assert times == [[20, 50], [], [60]]
    assert found[-1].payload_len == 2


def test_a_flow_is_read_from_any_link_and_up_to_where_a_capture_breaks(tmp_path: Path) -> None:
    path = tmp_path / "ether.pcapng"
    frame = bytes(12) + b"\x08\x00" + _ipv4(_tcp(5, 0, 2, b""))
    six = bytes(12) + b"\x86\xdd" + _ipv6(_tcp(6, 0, 2, b""))
    whole = _capture([(1, frame, ""), (2, six, ""), (3, frame, "")], linktype=ETHERNET)
    path.write_bytes(whole[:-9])
    wanted = [(CLIENT, SERVER, 0, 9), ("[fd00::1]:80", "[fd00::2]:40000", 0, 9)]
    old, new = _core.read_flows([path], wanted)
    assert [p.time_ns for p in old] == [1]
    assert [p.seq for p in new] == [6]


def test_a_flow_of_nothing(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="none"):
        _core.read_flows([tmp_path / "none"], [(CLIENT, SERVER, 0, 9)])
    with pytest.raises(ValueError, match="fd00 is no address with a port"):
        _core.read_flows([tmp_path / "none"], [("fd00", SERVER, 0, 9)])

"""The files that an analysis reads, as one stream in the order of time."""

from __future__ import annotations

import gzip
import os
import struct
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from rexmit import _core


def _pcap(times_s: Sequence[int]) -> bytes:
    """A raw IP capture of one byte in each packet, one packet at each time."""
    out = struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 101)
    for time_s in times_s:
        tcp = struct.pack("!HHIIBBHHH", 80, 40000, time_s, 77, 5 << 4, 0x10, 512, 0, 0) + b"x"
        ip = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(tcp), 0, 0, 64, 6, 0)
        data = ip + bytes([10, 0, 0, 1, 10, 0, 0, 2]) + tcp
        out += struct.pack("<IIII", time_s, 0, len(data), len(data)) + data
    return out


def _summary(paths: Sequence[Path]) -> dict[str, Any]:
    trace = _core.Trace(paths)
    while trace.next_batch() is not None:
        pass
    return trace.summary()


def test_files_of_a_rotation_in_any_order(tmp_path: Path) -> None:
    (tmp_path / "late").write_bytes(_pcap([30, 31]))
    (tmp_path / "early").write_bytes(gzip.compress(_pcap([10, 25])))
    (tmp_path / "between").write_bytes(_pcap([20, 27]))
    summary = _summary([tmp_path / name for name in ("late", "early", "between")])
    assert (summary["packets"], summary["connections"], summary["steps_back"]) == (6, 1, 0)
    assert (summary["first_s"], summary["last_s"], summary["warnings"]) == (10, 31, [])


def test_a_pipe_may_be_among_them(tmp_path: Path) -> None:
    (tmp_path / "late").write_bytes(_pcap([30, 31]))
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "source").write_bytes(_pcap([10, 32]))
    with subprocess.Popen(["cp", tmp_path / "source", pipe]):
        summary = _summary([tmp_path / "late", pipe])
    assert (summary["packets"], summary["steps_back"], summary["last_s"]) == (4, 0, 32)


def test_a_file_that_is_cut_is_named(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(_pcap([10, 11])[:-1])
    (tmp_path / "two").write_bytes(_pcap([20]))
    summary = _summary([tmp_path / "one", tmp_path / "two"])
    assert summary["packets"] == 2
    (warning,) = summary["warnings"]
    assert warning.startswith(f"{tmp_path / 'one'}: ")
    assert warning.endswith("in the middle of a packet, at byte 81")


def test_a_file_that_is_no_capture_is_named(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(_pcap([10]))
    (tmp_path / "two").write_bytes(b"GIF89a")
    summary = _summary([tmp_path / "two", tmp_path / "one"])
    assert summary["packets"] == 1
    (warning,) = summary["warnings"]
    assert warning.startswith(f"{tmp_path / 'two'}: no capture of a known format")
    assert warning.endswith("it is left out")
    with pytest.raises(ValueError, match=r"two: no capture of a known format: a picture"):
        _summary([tmp_path / "two", tmp_path / "two"])


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    (tmp_path / "one").write_bytes(_pcap([10]))
    with pytest.raises(OSError, match="none: No such file"):
        _core.Trace([tmp_path / "one", tmp_path / "none"])

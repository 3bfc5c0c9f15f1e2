"""Packed captures that unpack to very much: read up to a limit, which can be raised."""

from __future__ import annotations

import gzip
import lzma
import random
import struct
from pathlib import Path

import pytest
from click.testing import CliRunner

import rexmit
from rexmit.cli import app
from rexmit.errors import UserError

HEAD = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 1 << 18, 1)

PACKETS = 384
"""Of 64 KiB each: 24 MiB."""

READ = range(240, 257)
"""Of these: 16 MiB, but for what is held back."""


@pytest.fixture(scope="module")
def bomb(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A kilobyte that unpacks to 24 MiB."""
    length = (1 << 16) - 16
    record = struct.pack("<IIII", 1, 0, length, length) + bytes(length)
    inner = gzip.compress(HEAD) + PACKETS * gzip.compress(record)
    path = tmp_path_factory.mktemp("bomb") / "bomb.pcap.gz"
    path.write_bytes(gzip.compress(inner))
    assert path.stat().st_size < 5_000
    return path


def test_what_was_read_is_analysed_and_told(bomb: Path, tmp_path: Path) -> None:
    alone = rexmit.trace(bomb)
    assert alone.facts.files[0].packets in READ
    (told,) = alone.facts.warnings
    assert f"{bomb.stat().st_size} bytes have unpacked to " in told
    assert "times as many, and the limit is 10000 times" in told
    assert "raise --unpack-limit" in told
    spread = rexmit.trace(bomb, out=tmp_path / "spread", cluster="local:1")
    assert spread.facts == alone.facts


def test_the_limit_can_be_raised(bomb: Path, tmp_path: Path) -> None:
    raised = rexmit.trace(bomb, out=tmp_path / "raised", unpack_limit=10**6)
    assert raised.facts.files[0].packets == PACKETS
    assert not raised.facts.warnings
    assert raised.meta["command"].endswith("--unpack-limit 1000000")
    spread = rexmit.trace(bomb, out=tmp_path / "spread", unpack_limit=10**6, cluster="local:1")
    assert spread.facts == raised.facts
    # For that call alone.
    assert rexmit.trace(bomb).facts.warnings
    with pytest.raises(UserError, match="unpack_limit"):
        rexmit.trace(bomb, unpack_limit=0)


def test_the_option_raises_it(bomb: Path) -> None:
    with rexmit.sources.packed.allowed(None):
        ran = CliRunner().invoke(app, ["trace", str(bomb), "--unpack-limit", "1000000"])
    assert ran.exit_code == 0
    assert f"{PACKETS:,} packets" in ran.stdout
    assert "unpacked" not in ran.output


def test_a_capture_of_zeros_is_read_whole(tmp_path: Path) -> None:
    # As a sender's own host has it that offloads segmentation: of 64 kB, 70 bytes are no zeros.
    dice = random.Random(5)  # noqa: S311 - no secret
    length, time, number = 65_000, 0, 1
    records = [HEAD]
    for _ in range(1_100):
        time += dice.randrange(30, 80)
        number += length - 54
        ethernet = bytes.fromhex("020000000002020000000001") + b"\x08\x00"
        address = b"\x0a\x00\x00\x01\x0a\x00\x00\x02"
        check = dice.randbytes(2)
        ip = (
            struct.pack(">BBHHHBB", 69, 0, length - 14, number & 0xFFFF, 0, 64, 6) + check + address
        )
        tcp = struct.pack(">HHIIBBHHH", 40_000, 5_201, number & 0xFFFFFFFF, 1, 80, 16, 502, 0, 0)
        frame = ethernet + ip + tcp
        records.append(struct.pack("<IIII", 1, time, length, length) + frame)
        records.append(bytes(length - len(frame)))
    whole = b"".join(records)
    path = tmp_path / "zeros.pcap.xz"
    path.write_bytes(lzma.compress(whole, preset=6))
    assert len(whole) > 16 << 20
    assert len(whole) > 2_000 * path.stat().st_size
    made = rexmit.trace(path)
    assert made.facts.files[0].packets == 1_100
    assert not [line for line in made.facts.warnings if "unpacked" in line]

"""What is copied from a folder that nobody need trust, however large it looks."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from rexmit.store import untrusted
from rexmit.store.untrusted import Budget, UntrustedError, copy_file, copy_tree


@pytest.fixture
def source(tmp_path: Path) -> Path:
    path = tmp_path / "source"
    path.mkdir()
    return path


def copied(source: Path, to: Path, size: int) -> None:
    to.mkdir()
    folder = os.open(source, os.O_RDONLY | os.O_DIRECTORY)
    try:
        copy_tree(folder, to, Budget(bytes=size, files=10))
    finally:
        os.close(folder)


def test_holes_stay_holes_and_count(source: Path, tmp_path: Path) -> None:
    for name in "ab":
        (source / name).touch()
        os.truncate(source / name, 32 << 20)
    copied(source, tmp_path / "fits", 64 << 20)
    assert (tmp_path / "fits" / "a").stat().st_size == 32 << 20
    assert (tmp_path / "fits" / "a").stat().st_blocks == 0
    os.truncate(source / "b", (32 << 20) + 1)
    with pytest.raises(UntrustedError, match="with their holes, are larger than 64 MiB"):
        copied(source, tmp_path / "large", 64 << 20)
    assert list((tmp_path / "large").iterdir()) == []


def test_a_file_is_not_larger_than_its_file_system(
    source: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (source / "capture").write_bytes(b"x")
    os.truncate(source / "capture", 2_000_000)
    monkeypatch.setattr(untrusted.Budget, "on", lambda _: Budget(bytes=1_000_000, files=1))
    with pytest.raises(OSError, match="with their holes") as caught:
        copy_file(source / "capture", tmp_path / "kept")
    assert caught.value.errno == errno.EFBIG
    assert not (tmp_path / "kept").exists()

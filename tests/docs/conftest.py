"""An empty folder for the blocks of a document, with captures of the names that documents use."""

from __future__ import annotations

import shutil
import struct
from pathlib import Path

import pytest

import rexmit


def halves(file: Path, first: Path, second: Path) -> None:
    """Cut a pcap in two, as a rotation does: each with its head, whole records."""
    content = file.read_bytes()
    head, at = content[:24], 24
    while at < len(content) // 2:
        (length,) = struct.unpack_from("<I", content, at + 8)
        at += 16 + length
    first.write_bytes(content[:at])
    second.write_bytes(head + content[at:])


@pytest.fixture(scope="session")
def captures(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of them: of the server's end, of the client's, of both in two files each."""
    made = tmp_path_factory.mktemp("corpus")
    folder = made / "captures"
    folder.mkdir()
    for kind in ("pcapng", "pcap"):
        corpus = rexmit.synth(
            out=made / kind,
            connections=60,
            mix="campus",
            seed=7,
            points=["sender", "receiver"],
            format=kind,
        )
        at = {capture.point: capture.path for capture in corpus.captures}
        if kind == "pcapng":
            for name in ("capture.pcapng", "big.pcapng", "server.pcapng"):
                shutil.copy(at["sender"], folder / name)
            shutil.copy(at["receiver"], folder / "client.pcapng")
        else:
            halves(at["sender"], folder / "s0.pcapng", folder / "s1.pcapng")
            halves(at["receiver"], folder / "c0.pcapng", folder / "c1.pcapng")
    return folder


@pytest.fixture
def place(captures: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working folder of a document's blocks."""
    folder = tmp_path / "place"
    shutil.copytree(captures, folder)
    monkeypatch.chdir(folder)
    return folder

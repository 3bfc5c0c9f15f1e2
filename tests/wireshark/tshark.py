"""tshark's own reading of captures."""

from __future__ import annotations

import contextlib
import os
import subprocess
from collections.abc import Sequence
from pathlib import Path

from tests.tools import needs

needs_tshark = needs("tshark")

PACKET = (
    "frame.number",
    "frame.time_epoch",
    "frame.len",
    "frame.cap_len",
    "frame.encap_type",
    "frame.protocols",
    "frame.md5_hash",
)
"""What a packet is: its place, time, lengths, link type, layers, and bytes."""


def fields(capture: Path, names: Sequence[str], *more: str) -> list[list[str]]:
    """The fields of every packet, or of those that `-Y FILTER` among `more` leaves."""
    words = [word for name in names for word in ("-e", name)]
    hashed = ("-o", "frame.generate_md5_hash:TRUE")
    text = run("-r", str(capture), *hashed, *more, "-T", "fields", "-E", "separator=|", *words)
    return [line.split("|") for line in text.splitlines()]


def packets(capture: Path) -> list[list[str]]:
    """Every packet, as tshark reads it."""
    return fields(capture, PACKET)


def comments(capture: Path) -> dict[int, str]:
    """The comments of frames, several joined by commas."""
    found = fields(capture, ("frame.number", "frame.comment"), "-Y", "frame.comment")
    return {int(number): text for number, text in found}


def run(*words: str) -> str:
    """What tshark prints. Fails where it does."""
    environment = {**os.environ, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        ["tshark", *words], capture_output=True, check=False, env=environment, timeout=120
    )
    assert done.returncode == 0, done.stderr.decode()
    return done.stdout.decode()


def on_terminal(*words: str, configuration: Path) -> list[str]:
    """The lines that tshark prints on a terminal, which alone it colours, with
    `configuration/wireshark` as the folder of its settings. Fails where it does.
    """
    environment = {**os.environ, "LC_ALL": "C.UTF-8", "XDG_CONFIG_HOME": str(configuration)}
    environment |= {"COLORTERM": "truecolor", "TERM": "xterm-256color"}
    ours, theirs = os.openpty()
    command = ["tshark", *words]
    with (
        os.fdopen(ours, "rb", buffering=0) as terminal,
        subprocess.Popen(
            command, stdin=theirs, stdout=theirs, stderr=subprocess.PIPE, env=environment
        ) as child,
    ):
        os.close(theirs)
        printed = b""
        # Reading fails once nobody has the other end any more (pty(7)).
        with contextlib.suppress(OSError):
            while some := terminal.read(65_536):
                printed += some
        assert child.stderr is not None
        complaint = child.stderr.read().decode()
        assert child.wait(timeout=120) == 0, complaint
    return printed.decode().splitlines()

"""`rexmit watch`: in a network namespace of its own, where nothing leaves the machine."""

from __future__ import annotations

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.processes import end_with_parent
from tests.wireshark.conftest import Program

import rexmit

_TRAFFIC = """
import socket, threading
server = socket.create_server(("127.0.0.1", 8080))
def answer():
    for _ in range(20):
        there, _ = server.accept()
        there.recv(100)
        there.sendall(b"x" * 40_000)
        there.close()
threading.Thread(target=answer).start()
for _ in range(20):
    with socket.create_connection(("127.0.0.1", 8080)) as here:
        here.sendall(b"get")
        while here.recv(100_000):
            pass
"""

CAPTURES = shutil.which("dumpcap") or shutil.which("tcpdump")


@pytest.fixture
def namespace() -> Iterator[list[str]]:
    """What runs a command in a network namespace that has nothing but loopback."""
    if not CAPTURES:
        pytest.skip("neither dumpcap nor tcpdump is installed")
    keeper = subprocess.Popen(
        ["unshare", "--user", "--map-root-user", "--net", "sleep", "600"]
        if os.getuid()
        else ["unshare", "--net", "sleep", "600"],
        preexec_fn=end_with_parent,
    )
    inside = ["nsenter", f"--target={keeper.pid}", "--net"]
    inside += ["--user", "--preserve-credentials"] if os.getuid() else []
    try:
        for _ in range(50):
            time.sleep(0.1)
            own = Path("/proc/self/ns/net").readlink()
            if keeper.poll() is not None or Path(f"/proc/{keeper.pid}/ns/net").readlink() != own:
                break
        up = subprocess.run([*inside, "ip", "link", "set", "lo", "up"], check=False)
        if keeper.poll() is not None or up.returncode:
            pytest.skip("no network namespace can be made here")
        yield inside
    finally:
        keeper.kill()
        keeper.wait()


def start(
    namespace: list[str], *words: str, stderr: int = subprocess.PIPE
) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [*namespace, sys.executable, "-m", "rexmit", "watch", "lo", *words],
        stdout=subprocess.PIPE,
        stderr=stderr,
        preexec_fn=end_with_parent,
    )


def begun(pid: int) -> None:
    """Waits until the capturing program runs, and has its socket."""
    for _ in range(600):
        time.sleep(0.1)
        children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
        for child in children:
            name = Path(f"/proc/{child}/comm").read_text().strip()
            packet = Path(f"/proc/{child}/net/packet").read_text().splitlines()
            if name in ("dumpcap", "tcpdump") and len(packet) > 1:
                time.sleep(0.5)
                return
    raise AssertionError("nothing captures")


def traffic(namespace: list[str]) -> None:
    subprocess.run([*namespace, sys.executable, "-c", _TRAFFIC], check=True, timeout=60)
    # What waits in the kernel's buffer comes a little later.
    time.sleep(1.5)


def test_a_signal_ends_it_with_the_page(namespace: list[str], tmp_path: Path) -> None:
    process = start(namespace, "--every", "1s", "--out", str(tmp_path / "t"), "--json")
    begun(process.pid)
    traffic(namespace)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    page = json.loads(out)
    assert page["captures"] == ["lo"]
    assert page["totals"]["connections"] == 20
    lines = [line for line in err.decode().splitlines() if line.startswith("rexmit: ")]
    assert lines
    assert all(" packet" in line and " connection" in line for line in lines)
    assert (tmp_path / "t" / "trace.json").is_file()


def test_only_what_passes_the_filter_is_captured(namespace: list[str]) -> None:
    process = start(namespace, "--json", "--filter", "tcp dst port 8080")
    begun(process.pid)
    traffic(namespace)
    process.send_signal(signal.SIGTERM)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    page = json.loads(out)
    assert page["facts"]["capture_filter"] == "tcp dst port 8080"
    assert page["totals"]["connections"] == 20
    # The server's direction is not there.
    assert page["half_seen"] == 20 or page["totals"]["bytes"] < 1_000


def test_an_interface_is_watched_for_days(namespace: list[str], tmp_path: Path) -> None:
    """Its rows go into a folder after the other, as those of a pipe."""
    out = tmp_path / "t"
    process = start(namespace, "--rotate", "2s", "--out", str(out))
    begun(process.pid)
    rounds, late = 0, time.monotonic() + 60
    while len(list(out.glob("*"))) < 2 and time.monotonic() < late:
        traffic(namespace)
        rounds += 1
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    pieces = list(out.iterdir())
    assert len(pieces) > 1
    assert f"{len(pieces)} pieces written" in err.decode()
    made = rexmit.trace(out)
    connections = made.scan("connections").collect()["connection"]
    assert connections.n_unique() == connections.len() == 20 * rounds


def test_a_terminal_has_a_screen(namespace: list[str]) -> None:
    here, there = pty.openpty()
    process = start(namespace, stderr=there)
    os.close(there)
    begun(process.pid)
    traffic(namespace)
    process.send_signal(signal.SIGINT)
    shown = b""
    while True:
        try:
            some = os.read(here, 65536)
        except OSError:
            break
        if not some:
            break
        shown += some
    out, _ = process.communicate(timeout=60)
    os.close(here)
    assert process.returncode == 0
    text = shown.decode()
    assert "Ctrl-C ends it, and prints the page" in text
    assert "20 connections ended" in text
    assert out.startswith(b"lo: ")


def test_what_cannot_be_captured(watch: Program) -> None:
    done = watch("nothing0")
    assert done.returncode == 2
    assert b"there is no such interface" in done.stderr
    assert b"lo" in done.stderr
    assert watch("lo", "a.pcap").returncode == 2
    assert watch("lo", "--annotate", "x").returncode == 2
    assert watch().returncode == 2


def test_who_may_not_is_told_what_gives_the_right(tmp_path: Path) -> None:
    """A program in the place of dumpcap that is refused."""
    fake = tmp_path / "dumpcap"
    fake.write_text('#!/bin/sh\necho "You don\'t have permission to capture on lo" >&2\nexit 1\n')
    fake.chmod(0o755)
    done = subprocess.run(
        [sys.executable, "-m", "rexmit", "watch", "lo"],
        capture_output=True,
        check=False,
        env={**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"},
        timeout=60,
    )
    assert done.returncode == 1
    assert b"setcap cap_net_raw,cap_net_admin+eip" in done.stderr


def test_without_a_program_the_command_that_brings_it_is_told(tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "rexmit", "watch", "lo"],
        capture_output=True,
        check=False,
        env={**os.environ, "PATH": str(tmp_path)},
        timeout=60,
    )
    assert done.returncode == 1
    assert b"apt-get install" in done.stderr

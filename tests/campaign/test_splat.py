"""Splats: which lines of a console are one, and what of the source they name."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from rexmit.engines.splat import splat
from rexmit.kernels.kernel import SYMBOLS

KERNEL = Path("/no/linux")

MAIN = """\
int tcp_ack(int);
int start_kernel(int n) { return n; }
int main(int n, char **words) { return start_kernel(n) + tcp_ack(n); }
"""
TCP = """\
static inline __attribute__((always_inline)) int before(int a)
{
\treturn *(volatile int *)&a < 3;
}
static __attribute__((noinline)) int twice(int n) { return n * 2; }
int tcp_ack(int n)
{
\treturn before(n) + twice(n);
}
"""
OTHER = """\
static __attribute__((noinline)) int twice(int n) { return n * 4; }
int other(int n) { return twice(n); }
"""


@pytest.mark.parametrize(
    "line",
    [
        "WARNING: CPU: 0 PID: 7 at net/ipv4/tcp_input.c:3104 tcp_fastretrans_alert+0x1/0x2",
        "BUG: KASAN: slab-use-after-free in tcp_ack+0x1/0x2",
        "[    1.000000][    T7] UBSAN: shift-out-of-bounds in net/ipv4/tcp_timer.c:1:2",
        "WARNING: possible circular locking dependency detected",
        "BUG: failure at net/ipv4/tcp_output.c:11/tcp_send_loss_probe()!",
        "BUG: sleeping function called from invalid context at mm/slab.h:1",
        "INFO: task nginx:71 blocked for more than 120 seconds.",
        "INFO: trying to register non-static key.",
        "kmemleak: 2 new suspected memory leaks (see /sys/kernel/debug/kmemleak)",
        "refcount_t: underflow; use-after-free.",
        "unregister_netdevice: waiting for lo to become free. Usage count = 2",
        "BUG kmalloc-64 (Not tainted): Redzone overwritten",
    ],
)
def test_it_begins_where_a_defect_is_told_of(line: str) -> None:
    assert splat(["Linux version 6.12.0", line, "Call Trace:"], KERNEL) == (line, "Call Trace:")


def test_other_lines_are_none() -> None:
    lines = [
        "Kernel panic - not syncing: Out of memory",
        "kmemleak: Kernel memory leak detector initialized (mem pool available: 15800)",
        "rexmit-guest: NOTAWARNING: no",
        "Running RCU self tests",
    ]
    assert splat(lines, KERNEL) == ()


@pytest.fixture
def kernel(tmp_path: Path) -> Path:
    """A program with debug information, and where its parts lie in memory."""
    if not all(map(shutil.which, ("gcc", "nm", "addr2line"))):
        pytest.skip("needs gcc and binutils")
    for name, text in (("init/main.c", MAIN), ("net/tcp.c", TCP), ("net/other.c", OTHER)):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    words = ["gcc", "-g", "-O1", "-no-pie", "-o", SYMBOLS]
    files = ["init/main.c", "net/tcp.c", "net/other.c"]
    subprocess.run([*words, *files], cwd=tmp_path, check=True)
    return tmp_path / "linux"


def test_places_have_files_and_lines(kernel: Path) -> None:
    listing = subprocess.run(
        ["objdump", "-d", kernel.with_name(SYMBOLS)], capture_output=True, text=True, check=True
    ).stdout
    head = re.search(r"^([0-9a-f]+) <tcp_ack>:", listing, re.M)
    assert head
    start = int(head[1], 16)
    body = listing.partition("<tcp_ack>:")[2].partition("\n\n")[0]
    call = re.search(r"call .*\n +([0-9a-f]+):", body)
    assert call
    returns = int(call[1], 16) - start
    lines = [
        f"BUG: KASAN: use-after-free in tcp_ack+0x{returns:x}/0x99",
        " [<000000006003f4a0>] ? gone+0x1/0x2",
        " twice+0x1/0x9999",
    ]
    first, second, third = splat(lines, kernel)
    assert first == f"{lines[0]} (net/tcp.c:8)"
    assert second == lines[1], "of a function that is not there nothing is known"
    assert third == lines[2], "nor of one of two that have its name"
    every = splat([f"WARNING: tcp_ack+0x{at:x}/0x99" for at in range(1, 64)], kernel)
    assert any("(net/tcp.c:3, net/tcp.c:8)" in line for line in every), "what was inlined is first"


def test_one_of_two_functions_is_told_by_its_size(kernel: Path) -> None:
    listing = subprocess.run(
        ["nm", "-n", kernel.with_name(SYMBOLS)], capture_output=True, text=True, check=True
    ).stdout.splitlines()
    symbols = [(int(line.split()[0], 16), line.split()[2]) for line in listing if line[:1] != " "]
    starts = [number for number, (_, name) in enumerate(symbols) if name == "twice"]
    sizes = [symbols[number + 1][0] - symbols[number][0] for number in starts]
    if len(set(sizes)) != len(sizes):
        pytest.skip("they are of one size")
    said = [splat([f"WARNING: twice+0x1/0x{size:x}"], kernel)[0] for size in sizes]
    assert [line.partition(" (")[2] for line in said] == ["net/tcp.c:5)", "net/other.c:1)"]


def test_a_kernel_whose_symbols_are_damaged_is_shown_as_it_spoke(tmp_path: Path) -> None:
    (tmp_path / SYMBOLS).write_bytes(b"\x7fELF nothing")
    lines = ("BUG: KASAN: use-after-free in tcp_ack+0x1/0x99",)
    assert splat(lines, tmp_path / "linux") == lines

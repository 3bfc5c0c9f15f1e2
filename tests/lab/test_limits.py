"""What a guest may use of its host, and what becomes of output that is read slowly."""

from __future__ import annotations

import os
import shlex
import subprocess
import sys
import time
from pathlib import Path

from tests.lab.conftest import SCENARIO, SECONDS, Lab, User, sets
from tests.lab.test_folders import on_small_shm
from tests.lab.test_leftovers import descendants
from tests.processes import run_command, state

REBOOT = shlex.join(
    [sys.executable, "-I", "-S", "-c", "import ctypes; ctypes.CDLL(None).reboot(0x01234567)"]
)


def test_output_larger_than_shared_memory_comes_whole(lab: Lab) -> None:
    script = "i=1000000; while [ $i -lt 1000050 ]; do i=$((i+1)); done; seq 1000000 2500000"
    done = on_small_shm(lab, "true", *lab.exec_words("sh", "-c", script))
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "".join(f"{number}\n" for number in range(1_000_000, 2_500_001))


def test_a_kernel_stands_still_until_its_reader_goes_on(lab: Lab) -> None:
    # The command looks at its clock before and after: what the reader does is not to be seen there.
    script = "a=$(date +%s%N); yes | head -c 30000000; b=$(date +%s%N); echo $((b - a)) >&2"
    words = lab.exec_words("sh", "-c", script, options=("--hang-limit", "1"))
    process = lab.start(*words)
    try:
        until = time.monotonic() + 30
        while not any(state(pid) == "T" for pid in descendants(process.pid)):
            assert time.monotonic() < until, "it never waited for its reader"
            time.sleep(0.02)
        time.sleep(3)
        assert process.poll() is None, "it was taken for one that hangs"
        out, err = process.communicate(timeout=SECONDS)
    finally:
        process.kill()
        process.communicate()
    assert (process.returncode, len(out)) == (0, 30_000_000)
    assert out == b"y\n" * 15_000_000
    assert int(err) < 5_000_000_000, "nanoseconds of its own clock"


def test_a_full_scratch_folder_is_the_commands_own_affair(anyone: Lab) -> None:
    script = 'head -c 9000000 /dev/zero > "$REXMIT_SCRATCH/f" || echo no; wc -c < $REXMIT_SCRATCH/f'
    done = anyone.sh(script, options=("--scratch-limit", "8")).ok()
    assert done.lines == ["no", str(8 << 20)]
    assert "No space left on device" in done.err
    assert "--scratch-limit" in done.err


def test_a_scratch_folder_holds_a_bounded_number_of_files(lab: Lab) -> None:
    script = 'cd "$REXMIT_SCRATCH"; i=0; while : > $i; do i=$((i + 1)); done; echo $i'
    done = lab.sh(script, options=("--scratch-limit", "8"))
    assert done.status != 0 or int(done.text) < 600
    assert "scratch folder is full (8 MiB, 512 files" in done.err


def test_a_guest_that_fills_its_shared_folder_is_told_of(lab: Lab) -> None:
    done = lab.sh("head -c 400000000 /dev/zero > /rexmit/junk; echo done; sleep 1")
    assert (done.status, done.text) == (125, "")
    assert "No space left on device" in done.err.splitlines()[0]
    assert "it has filled its shared folder (256 MiB" in done.err.splitlines()[0]


def test_a_console_takes_bounded_memory(lab: Lab) -> None:
    script = (
        "echo started; sleep 1; yes 'no end of words' | head -c 20000000 > /dev/console; echo x"
    )
    process = lab.start(*lab.exec_words("sh", "-c", script))
    most = 0
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"started\n"
        folder = Path(f"/proc/{process.pid}/fd")
        (console,) = [path for path in folder.iterdir() if "rexmit-console" in str(path.readlink())]
        file = os.open(console, os.O_RDONLY)
        while process.poll() is None:
            most = max(most, os.fstat(file).st_blocks * 512)
            time.sleep(0.005)
        assert process.stdout.read() == b"x\n"
        assert os.fstat(file).st_size > 20_000_000
        os.close(file)
    finally:
        process.kill()
        process.communicate()
    assert most < 16 << 20


def test_a_guest_that_reboots_has_ended(each: Lab) -> None:
    done = each.sh(f"echo once; sleep 1; {REBOOT}; sleep 60", options=("--hang-limit", "30"))
    assert (done.status, done.text) == (125, "once\n")
    assert done.err.startswith("rexmit: the guest rebooted")
    assert done.seconds < 30


def with_curl(lab: Lab, tmp_path: Path, script: str) -> subprocess.CompletedProcess[str]:
    """A run of one cell whose `curl` is a shell script."""
    curl = tmp_path / "bin" / "curl"
    curl.parent.mkdir()
    curl.write_text(f"#!/bin/sh\n{script}\n")
    curl.chmod(0o755)
    settings = ("network=high-speed", "config=tlp", "loss.segments=1", "repeat=1")
    words = ["run", str(SCENARIO), "--kernel", lab.kernel, "--out", str(tmp_path / "run")]
    path = f"{curl.parent}{os.pathsep}{os.environ['PATH']}"
    return run_command(
        lab.command(*words, *sets(*settings, "workload.client=curl"), "--capture"),
        env={**lab.user.env, "PATH": path},
        cwd=lab.user.home,
        timeout=SECONDS,
    )


def test_a_cell_that_reboots_has_failed(lab: Lab, tmp_path: Path) -> None:
    done = with_curl(lab, tmp_path, REBOOT)
    assert done.returncode == 1
    assert "the guest rebooted" in done.stdout + done.stderr


def test_captures_that_are_links_are_not_taken(lab: Lab, tmp_path: Path, me: User) -> None:
    secret = me.home / "secret.pcapng"
    secret.write_text("secret")
    real = "/usr/bin/curl"
    script = (
        f"ln -s {secret} /rexmit/captures/0-9.h1.pcapng; mkfifo /rexmit/captures/0-8.h1.pcapng\n"
        f'exec {real} "$@"'
    )
    done = with_curl(lab, tmp_path, script)
    assert done.returncode == 0, done.stderr
    names = sorted(path.name for path in (tmp_path / "run" / "captures").iterdir())
    assert names == ["0-0.h1.pcapng", "0-0.h2.pcapng"]

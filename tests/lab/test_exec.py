"""`rexmit kernel exec`: the command's output, exit status and surroundings, as if it ran here."""

from __future__ import annotations

import hashlib
import os
import select
import shlex
import subprocess
import sys
import time
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import IO

import pytest
from tests.lab.conftest import Lab
from tests.processes import run_command

from rexmit import kernels


def test_the_command_runs_in_the_kernel_that_was_asked_for(
    each: Lab, built: dict[str, kernels.Kernel]
) -> None:
    done = each.exec("uname", "-sr").ok()
    assert done.text == f"Linux {built[each.kernel].version}\n"
    assert done.err == ""


@pytest.mark.parametrize("status", [0, 7, 127, 255])
def test_an_exit_status_is_passed_through(lab: Lab, status: int) -> None:
    assert lab.sh(f"exit {status}").status == status


def test_a_signal_that_ended_the_command_is_128_and_its_number(each: Lab) -> None:
    assert each.sh("kill -KILL $$").status == 137


def test_a_command_that_is_not_there_is_127(lab: Lab) -> None:
    done = lab.exec("no-such-program", "x")
    assert (done.status, done.text) == (127, "")
    assert "no-such-program" in done.err


def test_stdout_and_stderr_stay_apart(lab: Lab) -> None:
    done = lab.sh("echo out; echo err >&2; printf 'no end'; printf tail >&2").ok()
    assert done.text == "out\nno end"
    assert done.err == "err\ntail"


def test_no_byte_of_a_large_output_is_changed(lab: Lab, tmp_path: Path) -> None:
    # Every byte value, at every place of a buffer; the command's own copy comes back as well.
    script = (
        'head -c 10000000 /dev/urandom | tee "$REXMIT_SCRATCH/copy"; printf "\\r\\n\\000\\377" >&2'
    )
    keep = tmp_path / "keep"
    done = subprocess.run(
        lab.command(*lab.exec_words("sh", "-c", script, options=("--keep", str(keep)))),
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stderr == b"\r\n\x00\xff"
    assert len(done.stdout) == 10_000_000
    assert (
        hashlib.sha256(done.stdout).digest()
        == hashlib.sha256((keep / "copy").read_bytes()).digest()
    )


def line(stream: IO[bytes] | None) -> bytes:
    """The next line, if it comes within ten seconds."""
    assert stream is not None
    readable, _, _ = select.select([stream], [], [], 10)
    assert readable, "nothing came while the command ran"
    return stream.readline()


def test_output_is_visible_while_the_command_runs(lab: Lab, tmp_path: Path) -> None:
    # The command goes on only when a file appears on the host, and that is made when its lines
    # have been seen. In virtual time its wait is endless for nobody but us.
    script = """
        mkdir /tmp/host; mount -t hostfs none /tmp/host -o "$1"
        echo first; echo warning >&2
        until [ -e /tmp/host/go ]; do sleep 0.1; done
        echo last
    """
    process = lab.start(*lab.exec_words("sh", "-c", script, "sh", str(tmp_path)))
    try:
        assert line(process.stdout) == b"first\n"
        assert line(process.stderr) == b"warning\n"
        assert process.poll() is None
        (tmp_path / "go").touch()
        assert line(process.stdout) == b"last\n"
        assert process.wait(timeout=60) == 0
    finally:
        process.kill()
        process.communicate()


def test_a_reader_that_goes_away_ends_the_command(lab: Lab) -> None:
    process = lab.start(*lab.exec_words("sh", "-c", "while :; do echo y; sleep 1; done"))
    assert line(process.stdout) == b"y\n"
    assert process.stdout is not None
    process.stdout.close()
    assert process.wait(timeout=60) == 1
    assert process.stderr is not None
    assert b"Traceback" not in process.stderr.read()
    process.stderr.close()


def test_the_command_has_the_folder_and_the_environment_of_its_caller(lab: Lab) -> None:
    script = """
        pwd; printf "%s|" "$ODD" "${UNSET-none}"
        [ -d "$REXMIT_SCRATCH" ] && [ -w "$REXMIT_SCRATCH" ]
    """
    words = lab.exec_words("sh", "-c", script, options=("--env", "ODD"))
    done = lab.rexmit(*words, env={"ODD": "two\nlines 'é' $HOME"}).ok()
    assert done.text == f"{lab.user.home}\ntwo\nlines 'é' $HOME|none|"


def test_arguments_reach_the_command_as_they_are(lab: Lab) -> None:
    words = ["", "a b", "--kernel", "-x", "$HOME", "new\nline", "é", "*"]
    done = lab.exec("printf", "<%s>", *words).ok()
    assert done.text == "".join(f"<{word}>" for word in words)


def test_it_has_no_input(lab: Lab) -> None:
    assert lab.exec("cat").ok().out == b""


def test_it_is_root_inside_whoever_runs_it(anyone: Lab) -> None:
    assert anyone.exec("id", "-u").ok().text == "0\n"


def test_what_it_leaves_in_its_scratch_folder_comes_back(lab: Lab, tmp_path: Path) -> None:
    script = """
        cd "$REXMIT_SCRATCH"
        mkdir -p deep/er; echo text > deep/er/file; chmod 640 deep/er/file
        ln -s deep/er/file link; : > empty; chmod +x empty
        echo elsewhere > /tmp/not-kept; exit 3
    """
    keep = tmp_path / "new" / "keep"
    assert lab.sh(script, options=("--keep", str(keep))).status == 3, "kept when it fails, too"
    found = sorted(str(path.relative_to(keep)) for path in keep.rglob("*"))
    assert found == ["deep", "deep/er", "deep/er/file", "empty", "link"]
    assert (keep / "link").readlink() == Path("deep/er/file")
    assert (keep / "link").read_text() == "text\n"
    assert (keep / "deep/er/file").stat().st_mode & 0o777 == 0o640
    assert (keep / "empty").stat().st_mode & 0o111
    assert list(keep.parent.iterdir()) == [keep], "nothing half made is left"


def test_a_folder_that_holds_something_is_not_overwritten(lab: Lab, tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    done = lab.sh('echo ran; echo y > "$REXMIT_SCRATCH/mine"', options=("--keep", str(tmp_path)))
    assert (done.status, done.text) == (2, ""), "refused before anything ran"
    assert str(tmp_path) in done.err
    assert (tmp_path / "mine").read_text() == "x"


def test_an_empty_folder_may_be_kept_to(lab: Lab, tmp_path: Path) -> None:
    lab.sh('echo y > "$REXMIT_SCRATCH/f"', options=("--keep", str(tmp_path))).ok()
    assert (tmp_path / "f").read_text() == "y\n"


def test_what_has_no_contents_is_not_kept_and_harms_nothing_else(lab: Lab, tmp_path: Path) -> None:
    bind = 'import socket; socket.socket(socket.AF_UNIX).bind("socket")'
    script = f"cd $REXMIT_SCRATCH; mkfifo pipe; {sys.executable} -c '{bind}'; echo x > file; ls"
    keep = tmp_path / "keep"
    done = lab.sh(script, options=("--keep", str(keep))).ok()
    assert done.lines == ["file", "pipe", "socket"]
    assert [path.name for path in keep.iterdir()] == ["file"]
    assert list(tmp_path.iterdir()) == [keep]


@pytest.mark.parametrize("keep", ["/proc/x", "/dev/null/x", "/etc/passwd"])
def test_a_folder_that_cannot_be_made_is_told_before_anything_runs(lab: Lab, keep: str) -> None:
    done = lab.exec("echo", "ran", options=("--keep", keep))
    assert (done.status, done.text) == (2, "")
    assert keep in done.err
    assert "Traceback" not in done.err


def in_folder(lab: Lab, folder: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """Run rexmit in another folder than the user's."""
    return run_command(lab.command(*words), cwd=folder)


def test_the_callers_own_folder_may_be_kept_to(lab: Lab, tmp_path: Path) -> None:
    words = lab.exec_words("sh", "-c", 'echo y > "$REXMIT_SCRATCH/f"', options=("--keep", "."))
    assert in_folder(lab, tmp_path, *words).returncode == 0
    assert (tmp_path / "f").read_text() == "y\n"


def test_a_working_folder_that_the_guest_lacks_is_named(lab: Lab) -> None:
    with TemporaryDirectory(dir="/dev/shm") as folder:
        done = in_folder(lab, Path(folder), *lab.exec_words("pwd"))
    assert done.returncode == 127
    assert folder in done.stderr


def test_a_working_folder_that_was_removed_is_told(lab: Lab, tmp_path: Path) -> None:
    words = shlex.join(lab.command(*lab.exec_words("pwd")))
    script = f"rmdir {shlex.quote(str(tmp_path))}; {words}"
    done = run_command(["sh", "-c", script], cwd=tmp_path)
    assert done.returncode == 125
    assert "the working folder has been removed" in done.stderr


def test_of_the_environment_it_gets_what_is_listed(lab: Lab) -> None:
    surroundings = {"GITHUB_TOKEN": "secret", "AWS_SECRET_ACCESS_KEY": "secret", "PGPASSWORD": "s"}
    env = {**surroundings, "LC_TIME": "C", "TZ": "UTC", "LANG": "C.UTF-8"}
    done = lab.rexmit(*lab.exec_words("env"), env=env).ok()
    names = {line.split("=")[0] for line in done.lines}
    assert not names & set(surroundings)
    assert "secret" not in done.text
    assert {"LC_TIME", "TZ", "LANG", "PATH", "HOME", "REXMIT_SCRATCH"} <= names


def test_variables_that_are_asked_for_are_added(lab: Lab) -> None:
    options = ("--env", "NEW=a=b", "--env", "HERE", "--env", "TZ=Asia/Tokyo", "--env", "EMPTY=")
    script = 'printf "%s|" "$NEW" "$HERE" "$TZ" "${EMPTY-unset}"'
    words = lab.exec_words("sh", "-c", script, options=options)
    assert lab.rexmit(*words, env={"HERE": "of the caller"}).ok().text == (
        "a=b|of the caller|Asia/Tokyo||"
    )


@pytest.mark.parametrize("setting", ["NO_SUCH_VARIABLE", "=value", ""])
def test_a_variable_that_is_none_is_wrong_usage(lab: Lab, setting: str) -> None:
    done = lab.exec("true", options=("--env", setting))
    assert done.status == 2
    assert "--env" in done.err


def test_a_variable_that_is_no_text_does_no_harm(lab: Lab) -> None:
    words = lab.command(*lab.exec_words("sh", "-c", 'echo "$LANG${LC_ODD-}"'))
    env = {**os.environb, b"LC_ODD": b"x\xffy", b"LANG": b"plain"}
    done = subprocess.run(words, env=env, capture_output=True, timeout=60, check=False)
    assert (done.returncode, done.stdout) == (0, b"plain\n")


def test_a_variable_that_is_no_text_cannot_be_asked_for(lab: Lab) -> None:
    words = lab.command(*lab.exec_words("true", options=("--env", "ODD")))
    env = {**os.environb, b"ODD": b"x\xffy"}
    done = subprocess.run(words, env=env, capture_output=True, timeout=60, check=False)
    assert done.returncode == 2
    assert b"no text" in done.stderr


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--no-such-option", "--", "true"),
        ("--clock", "sundial", "--", "true"),
        ("--memory", "1", "--", "true"),
        ("--net", "no-such-scenario", "--", "true"),
        ("--net", "tlp-2013", "--set", "network=high-speed", "--host", "h3", "--", "true"),
        ("--set", "network=high-speed", "--", "true"),
        ("--host", "h2", "--", "true"),
        ("--seed", str(2**64), "--", "true"),
    ],
    ids=lambda words: " ".join(words) or "nothing",
)
def test_wrong_usage_is_told_apart_from_failure(lab: Lab, words: tuple[str, ...]) -> None:
    done = lab.rexmit("kernel", "exec", *words)
    assert done.status == 2
    assert "Traceback" not in done.err
    assert done.err.strip()


def test_a_scenario_of_several_networks_needs_a_choice(lab: Lab) -> None:
    done = lab.exec("true", options=("--net", "tlp-2013"))
    assert done.status == 2
    assert "--set network=high-speed" in done.err


def test_a_kernel_that_is_not_built_is_named_with_the_way_to_it(lab: Lab) -> None:
    done = lab.rexmit("kernel", "exec", "--kernel", "5.4", "--", "true")
    assert done.status == 125
    assert "there is no kernel 5.4, and rexmit builds none that is older than 6.1" in done.err
    assert "rexmit kernel add FILE" in done.err


def test_the_same_command_does_the_same_every_time(each: Lab) -> None:
    # The kernel's own log has what it made of the memory that it was given.
    script = """
        cat /proc/sys/kernel/random/uuid; od -An -N8 -tx1 /dev/urandom; date +%s.%N; echo $$
        dmesg; cat /proc/meminfo
    """
    one, two, other = (
        each.sh(script, options=options).ok().text for options in ((), (), ("--seed", "2"))
    )
    assert one == two != other


def test_two_at_a_time_do_not_meet(lab: Lab) -> None:
    script = """
        for place in "$REXMIT_SCRATCH" /tmp /run; do echo "$1" > "$place/trio-$1"; done
        sleep 5
        cat "$REXMIT_SCRATCH"/trio-* /tmp/trio-* /run/trio-*
    """
    names = ["one", "two", "three"]
    started = [lab.start(*lab.exec_words("sh", "-c", script, "sh", name)) for name in names]
    outputs = [process.communicate(timeout=60)[0].decode().split() for process in started]
    assert outputs == [[name] * 3 for name in names]
    assert [process.returncode for process in started] == [0, 0, 0]


def virtual_seconds(line: str) -> float:
    begin, end = (float(word) for word in line.split())
    return end - begin


PYTHON = (sys.executable, "-I", "-S", "-c")
WORK = """
import time
begin = time.monotonic()
for _ in range(5_000_000): pass
print(begin, time.monotonic())
"""
"""Some tenths of a second of work, without a look at the clock."""


def test_an_hour_of_sleep_takes_seconds_and_work_no_virtual_time(each: Lab) -> None:
    uptime = "echo $(cut -d ' ' -f 1 /proc/uptime; sleep $2; cut -d ' ' -f 1 /proc/uptime)"
    script = f'date -u +%F; {uptime}; shift 2; exec "$@"'
    done = each.sh(script, "-", "3600", *PYTHON, WORK).ok()
    assert done.lines[0] == "2025-01-01", "the same day at every boot"
    asleep, at_work = (virtual_seconds(line) for line in done.lines[1:])
    assert asleep == pytest.approx(3600, abs=0.02)
    assert at_work < 1e-6, "one look at the clock"
    assert done.seconds < 10


def test_a_command_that_spins_is_ended_and_named(each: Lab) -> None:
    began = time.monotonic()
    done = each.sh("sleep 1; : spinning-here; while :; do :; done", options=("--hang-limit", "1"))
    assert done.status == 125
    assert time.monotonic() - began < 20
    first, second, *console = done.err.splitlines()
    assert "no sign of life for 1 s" in first
    assert "spinning-here" in first
    assert "kernel's last lines" in second
    assert any("init process" in text for text in console), console

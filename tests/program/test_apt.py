"""`scripts/apt-get` waits for another apt, and says so."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from pathlib import Path

import pytest
from tests.processes import run_command

SCRIPT = Path(__file__).parents[2] / "scripts" / "apt-get"

APT = """\
#!/bin/sh
test -e "$0.held" || exit 0
echo 'E: Could not get lock /a/lock. It is held by process 7 (apt)' >&2
exit 100
"""
CONFIGURATION = """\
Dir "{place}";
Dir::State::status "{place}/dpkg/status";
Dir::Etc::main "/dev/null";
Dir::Etc::parts "/dev/null";
"""


def wait_for(held: Path, release: object, *words: str, env: dict[str, str]) -> str:
    """What the script says first; what it waits for is released then, and it has to succeed."""
    with subprocess.Popen(
        [SCRIPT, *words], env={**os.environ, **env}, stderr=subprocess.PIPE, text=True
    ) as waiting:
        assert waiting.stderr is not None
        said = waiting.stderr.readline()
        if callable(release):
            release()
        assert waiting.wait(timeout=120) == 0, (held, waiting.stderr.read())
        return said


def _fake(tmp_path: Path, text: str) -> dict[str, str]:
    apt = tmp_path / "apt-get"
    apt.write_text(text)
    apt.chmod(0o755)
    return {"PATH": f"{tmp_path}:{os.environ['PATH']}"}


def test_it_waits_and_says_for_whom(tmp_path: Path) -> None:
    env = _fake(tmp_path, APT)
    held = tmp_path / "apt-get.held"
    held.touch()
    said = wait_for(held, held.unlink, "update", env=env)
    assert said.startswith("waiting for another apt-get: Could not get lock /a/lock. ")
    assert said.endswith("held by process 7 (apt)\n")


def test_it_does_not_wait_for_ever(tmp_path: Path) -> None:
    env = {**os.environ, **_fake(tmp_path, APT), "APT_WAIT_SECONDS": "0"}
    (tmp_path / "apt-get.held").touch()
    done = run_command([SCRIPT, "update"], env=env)
    assert (done.returncode, done.stderr.startswith("E: Could not get lock")) == (100, True)


def test_what_else_goes_wrong_is_told_at_once(tmp_path: Path) -> None:
    env = {**os.environ, **_fake(tmp_path, "#!/bin/sh\necho 'E: broken' >&2\nexit 100\n")}
    done = run_command([SCRIPT, "update"], env=env)
    assert (done.returncode, done.stderr) == (100, "E: broken\n")


@pytest.mark.parametrize(
    ("lock", "words"),
    [
        ("var/lib/apt/lists/lock", ["update"]),
        ("dpkg/lock-frontend", ["install"]),
    ]
    if shutil.which("apt-get")
    else [],
)
def test_the_locks_of_this_machines_apt_are_known(
    tmp_path: Path, lock: str, words: list[str]
) -> None:
    """In folders of its own, with no sources: nothing is fetched."""
    for folder in (
        "var/lib/apt/lists/partial",
        "var/cache/apt/archives/partial",
        "etc/apt",
        "dpkg",
    ):
        (tmp_path / folder).mkdir(parents=True)
    (tmp_path / "dpkg/status").touch()
    configuration = tmp_path / "apt.conf"
    configuration.write_text(CONFIGURATION.format(place=tmp_path))
    held = tmp_path / lock
    with held.open("w") as file:
        fcntl.lockf(file, fcntl.LOCK_EX)
        said = wait_for(held, file.close, *words, env={"APT_CONFIG": str(configuration)})
    assert f"Could not get lock {held}" in said

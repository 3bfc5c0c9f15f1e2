"""What works with the packages that are installed with rexmit, and what is said where one that only
some commands need is missing.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from contextlib import suppress
from importlib.metadata import distribution
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from tests.processes import run_command

import rexmit
from rexmit.extras import EXTRAS

ROOT = Path(__file__).parents[2]
CAPTURE = ROOT / "tests/real/captures/dcerpc.pcap"

PACKAGES = 27
"""So many a user installs at most, without extras."""

WITHOUT = f"""
import sys

class Without:
    def __init__(self, finder):
        self.finder = finder

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {{"numpy", "scipy", *{sorted(EXTRAS)}}}:
            return None
        return self.finder.find_spec(name, path, target)

    def __getattr__(self, name):
        return getattr(self.finder, name)

sys.meta_path[:] = map(Without, sys.meta_path)
"""
"""What Python runs first: no package of an extra is there, and not what these bring."""


def project() -> dict[str, list[str]]:
    """The requirements of each extra; of none, those that are always installed."""
    table = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return {"": table["dependencies"], **table["optional-dependencies"]}


def installed_by(lines: list[str]) -> set[str]:
    """The packages that pip installs for these requirements."""
    found: set[str] = set()
    todo = list(map(Requirement, lines))
    while todo:
        wanted = todo.pop()
        if (name := wanted.name.lower().replace("_", "-")) not in found:
            found.add(name)
            extras = [{"extra": extra} for extra in ("", *wanted.extras)]
            for inner in map(Requirement, distribution(name).requires or ()):
                if inner.marker is None or any(map(inner.marker.evaluate, extras)):
                    todo.append(inner)
    return found


def test_few_packages_are_installed() -> None:
    always = installed_by(project()[""])
    print(f"packages that rexmit installs without extras: {len(always)}")
    assert len(always) <= PACKAGES
    assert not always & EXTRAS.keys()


def test_each_extra_brings_its_packages() -> None:
    for package, extra in EXTRAS.items():
        assert package in installed_by(project()[extra]), package


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> rexmit.Run:
    out = tmp_path_factory.mktemp("runs") / "run"
    some = {"network": "mobile", "config": "tlp", "loss.segments": "5", "repeat": 1}
    return rexmit.run("tlp-2013", engine="model", settings=some, out=out, capture=True)


def said(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    """What a command says where no extra is installed, nor another package of ours."""
    (tmp_path / "sitecustomize.py").write_text(WITHOUT, encoding="utf-8")
    with suppress(FileExistsError):
        (tmp_path / "rexmit").symlink_to(ROOT / "python/rexmit")
    command = [sys.executable, *words]
    return run_command(command, cwd=tmp_path, env={**os.environ, "PYTHONPATH": str(tmp_path)})


@pytest.mark.parametrize(
    "words",
    [
        ["trace", str(CAPTURE), "--out", "trace"],
        ["report", str(CAPTURE), "--out", "page.html"],
        ["report", "RUN", "--out", "page.html"],
        ["run", "smoke", "--engine", "model"],
        ["show", "RUN", "--flow", "0"],
        ["diff", "RUN", "RUN", "--packets", "0"],
        ["show", "RUN"],
    ],
    ids=lambda words: " ".join(word for word in words[:2]),
)
def test_what_needs_no_extra_works(words: list[str], tmp_path: Path, run: rexmit.Run) -> None:
    given = [str(run.path) if word == "RUN" else word for word in words]
    done = said(tmp_path, "-m", "rexmit", *given)
    assert done.returncode == 0, done.stderr
    assert "pip install" not in done.stderr


@pytest.mark.parametrize(
    ("words", "package"),
    [
        (["plot", "RUN"], "matplotlib"),
        (["show", "RUN", "--flow", "0", "--figure", "a.png"], "matplotlib"),
        (["diff", "RUN", "RUN", "--packets", "0", "--figure", "a.png"], "matplotlib"),
        (["run", "smoke", "--engine", "model", "--cluster", "local:2"], "distributed"),
        (["trace", str(CAPTURE), "--cluster", "tls://127.0.0.1:9", "--out", "a"], "distributed"),
    ],
    ids=lambda words: words if isinstance(words, str) else " ".join(words[:2]),
)
def test_the_extra_is_named(
    words: list[str], package: str, tmp_path: Path, run: rexmit.Run
) -> None:
    given = [str(run.path) if word == "RUN" else word for word in words]
    done = said(tmp_path, "-m", "rexmit", *given)
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1] == (
        f"rexmit: this needs {package}, which is not installed: "
        f"pip install 'rexmit[{EXTRAS[package]}]'"
    )


def test_doctor_knows_them(tmp_path: Path) -> None:
    for package, extra in (("matplotlib", "figures"), ("distributed", "cluster")):
        here = rexmit.doctor([extra])
        assert [(one.name, one.missing) for one in here] == [(package, False)]
        done = said(tmp_path, "-m", "rexmit", "doctor", extra)
        assert done.returncode == 1
        assert f"get it: pip install 'rexmit[{extra}]'" in done.stdout


def test_a_program_is_told_the_same(tmp_path: Path) -> None:
    for code in ("rexmit.plot", "rexmit.ClusterAddress('local:2')"):
        tried = f"import rexmit\ntry: {code}\nexcept rexmit.Error as error: print(error)"
        done = said(tmp_path, "-c", tried)
        assert "pip install 'rexmit[" in done.stdout, done.stderr


def test_another_module_that_is_missing_is_an_error_of_ours(tmp_path: Path) -> None:
    code = "from rexmit.extras import told\nwith told():\n    import no_such_module"
    assert (
        "ModuleNotFoundError: No module named 'no_such_module'" in said(tmp_path, "-c", code).stderr
    )

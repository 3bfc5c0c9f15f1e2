"""Building runs code of the source: where, with what rights, and when not at all."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from rexmit import kernels
from rexmit.cli import app
from rexmit.errors import UserError
from rexmit.kernels import source
from rexmit.kernels.build import build
from rexmit.kernels.confine import Confinement
from rexmit.progress import PlainProgress

from .conftest import Tree, visible
from .test_build import MAIN_PATCH

REAL_GUEST = Path(kernels.__file__).parents[1] / "bin" / "rexmit-guest"

NO_SANDBOX = """\
#!/bin/sh
echo "no user namespaces here" >&2
exit 125
"""


def _calls(guest: Path) -> list[list[str]]:
    return [line.split() for line in Path(f"{guest}.calls").read_text().splitlines()]


def _debian(tree: Tree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "DEBIAN_SOURCES", tmp_path)
    tree.tarball(tmp_path / "linux-source-6.12.tar.xz", flags="J", members=tree.path.name)


def test_all_that_runs_code_of_the_tree_is_confined(
    tree: Tree, guest: Path, tmp_path: Path
) -> None:
    patch = tmp_path / "mine.patch"
    patch.write_text(MAIN_PATCH)
    build(str(tree.path), patches=[str(patch)])
    calls = _calls(guest)
    programs = [call[call.index("--") + 1] for call in calls]
    assert {"patch", "make", "strip"} <= set(programs)
    assert programs[-1].endswith("/out/linux")
    for call, program in zip(calls, programs, strict=True):
        written = [
            word for word, before in zip(call[1:], call, strict=False) if before == "--write"
        ]
        ours = {"patch": "/patched", "make": "/tree", "strip": "/out"}.get(program)
        assert [Path(path).name for path in written] == ([ours[1:]] if ours else [])


@pytest.mark.parametrize("kind", ["tree", "tarball", "patched"])
def test_foreign_source_is_not_built_without_a_sandbox(
    tree: Tree,
    guest: Path,
    tmp_path: Path,
    cache_root: Path,
    monkeypatch: pytest.MonkeyPatch,
    kind: str,
) -> None:
    ran = tmp_path / "ran"
    tree.hook(f"touch {ran}")
    guest.write_text(NO_SANDBOX)
    patch = tmp_path / "mine.patch"
    patch.write_text(MAIN_PATCH)
    spec, extra = str(tree.path), []
    if kind == "tarball":
        spec = str(tree.tarball(tmp_path / "l.tar", flags="", members=tree.path.name))
    elif kind == "patched":
        _debian(tree, tmp_path, monkeypatch)
        spec, extra = "6.12", [str(patch)]
    with pytest.raises(UserError, match="sandbox here: no user namespaces here") as caught:
        build(spec, patches=extra)
    assert "--unconfined" in str(caught.value.hint)
    assert not ran.exists()
    assert visible(cache_root) == []
    arguments = [word for name in extra for word in ("--patch", name)]
    done = CliRunner().invoke(app, ["kernel", "build", spec, *arguments, "--unconfined"])
    assert done.exit_code == 0
    assert ran.exists()
    # What is built runs no more code of the source.
    assert not build(spec, patches=extra)[1]


@pytest.mark.parametrize("missing", ["no guest program", "one without the command", "a sandbox"])
def test_debians_source_is_built_without_a_sandbox_and_that_is_said(
    tree: Tree, guest: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missing: str
) -> None:
    _debian(tree, tmp_path, monkeypatch)
    if missing == "no guest program":
        guest.unlink()
    elif missing == "a sandbox":
        guest.write_text(NO_SANDBOX)
    else:
        guest.write_text("#!/bin/sh\necho 'rexmit-guest: unknown command confine' >&2\nexit 2\n")
    said = io.StringIO()
    assert build(progress=PlainProgress("steps", said))[1]
    assert "Building without a sandbox: " in said.getvalue()


def test_a_build_that_says_too_much_fills_neither_disk_nor_memory(
    tree: Tree, cache_root: Path
) -> None:
    tree.hook("yes | head -c 200000000 | tr -d '\\n'; echo; exit 1")
    with pytest.raises(UserError, match="failed"):
        build(str(tree.path))
    (log,) = (cache_root / ".logs").iterdir()
    assert log.stat().st_size < 80_000_000


def test_a_program_that_says_too_much_is_no_kernel(tree: Tree) -> None:
    tree.write("main.c", '#include <stdio.h>\nint main(void) { for (;;) puts("y"); }\n')
    with pytest.raises(UserError, match=r"does not start: .*more than"):
        build(str(tree.path))


@pytest.mark.parametrize("link", ["/dev/zero", "/etc/passwd", "nowhere"])
def test_results_that_lead_elsewhere_are_none(tree: Tree, cache_root: Path, link: str) -> None:
    tree.write("Makefile", (tree.path / "Makefile").read_text() + f"\t@ln -sf {link} linux\n")
    with pytest.raises(UserError, match=r"is no program|does not start"):
        build(str(tree.path))
    assert visible(cache_root) == []


def test_a_build_cannot_make_what_cannot_be_removed(tree: Tree, cache_root: Path) -> None:
    tree.hook(
        """\
        i=0
        while test $i -lt 3000; do mkdir d && cd d || exit 1; i=$((i+1)); done
        chmod 0 .
        exit 1
        """
    )
    try:
        with pytest.raises(UserError, match="failed"):
            build(str(tree.path))
        assert visible(cache_root) == []
    finally:
        # Or pytest would fail at it.
        subprocess.run(["rm", "-rf", cache_root], check=True)


@pytest.fixture
def sandbox(monkeypatch: pytest.MonkeyPatch) -> None:
    """The guest program's own sandbox, where this machine lets it make one."""
    if not REAL_GUEST.exists():
        pytest.skip("the guest program is not built")
    monkeypatch.setenv("REXMIT_GUEST", str(REAL_GUEST))
    if why_not := Confinement.probe().why_not:
        pytest.skip(why_not)


@pytest.mark.usefixtures("sandbox")
def test_a_build_writes_nothing_outside_and_has_no_network(tree: Tree, tmp_path: Path) -> None:
    outside = tmp_path / "outside"
    outside.mkdir()
    tree.hook(
        f"""\
        touch {outside}/written 2>/dev/null
        touch "$HOME/written" && touch /tmp/written || exit 1
        test "$(ls /sys/class/net 2>/dev/null; tail -n +3 /proc/net/dev | grep -v lo:)" = lo ||
            test -z "$(tail -n +3 /proc/net/dev | grep -v lo:)" || exit 1
        """
    )
    kernel, _ = build(str(tree.path))
    assert list(outside.iterdir()) == []
    assert not Path("~/written").expanduser().exists()
    assert not Path("/tmp/written").exists()  # noqa: S108
    assert subprocess.run([kernel.path], capture_output=True, check=True).stdout == b"6.12.9\n"

"""A distribution's kernel image, unmodified, in virtual time: a scenario, twice the same."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.processes import run_command

import rexmit
from rexmit.errors import UserError
from rexmit.kernels import Kernel

SCRIPT = Path(__file__).parents[2] / "scripts" / "test-image"
CELLS = ("network=high-speed", "config=tlp", "loss.segments=5", "repeat=2")


def add(name: str, *, modules: bool = True) -> Kernel:
    """Debian's kernel for clouds, by that name."""
    done = subprocess.run([SCRIPT], capture_output=True, text=True, check=True)
    folder = Path(done.stdout.strip())
    [vmlinuz] = (folder / "boot").glob("vmlinuz-*")
    return rexmit.add_kernel(
        vmlinuz, modules=folder / "lib" / "modules" if modules else None, name=name
    )


@pytest.fixture(scope="module")
def image() -> Kernel:
    """Debian's kernel for clouds, in the cache."""
    if shutil.which("qemu-system-x86_64") is None:
        pytest.skip("QEMU is missing: apt-get install --no-install-recommends qemu-system-x86")
    done = run_command([SCRIPT])
    if done.returncode:
        pytest.skip(f"there is no image to test with: scripts/test-image: {done.stderr.strip()}")
    return add("test-image")


def test_a_command_runs_in_an_image(image: Kernel, tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text(
        "uname -r\nsleep 1000\necho $((6*7)) >$REXMIT_SCRATCH/found\necho oops >&2\nexit 3\n",
        encoding="ascii",
    )
    done = rexmit.kernel_exec(["sh", str(script)], kernel=image.name, keep=tmp_path / "kept")
    assert (done.status, done.stdout.decode()) == (3, f"{image.version}\n")
    assert done.stderr == b"oops\n"
    assert (tmp_path / "kept" / "found").read_text(encoding="ascii") == "42\n"


def test_an_image_runs_a_cell_as_a_kernel_that_was_built(image: Kernel, tmp_path: Path) -> None:
    runs = [
        rexmit.run("tlp-2013", kernel=name, settings=CELLS, out=tmp_path / name)
        for name in (image.name, image.series)
    ]
    real, built = (run.transfers for run in runs)
    assert real["mechanism"].to_list() == built["mechanism"].to_list() == ["tlp", "tlp"]
    for column in ("t_recover_s", "t_total_s"):
        apart = (real[column] - built[column]).abs().to_list()
        # Two ticks; the rest is what the instructions of a transfer take.
        assert max(apart) <= 0.008, column
    again = rexmit.run("tlp-2013", kernel=image.name, settings=CELLS, out=tmp_path / "again")
    assert again.transfers.equals(real)
    assert again.retransmissions().equals(runs[0].retransmissions())


def test_two_boots_are_the_same_bit_for_bit(
    image: Kernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def logs(name: str) -> bytes:
        folder = tmp_path / name
        rexmit.agree(kernel=image.name, cases=6, seed=3, jobs=1, keep=folder)
        return (folder / "kernel.jsonl").read_bytes()

    first = logs("first")
    assert first.count(b'"packets":') == 6
    assert logs("again") == first
    # In a cache of its own the image is booted anew.
    monkeypatch.setenv("REXMIT_CACHE", str(tmp_path / "cache"))
    anew = add(image.name)
    assert anew.path != image.path
    assert logs("anew") == first


def test_an_image_without_its_modules_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, image: Kernel
) -> None:
    monkeypatch.setenv("REXMIT_CACHE", str(tmp_path / "cache"))
    add("bare", modules=False)
    with pytest.raises(UserError, match=r"bare has no .*NFQUEUE") as refused:
        rexmit.agree(kernel="bare", cases=1, keep=tmp_path / "cases")
    assert f"--modules /lib/modules/{image.version}" in str(refused.value.hint)
    assert not (tmp_path / "cases").exists()


def test_the_truth_needs_a_record_that_images_do_not_have(image: Kernel, tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no record of why") as refused:
        rexmit.truth(kernel=image.name, connections=1, out=tmp_path / "truth")
    assert "Images have none" in str(refused.value.hint)
    assert list(tmp_path.iterdir()) == []


def test_captures_come_out_of_an_image(image: Kernel, tmp_path: Path) -> None:
    rexmit.run(
        "tlp-2013",
        kernel=image.name,
        settings=[*CELLS[:3], "repeat=1"],
        out=tmp_path / "run",
        capture=True,
    )
    captures = sorted(path.name for path in (tmp_path / "run" / "captures").iterdir())
    assert captures == ["0-0.h1.pcapng", "0-0.h2.pcapng"]
    assert len(rexmit._core.read_pcapng(tmp_path / "run" / "captures" / captures[0])) > 100

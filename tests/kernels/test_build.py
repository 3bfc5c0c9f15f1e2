"""Building: what comes out, what is left of failures, and what is never touched."""

from __future__ import annotations

import io
import subprocess
from pathlib import Path

import pytest
from tests.processes import run_command

import rexmit
from rexmit import kernels
from rexmit.errors import UserError
from rexmit.kernels import config, recipe
from rexmit.kernels.build import build
from rexmit.progress import PlainProgress, Step

from .conftest import SERIES_PATCH, Tree, visible

MAIN_PATCH = """\
--- a/main.c
+++ b/main.c
@@ -1,3 +1,4 @@
+/* patched */
 #include <stdio.h>
 int main(void)
 {
"""


def _said(tree: Tree, **options: object) -> tuple[kernels.Kernel, str]:
    out = io.StringIO()
    kernel, _ = build(str(tree.path), progress=PlainProgress("steps", out), **options)  # type: ignore[arg-type]
    return kernel, out.getvalue()


def test_a_tree_becomes_a_kernel_that_is_found_again(tree: Tree, cache_root: Path) -> None:
    kernel, new = build(str(tree.path))
    assert new
    assert (kernel.version, kernel.series, kernel.hz, kernel.patches) == ("6.12.9", "6.12", 250, ())
    assert kernel.path == cache_root / kernel.name / "linux"
    assert kernel.size == kernel.path.stat().st_size
    assert subprocess.run([kernel.path], capture_output=True, check=True).stdout == b"6.12.9\n"
    assert "CONFIG_HZ=250\n" in kernel.config.read_text()
    assert "CONFIG_GOOD=y\n" in kernel.config.read_text()
    assert config.is_set(kernel.config, "GOOD")
    assert not config.is_set(kernel.config, "OTHER")
    assert visible(cache_root) == [kernel.name]
    assert kernels.find("6.12") == kernel == kernels.find(kernel.hash[:6])
    assert build(str(tree.path)) == (kernel, False)


def test_a_program_hears_of_each_step(
    tree: Tree, cache_root: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """And nothing is printed."""
    steps: list[Step] = []
    kernel = rexmit.build_kernel(tree.path, progress=steps.append)
    assert visible(cache_root) == [kernel.name]
    assert [step.note for step in steps if step.note] == [
        "Copying the tree",
        "Configuring Linux 6.12.9",
        "Building Linux 6.12.9, HZ 250",
    ]
    assert steps[-1].done == kernel.steps
    assert {step.unit for step in steps} == {"steps"}
    assert rexmit.build_kernel(tree.path, progress=steps.append) == kernel
    assert capfd.readouterr() == ("", "")


def test_the_program_is_stripped(tree: Tree) -> None:
    kernel, _ = build(str(tree.path))
    symbols = run_command(["nm", kernel.path])
    assert "no symbols" in symbols.stderr


def test_variants_live_side_by_side(tree: Tree, tmp_path: Path, cache_root: Path) -> None:
    patch = tmp_path / "mine.patch"
    patch.write_text(MAIN_PATCH)
    built = [
        build(str(tree.path))[0],
        build(str(tree.path), hz=1000)[0],
        build(str(tree.path), patches=[str(patch)])[0],
    ]
    patch.write_text(MAIN_PATCH.replace("patched", "patched otherwise"))
    built.append(build(str(tree.path), patches=[str(patch)])[0])
    assert len({k.hash for k in built}) == 4
    assert visible(cache_root) == sorted(k.name for k in built)
    assert built[2].patches == ("mine",)
    assert kernels.find("6.12") == built[0]
    assert kernels.find("6.12@1000") == built[1]


def test_what_goes_into_a_kernel_is_in_its_hash(tree: Tree, data: Path) -> None:
    hashes = [build(str(tree.path))[0].hash]
    (data / "fragment.config").write_text("CONFIG_GOOD=y\nCONFIG_HZ_TOO=y\n")
    hashes.append(build(str(tree.path))[0].hash)
    (data / "patches/6.12/0001-hz.patch").write_text("Reworded.\n" + SERIES_PATCH)
    hashes.append(build(str(tree.path))[0].hash)
    tree.write("main.c", (tree.path / "main.c").read_text() + "/* changed */\n")
    hashes.append(build(str(tree.path))[0].hash)
    assert len(set(hashes)) == 4


def test_a_users_tree_is_only_read_whatever_state_it_is_in(tree: Tree) -> None:
    # Built in, for another architecture, with objects that must not be taken over.
    tree.write(".config", "CONFIG_X86=y\n")
    tree.write("linux", "no program\n")
    tree.write("kernel/1.o", "no object\n")
    tree.write("include/generated/autoconf.h", "#error stale\n")
    tree.hook("test ! -e kernel/1.o && test ! -e include/generated/autoconf.h && test ! -e linux")
    before = tree.snapshot()
    build(str(tree.path))
    assert tree.snapshot() == before


def test_git_tells_source_from_rubbish(tree: Tree) -> None:
    git = ["git", "-C", str(tree.path), "-c", "user.name=t", "-c", "user.email=t@example.org"]
    tree.write(".gitignore", "*.tmp\n")
    subprocess.run([*git, "init", "--quiet"], check=True)
    subprocess.run([*git, "add", "."], check=True)
    subprocess.run([*git, "commit", "--quiet", "-m", "All"], check=True)
    first, _ = build(str(tree.path))
    tree.write("ignored.tmp", "rubbish\n")
    assert build(str(tree.path)) == (first, False)
    tree.write("not-yet-added.c", "int x;\n")
    second, new = build(str(tree.path))
    assert new
    assert second.hash != first.hash
    (tree.path / "main.c").rename(tree.path / "away.c")
    with pytest.raises(UserError, match="failed"):
        build(str(tree.path))


def test_a_failed_build_shows_its_last_lines_and_leaves_nothing(
    tree: Tree, cache_root: Path
) -> None:
    tree.hook("seq 100; echo 'main.c: error: no such luck'; exit 1")
    with pytest.raises(UserError) as caught:
        build(str(tree.path))
    assert caught.value.hint is not None
    lines = caught.value.hint.splitlines()
    assert "main.c: error: no such luck" in lines
    assert "50" not in lines
    log = Path(lines[-1].removeprefix("The whole log: "))
    assert "\n50\n" in log.read_text()
    assert visible(cache_root) == []


def test_a_program_that_does_not_start_is_no_kernel(tree: Tree, cache_root: Path) -> None:
    tree.write("main.c", "int main(void) { return 3; }\n")
    with pytest.raises(UserError, match=r"does not start \(status 3\)"):
        build(str(tree.path))
    assert visible(cache_root) == []


def test_options_that_are_refused_are_named(tree: Tree, data: Path, cache_root: Path) -> None:
    (data / "fragment.config").write_text("CONFIG_GOOD=y\nCONFIG_OTHER=y\n")
    tree.write("refused", "GOOD OTHER\n")
    with pytest.raises(UserError) as caught:
        build(str(tree.path))
    assert "CONFIG_GOOD=y became unset (defined in arch/um/Kconfig)" in str(caught.value.hint)
    assert "OTHER" not in str(caught.value.hint)
    assert visible(cache_root) == []


def test_options_that_a_tree_does_not_know_are_said(tree: Tree, data: Path) -> None:
    (data / "fragment.config").write_text("CONFIG_GOOD=y\nCONFIG_OTHER=y\n")
    tree.write("refused", "OTHER\n")
    tree.write("arch/arm/Kconfig", "config OTHER\n\tbool\n")
    assert "Linux 6.12.9 has no option OTHER on arch/um\n" in _said(tree)[1]


def test_options_that_the_architecture_excludes_are_said(tree: Tree, data: Path) -> None:
    excluded = "CONFIG_GOOD=y\nCONFIG_OTHER=y\nCONFIG_ARCH_NO_PREEMPT=y\n"
    tree.write("lib/Kconfig", "config OTHER\n\tbool\n\tdepends on !ARCH_NO_PREEMPT\n")
    tree.write("refused", "OTHER\n")
    (data / "fragment.config").write_text(excluded)
    assert "Linux 6.12.9 has no option OTHER on arch/um\n" in _said(tree)[1]
    (data / "fragment.config").write_text(excluded.replace("NO_PREEMPT=y", "NO_PREEMPT=n"))
    with pytest.raises(UserError, match="refuses 1 of the options"):
        build(str(tree.path))


def test_what_newer_series_have_in_an_options_place_is_no_loss(tree: Tree, data: Path) -> None:
    (data / "fragment.config").write_text("CONFIG_GOOD=y\nCONFIG_PROC_SYSCTL=y\n")
    (data / "patches/6.12/besides.config").write_text("CONFIG_SYSCTL=y\n")
    tree.write("refused", "PROC_SYSCTL\n")
    kernel, said = _said(tree)
    assert "has no option" not in said
    assert "CONFIG_SYSCTL=y\n" in kernel.config.read_text()
    tree.write("refused", "PROC_SYSCTL SYSCTL\n")
    assert "Linux 6.12.9 has no option PROC_SYSCTL on arch/um\n" in _said(tree)[1]


def test_a_kernel_is_built_without_a_patch_that_it_can_do_without(
    tree: Tree, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whole: the first part of it would apply."""
    away = MAIN_PATCH.replace("#include <stdio.h>", "#include <other.h>")
    patch = data / "patches/6.12/0002-record.patch"
    first = (
        "--- a/arch/um/Kconfig\n+++ b/arch/um/Kconfig\n@@ -4 +4,2 @@\n config GOOD\n+# in part\n"
    )
    patch.write_text(first + away)
    monkeypatch.setattr(recipe, "DISPENSABLE", {"0002-record": "nothing is recorded"})
    tree.hook("! grep -q 'in part' arch/um/Kconfig && test ! -e main.c.rej")
    said = _said(tree)[1]
    assert "Patch 0002-record: left out, as it does not apply: nothing is recorded\n" in said
    monkeypatch.setattr(recipe, "DISPENSABLE", {})
    tree.write("other.c", "another tree\n")
    with pytest.raises(UserError, match="0002-record"):
        build(str(tree.path))


def test_a_patch_that_does_not_apply_is_shown_with_its_reject(
    tree: Tree, tmp_path: Path, cache_root: Path
) -> None:
    patch = tmp_path / "mine.patch"
    patch.write_text(MAIN_PATCH.replace("#include <stdio.h>", "#include <other.h>"))
    with pytest.raises(UserError) as caught:
        build(str(tree.path), patches=[str(patch)])
    assert str(patch) in caught.value.what
    assert "main.c:\n" in str(caught.value.hint)
    assert "+/* patched */" in str(caught.value.hint)
    assert visible(cache_root) == []


def test_a_patch_that_the_tree_has_already_is_left_out_and_said(tree: Tree) -> None:
    subprocess.run(["patch", "-sp1"], cwd=tree.path, input=SERIES_PATCH.encode(), check=True)
    assert "0001-hz: the tree has it already" in _said(tree)[1]


def test_a_patch_that_applies_as_it_stands_is_not_worth_a_word(tree: Tree) -> None:
    assert "Patch" not in _said(tree)[1]


def test_patches_are_applied_in_order(tree: Tree, tmp_path: Path) -> None:
    first, second = tmp_path / "z.patch", tmp_path / "a.patch"
    first.write_text(MAIN_PATCH)
    second.write_text(
        "--- a/main.c\n+++ b/main.c\n@@ -1,2 +1,2 @@\n-/* patched */\n+/* twice */\n"
        " #include <stdio.h>\n"
    )
    kernel, _ = build(str(tree.path), patches=[str(first), str(second)])
    assert kernel.patches == ("z", "a")
    with pytest.raises(UserError, match=r"a\.patch does not apply"):
        build(str(tree.path), patches=[str(second), str(first)])


def test_optional_patches_go_by_name(tree: Tree, data: Path) -> None:
    patch = data / "patches/6.12/optional/no-tlp.patch"
    patch.write_text(MAIN_PATCH)
    kernel, _ = build(str(tree.path), patches=["no-tlp"])
    assert kernel.patches == ("no-tlp",)
    assert "-no-tlp-" in kernel.name
    with pytest.raises(UserError, match="no such file") as caught:
        build(str(tree.path), patches=["no-tpl"])
    assert "did you mean no-tlp?" in str(caught.value.hint)
    assert kernels.find("6.12+no-tlp") == kernel
    # An older state of the patch is another kernel.
    patch.write_text(MAIN_PATCH.replace("patched", "patched otherwise"))
    assert not kernels.kernels()[0].current
    with pytest.raises(UserError, match="was built with other options or patches"):
        kernels.find("6.12+no-tlp")
    assert kernels.find(kernel.name) == kernel
    again, new = build(str(tree.path), patches=["no-tlp"])
    assert new
    assert kernels.find("6.12+no-tlp") == again


def test_a_patch_for_a_file_that_is_normally_left_out(
    tree: Tree, data: Path, tmp_path: Path
) -> None:
    tree.write("sound/core.c", "old\n")
    tree.write("arch/arm/Kconfig", "kept\n")
    tree.hook("test ! -e sound/core.c && test -e arch/arm/Kconfig")
    build(str(tree.path))
    patch = tmp_path / "sound.patch"
    patch.write_text("--- a/sound/core.c\n+++ b/sound/core.c\n@@ -1 +1 @@\n-old\n+new\n")
    tree.hook("grep -q new sound/core.c && test ! -e sound/other.c")
    tree.write("sound/other.c", "not named\n")
    build(str(tree.path), patches=[str(patch)])
    patch.rename(data / "patches/6.12/optional/sound.patch")
    assert build(str(tree.path), patches=["sound"])[0].patches == ("sound",)


def test_the_surroundings_do_not_leak_in(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MAKEFLAGS", "KCONFIG_ALLCONFIG", "KBUILD_OUTPUT", "CROSS_COMPILE"):
        monkeypatch.setenv(name, "nonsense")
    tree.hook('test -z "$KBUILD_OUTPUT$CROSS_COMPILE" && test "$KBUILD_BUILD_USER" = rexmit')
    build(str(tree.path), jobs=2)


def test_programs_that_some_users_have_are_none_of_the_kernels(tree: Tree) -> None:
    # What the kernel's configuration says of them would make it another program.
    tree.hook('test "$RUSTC$BINDGEN$PAHOLE" = falsefalsefalse')
    build(str(tree.path))


def test_only_some_frequencies_are_possible(tree: Tree) -> None:
    with pytest.raises(UserError, match="HZ 300") as caught:
        build(str(tree.path), hz=300)
    assert caught.value.exit_status == 2


def test_the_real_recipe_is_there() -> None:
    # Found from a checkout and from an installed package alike: beside the module.
    real = Path(recipe.__file__).parent / "data"
    assert "CONFIG_MPTCP=y" in (real / "fragment.config").read_text()
    for series in ("6.1", "6.12", "others"):
        names = {path.stem for path in (real / "patches" / series).glob("*.patch")}
        assert len(names) == 4
        assert names > recipe.DISPENSABLE.keys() - {"debug.patch"}
    assert (real / "configs" / "debug.patch").is_file()

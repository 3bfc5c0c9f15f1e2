"""What `--keep` brings back from a guest that means no good."""

from __future__ import annotations

from pathlib import Path

from tests.lab.conftest import Done, Lab


def keep(lab: Lab, script: str, to: Path, *options: str) -> Done:
    """Run a script in the scratch folder, which is brought back."""
    words = f'cd "$REXMIT_SCRATCH"; {script}'
    return lab.sh(words, options=("--keep", str(to), *options))


def test_no_file_comes_back_with_rights(anyone: Lab, tmp_path: Path) -> None:
    # The sandbox refuses such bits of a folder; what asks for them goes on.
    script = """
        mkdir folder; for f in plain folder/root; do cp /bin/true $f; chmod 6755 $f; done
        chown 12345:12345 plain; chmod 777 folder; chmod 7777 folder
        mkdir closed; : > closed/f; chmod 0 closed/f closed
    """
    to = anyone.user.home / f"keep-{tmp_path.name}"
    keep(anyone, script, to).ok()
    found = {str(path.relative_to(to)): path.lstat() for path in to.rglob("*")}
    assert {name: oct(entry.st_mode & 0o7777) for name, entry in found.items()} == {
        "plain": "0o755",
        "folder": "0o777",
        "folder/root": "0o755",
        "closed": "0o700",
        "closed/f": "0o0",
    }
    mine = to.stat()
    owners = {(entry.st_uid, entry.st_gid) for entry in found.values()}
    assert owners == {(mine.st_uid, mine.st_gid)}


def test_a_scratch_folder_that_became_a_link_is_not_followed(lab: Lab, tmp_path: Path) -> None:
    (lab.user.home / "private").write_text("precious")
    home = lab.user.home
    script = f": > mine; cd /; mv /rexmit/scratch /rexmit/x && ln -s {home} /rexmit/scratch; true"
    done = keep(lab, script, tmp_path / "keep")
    assert done.status == 0
    assert [path.name for path in (tmp_path / "keep").iterdir()] == ["mine"]


def test_links_come_back_as_links(lab: Lab, tmp_path: Path) -> None:
    keep(lab, "ln -s /etc etc; ln -s /etc/passwd passwd", tmp_path / "keep").ok()
    assert (tmp_path / "keep" / "etc").readlink() == Path("/etc")
    assert (tmp_path / "keep" / "passwd").readlink() == Path("/etc/passwd")


def test_holes_take_no_room(lab: Lab, tmp_path: Path) -> None:
    keep(lab, "truncate -s 900M hole; echo end >> hole", tmp_path / "keep").ok()
    found = (tmp_path / "keep" / "hole").stat()
    assert found.st_size == (900 << 20) + 4
    assert found.st_blocks * 512 < 1 << 20


def test_holes_count(lab: Lab, tmp_path: Path) -> None:
    """Whoever copies or packs such a file fills them in."""
    done = keep(lab, "truncate -s 500G hole", tmp_path / "keep", "--scratch-limit", "64")
    assert done.status == 125
    assert "its files, with their holes, are larger than 64 MiB" in done.err
    assert "--scratch-limit gives more" in done.err
    assert list((tmp_path / "keep").iterdir()) == []


def test_what_is_too_deep_is_refused_whole(lab: Lab, tmp_path: Path) -> None:
    script = "echo first > first; i=0; while [ $i -lt 300 ]; do mkdir d; cd d; i=$((i + 1)); done"
    done = keep(lab, script, tmp_path / "keep")
    assert done.status == 125
    assert "the scratch folder is not brought back: its folders are more than 200 deep" in done.err
    assert list((tmp_path / "keep").iterdir()) == []


def test_a_file_of_many_names_is_not_brought_back_over_and_over(lab: Lab, tmp_path: Path) -> None:
    script = "head -c 1000000 /dev/urandom > 0; for i in $(seq 1 20); do ln 0 $i; done"
    done = keep(lab, script, tmp_path / "keep", "--scratch-limit", "8")
    assert done.status == 125
    assert "its files, with their holes, are larger than 8 MiB" in done.err
    assert list((tmp_path / "keep").iterdir()) == []

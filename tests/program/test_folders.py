"""Folders that are locked by their owner, and swept where it has gone."""

from __future__ import annotations

import os
from pathlib import Path

from rexmit.store.files import owned, sweep


def test_a_folder_that_was_swept_at_once_is_made_anew(tmp_path: Path) -> None:
    """Another program may sweep between the making of a folder and its lock."""
    made: list[Path] = []

    def make() -> Path:
        folder = tmp_path / str(len(made))
        folder.mkdir()
        made.append(folder)
        if len(made) < 3:
            sweep([folder])
        return folder

    folder, lock = owned(make)
    assert folder == made[2]
    sweep([folder])
    assert folder.is_dir(), "it has an owner"
    os.close(lock)
    sweep([folder])
    assert not folder.exists()

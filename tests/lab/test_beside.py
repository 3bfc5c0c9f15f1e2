"""Random cases, kernel beside kernel: none differs where the kernels do the same."""

from __future__ import annotations

from pathlib import Path

import rexmit
from rexmit_validate.agree.folder import Folder


def test_what_does_the_same_differs_nowhere(tmp_path: Path) -> None:
    one, two, other = (tmp_path / name for name in ("one", "two", "other"))
    before = rexmit.agree_beside("6.12", keep=one, seconds=1, jobs=1)
    assert list(before.lines()) == ["80 random cases"], "a boot, however little time there is"
    same = rexmit.agree_beside("6.12", keep=two, before=one, jobs=1)
    assert list(same.lines()) == ["80 random cases, 0 differ"]
    assert Folder(one).outcomes() == Folder(two).outcomes(), "to the nanosecond"
    # So it would be seen if they did not.
    apart = rexmit.agree_beside("6.1", keep=other, before=one, jobs=1)
    assert apart.differ > 0
    assert any("--against" in line for line in apart.lines())

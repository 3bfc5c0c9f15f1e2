"""Users of an installed package, each with a home of its own, far from the checkout."""

from __future__ import annotations

import os
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from tests.processes import run_command

NOBODY = 65534


@dataclass(frozen=True)
class User:
    """Who runs commands. `number` is None for whoever runs the tests."""

    home: Path
    number: int | None
    programs: Path
    """The folder of the command `rexmit`."""

    def runs(self, *words: str) -> str:
        """What a command prints on standard output. Fails where it fails."""
        done = self.tries(*words)
        assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
        return done.stdout

    def tries(self, *words: str) -> subprocess.CompletedProcess[str]:
        """Runs a command in the home, with nothing of the environment of the tests."""
        environment = {
            "HOME": str(self.home),
            "LANG": "C.UTF-8",
            "PATH": f"{self.programs}:/usr/local/bin:/usr/bin:/bin",
        }
        return run_command([*self._as(), *words], cwd=self.home, env=environment)

    def gets(self, source: Path, place: str) -> Path:
        """A copy of a file or folder, that is the user's own."""
        target = self.home / place
        target.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, target, ignore=shutil.ignore_patterns(".*"))
        else:
            shutil.copy(source, target)
        self.owns_home()
        return target

    def owns_home(self) -> None:
        """Gives the user all below the home."""
        if self.number is None:
            return
        for folder, folders, files in os.walk(self.home):
            for name in (".", *folders, *files):
                os.chown(Path(folder) / name, self.number, self.number, follow_symlinks=False)

    def _as(self) -> list[str]:
        if self.number is None:
            return []
        ids = f"--reuid={self.number}", f"--regid={self.number}"
        return ["setpriv", *ids, "--clear-groups"]

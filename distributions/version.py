"""The version of the packages beside `rexmit`: that of the workspace, in Cargo.toml."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

from hatchling.metadata.plugin.interface import MetadataHookInterface


class Same(MetadataHookInterface):
    """Gives a package the workspace's version; it needs the packages `same` of that version."""

    def update(self, metadata: dict[str, Any]) -> None:
        """Says both in the package's metadata."""
        workspace = Path(self.root).parents[1] / "Cargo.toml"
        version = tomllib.loads(workspace.read_text(encoding="utf-8"))["workspace"]["package"][
            "version"
        ]
        metadata["version"] = version
        metadata["dependencies"] = [f"{name}=={version}" for name in self.config["same"]]

"""A laboratory for TCP loss recovery.

    import rexmit

    run = rexmit.run("tlp-2013", engine="model", settings={"network": "mobile"})
    trace = rexmit.trace("capture.pcapng")

`docs/library.ipynb` has all of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rexmit.errors import UserError as Error
    from rexmit.library.diff import diff
    from rexmit.library.figures import figures
    from rexmit.library.opened import open_corpus, open_run
    from rexmit.library.run import run
    from rexmit.library.scenario import open_scenario
    from rexmit.library.synth import synth
    from rexmit.library.trace import select, trace
    from rexmit.scenario import Scenario
    from rexmit.store.open_run import Run
    from rexmit.tracing.folder import Trace

__all__ = [
    "Error",
    "Run",
    "Scenario",
    "Trace",
    "diff",
    "figures",
    "open_corpus",
    "open_run",
    "open_scenario",
    "run",
    "select",
    "synth",
    "trace",
]

_FROM = {
    "Error": ("rexmit.errors", "UserError"),
    "Run": ("rexmit.store.open_run", "Run"),
    "Scenario": ("rexmit.scenario", "Scenario"),
    "Trace": ("rexmit.tracing.folder", "Trace"),
    "diff": ("rexmit.library.diff", "diff"),
    "figures": ("rexmit.library.figures", "figures"),
    "open_corpus": ("rexmit.library.opened", "open_corpus"),
    "open_run": ("rexmit.library.opened", "open_run"),
    "open_scenario": ("rexmit.library.scenario", "open_scenario"),
    "run": ("rexmit.library.run", "run"),
    "select": ("rexmit.library.trace", "select"),
    "synth": ("rexmit.library.synth", "synth"),
    "trace": ("rexmit.library.trace", "trace"),
}
"""Where each name of the library is."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    # Not at import: the program sees to signals before it loads anything.
    if name == "__version__":
        from rexmit.version import version

        return version()
    if name in _FROM:
        from importlib import import_module

        module, attribute = _FROM[name]
        return getattr(import_module(module), attribute)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

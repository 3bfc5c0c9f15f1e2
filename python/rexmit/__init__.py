"""A laboratory for TCP loss recovery.

    import rexmit

    run = rexmit.run("tlp-2013", engine="model", settings={"network": "mobile"})
    trace = rexmit.trace("capture.pcapng")

`docs/library.ipynb` shows it at work; `help(rexmit.run)` and the others say the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rexmit.cluster.address import ClusterAddress
    from rexmit.errors import UserError as Error
    from rexmit.library.agree import agree, agree_again, agree_case
    from rexmit.library.annotate import annotate, colorfilters
    from rexmit.library.diff import diff, differences_over
    from rexmit.library.diff_packets import diff_packets, draw_packets
    from rexmit.library.doctor import doctor
    from rexmit.library.figures import figures, save_figures
    from rexmit.library.flow import draw_flow, open_flow
    from rexmit.library.kernel_exec import kernel_exec
    from rexmit.library.kernels import add_kernel, build_kernel, list_kernels
    from rexmit.library.opened import open_corpus, open_run
    from rexmit.library.page import groups, page, why_empty
    from rexmit.library.report import report, report_table
    from rexmit.library.run import Campaign, run
    from rexmit.library.scenario import open_scenario
    from rexmit.library.score import draw_score, score
    from rexmit.library.sensitivity import nearest_benches, sensitivity
    from rexmit.library.stacks import list_stacks, stack
    from rexmit.library.study import study
    from rexmit.library.synth import synth, synth_kinds, synth_mixes
    from rexmit.library.tables import beside, bursts, claims, overview, table1, table4
    from rexmit.library.tcpfilter import tcpfilter
    from rexmit.library.trace import select, trace
    from rexmit.library.truth import truth
    from rexmit.library.watch import watch
    from rexmit.library.whatif import check_whatif
    from rexmit.scenario import Scenario
    from rexmit.store.open_run import Run
    from rexmit.tracing.folder import Trace
    from rexmit.tracing.options import Analysis
    from rexmit.tracing.watch.rotation import Rotation

__all__ = [
    "Analysis",
    "Campaign",
    "ClusterAddress",
    "Error",
    "Rotation",
    "Run",
    "Scenario",
    "Trace",
    "add_kernel",
    "agree",
    "agree_again",
    "agree_case",
    "annotate",
    "beside",
    "build_kernel",
    "bursts",
    "check_whatif",
    "claims",
    "colorfilters",
    "diff",
    "diff_packets",
    "differences_over",
    "doctor",
    "draw_flow",
    "draw_packets",
    "draw_score",
    "figures",
    "groups",
    "kernel_exec",
    "list_kernels",
    "list_stacks",
    "nearest_benches",
    "open_corpus",
    "open_flow",
    "open_run",
    "open_scenario",
    "overview",
    "page",
    "report",
    "report_table",
    "run",
    "save_figures",
    "score",
    "select",
    "sensitivity",
    "stack",
    "study",
    "synth",
    "synth_kinds",
    "synth_mixes",
    "table1",
    "table4",
    "tcpfilter",
    "trace",
    "truth",
    "watch",
    "why_empty",
]

_ELSEWHERE: Final = {
    "Analysis": ("rexmit.tracing.options", "Analysis"),
    "Campaign": ("rexmit.library.run", "Campaign"),
    "ClusterAddress": ("rexmit.cluster.address", "ClusterAddress"),
    "Error": ("rexmit.errors", "UserError"),
    "Rotation": ("rexmit.tracing.watch.rotation", "Rotation"),
    "Run": ("rexmit.store.open_run", "Run"),
    "Scenario": ("rexmit.scenario", "Scenario"),
    "Trace": ("rexmit.tracing.folder", "Trace"),
}
"""Where each class is."""

_LIBRARY: Final = {
    "add_kernel": "kernels",
    "agree": "agree",
    "agree_again": "agree",
    "agree_case": "agree",
    "annotate": "annotate",
    "beside": "tables",
    "build_kernel": "kernels",
    "bursts": "tables",
    "check_whatif": "whatif",
    "claims": "tables",
    "colorfilters": "annotate",
    "diff": "diff",
    "diff_packets": "diff_packets",
    "differences_over": "diff",
    "doctor": "doctor",
    "draw_flow": "flow",
    "draw_packets": "diff_packets",
    "draw_score": "score",
    "figures": "figures",
    "groups": "page",
    "kernel_exec": "kernel_exec",
    "list_kernels": "kernels",
    "list_stacks": "stacks",
    "nearest_benches": "sensitivity",
    "open_corpus": "opened",
    "open_flow": "flow",
    "open_run": "opened",
    "open_scenario": "scenario",
    "overview": "tables",
    "page": "page",
    "report": "report",
    "report_table": "report",
    "run": "run",
    "save_figures": "figures",
    "score": "score",
    "select": "trace",
    "sensitivity": "sensitivity",
    "stack": "stacks",
    "study": "study",
    "synth": "synth",
    "synth_kinds": "synth",
    "synth_mixes": "synth",
    "table1": "tables",
    "table4": "tables",
    "tcpfilter": "tcpfilter",
    "trace": "trace",
    "truth": "truth",
    "watch": "watch",
    "why_empty": "page",
}
"""The module of `rexmit.library` that each function is in."""


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    # Not at import: the program sees to signals before it loads anything.
    if name == "__version__":
        from rexmit.version import version

        return version()
    module, attribute = _ELSEWHERE.get(name, (f"rexmit.library.{_LIBRARY.get(name)}", name))
    if name in __all__:
        from importlib import import_module

        return getattr(import_module(module), attribute)
    if name == "live":
        raise AttributeError("rexmit.live is now rexmit.watch")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])

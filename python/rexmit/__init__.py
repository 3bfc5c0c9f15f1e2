"""A laboratory for TCP loss recovery.

    import rexmit

    run = rexmit.run("smoke", engine="model", settings={"network": "mobile"})
    trace = rexmit.trace("capture.pcapng")

`docs/library.ipynb` shows it at work; `help(rexmit.run)` and the others say the rest.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from rexmit.cluster.address import ClusterAddress
    from rexmit.errors import UserError as Error
    from rexmit.library.annotate import annotate, colorfilters
    from rexmit.library.bisect import bisect
    from rexmit.library.diff import diff, worse_than
    from rexmit.library.diff_packets import diff_packets, draw_packets
    from rexmit.library.doctor import doctor
    from rexmit.library.figures import plot, plot_points, save_figures
    from rexmit.library.flow import draw_flow, export_flow, open_flow, packet_script
    from rexmit.library.kernel_exec import kernel_exec
    from rexmit.library.kernels import add_kernel, build_kernel, list_kernels
    from rexmit.library.kselftest import kselftest
    from rexmit.library.opened import open_run
    from rexmit.library.packetdrill import packetdrill
    from rexmit.library.page import groups, page, why_empty
    from rexmit.library.report import report, report_table
    from rexmit.library.run import Campaign, run
    from rexmit.library.scenario import open_scenario
    from rexmit.library.series import series
    from rexmit.library.shortest import shortest_script
    from rexmit.library.stacks import list_stacks, stack
    from rexmit.library.tables import beside, bursts, overview, repairs, times
    from rexmit.library.tcpfilter import tcpfilter
    from rexmit.library.trace import select, trace
    from rexmit.library.watch import watch
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
    "annotate",
    "beside",
    "bisect",
    "build_kernel",
    "bursts",
    "colorfilters",
    "diff",
    "diff_packets",
    "doctor",
    "draw_flow",
    "draw_packets",
    "export_flow",
    "groups",
    "kernel_exec",
    "kselftest",
    "list_kernels",
    "list_stacks",
    "open_flow",
    "open_run",
    "open_scenario",
    "overview",
    "packet_script",
    "packetdrill",
    "page",
    "plot",
    "plot_points",
    "repairs",
    "report",
    "report_table",
    "run",
    "save_figures",
    "select",
    "series",
    "shortest_script",
    "stack",
    "tcpfilter",
    "times",
    "trace",
    "watch",
    "why_empty",
    "worse_than",
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
    "annotate": "annotate",
    "beside": "tables",
    "bisect": "bisect",
    "build_kernel": "kernels",
    "bursts": "tables",
    "colorfilters": "annotate",
    "diff": "diff",
    "diff_packets": "diff_packets",
    "doctor": "doctor",
    "draw_flow": "flow",
    "draw_packets": "diff_packets",
    "export_flow": "flow",
    "groups": "page",
    "kernel_exec": "kernel_exec",
    "kselftest": "kselftest",
    "list_kernels": "kernels",
    "list_stacks": "stacks",
    "open_flow": "flow",
    "open_run": "opened",
    "open_scenario": "scenario",
    "overview": "tables",
    "packet_script": "flow",
    "packetdrill": "packetdrill",
    "page": "page",
    "plot": "figures",
    "plot_points": "figures",
    "repairs": "tables",
    "report": "report",
    "report_table": "report",
    "run": "run",
    "save_figures": "figures",
    "select": "trace",
    "series": "series",
    "shortest_script": "shortest",
    "stack": "stacks",
    "tcpfilter": "tcpfilter",
    "times": "tables",
    "trace": "trace",
    "watch": "watch",
    "why_empty": "page",
    "worse_than": "diff",
}
"""The module of `rexmit.library` that each function is in."""


_MOVED: Final = {"differences_over": "worse_than", "figures": "plot", "live": "watch"}


def __getattr__(name: str) -> Any:  # noqa: ANN401 - whatever the name stands for
    # Not at import: the program sees to signals before it loads anything.
    if name == "__version__":
        from rexmit.version import version

        return version()
    from importlib import import_module

    from rexmit.additions import functions
    from rexmit.extras import told

    module, attribute = _ELSEWHERE.get(name, (f"rexmit.library.{_LIBRARY.get(name)}", name))
    if name not in __all__:
        if name in _MOVED:
            raise AttributeError(f"rexmit.{name} is now rexmit.{_MOVED[name]}")
        if name.startswith("_") or name not in functions():
            raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
        module = functions()[name]
    with told():
        return getattr(import_module(module), attribute)


def __dir__() -> list[str]:
    from rexmit.additions import functions

    return sorted([*globals(), *__all__, *functions()])

"""What is known of the conditions under which a connection was made."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rexmit.analysis.runner import runner
from rexmit.ladder.packet_script import Conditions
from rexmit.ladder.render import title

if TYPE_CHECKING:
    from rexmit.ladder.flow import Flow
    from rexmit.ladder.traced import Traced
    from rexmit.store.open_run import Run


def made_under(run: Run, flow: Flow) -> Conditions:
    """Of a transfer of a run: its scenario's settings, and who ran it. Raises ValueError where ICMP
    told the sender of its path's MTU.
    """
    scenario = run.meta.get("scenario") or {}
    network = (scenario.get("networks") or {}).get(flow.row["network"]) or {}
    if (network.get("path_mtu") or {}).get("icmp"):
        raise ValueError("ICMP told its sender of a smaller MTU, and a run's captures have no ICMP")
    ran = runner(run.meta)
    config = (scenario.get("configs") or {}).get(flow.row["config"]) or {}
    about = [f"{title(flow)}.", f"The server is the stack under test: {ran.words}."]
    if ran.engine == "model":
        about.append("The model sent these packets; a kernel may send others.")
    return Conditions(
        about=about,
        sysctls={name: str(value) for name, value in (config.get("sysctl") or {}).items()},
        congestion_control=flow.row["congestion_control"],
        tick_ns=1_000_000_000 // ran.hz if ran.hz else None,
    )


_ASSUMED = (
    "Assumed: settings are the kernel's own; what the program wrote ends with a PSH, and was there "
    "when it could be sent; times are the sender's."
)


def captured_under(traced: Traced) -> Conditions:
    """Of a connection of a capture: what it shows, and what has to be assumed. Raises ValueError
    where it was captured elsewhere than beside the sender.
    """
    side = traced.sides["backward" if traced.data_from_server else "forward"]
    sender = "server" if traced.data_from_server else "client"
    if traced.points is None and side["position"] in ("midway", "receiver"):
        raise ValueError(
            f"captured far from its {sender}: what that sent, and when, is not known; capture there"
        )
    return Conditions(
        about=[
            f"flow {traced.number}: {traced.row['flow']}.",
            f"The {sender} is the stack under test, by its packets: {side['stack'] or 'unknown'}.",
            "Options, window scale and initial sequence numbers are those of the SYNs captured.",
            _ASSUMED,
        ]
    )

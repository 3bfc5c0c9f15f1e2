"""Cases of bursts as data for programs."""

from __future__ import annotations

from typing import Any

from rexmit.analysis.bursts import Case, Cases
from rexmit.statistics.spread import spread_data


def cases_data(cases: Cases) -> list[dict[str, Any]]:
    """One entry a network, configuration and loss; times in seconds, delays in milliseconds."""
    return [_case(case, cases.delays_ms[case.network]) for case in cases.cases.values()]


def _case(case: Case, delays_ms: tuple[float, ...]) -> dict[str, Any]:
    return {
        "network": case.network,
        "delays_ms": list(delays_ms),
        "config": case.config,
        "loss": case.loss,
        "connections": case.connections,
        "used": case.connections - case.incomplete - case.inexact,
        "incomplete": case.incomplete,
        "inexact": case.inexact,
        "completion": {
            **spread_data(case.completion),
            "least_s": case.least_s,
            "most_s": case.most_s,
        },
        "every_burst": None
        if case.every is None
        else {
            **spread_data(case.every),
            "most_s": max(case.every.values),
        },
        "t_recover": spread_data(case.recover),
        "first_retransmission": [
            {"mechanism": retransmission.mechanism, "path": retransmission.path, "connections": n}
            for retransmission, n in case.first_retransmission
        ],
        "reinjected": case.reinjected,
        "reinjected_spuriously": case.reinjected_spuriously,
        "mptcp_retransmissions": case.mptcp_retransmissions,
        "probe_reinjections": case.probe_reinjections,
    }

"""The kernel's side of the cases on a cluster: each boot on some worker."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from rexmit.campaign.streams import core_streams
from rexmit.cluster import Call, LostError, Where
from rexmit.engines.kernel import KernelEngine
from rexmit.engines.on_cluster import make_calls
from rexmit.engines.on_worker import on_a_core, own
from rexmit_validate.agree.case import Case
from rexmit_validate.agree.kernel import batches, run_batch
from rexmit_validate.agree.outcome import Outcome


def run(
    cases: Mapping[int, Case],
    engine: KernelEngine,
    cluster: Where,
    *,
    on_outcome: Callable[[int, Outcome], None],
) -> None:
    """Run the cases by number on the cluster at an address: the outcomes of one machine.
    `on_outcome` is called for each, those of a boot together when it ends. Raises UserError.
    """
    by_name = {str(number): batch for number, batch in enumerate(batches(cases))}

    def answer(call: Call, given: Any) -> None:  # noqa: ANN401 - see Cluster.run
        if isinstance(given, LostError):
            given = [(number, {"error": str(given)}) for number in by_name[call.name]]
        elif isinstance(given, Exception):
            raise given
        for number, outcome in given:
            on_outcome(number, outcome)

    calls = [Call(name, run_boot, (batch, engine)) for name, batch in by_name.items()]
    make_calls(cluster, engine, calls, answer)


def run_boot(
    batch: Mapping[int, Case], engine: KernelEngine, archives: Sequence[bytes] = ()
) -> list[tuple[int, Outcome]]:
    """What a worker does: runs the cases of a boot. Raises UserError as `on_worker.own` does."""
    here = own(engine, archives)
    outcomes: list[tuple[int, Outcome]] = []

    def report(number: int, outcome: Outcome) -> None:
        outcomes.append((number, outcome))

    with on_a_core() as core:
        run_batch(batch, here, core_streams(), core=core, report=report, end=lambda: False)
    return outcomes

"""A scenario as plain data (numbers and text with units) for run.json, every default filled in."""

from __future__ import annotations

from typing import Any

from rexmit.scenario.model import Pages, Scenario


def effective(scenario: Scenario) -> dict[str, Any]:
    """The whole scenario as plain data with units as text, in the order of the file; `from_plain`
    reads it back.
    """
    work = scenario.workload
    if isinstance(work, Pages) and not work.segments and not work.size:
        work = work.model_copy(
            update={"segments": tuple(page.segments or 0 for page in work.pages)}
        )
    filled = scenario.model_copy(
        update={
            "network": scenario.network_names,
            "config": scenario.config_names,
            "workload": work,
        }
    )
    return filled.model_dump(mode="json", exclude_none=True)

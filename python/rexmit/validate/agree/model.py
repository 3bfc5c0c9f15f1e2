"""The model's side of the cases."""

from __future__ import annotations

import json
from collections.abc import Callable

from rexmit.campaign.streams import Streams
from rexmit.interrupt import Interrupted
from rexmit.validate.agree.case import Case, plan
from rexmit.validate.agree.outcome import Outcome, note

RunModel = Callable[[str, str | None], str]
"""See `rexmit._core.run_model`."""


def run(case: Case, run_model: RunModel, streams: Streams, *, stack: str, hz: int) -> Outcome:
    """What the model makes of the case, in the form of a kernel's outcome."""
    whole = plan({0: case}, streams, hz=hz, programs={})
    (cell,) = whole["cells"]
    cell |= {"stack": {"name": stack, "hz": hz, "set": {}}, "seed": case.seed}
    try:
        text = run_model(json.dumps(whole), None)
    except BaseException as error:
        # A panic of the machines is a disagreement too, and no end of the comparison.
        if isinstance(error, KeyboardInterrupt | SystemExit | Interrupted):
            raise
        return {"error": f"{type(error).__name__}: {error}"}
    found: Outcome = {}
    for line in text.splitlines():
        note(found, json.loads(line))
    return found

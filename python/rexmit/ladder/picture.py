"""What is drawn of a connection over time, whoever draws it."""

from __future__ import annotations

from dataclasses import dataclass

from rexmit.ladder.steps import Step


@dataclass(frozen=True)
class Picture:
    """The data of one side and the other's acknowledgements."""

    title: str
    steps: tuple[Step, ...]
    data_from_server: bool
    start_ns: int = 0
    """To which the steps' times are added; of a capture since 1970."""

    def at_ns(self, step: Step) -> int:
        """When the sender of the data sent a packet, or saw it, as far as that is known."""
        return step.at_ns(from_server=self.data_from_server)

    def is_data(self, step: Step) -> bool:
        """Whether it is of that sender."""
        return step.from_server == self.data_from_server

    def in_order(self) -> list[Step]:
        """The packets in the order of that sender's clock, but for what never came to it."""
        there = (step for step in self.steps if self.is_data(step) or not _is_gone(step))
        return sorted(there, key=self.at_ns)

    def shift(self) -> int | None:
        """By how many bits the windows of the data's receiver are shifted (RFC 7323, section 2.2);
        None where the SYNs that say it are not there.
        """
        offers = {step.from_server: step.window_scale for step in self.steps if "SYN" in step.flags}
        if len(offers) < 2:
            return None
        ours, theirs = offers[self.data_from_server], offers[not self.data_from_server]
        return 0 if ours is None or theirs is None else min(theirs, 14)


def _is_gone(step: Step) -> bool:
    return step.lost or step.dropped

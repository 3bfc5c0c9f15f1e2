"""Scenarios: a campaign written down in a TOML file, read and checked."""

from rexmit.scenario.find import find
from rexmit.scenario.load import from_plain, load
from rexmit.scenario.loss import PatternLoss
from rexmit.scenario.model import Bursts, Config, Page, Pages, Scenario
from rexmit.scenario.network import LinkSpec, Network
from rexmit.scenario.part import refused
from rexmit.scenario.plain import effective

__all__ = [
    "Bursts",
    "Config",
    "LinkSpec",
    "Network",
    "Page",
    "Pages",
    "PatternLoss",
    "Scenario",
    "effective",
    "find",
    "from_plain",
    "load",
    "refused",
]

"""Scenarios: a campaign written down in a TOML file, read and checked."""

from rexmit.scenario.find import find
from rexmit.scenario.load import from_plain, load
from rexmit.scenario.model import Config, LinkSpec, Network, Page, Scenario

__all__ = ["Config", "LinkSpec", "Network", "Page", "Scenario", "find", "from_plain", "load"]

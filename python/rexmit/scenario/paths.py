"""What names a path or a burst, and whether the scenario has it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from math import inf

from rexmit.scenario.model import Bursts, Config, Pages, Scenario, pages
from rexmit.scenario.problem import Problem


def problems(scenario: Scenario) -> Iterator[Problem]:
    """Every name of a path or burst that is not there, and what some paths do not bear."""
    for name, config in scenario.configs.items():
        yield from _config(scenario, name, config)
    yield from _patterns(scenario)
    over_mptcp = any(scenario.configs[name].protocol == "mptcp" for name in scenario.configs)
    if scenario.loss.mode == "hold" and (over_mptcp or isinstance(scenario.workload, Bursts)):
        yield Problem(
            ("loss", "mode"), "only a page over TCP has a FIN to hold for", 'write "sequence"'
        )


def _config(scenario: Scenario, name: str, config: Config) -> Iterator[Problem]:
    for network, there in scenario.networks.items():
        paths = there.path_count
        if config.protocol == "mptcp" and paths < 2:
            yield Problem(
                ("configs", name, "protocol"),
                f"Multipath TCP needs two paths, network {network} has {paths}",
                'add a path, or write protocol = "tcp"',
            )
        if config.path > paths:
            yield Problem(
                ("configs", name, "path"),
                f"there is no path {config.path}, network {network} has {paths}",
                f"a number from 1 to {paths}",
            )
    work = scenario.workload
    if config.protocol == "mptcp" and isinstance(work, Pages) and work.client != ("builtin",):
        yield Problem(
            ("workload", "client"),
            f"only the built-in client speaks Multipath TCP, as configuration {name} does",
            '"builtin"',
        )


def _patterns(scenario: Scenario) -> Iterator[Problem]:
    """Patterns in their printed form that name what there is not."""
    # Of names that are not there is told elsewhere.
    networks = [one for name, one in scenario.networks.items() if name in scenario.network_names]
    configs = [one for name, one in scenario.configs.items() if name in scenario.config_names]
    paths = min((network.path_count for network in networks), default=0)
    work = scenario.workload
    bursts = work.bursts if isinstance(work, Bursts) else 1
    of_tcp = {config.path for config in configs if config.protocol == "tcp"}
    patterns = scenario.loss.patterns
    longest = _longest_page(scenario) if all(one.protocol == "tcp" for one in configs) else inf
    for index, pattern in enumerate(patterns):
        alone = len(patterns) == 1
        at: tuple[str | int, ...] = ("loss", "pattern") if alone else ("loss", "pattern", index)
        if re.search(r"\bfin\b", pattern):
            if isinstance(work, Bursts):
                yield Problem(at, f'"{pattern}": bursts have no FIN', "name positions")
            elif any(config.protocol == "mptcp" for config in configs):
                yield Problem(
                    at,
                    f'"{pattern}": data of Multipath TCP have no FIN of their own',
                    "name positions",
                )
        beyond_page = [position for position in _positions(pattern) if position > longest]
        if beyond_page:
            yield Problem(
                at,
                f'"{pattern}": a page of {longest:.0f} segments has no segment {beyond_page[0]}',
                f"name positions from 1 to {longest:.0f}, or make the page longer "
                "(workload.segments)",
            )
        named = {
            what: {int(number) for number in re.findall(rf"\b{what} ([0-9]+)", pattern)}
            for what in ("path", "burst")
        }
        for what, most in (("path", paths), ("burst", bursts)):
            beyond = sorted(number for number in named[what] if number > most)
            if beyond and most:
                yield Problem(
                    at, f'"{pattern}": there is no {what} {beyond[0]}', f"{what}s here: 1 to {most}"
                )
        for own in sorted(of_tcp):
            others = sorted(named["path"] - {own})
            if others and others[0] <= paths:
                yield Problem(
                    at,
                    f'"{pattern}": path {others[0]}, and TCP goes on path {own} alone',
                    "name the path of the configurations with TCP, or leave these out",
                )


def _positions(pattern: str) -> list[int]:
    """The positions of data that a pattern in its printed form names, from either end; of a range
    the nearest to that end, since one may name all there are by a range that is long enough."""
    data = re.findall(r"\bdata ([^;]*)", re.sub(r"#[0-9.]+", "", pattern))
    parts = [part.split("..") for one in data for part in one.split() if not part[-1:].isalpha()]
    return [min(abs(int(number)) for number in part) for part in parts]


def _longest_page(scenario: Scenario) -> float:
    """Segments of the longest page of the grid; no bound where that is not said in segments, as of
    bursts, whose packets over Multipath TCP are not full."""
    if not isinstance(scenario.workload, Pages):
        return inf
    there = [*scenario.workload.pages]
    for vary in scenario.vary:
        there += pages(vary.segments, vary.size)
    return max(inf if page.segments is None else page.segments for page in there)

"""All findings, by name."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from scripts.findings import (
    mptcp_2017,
    mptcp_2017_tables,
    mptcp_tails,
    mptcp_tails_tables,
    other_seeds,
    other_seeds_tables,
    results,
    tlp_2013,
    tlp_2013_today,
    tlp_further,
    tlp_nearest,
    tlp_tables,
    tlp_today,
    tlp_today_tables,
    unc_2007,
    unc_tables,
)
from scripts.findings.documents import Source
from scripts.findings.finding import Finding

_ALL: Final = (
    Finding("tlp-2013", "minutes", tlp_2013.CODE, tlp_2013.measure, tlp_tables.BENCH),
    Finding(
        "tlp-2013-nearest",
        "hours",
        tlp_nearest.CODE,
        tlp_nearest.measure,
        tlp_tables.NEAREST,
        tlp_nearest.sample,
    ),
    Finding(
        "tlp-2013-today",
        "hours",
        tlp_2013_today.CODE,
        tlp_2013_today.measure,
        tlp_tables.TODAY,
        tlp_2013_today.sample,
    ),
    Finding(
        "tlp-today",
        "hours",
        tlp_today.CODE,
        tlp_today.measure,
        tlp_today_tables.TABLES,
        tlp_today.sample,
    ),
    Finding(
        "tlp-further",
        "hours",
        tlp_further.CODE,
        tlp_further.measure,
        tlp_tables.FURTHER,
        tlp_further.sample,
    ),
    Finding(
        "mptcp-2017",
        "hours",
        mptcp_2017.CODE,
        mptcp_2017.measure,
        mptcp_2017_tables.TABLES,
        mptcp_2017.sample,
    ),
    Finding(
        "mptcp-tails",
        "minutes",
        mptcp_tails.CODE,
        mptcp_tails.measure,
        mptcp_tails_tables.TABLES,
    ),
    Finding(
        "unc-2007",
        "hours",
        unc_2007.CODE,
        unc_2007.measure,
        unc_tables.TABLES,
        unc_2007.sample,
    ),
    Finding(
        "other-seeds",
        "hours",
        other_seeds.CODE,
        other_seeds.measure,
        other_seeds_tables.TABLES,
        other_seeds.sample,
    ),
)

FINDINGS: Final[Mapping[str, Finding]] = {one.name: one for one in _ALL}


def sources() -> dict[str, Source]:
    """What documents are made of: the results that are there."""
    there = (one for one in FINDINGS.values() if results.path(one.name).exists())
    return {one.name: Source(results.read(one.name).data, one.tables) for one in there}

"""What a verb is told: by keywords, or by an object that is made and checked once."""

from __future__ import annotations

import inspect
import pickle
import re
from collections.abc import Callable
from dataclasses import FrozenInstanceError, dataclass, fields
from pathlib import Path
from typing import Any

import pytest
from polars.testing import assert_frame_equal

import rexmit
from rexmit.library.run import Keywords as CampaignKeywords
from rexmit.options import as_typed
from rexmit.tracing.options import Keywords as AnalysisKeywords

CAPTURE = Path(__file__).parents[1] / "real/captures/dcerpc.pcap"

# It compiles filters.
LIBPCAP = pytest.mark.tools


def test_an_object_says_what_keywords_say() -> None:
    analysis = rexmit.Analysis(whatif=["min_rto=1s"], stacks=["linux-6"], jobs=1)
    by_object = rexmit.trace(CAPTURE, analysis)
    by_keywords = rexmit.trace(CAPTURE, whatif=["min_rto=1s"], stacks=["linux-6"], jobs=1)
    assert by_object.facts == by_keywords.facts
    assert by_object.facts.named == ["min_rto=1s"]
    for table in ("connections", "sides", "retransmissions", "whatif"):
        assert_frame_equal(by_object.scan(table).collect(), by_keywords.scan(table).collect())


def test_keywords_change_an_object() -> None:
    analysis = rexmit.Analysis(whatif=["min_rto=1s"], stacks=["linux-6"])
    changed = rexmit.trace(CAPTURE, analysis, stacks=["linux-2.4"])
    assert changed.facts.named == ["min_rto=1s"]
    assert changed.facts.stacks == rexmit.trace(CAPTURE, stacks=["linux-2.4"]).facts.stacks


def test_it_stays_as_it_was_checked() -> None:
    words = ["min_rto=1s"]
    analysis = rexmit.Analysis(whatif=words)
    words.append("no such setting")
    assert analysis.whatif == ("min_rto=1s",)
    with pytest.raises(FrozenInstanceError):
        analysis.jobs = -1  # type: ignore[misc]
    assert pickle.loads(pickle.dumps(analysis)) == analysis  # noqa: S301 - it was written here


@pytest.mark.parametrize(
    ("keywords", "what"),
    [
        ({"jobs": 0}, "`jobs=0`"),
        ({"connections_limit": 15}, "`connections_limit=15`"),
        ({"connections_limit": 2**63}, f"`connections_limit={2**63}`"),
        ({"stacks": ["none-such"]}, "`stacks`: "),
        ({"whatif": ["none-such"]}, "`whatif`: "),
        pytest.param(
            {"capture_filter": "none such"}, "`capture_filter` none such: ", marks=LIBPCAP
        ),
        ({"resume": True}, "`resume` needs `cluster`"),
        ({"cluster": "local:2", "points": ["a", "b"]}, "`points` are not followed on a cluster"),
        pytest.param(
            {"cluster": "local:2", "capture_filter": "tcp"},
            "`capture_filter` does not go with `cluster`",
            marks=LIBPCAP,
        ),
    ],
)
def test_what_is_wrong_is_said_before_anything_is_read(keywords: dict[str, Any], what: str) -> None:
    with pytest.raises(rexmit.Error) as made:
        rexmit.Analysis(**keywords)
    with pytest.raises(rexmit.Error) as called:
        rexmit.trace("there-is-none.pcap", **keywords)
    assert str(made.value) == str(called.value)
    assert str(made.value).startswith(what)
    assert made.value.usage


@pytest.mark.parametrize("name", ["points", "cluster", "resume", "replace"])
def test_what_another_verb_alone_knows_is_refused(name: str, tmp_path: Path) -> None:
    values = {"points": ["a", "b"], "cluster": "local:2", "resume": True, "replace": True}
    keywords: dict[str, Any] = {name: values[name]}
    if name == "resume":
        keywords["cluster"] = "local:2"
    analysis = rexmit.Analysis(**keywords)
    with pytest.raises(rexmit.Error, match=f"`{name}`|`cluster`"):
        rexmit.watch("-", analysis, out=tmp_path / "out", rotation=rexmit.Rotation(rotate="1h"))
    if name != "replace":
        with pytest.raises(rexmit.Error, match="is not for what has no end"):
            rexmit.watch("none-such", analysis)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("keywords", "what"),
    [
        ({"engine": "none-such"}, "there is no engine none-such"),
        ({"hz": 100}, "`hz` belongs to `engine='model'`"),
        ({"engine": "model", "kernel": "6.1"}, "`kernel` belongs to `engine='kernel'`"),
        ({"seed": -1}, "`seed=-1`"),
        ({"jobs": 1_000_000}, "`jobs` 1000000: more than"),
    ],
)
def test_a_campaign_is_checked_when_it_is_made(keywords: dict[str, Any], what: str) -> None:
    with pytest.raises(rexmit.Error) as made:
        rexmit.Campaign(**keywords)
    with pytest.raises(rexmit.Error) as called:
        rexmit.run("none-such", **keywords)
    assert str(made.value) == str(called.value)
    assert str(made.value).startswith(what)


def test_a_campaign_is_run_by_object_or_keywords(tmp_path: Path) -> None:
    settings = {"network": "mobile", "repeat": 2}
    campaign = rexmit.Campaign(engine="model", settings=settings, seed=3)
    assert campaign.settings == ("network=mobile", "repeat=2")
    one = rexmit.run("smoke", campaign, out=tmp_path / "one")
    other = rexmit.run("smoke", engine="model", settings=settings, seed=3, out=tmp_path / "other")
    assert one.meta["command"] == other.meta["command"]
    assert one.meta["tables"] == other.meta["tables"]


@pytest.mark.parametrize(
    ("options", "keywords", "function"),
    [
        (rexmit.Analysis, AnalysisKeywords, rexmit.trace),
        (rexmit.Campaign, CampaignKeywords, rexmit.run),
    ],
)
def test_every_option_is_a_keyword(
    options: type, keywords: type, function: Callable[..., object]
) -> None:
    declared = {one.name: one.type for one in fields(options)}
    assert {name: kind.__forward_arg__ for name, kind in keywords.__annotations__.items()} == (
        declared
    )
    parameters = inspect.signature(function).parameters
    for one in fields(options):
        assert parameters[one.name].default == one.default
    assert not any(one.kind is one.VAR_KEYWORD for one in parameters.values())


@pytest.mark.parametrize(
    ("keywords", "what"),
    [
        ({"rotate": "5"}, "`rotate` takes a time or a size"),
        ({"rotate": "1h", "keep": "soon"}, "`keep` soon: no time, size or number"),
        ({"rotate": "1h", "metrics_address": "x"}, "`metrics_address` x: no address and port"),
    ],
)
def test_a_rotation_is_checked_when_it_is_made(keywords: dict[str, Any], what: str) -> None:
    with pytest.raises(rexmit.Error, match=re.escape(what)) as made:
        rexmit.Rotation(**keywords)
    assert made.value.usage


def test_what_is_typed_becomes_options_by_name() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Command:
        seed: int = 7
        other: int = 1

    @dataclass(frozen=True, kw_only=True)
    class Options:
        seed: int = 1
        settings: tuple[str, ...] = ()

    assert as_typed(Options, Command(), settings=("a=1",)) == Options(seed=7, settings=("a=1",))
    with pytest.raises(AttributeError, match="settings"):
        as_typed(Options, Command())


def test_what_has_no_end_takes_some_of_them() -> None:
    assert {"points", "cluster", "resume"} & set(
        inspect.signature(rexmit.watch).parameters
    ) == set()

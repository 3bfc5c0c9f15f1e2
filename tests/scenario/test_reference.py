"""What each key says of itself is so: its examples, its lists and its default; and the examples of
the documentation work.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest
from pydantic import BaseModel

from rexmit.campaign.plan import network_plan
from rexmit.errors import UserError
from rexmit.scenario import Bursts, Config, Pages, Scenario, effective, from_plain, load
from rexmit.scenario.aqm import OF_AQM, Aqm
from rexmit.scenario.loss import PatternLoss, TailLoss
from rexmit.scenario.model import Ip, Tcp, Vary
from rexmit.scenario.network import (
    Link,
    LinkedNetwork,
    LossBursts,
    PathMtu,
    PathNetwork,
    Policer,
    Stalls,
    Up,
)
from rexmit.scenario.offload import Offload
from rexmit.scenario.part import obedience
from rexmit.scenario.route import Route

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "scenarios.md").read_text(
    encoding="utf-8"
)

SECTIONS: dict[str, tuple[type[BaseModel], ...]] = {
    "top": (Scenario,),
    "networks": (LinkedNetwork, PathNetwork),
    "links": (Link,),
    "up": (Up,),
    "loss_bursts": (LossBursts,),
    "stalls": (Stalls,),
    "policer": (Policer,),
    "path_mtu": (PathMtu,),
    "aqm": (Aqm,),
    "configs": (Config,),
    "tcp": (Tcp,),
    "workload": (Pages, Bursts),
    "ip": (Ip,),
    "loss": (TailLoss, PatternLoss),
    "offload": (Offload,),
    "route": (Route,),
    "vary": (Vary,),
}


def plain_trace(text: str) -> dict[str, str]:
    """A trace as run.json has it."""
    return {"mean": "3Mbit", "lasts": "12ms", "opportunities": text}


LIKE: Final = re.compile(r'like ("[^"]*"|\d+|\{.*?\})')

EXAMPLES: Final[dict[str, Any]] = {
    "title": "A first look",
    "seed": 7,
    "network": "mobile",
    "config": "tlp",
    "repeat": 20,
    "queue": 50,
    "at": "host",
    "links": [{"rate": "10Mbit"}, {"rate": "1Mbit"}],
    "paths": [{"delay": "20ms"}, {"delay": "30ms"}],
    "about": "without the probe",
    "protocol": "mptcp",
    "path": 2,
    "leave_out": ["not-probed"],
    "server": "nginx",
    "client": "curl",
    "bursts": 2,
    "tcp_nopush": False,
    "fast_open": True,
    "warm_up": 100,
    "family": 6,
    "mtu": 1280,
    "bytes": 1400,
    "rule": "tail",
    "mode": "hold",
    "checksum": True,
    "scatter_gather": False,
    "offload": {"checksum": True},
    "route": {"initcwnd": 30},
    "http": "1.1+tls",
    "qdisc": "fq",
    "initcwnd": 30,
    "initrwnd": 30,
    "quickack": True,
    "vary": [{"line_loss": "1%"}],
    "rate_from": plain_trace("3x2 9"),
    "kind": "pie",
    "ecn": True,
}
"""Of keys whose description has none."""

OF_VARY: Final = {
    "segments": 10,
    "size": "10kB",
    "receive_window": "8kB",
    "congestion_control": "bbr",
}


ELSEWHERE: Final = {
    "top": ("format", "networks", "configs", "tcp", "workload", "ip", "loss"),
    "offload": ("segmentation",),  # it needs both of the others: tests/scenario/test_offload.py
    "path_mtu": ("icmp",),  # the model has none: tests/lab/test_lines.py
    "workload": ("server_think",),  # it needs `request`: tests/scenario/test_paths.py
}
"""Keys that no example is of by itself."""


def examples(section: str) -> Iterator[tuple[str, Any, bool]]:
    """Of each key of a table a value, and whether it says that it takes a list."""
    fields: dict[str, str] = {}
    for table in SECTIONS[section]:
        for name, field in table.model_fields.items():
            fields.setdefault(name, str(field.description))
    for name, text in fields.items():
        if name not in ELSEWHERE.get(section, ()):
            like = LIKE.search(text)
            if section == "vary" and name in OF_VARY:
                value, takes_list = OF_VARY[name], True
            elif like is not None and name not in EXAMPLES:
                value = tomllib.loads(f"x = {like[1]}")["x"]
                takes_list = "list" in text and not text.startswith("a table")
            else:
                value, takes_list = (
                    EXAMPLES[name],
                    re.search("list(?! of t(?:ables|wo))", text) is not None,
                )
            yield name, value, takes_list or (section == "vary" and name == "client")


IN_TABLES: Final[dict[str, dict[str, Any]]] = {
    "loss_bursts": {"to_bad": "2%", "to_good": "50%"},
    "stalls": {"every": "3s", "least": "1ms", "most": "300ms"},
    "policer": {"rate": "1Mbit", "burst": "2kB"},
    "path_mtu": {"bytes": 1300},
    "aqm": {"kind": "codel"},
}
"""Tables whose keys must be given, with other values than the examples."""

OF_BURSTS = ("paths", "protocol", "path", *(Bursts.model_fields.keys() - Pages.model_fields.keys()))


def with_example(section: str, data: dict[str, Any], *, burst: bool = False) -> dict[str, Any]:
    """A whole scenario, of pages or of bursts, that has these keys in that place."""
    network: dict[str, Any] = {"rate": "3Mbit", "delay": "2ms"}
    whole: dict[str, Any] = {"format": 1, "configs": {"er": {}, "tlp": {}}}
    if burst:
        network["paths"] = [{}, {}]
        length = {} if "burst_size" in data else {"burst_segments": 80}
        whole["workload"] = {"server": "burst", **length}
        whole["loss"] = {"rule": "pattern", "pattern": "none"}
    names = ("high-speed", "mobile", "satellite")
    whole["networks"] = {name: dict(network) for name in names}
    mobile = whole["networks"]["mobile"]
    if section == "networks" and "rate_from" in data:
        del mobile["rate"]
    if "http" in data:
        whole["workload"] = {"client": "curl"}
    match section:
        case "top":
            whole |= data
        case "networks":
            mobile |= data
        case "links":
            mobile["links"] = [data, {}]
        case "up":
            mobile["up"] = data
        case "aqm" if not data.keys() <= {"kind", "ecn"}:
            kind = next(kind for kind, keys in OF_AQM.items() if data.keys() <= {*keys})
            mobile["aqm"] = {"kind": kind} | data
        case "loss_bursts" | "stalls" | "policer" | "path_mtu" | "aqm":
            mobile[section] = IN_TABLES[section] | data
        case "configs":
            whole["configs"]["tlp"] |= data
        case "loss":
            rule = {"rule": "pattern"} if "pattern" in data else {}
            whole["loss"] = rule | data
        case "vary":
            whole["vary"] = [{"line_loss": "3%"} | data]
        case table:
            whole[table] = whole.get(table, {}) | data
    return whole


HOLD_ANYWAY: Final = {
    ("workload", "server"),  # the usual one, or of "burst", which has every key that pages have not
    ("workload", "burst_segments"),  # a scenario of bursts has to have it
    ("loss", "rule"),  # of "pattern" is the key `pattern`
}
"""Keys whose example changes nothing in `with_example`."""


@pytest.mark.parametrize("section", SECTIONS)
def test_the_plain_form_keeps_every_key(section: str) -> None:
    """A key that it lost would make one run of two different ones."""
    for name, value, _ in examples(section):
        burst = name in OF_BURSTS
        plain = effective(from_plain(with_example(section, {name: value}, burst=burst)))
        without = effective(from_plain(with_example(section, {}, burst=burst)))
        assert (plain == without) == ((section, name) in HOLD_ANYWAY), name
        assert effective(from_plain(json.loads(json.dumps(plain)))) == plain, name


@pytest.mark.parametrize("engine", ["kernel", "live", "model"])
@pytest.mark.parametrize("section", SECTIONS)
def test_an_engine_refuses_what_the_schema_says_and_nothing_else(section: str, engine: str) -> None:
    for name, value, _ in examples(section):
        burst = name in OF_BURSTS
        data = with_example(section, {name: value}, burst=burst)
        assert from_plain(data), name
        if burst and engine == "live":
            with pytest.raises(UserError) as caught:
                from_plain(data, engine=engine)
            assert "live links carry pages" in caught.value.text()
            continue
        tables = (table for table in SECTIONS[section] if name in table.model_fields)
        (there,) = {obedience(table, name) for table in tables if burst or table is not Bursts}
        if there is None or engine in there.engines:
            assert from_plain(data, engine=engine), name
            continue
        with pytest.raises(UserError, match=f"({name}|{section}).*: {there.why}$") as caught:
            from_plain(data, engine=engine)
        assert f"engine='{there.engines[0]}'" in str(caught.value.hint)


def test_what_is_done_anyway_may_be_said() -> None:
    data = with_example("offload", {"checksum": True, "segmentation": False})
    assert from_plain(data, engine="live").offload.segmentation is False
    data["offload"]["segmentation"] = True
    with pytest.raises(UserError, match=r"offload\.segmentation: a TUN device hands out single"):
        from_plain(data, engine="live")


@pytest.mark.parametrize("section", ["networks", "links", "up", *IN_TABLES])
def test_every_key_of_a_link_reaches_the_engines(section: str) -> None:
    for name, value, _ in examples(section):
        if name in ("repeat", "paths"):
            continue
        with_it, without = (
            network_plan(from_plain(with_example(section, data)), "mobile")
            for data in ({name: value}, {})
        )
        assert with_it != without, name


@pytest.mark.parametrize("section", SECTIONS)
def test_lists_are_taken_where_keys_say_so(section: str) -> None:
    for name, value, takes_list in examples(section):
        if name in ("links", "paths", "leave_out", "vary"):
            continue
        several = with_example(section, {name: [value]}, burst=name in OF_BURSTS)
        if takes_list:
            from_plain(several)
        else:
            with pytest.raises(Exception, match=name):
                from_plain(several)


def test_the_whole_example_and_every_set_work(tmp_path: Path) -> None:
    example, *more = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    file = tmp_path / "example.toml"
    cable, stack, burst = more
    file.write_text(example + cable + stack, encoding="utf-8")
    assert load(file).stack
    file.write_text(f"format = 1\n{burst}", encoding="utf-8")
    assert load(file).configs["new"].protocol == "mptcp"
    file.write_text(example, encoding="utf-8")
    assert load(file).network_names == ("high-speed", "mobile")
    (block,) = re.findall(r"```sh\n(.*?)```", TEXT, re.DOTALL)
    settings = re.findall(r"--set (?:'([^']*)'|(\S+))", block)
    given = [quoted or bare for quoted, bare in settings]
    assert len(given) == 13
    for place, setting in enumerate(given):
        # Each works on what those before it made.
        load(file, given[: place + 1])
        assert "=" in setting

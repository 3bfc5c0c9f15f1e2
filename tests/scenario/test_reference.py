"""The reference of scenario files says what the model says, and its examples work."""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from rexmit.scenario import Bursts, Config, Pages, Scenario, effective, from_plain, load
from rexmit.scenario.loss import PatternLoss, TailLoss
from rexmit.scenario.model import Ip, Tcp, Vary
from rexmit.scenario.network import Link, LinkedNetwork, PathNetwork

TEXT = (Path(__file__).resolve().parents[2] / "docs" / "reference" / "scenarios.md").read_text(
    encoding="utf-8"
)

SECTIONS: dict[str, tuple[type[BaseModel], ...]] = {
    "The top of the file": (Scenario,),
    "`[networks.NAME]`": (LinkedNetwork, PathNetwork),
    "Entries of `links` and `paths`": (Link,),
    "`[configs.NAME]`": (Config,),
    "`[tcp]`": (Tcp,),
    "`[workload]`": (Pages, Bursts),
    "`[ip]`": (Ip,),
    "`[loss]`": (TailLoss, PatternLoss),
    "`[[vary]]`": (Vary,),
}


def rows(section: str) -> list[list[str]]:
    """The rows of the section's table of keys: key, what, default, list, example."""
    text = TEXT.split(f"## {section}\n")[1].split("\n## ")[0]
    cells = [line.strip("| ").split(" | ") for line in text.splitlines() if line.startswith("| `")]
    assert all(len(row) == 5 for row in cells)
    return cells


OF_BURSTS = ("paths", "protocol", "path", *(Bursts.model_fields.keys() - Pages.model_fields.keys()))


def with_example(section: str, data: dict[str, Any], *, burst: bool = False) -> dict[str, Any]:
    """A whole scenario, of pages or of bursts, that has these keys in that place."""
    network: dict[str, Any] = {"rate": "1Mbit", "delay": "1ms"}
    whole: dict[str, Any] = {"format": 1, "configs": {"er": {}, "tlp": {}}}
    if burst:
        network["paths"] = [{}, {}]
        length = {} if "burst_size" in data else {"burst_segments": 80}
        whole["workload"] = {"server": "burst", **length}
        whole["loss"] = {"rule": "pattern", "pattern": "none"}
    names = ("high-speed", "mobile", "satellite")
    whole["networks"] = {name: dict(network) for name in names}
    mobile = whole["networks"]["mobile"]
    match section.strip("`[]"):
        case "The top of the file":
            whole |= data
        case "networks.NAME":
            mobile |= data
        case "Entries of `links` and `paths":
            mobile["links"] = [data, {}]
        case "configs.NAME":
            whole["configs"]["tlp"] |= data
        case "loss":
            rule = {"rule": "pattern"} if "pattern" in data else {}
            whole["loss"] = rule | data
        case "vary":
            whole["vary"] = [{"line_loss": "3%"} | data]
        case table:
            whole[table] = whole.get(table, {}) | data
    return whole


@pytest.mark.parametrize("section", SECTIONS)
def test_every_key_is_there(section: str) -> None:
    keys = {key for table in SECTIONS[section] for key in table.model_fields}
    there = [row[0].strip("`") for row in rows(section)]
    assert sorted(there) == sorted(keys)


HOLD_ANYWAY = {
    ("The top of the file", "format"),  # there is one
    ("`[workload]`", "server"),  # of "burst" is every key that pages do not have
    ("`[workload]`", "burst_segments"),  # a scenario of bursts has to have it
    ("`[loss]`", "rule"),  # of "pattern" is the key `pattern`
}
"""Keys whose example changes nothing in `with_example`."""

IN_SECTIONS = ("networks", "configs", "tcp", "workload", "ip", "loss")
WITHOUT_EXAMPLE: dict[str, Any] = {
    "offload": {"checksum": True},
    "stack": {"min_rto": "100ms"},
    "vary": [{"line_loss": "1%"}],
}


@pytest.mark.parametrize("section", SECTIONS)
def test_the_plain_form_keeps_every_key(section: str) -> None:
    """A key that it lost would make one run of two different ones."""
    for key, _, _, _, example in rows(section):
        name = key.strip("`")
        if name in IN_SECTIONS:
            continue
        given = {name: WITHOUT_EXAMPLE[name]} if name in WITHOUT_EXAMPLE else None
        given = given or tomllib.loads(example.strip("`"))
        burst = name in OF_BURSTS
        plain = effective(from_plain(with_example(section, given, burst=burst)))
        without = effective(from_plain(with_example(section, {}, burst=burst)))
        assert (plain == without) == ((section, name) in HOLD_ANYWAY), name
        assert effective(from_plain(json.loads(json.dumps(plain)))) == plain, name


@pytest.mark.parametrize("section", SECTIONS)
def test_examples_defaults_and_lists_are_right(section: str) -> None:
    for key, _, default, may_be_list, example in rows(section):
        if example == "see below":
            continue
        ((name, value),) = tomllib.loads(example.strip("`")).items()
        assert name == key.strip("`")
        burst = name in OF_BURSTS
        from_plain(with_example(section, {name: value}, burst=burst))
        if name in ("links", "paths"):
            continue
        one = value[0] if isinstance(value, list) else value
        if may_be_list == "yes":
            from_plain(with_example(section, {name: [one]}))
        else:
            with pytest.raises(Exception, match=name):
                from_plain(with_example(section, {name: [one]}, burst=burst))
        # A default that is a value is the one that is taken.
        if re.fullmatch(r"`\".*\"`|[0-9]+", default):
            given = tomllib.loads(f"{name} = {default.strip('`')}")
            assert effective(from_plain(with_example(section, given, burst=burst))) == effective(
                from_plain(with_example(section, {}, burst=burst))
            )


def test_the_whole_example_and_every_set_work(tmp_path: Path) -> None:
    example, *more = re.findall(r"```toml\n(.*?)```", TEXT, re.DOTALL)
    file = tmp_path / "example.toml"
    stack, burst = more
    file.write_text(example + stack, encoding="utf-8")
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

"""What links that are a program do not carry is refused when a scenario is read for a kernel."""

from __future__ import annotations

from typing import Any

import pytest

from rexmit.errors import UserError
from rexmit.scenario import from_plain

BASE: dict[str, Any] = {
    "format": 1,
    "networks": {"line": {"rate": "1Mbit", "delay": "5ms"}},
    "configs": {"one": {}},
}
PATHS = {"paths": [{"path_mtu": {"bytes": 1300}}, {}]}
BURSTS = {"server": "burst", "burst_segments": 8}


def scenario(of_line: dict[str, Any], **more: Any) -> dict[str, Any]:  # noqa: ANN401 - whatever a table holds
    return BASE | {"networks": {"line": BASE["networks"]["line"] | of_line}} | more


def test_a_kernel_takes_what_netem_cannot_do() -> None:
    for key, value in {
        "duplicate": "1%",
        "stalls": {"every": "2s", "least": "50ms", "most": "200ms"},
        "policer": {"rate": "1Mbit", "burst": "15kB"},
        "path_mtu": {"bytes": 1300, "icmp": True},
        "aqm": {"kind": "pie", "ecn": True},
        "ecn_mark": "1%",
    }.items():
        assert from_plain(scenario({key: value}), engine="kernel")


@pytest.mark.parametrize(
    ("data", "key", "what"),
    [
        (scenario({"duplicate": "1%"}, workload=BURSTS), "duplicate", "pages"),
        (scenario(PATHS), r"paths\.0\.path_mtu", "one path"),
        (scenario({"up": {"aqm": "codel"}}, workload=BURSTS), r"up\.aqm", "pages"),
        (
            scenario(
                {"links": [{}, {"duplicate": "1%"}]},
                offload=dict.fromkeys(("checksum", "scatter_gather", "segmentation"), True),
            ),
            r"links\.1\.duplicate",
            "single packets",
        ),
    ],
)
def test_what_such_links_do_not_carry(data: dict[str, Any], key: str, what: str) -> None:
    assert from_plain(data, engine="model")
    why = f"networks\\.line\\.{key}: links that do this are a program, which carries {what} alone"
    with pytest.raises(UserError, match=why) as caught:
        from_plain(data, engine="kernel")
    assert "engine='model'" in str(caught.value.hint)

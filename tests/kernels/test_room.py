"""What the configuration of a kernel makes a segment cost."""

from __future__ import annotations

from pathlib import Path

import pytest

from rexmit.kernels.room import room

CLOUD = "CONFIG_HYPERV_NET=m\nCONFIG_NET_IPIP=m\nCONFIG_IPV6_SIT=m\n"
DESKTOP = "CONFIG_WLAN=y\nCONFIG_MAC80211_MESH=y\nCONFIG_IPV6_TUNNEL=m\n"


@pytest.mark.parametrize(
    ("config", "series", "cost", "headers"),
    [
        # 160 and 208 bytes for headers, in lines of 64; 320 behind; 512 and 1,024 as allocated.
        ("", (6, 1), 512 + 256, 192),
        (CLOUD, (6, 1), 1024 + 256, 256),
        (DESKTOP, (6, 1), 1024 + 256, 320),
        # Pads of 64 more, in a cache of their own: 256, 320 and 384 with 320 behind.
        ("", (6, 12), 576 + 256, 192),
        (CLOUD, (6, 12), 640 + 256, 256),
        (DESKTOP, (6, 12), 704 + 256, 320),
        ("CONFIG_HYPERV_NET=y\n", (6, 1), 1024 + 256, 256),
    ],
)
def test_room_follows_from_the_configuration(
    tmp_path: Path, config: str, series: tuple[int, int], cost: int, headers: int
) -> None:
    (tmp_path / "config").write_text(f"# CONFIG_AX25 is not set\n{config}", encoding="ascii")
    found = room(tmp_path / "config", series)
    assert found == {"packet_overhead": str(cost), "header_room": str(headers)}
    assert room(tmp_path / "config", (4, 9)) == {}

"""What a segment costs a socket of a kernel, as far as its configuration decides that.

A segment has room for headers in front, and how much follows from the devices and tunnels that the
kernel is configured for. That room is charged to the socket's send buffer with the payload, so the
same series keeps more or fewer segments in flight where the buffer is what limits them.
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

_IN_PAGES: Final = (4, 17)
"""Series from which on all that is sent lies in pages behind a small buffer for headers."""
_SMALL_HEADS: Final = (6, 3)
"""Series from which on such buffers come from a cache of their own (`skb_small_head_cache`)."""

_CACHE_LINE: Final = 64
_SHARED_INFO: Final = 320
"""`struct skb_shared_info`, at the end of the buffer."""
_DESCRIPTION: Final = 256
"""`struct sk_buff`."""
_RECEIVE_PAD: Final = 64
"""`NET_SKB_PAD`."""
_TUNNELS: Final = ("NET_IPIP", "NET_IPGRE", "IPV6_SIT", "IPV6_TUNNEL")


def room(config: Path, series: tuple[int, int]) -> dict[str, str]:
    """The model's settings for a kernel with this configuration; none before 4.17, where it depends
    on what is sent and on the device, too.
    """
    if series < _IN_PAGES:
        return {}
    options = dict(re.findall(r"^CONFIG_(\w+)=([ym])$", config.read_text(encoding="utf-8"), re.M))
    headers = _headers(options)
    # include/net/tcp.h MAX_TCP_HEADER
    header_room = _aligned(128 + headers)
    if series < _SMALL_HEADS:
        # net/core/skbuff.c __alloc_skb: as the allocator has it, powers of two
        buffer = 1 << (header_room + _SHARED_INFO - 1).bit_length()
    else:
        # net/core/skbuff.c SKB_SMALL_HEAD_CACHE_SIZE, include/net/gro.h GRO_MAX_HEAD_PAD
        buffer = _aligned(max(header_room, 128 + headers + _RECEIVE_PAD)) + _SHARED_INFO
        buffer += _CACHE_LINE if buffer & (buffer - 1) == 0 else 0
    return {"packet_overhead": str(buffer + _DESCRIPTION), "header_room": str(header_room)}


def _headers(options: dict[str, str]) -> int:
    """include/linux/netdevice.h MAX_HEADER, LL_MAX_HEADER"""
    # `defined` means built in, `IS_ENABLED` a module, too.
    if options.get("HYPERV_NET") == "y":
        longest = 128
    elif options.get("WLAN") == "y" or "AX25" in options:
        longest = 128 if options.get("MAC80211_MESH") == "y" else 96
    else:
        longest = 32
    return longest + (48 if any(tunnel in options for tunnel in _TUNNELS) else 0)


def _aligned(size: int) -> int:
    return -(-size // _CACHE_LINE) * _CACHE_LINE

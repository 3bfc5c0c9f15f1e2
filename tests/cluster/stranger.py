"""A client of Dask that nobody asked: `python -m tests.cluster.stranger SCHEME CERT PORT...`.

It prints what the nodes are that let it in, by both addresses of this machine. It takes any server;
CERT is a certificate with its key, or nothing.
"""

from __future__ import annotations

import asyncio
import ssl
import sys
from typing import Any

from distributed.core import rpc


def _unchecked(cert: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    if cert:
        context.load_cert_chain(cert)
    return context


async def _identity(address: str, context: ssl.SSLContext | None) -> str:
    to: Any = rpc
    try:
        async with to(address, timeout=4, connection_args={"ssl_context": context}) as node:
            return str((await asyncio.wait_for(node.identity(), 6))["type"])
    except (OSError, TimeoutError):
        return ""


async def _main(scheme: str, cert: str, *ports: str) -> None:
    context = _unchecked(cert) if scheme == "tls" else None
    addresses = [f"{scheme}://{host}:{port}" for port in ports for host in ("127.0.0.1", "[::1]")]
    print(*await asyncio.gather(*(_identity(one, context) for one in addresses)))


asyncio.run(_main(*sys.argv[1:]))

"""Workers of this machine, for one call: nobody else can reach what they do."""

from __future__ import annotations

import contextlib
import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import dask
from distributed import Nanny, Scheduler, SpecCluster, Worker

from rexmit.cluster import credentials
from rexmit.store.files import scratch_folder


class _Unserved:
    """A node of Dask without web pages: even without a dashboard it listens for HTTP, and answers
    whoever asks.
    """

    def start_http_server(self, *_: object, **__: object) -> None:
        """Starts none."""


class LocalScheduler(_Unserved, Scheduler):
    """A scheduler without web pages."""


class LocalWorker(_Unserved, Worker):
    """A worker without web pages."""


@contextlib.contextmanager
def started(workers: int) -> Iterator[Any]:
    """A cluster of so many processes. What it writes lies in a private folder: workers import
    modules from where they write, and Dask's usual place is one that all users share.
    """
    with scratch_folder() as folder, dask.config.set({"temporary-directory": str(folder)}):
        cluster = _cluster(workers, folder)
        try:
            yield cluster
        finally:
            cluster.close(timeout=10)


# Dask says little of its types.
def _cluster(workers: int, folder: Path) -> Any:  # noqa: ANN401
    common = {
        "host": "127.0.0.1",
        "protocol": "tls://",
        "security": credentials.temporary(folder),
        "dashboard": False,
        "dashboard_address": None,
    }
    worker = {
        "cls": Nanny,
        "options": {
            **common,
            "worker_class": LocalWorker,
            "nthreads": 1,
            "memory_limit": 1 / workers,
            "silence_logs": logging.CRITICAL,
        },
    }
    cluster: Any = SpecCluster
    return cluster(
        workers=dict.fromkeys(range(workers), worker),
        scheduler={"cls": LocalScheduler, "options": common},
        security=common["security"],
        silence_logs=logging.CRITICAL,
    )

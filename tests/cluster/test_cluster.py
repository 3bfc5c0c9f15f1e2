"""Calls on a cluster: each has its answer, whatever becomes of workers."""

from __future__ import annotations

import operator
import os
import socket
from pathlib import Path
from typing import Any

import pytest

from rexmit.cluster import Call, LostError, calls, connect, open_cluster
from rexmit.errors import UserError


def test_a_call_that_kills_its_workers_is_lost_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "DEATHS", 1)
    asked = [Call("deadly", os._exit, (1,)), Call("wrong", operator.truediv, (1, 0))]
    asked += [Call(str(n), operator.add, (n, 1)) for n in range(8)]
    answers: dict[str, Any] = {}
    with open_cluster("local:1") as cluster:
        assert cluster.everywhere(str, 7) == ["7"]
        cluster.run(asked, lambda call, given: answers.update({call.name: given}))
    assert isinstance(answers.pop("deadly"), LostError)
    assert isinstance(answers.pop("wrong"), ZeroDivisionError)
    assert answers == {str(n): n + 1 for n in range(8)}


def test_without_any_worker_it_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "RETURN_S", 0.5)
    monkeypatch.setattr(connect.Cluster, "workers", property(lambda _: 0))
    slow = Call("slow", os.system, ("sleep 20",))
    with (
        open_cluster("local:1") as cluster,
        pytest.raises(UserError, match="no worker is left"),
    ):
        cluster.run([slow], lambda _call, _given: None)


def test_what_is_no_scheduler_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connect, "CONNECT_S", 1)
    with socket.create_server(("127.0.0.1", 0)) as silent:
        address = f"127.0.0.1:{silent.getsockname()[1]}"
        with (
            pytest.raises(UserError, match="what listens there says nothing"),
            open_cluster(address),
        ):
            pass


def test_another_program_answers_nothing(tmp_path: Path) -> None:
    made = tmp_path / "made"
    with pytest.raises(UserError, match="a worker has another rexmit"):
        calls.make(Call("one", made.touch), "0.0.0 0123")
    assert not made.exists()
    calls.make(Call("one", made.touch), calls.program())
    assert made.exists()

"""Clusters of the user's own: how they are named, and what is said where that is wrong."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.cluster.conftest import Scheduler, credentials
from tests.processes import run_command

import rexmit
from rexmit.cluster import connect
from rexmit.errors import UserError

RUN = ("run", "tlp-2013", "--engine", "model", "--set", "repeat=1", "--set", "loss.segments=0..1")


def _run(tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "rexmit", *RUN, "--out", str(tmp_path / "run"), *words]
    return run_command(command)


def _options(pem: Path) -> list[str]:
    return [word for name in ("ca", "cert", "key") for word in (f"--cluster-{name}", str(pem))]


def test_a_scheduler_with_certificates(
    tls_scheduler: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls_scheduler.worker()
    pem = tmp_path / "cluster.pem"
    ran = _run(tmp_path, "--cluster", tls_scheduler.address, *_options(pem))
    assert ran.returncode == 0, ran.stderr
    assert "unprotected" not in ran.stderr
    made = rexmit.open_run(tmp_path / "run")
    command = made.meta["command"]
    assert " ".join(["--cluster", tls_scheduler.address, *_options(pem)]) in command
    # Dask's own configuration names them as well.
    for name in ("CA_FILE", "CLIENT__CERT", "CLIENT__KEY"):
        monkeypatch.setenv(f"DASK_DISTRIBUTED__COMM__TLS__{name}", str(pem))
    ran = _run(tmp_path / "2", "--cluster", tls_scheduler.address)
    assert ran.returncode == 0, ran.stderr
    assert "unprotected" not in ran.stderr


def test_a_scheduler_of_another_authority(
    tls_scheduler: Scheduler, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connect, "CONNECT_S", 2)
    tls_scheduler.worker()
    own = credentials(tmp_path)
    there = rexmit.ClusterAddress(tls_scheduler.address, own, own, own)
    with pytest.raises(UserError, match="no answer") as told, connect.open_cluster(there):
        pass
    assert "of the same authority" in str(told.value.hint)
    # Nor does it speak without.
    plain = tls_scheduler.address.replace("tls", "tcp")
    with pytest.raises(UserError, match="no answer"), connect.open_cluster(plain):
        pass


def test_a_scheduler_without_certificates_is_told(scheduler: Scheduler, tmp_path: Path) -> None:
    scheduler.worker()
    ran = _run(tmp_path, "--cluster", scheduler.address)
    assert ran.returncode == 0, ran.stderr
    (line,) = [line for line in ran.stderr.splitlines() if "unprotected" in line]
    assert line.startswith(f"rexmit: {scheduler.address} is unprotected")
    assert "tls://HOST:PORT" in line


TLS = "tls://127.0.0.1:1"


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["--cluster-ca", "own.pem"], "--cluster-ca needs --cluster"),
        (["--cluster", TLS], "needs certificates, and neither options nor Dask's"),
        (["--cluster", TLS, "--cluster-ca", "own.pem"], "needs --cluster-cert and --cluster-key"),
        (
            ["--cluster", TLS, "--cluster-ca", "own.pem", "--cluster-cert", "own.pem"],
            "--cluster-ca needs --cluster-key as well",
        ),
        (["--cluster", "127.0.0.1:1", *_options(Path("own.pem"))], "127.0.0.1:1 is not"),
        (["--cluster", "local:2", *_options(Path("own.pem"))], "local:2 is not"),
        (["--cluster", TLS, *_options(Path("gone.pem"))], "--cluster-ca gone.pem: No such file"),
        (["--cluster", TLS, *_options(Path())], "--cluster-ca .: Is a directory"),
        (["--cluster", TLS, *_options(Path("empty.pem"))], "no certificate in PEM"),
        (
            ["--cluster", TLS, *_options(Path("own.pem")), "--cluster-key", "other.pem"],
            "no certificate in PEM whose key is other.pem",
        ),
        (
            ["--cluster", TLS, *_options(Path("own.pem")), "--cluster-key", "secret.pem"],
            "--cluster-key secret.pem: the key is encrypted",
        ),
        (["--cluster", "https://127.0.0.1:1"], "as in local:8"),
        (["--cluster", "127.0.0.1:65536"], "as in local:8"),
    ],
)
def test_what_is_asked_wrongly_is_told(words: list[str], told: str, tmp_path: Path) -> None:
    own = credentials(tmp_path)
    credentials(tmp_path, "other")
    (tmp_path / "empty.pem").touch()
    (tmp_path / "secret.pem").write_text(_encrypted(own.read_text()))
    command = [sys.executable, "-m", "rexmit", *RUN, "--out", "run", *words]
    ran = run_command(command, cwd=tmp_path, stdin=subprocess.DEVNULL)
    assert ran.returncode == 2
    lines = ran.stderr.splitlines()
    assert lines[0].startswith("rexmit: ")
    assert len(lines) == 2
    assert told in ran.stderr
    assert not (tmp_path / "run").exists()


def _encrypted(pem: str) -> str:
    from cryptography.hazmat.primitives import serialization

    key = serialization.load_pem_private_key(pem.encode(), None)
    return key.private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.BestAvailableEncryption(b"secret"),
    ).decode()

"""Where a cluster is, and the files by which it and this program know each other."""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from os import PathLike, fspath
from typing import Any, Final

from rexmit import extras
from rexmit.cluster import credentials
from rexmit.errors import UserError, argument, by_caller

MOST_WORKERS: Final = 4096

AS_IN: Final = "as in local:8, or tls://HOST:PORT"

File = str | PathLike[str]


@dataclass(frozen=True, slots=True)
class ClusterAddress:
    """`local:N` for N processes of this machine; `tls://HOST:PORT`, or `HOST:PORT`, for a Dask
    scheduler.

    `ca`, `cert` and `key` are PEM files for `tls://`: the certificate authority of that cluster, a
    certificate that it signed, and its key. Without them Dask's own configuration has them.
    Raises UserError where they do not go together, or cannot be read, or Dask is not installed.
    """

    text: str
    ca: File | None = None
    cert: File | None = None
    key: File | None = None

    def __post_init__(self) -> None:
        """Raises UserError."""
        local = re.fullmatch(r"local:(\d{1,4})", self.text)
        remote = re.fullmatch(r"(?:(?:tcp|tls)://)?[\w.:%\[\]-]+:(\d{1,5})", self.text)
        is_good = (
            (local and 1 <= int(local[1]) <= MOST_WORKERS)
            if self.text.startswith("local")
            else (remote and int(remote[1]) < 1 << 16)
        )
        if not is_good:
            raise UserError(argument("cluster", self.text), AS_IN, usage=True)
        extras.need("distributed")
        given = {name: value for name in self._files() if (value := getattr(self, name))}
        if not given:
            if self.scheme == "tls":
                self._check_configuration()
            return
        if self.scheme != "tls":
            raise UserError(
                f"{_named(next(iter(given)))} is of a cluster that speaks TLS, and "
                f"{self.text} is not",
                f"leave it out, or give {argument('cluster', 'tls://HOST:PORT')}",
                usage=True,
            )
        if lacking := [_named(name) for name in self._files() if name not in given]:
            raise UserError(
                f"{_named(next(iter(given)))} needs {' and '.join(lacking)} as well",
                "a scheduler and its clients prove to each other who they are: name all three",
                usage=True,
            )
        credentials.check({_named(name): fspath(value) for name, value in given.items()})

    @staticmethod
    def _files() -> list[str]:
        return [field.name for field in fields(ClusterAddress) if field.name != "text"]

    @property
    def workers(self) -> int | None:
        """How many processes of this machine; None for a scheduler."""
        return int(self.text.removeprefix("local:")) if self.text.startswith("local:") else None

    @property
    def scheme(self) -> str:
        """`tls`, `tcp`, or nothing where it is not said."""
        return self.text.partition("://")[0] if "://" in self.text else ""

    @property
    def words(self) -> list[str]:
        """The options of a command line that name it."""
        files = {f"--cluster-{name}": getattr(self, name) for name in self._files()}
        more = [word for name, file in files.items() if file for word in (name, fspath(file))]
        return ["--cluster", self.text, *more]

    # Dask says little of its types.
    def security(self) -> Any:  # noqa: ANN401
        """What a client of the scheduler needs: these files, or those of Dask's configuration.
        Raises UserError where TLS is to be spoken and there are neither.
        """
        import dask
        from distributed import Security

        security: Any = Security
        if self.ca and self.cert and self.key:
            return security(
                require_encryption=True,
                tls_ca_file=fspath(self.ca),
                tls_client_cert=fspath(self.cert),
                tls_client_key=fspath(self.key),
            )
        if (self.scheme or dask.config.get("distributed.comm.default-scheme")) != "tls":
            return security()
        self._check_configuration()
        return security(require_encryption=True)

    def _check_configuration(self) -> None:
        """Raises UserError where Dask's own has no certificates."""
        import dask

        names = [f"distributed.comm.tls.{key}" for key in ("ca-file", "client.cert", "client.key")]
        files = {name: dask.config.get(name, None) for name in names}
        if not all(files[name] for name in names[:2]):
            options = " ".join(f"{_named(name)} FILE" for name in self._files())
            raise UserError(
                f"{argument('cluster', self.text)} needs certificates, and neither options nor "
                "Dask's configuration name them",
                f"give {options}",
                usage=True,
            )
        credentials.check(files)


Where = str | ClusterAddress
"""A cluster, as callers say it."""


def address_of(where: Where) -> ClusterAddress:
    """Raises UserError where it is none."""
    return where if isinstance(where, ClusterAddress) else ClusterAddress(where)


def _named(field: str) -> str:
    return by_caller(called=f"`{field}`", typed=f"--cluster-{field}")

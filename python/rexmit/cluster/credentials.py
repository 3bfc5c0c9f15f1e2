"""By what the processes of a cluster know each other: certificates and keys, for TLS.

A Dask scheduler, worker or nanny does what whoever reaches it asks for, in the account of the user
who started it. So each takes only who has a certificate of the cluster's own authority, and shows
one itself.
"""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from rexmit.errors import UserError
from rexmit.store.opening import created


def check(files: Mapping[str, str | None]) -> None:
    """Raises UserError where the files (authority, certificate, key, by what the user calls them)
    cannot be read or are not of these kinds. Without a key the certificate's file has it.
    """
    ca, cert, key = files.items()
    for name, file in files.items():
        try:
            if file is not None:
                Path(file).read_bytes()
        except OSError as error:
            raise UserError(
                f"{name} {file}: {error.strerror}", "name a PEM file that can be read", usage=True
            ) from None
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    try:
        context.load_verify_locations(ca[1])
    except ssl.SSLError:
        raise UserError(
            f"{ca[0]} {ca[1]}: no certificate in PEM",
            "name the certificate of the cluster's authority",
            usage=True,
        ) from None
    try:
        # Without a password of its own the library asks at the terminal for that of the key.
        context.load_cert_chain(str(cert[1]), key[1], password=_no_password)
    except ssl.SSLError:
        raise UserError(
            f"{cert[0]} {cert[1]}: no certificate in PEM whose key is {key[1] or 'with it'}",
            f"give a certificate of the cluster's authority and its key ({key[0]})",
            usage=True,
        ) from None
    except _EncryptedError:
        raise UserError(
            f"{key[0]} {key[1] or cert[1]}: the key is encrypted",
            "give it without a password, in a file that nobody else may read: "
            "openssl pkey -in KEY -out FILE",
            usage=True,
        ) from None


class _EncryptedError(Exception):
    """A key has a password."""


def _no_password() -> bytes:
    raise _EncryptedError


# Dask says little of its types.
def temporary(folder: Path) -> Any:  # noqa: ANN401
    """New credentials for one cluster of this machine, in a file of a private folder: what workers
    are started with then names the file, and has no secret.
    """
    from distributed import Security

    security: Any = Security
    pair = security.temporary()
    file = folder / "cluster.pem"
    # Nobody but this user, whatever the umask.
    with created(file, 0o600) as pem:
        pem.write(f"{pair.tls_client_cert}{pair.tls_client_key}".encode())
    roles = ("client", "scheduler", "worker")
    own: Any = {f"tls_{role}_{what}": str(file) for role in roles for what in ("cert", "key")}
    # All is named, or the user's configuration of Dask would add to it.
    return security(
        require_encryption=True,
        tls_ca_file=str(file),
        tls_ciphers=None,
        tls_min_version=ssl.TLSVersion.TLSv1_3,
        tls_max_version=None,
        **own,
    )

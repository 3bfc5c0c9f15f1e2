"""Who asks an object store: what the user says by the usual variables, and nothing else.

obstore asks the machine's cloud where it is told nothing. A machine's rights are not its users',
and whoever gives an address chooses who is asked: so it happens only where the user says so.
"""

from __future__ import annotations

from os import environ
from pathlib import Path
from typing import Final

from rexmit.addresses import S3
from rexmit.errors import UserError

METADATA: Final = "REXMIT_CLOUD_METADATA"
"""The variable that lets a cloud's metadata service say who asks."""

_S3: Final = (
    ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"),
    ("AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_ROLE_ARN"),
)
_GS: Final = (
    ("GOOGLE_APPLICATION_CREDENTIALS",),
    ("GOOGLE_SERVICE_ACCOUNT",),
    ("GOOGLE_SERVICE_ACCOUNT_PATH",),
    ("GOOGLE_SERVICE_ACCOUNT_KEY",),
    ("GOOGLE_BEARER_TOKEN",),
)
_AZURE: Final = tuple(
    tuple(f"{start}_{name}" for name in names)
    for start in ("AZURE_STORAGE", "AZURE")
    for names in (
        ("ACCOUNT_KEY",),
        ("ACCESS_KEY",),
        ("MASTER_KEY",),
        ("SAS_KEY",),
        ("SAS_TOKEN",),
        ("TOKEN",),
        ("CLIENT_ID", "CLIENT_SECRET", "TENANT_ID"),
        ("CLIENT_ID", "FEDERATED_TOKEN_FILE", "TENANT_ID"),
    )
)
"""Variables that say it together."""

_SWITCHES: Final = ("SKIP_SIGNATURE", "USE_AZURE_CLI", "USE_EMULATOR")
_YES: Final = ("1", "true", "on", "yes", "y")

_GCLOUD: Final = ".config/gcloud/application_default_credentials.json"
"""Where Google's own program keeps who asks."""


def check(address: str) -> None:
    """Raises UserError where nobody is named, and a cloud would be asked."""
    start, sets = _variables(address)
    switches = (f"{one}_{name}" for one in start for name in _SWITCHES)
    if (
        may_ask_cloud()
        or any(all(environ.get(name) for name in names) for names in sets)
        or any(environ.get(name, "").lower() in _YES for name in switches)
        or (sets is _GS and (Path.home() / _GCLOUD).is_file())
    ):
        return
    raise UserError(
        f"{address}: it is not said who asks",
        f"{hint(address)}; with {METADATA}=1 the machine's cloud is asked for it",
    )


def may_ask_cloud() -> bool:
    """Whether the user lets the machine's cloud say who asks."""
    return environ.get(METADATA, "").lower() in _YES


def _variables(address: str) -> tuple[tuple[str, ...], tuple[tuple[str, ...], ...]]:
    if address.startswith(S3):
        return ("AWS",), _S3
    if address.startswith("gs"):
        return ("GOOGLE",), _GS
    return ("AZURE", "AZURE_STORAGE"), _AZURE


def hint(address: str) -> str:
    """How a user says it."""
    if address.startswith(S3):
        return (
            "set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_SKIP_SIGNATURE=true for a "
            "public bucket"
        )
    if address.startswith("gs"):
        return (
            "set GOOGLE_APPLICATION_CREDENTIALS, or GOOGLE_SKIP_SIGNATURE=true for a public bucket"
        )
    if address.startswith("http"):
        return "name a user in ~/.netrc (machine HOST login USER password WORD)"
    return "set AZURE_STORAGE_ACCOUNT_NAME and AZURE_STORAGE_ACCOUNT_KEY"

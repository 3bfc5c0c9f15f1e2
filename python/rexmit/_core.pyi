"""Rust under Python (crates/python). Private: use what the package offers."""

def version() -> str:
    """The version of rexmit."""

"""`python -m rexmit` is the `rexmit` command."""

from rexmit.cli import main

main()

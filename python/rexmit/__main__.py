"""`python -m rexmit` is the `rexmit` command."""

from rexmit.main import main

main()

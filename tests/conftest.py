"""For all tests."""

from __future__ import annotations

import signal

from hypothesis import settings

# How long an example takes says nothing about it on a machine that does other things as well.
settings.register_profile("rexmit", deadline=None)
settings.load_profile("rexmit")

# A shell that starts the tests behind a `&` makes them and all that they start deaf to it, and
# what is interrupted here would go on.
signal.signal(signal.SIGINT, signal.default_int_handler)

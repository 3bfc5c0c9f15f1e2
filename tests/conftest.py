"""For all tests."""

from __future__ import annotations

import signal

# A shell that starts the tests behind a `&` makes them and all that they start deaf to it, and
# what is interrupted here would go on.
signal.signal(signal.SIGINT, signal.default_int_handler)

"""What a trace says, as blocks: its page, and the table by host, port or prefix.

A quantity is reckoned once, in `summary`, and written once, here; `words` says how.
"""

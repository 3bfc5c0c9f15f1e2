"""What a reader sees, whatever it is about: the terminal and its tables, and figures.

`show` writes blocks on a terminal, by `terminal` and `grid`; `overview`, `repairs` and others give
those of every run; `figures` draws.
"""

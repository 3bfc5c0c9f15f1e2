"""What a reader sees, whatever it is about: the terminal and its tables, and figures.

`terminal` and `grid` print sentences and tables; `print_overview` and `print_bursts` print what is
of every run; `figures` draws.
"""

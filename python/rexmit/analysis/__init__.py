"""Rows of a run, summed up: by cell, by case of lost bursts, and what the run was.

Nothing here knows a terminal or a figure. `axes` finds what a grid varies, `leave_out` says which
transfers a mean is over, `cells` and `bursts` make the means; `times`, `repairs` and `beside` are
the tables of them.
"""

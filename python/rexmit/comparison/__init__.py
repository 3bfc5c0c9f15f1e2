"""Two runs compared, or two traces.

`pairs` finds the cells that belong together, `measures` says how far apart two cells are and
whether that is more than chance, `compare` does so for whole runs, `gate` makes an exit status of
it. `packets` finds where two senders part. `traces` compares captures. The `print_*` modules know
the terminal.
"""

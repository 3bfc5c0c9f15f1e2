"""What may have no end, analysed while packets pass: an interface (`capture` starts the program
that captures) or a pipe. `rotation` puts rows into a folder after the other, which `pieces` names
and deletes; `seen` and `tally` count, `screen`, `metrics` and `tcpdump_log` show and hear.
"""

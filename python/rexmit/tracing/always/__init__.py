"""A capture without an end: rows as connections end, in folders that follow each other.

`run` reads and writes, `pieces` are the folders, `tally` what was counted, `metrics` offers it as
OpenMetrics, `amounts` reads `1h` and `500MB`.
"""

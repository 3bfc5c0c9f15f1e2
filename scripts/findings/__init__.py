"""What `make findings` runs: the numbers, tables and figures of docs/findings.

A finding measures, and a result file keeps what it measured; documents take their numbers, tables
and figures from these files and have none of their own.
"""

"""What `rexmit show` prints, as numbers: run folder in, dataclasses out.

`run_folder` reads, `axes`, `leave_out` and `cells` summarise, `table1` and `table4` set beside the
2013 paper, `overview` says what the run was. The `print_*` modules are the only ones that know the
terminal.
"""

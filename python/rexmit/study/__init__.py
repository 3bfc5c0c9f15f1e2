"""The 2007 study of loss detection (seed 002) for any captures: Tables II to V, Figures 1 to 7.

`senders` picks the connections by the paper's definitions, `tables` counts, `curves` makes
distributions and logarithmic bins, `figures` draws, `print_study` and `as_json` show.
"""

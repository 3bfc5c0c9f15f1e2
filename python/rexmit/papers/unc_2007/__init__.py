"""The study of loss detection UNC 2007 for any captures: Tables II to V, Figures 1 to 7.

`senders` picks the connections by the paper's definitions, `tables` counts, `curves` makes
distributions and logarithmic bins, `figures` draws, `print_study` and `as_json` show.
"""

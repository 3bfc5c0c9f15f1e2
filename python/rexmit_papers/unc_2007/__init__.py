"""The study of loss detection UNC 2007 for any captures: Tables I to V, Figures 1 to 7, claims.

`paper` has what it prints, `senders` picks the connections by its definitions, `parameters` and
`tables` count, `claims` and `setting_claims` judge by what `evidence` knows, `curves` makes
distributions and logarithmic bins, `figures` draws, `show_study` and `as_json` show.
"""

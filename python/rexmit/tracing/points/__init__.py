"""The same connections captured at several points: which captures are of which point, their packets
followed from point to point, and one trace of what all of them show.

`recognise` tells whose captures they are, `follow` brings the packets' ways, `combine` makes one
trace of the analyses of the points: `directions` tells which connections are the same one, `choose`
which point's analysis counts, `needs` what the points know of need, `beyond` what the nearest one
did not capture.
"""

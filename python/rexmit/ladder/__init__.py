"""One transfer, packet by packet, as the paper's Figure 1 draws it.

`packets` reads the captures of both ends, `match` finds each packet at the other end, `steps` says
what each one is, `elide` what may be left out, `render` prints.
"""

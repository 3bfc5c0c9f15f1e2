"""One transfer, packet by packet: client left, server right, time downwards.

`packets` reads the captures of both ends, `match` finds each packet at the other end, `steps` says
what each one is, `elide` what may be left out, `render` prints.
"""

"""An interface analysed while packets pass: `capture` starts the program that captures, `run` has
the loop, `seen` what came out so far, `screen` shows it.
"""

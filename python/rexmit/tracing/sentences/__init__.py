"""What is said of a trace, a file a topic: sentences with the rows that they are of.

Nothing is shown here: `sections` and the ladder put them into blocks.
"""

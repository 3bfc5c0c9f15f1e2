"""What is said of a trace, a file a topic: sentences with the rows that they are of.

Nothing is printed here: `print_page`, the ladder and the page in a browser do.
"""

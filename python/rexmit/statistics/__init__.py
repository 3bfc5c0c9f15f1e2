"""What a sample says of what it was drawn from: intervals, differences, verdicts.

`docs/explanation/intervals.md` has the methods and their sources. scipy is imported where an
interval is computed, and nowhere else.
"""

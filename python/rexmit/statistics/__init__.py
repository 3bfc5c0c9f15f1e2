"""What a sample says of what it was drawn from: intervals, differences, verdicts.

`docs/explanation/intervals.md` has the methods and their sources. Quantiles come from the core,
which is loaded where an interval is computed.
"""

"""Probe or Wait 2017: lost tails of bursts over Multipath TCP. Figures 2 to 6, and its claims."""

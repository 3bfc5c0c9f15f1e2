"""Ryll 2013: tail loss probes on Linux 3.10. Tables 1 and 4, Figures 4 and 5, and its claims."""

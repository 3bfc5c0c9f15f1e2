"""Plans in, events out: what runs a scenario's transfers.

`kernel` boots real Linux kernels in virtual time, `model` runs our own TCP in a simulated network.
"""

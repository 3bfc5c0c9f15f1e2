"""How far rexmit itself is right: the model against kernels, the analysis of captures against known
causes, predictions against runs.
"""

"""How far rexmit itself is right: the model against kernels, the analysis of captures against known
causes, predictions against runs. A package of its own: it knows `rexmit`, which knows nothing of it
but what `adds` adds.
"""

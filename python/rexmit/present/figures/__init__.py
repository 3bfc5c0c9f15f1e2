"""Figures of runs: `plan` names those of a chart (`analysis.chart` computes its points), `bursts`
those of bursts, `draw` draws them, `save` writes them.
"""

"""Figures of a run: `series` computes the points, `plan` names the figures, `draw` draws them."""

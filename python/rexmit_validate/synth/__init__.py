"""Captures of the model with their truth: what `rexmit validate synth` makes."""

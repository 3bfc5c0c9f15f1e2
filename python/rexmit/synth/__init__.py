"""Captures of the model with their truth: what `rexmit synth` makes."""

"""Run folders and their tables."""

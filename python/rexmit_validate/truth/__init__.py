"""Corpora of captures in which the kernel that sent says why it sent what it sent again."""

"""Kernel images that others have built: into the cache, and what a guest in one needs."""

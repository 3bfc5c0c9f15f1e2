"""Kernel images that others have built: taking them into the cache, and what a guest in one needs."""

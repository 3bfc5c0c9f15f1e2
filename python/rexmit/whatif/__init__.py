"""Settings of what-if by name, and how far predictions with them were off when last checked."""

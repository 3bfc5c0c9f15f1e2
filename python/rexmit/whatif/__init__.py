"""What other settings would have changed: predictions from captures, and their check."""

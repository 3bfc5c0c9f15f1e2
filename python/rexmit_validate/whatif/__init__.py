"""What-if predictions, checked: `check` runs transfers with each setting and without it."""

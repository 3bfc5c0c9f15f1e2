"""What `import rexmit` offers of this package."""

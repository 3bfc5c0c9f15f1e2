"""What `import rexmit` offers of this package: it checks, calls and prints nothing."""

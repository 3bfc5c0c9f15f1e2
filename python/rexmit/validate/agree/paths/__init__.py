"""Cases of bursts over two paths."""

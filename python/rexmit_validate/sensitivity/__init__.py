"""What is unknown of a paper's bench, and how far each departure from it moves the times."""

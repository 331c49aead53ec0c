"""The repository that experiments are committed to."""

"""A session: where its files are, its settings, its history, and the one way to append to its log."""

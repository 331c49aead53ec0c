"""One experiment, from its commit to its revert, and its recovery after a kill."""

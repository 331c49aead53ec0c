"""Where a session starts, is taken up again, and goes when it is over."""

"""What a log amounts to, folded event by event: segments, streaks, confidence, the verdict."""

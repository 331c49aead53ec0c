"""Numbers, times, text, files and errors: what everything else stands on, and what knows of no log."""

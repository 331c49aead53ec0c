"""Read, judge, mirror and re-export append-only experiment logs."""

__version__ = "0.1.0"

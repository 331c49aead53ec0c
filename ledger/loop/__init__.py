"""The loop around a log: its settings, files and programs (protocols.md 7)."""

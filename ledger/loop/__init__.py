"""The loop around a log: its settings, files and programs (PROTOCOLS 7)."""

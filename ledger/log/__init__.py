"""A log as bytes and records: its file, its lines, the JSON on them, the events they are, and findings about them."""

"""Pages to look at: what a log or a comparison amounts to as one JSON-able structure, and that structure as HTML."""

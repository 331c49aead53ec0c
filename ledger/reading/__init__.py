"""A whole log read: events, findings, and what people accepted of them."""

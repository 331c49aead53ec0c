"""Programs run within bounds, and what their output says."""

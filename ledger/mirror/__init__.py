"""The SQL mirror: the logs' bytes, rows derived from them, and views over the rows."""

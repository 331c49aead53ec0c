"""What a person or an agent reads of a session: figures, status, brief, dashboard, snapshots."""

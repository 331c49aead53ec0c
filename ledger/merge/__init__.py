"""Two logs of one session that went apart, in worktrees or on branches, made one log again without losing a record."""

"""The loop: turns of an agent, hooks, ends, and what runs in the background."""

"""How the program's own files beside a log are called; `Session.side` says where each is."""

RUN_LOCK = "run.lock"
"""Held by the one who measures."""
LOOP_LOCK = "loop.lock"
STEER_LOCK = "steer.lock"

ITERATION = "iteration.json"
"""The iteration under way."""
HARNESS = "harness.json"
"""What a segment is measured with, and its scope."""
LEAVINGS = "leavings.json"
"""Untracked files that measuring made: they are no part of any experiment."""
MEASUREMENT = "measurement.json"
"""The last measurement."""
LOOP = "loop.json"
"""What a loop does, as others see it."""
STOP = "stop"
"""There when a loop is asked to stop."""
STEER = "steer.jsonl"
"""Texts for the next brief."""
HOOKS = "hooks.jsonl"
"""The hook records of those protocols that have no place for them in the log."""
BRIEF, NOTE = "brief.md", "note.json"
"""What an agent is told, and its answer."""

AGENT_OUTPUT, LOOP_OUTPUT, CHECKS_OUTPUT = "agent.log", "runtime.log", "checks.log"

ARCHIVE = "archive"
"""The folder that concluded sessions are moved to."""

EDITED_BY_LEDGER = (LEAVINGS, HARNESS)
"""Files that only ledger writes, and not while an agent or a benchmark is at work."""
EDITED_MEANWHILE = (STEER, LOOP, ITERATION)
"""Files that change while one is at work, and must not get lost."""

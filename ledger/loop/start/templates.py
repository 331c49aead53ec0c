"""The files that a new session starts with; what nobody has said yet, they say to put in."""

import re
from collections.abc import Sequence

from ledger.dialects.writing import SessionPlan

UNFINISHED = "measures nothing yet"
"""What a measure script says of itself until somebody writes it."""

IDEAS = """# Ideas

<!-- What might be tried later, one bullet an idea; strike out what was tried. -->
"""


def prompt(plan: SessionPlan, how: str, promises: Sequence[str], keeper: str = "") -> str:
    """Write the prompt file: `how` tells how to measure, `promises` what only this file keeps.

    `keeper` names the file that scope is read from, if it is not this one.
    """
    unit = f" ({plan.unit})" if plan.unit else ""
    scope_hint = "Which files may be changed, a bullet each: - `src/parser.py` - what it does. None: every file."
    return "\n".join((
        f"# Autoresearch: {_safe(plan.name)}",
        *_section("Objective", [f"Make {_code(plan.metric)} {plan.direction}."],
                  "What is to get better and why; what the workload is; what would be cheating."),
        *_section("Metrics", [
            f"- Primary: {_code(plan.metric)}{_safe(unit)}, {plan.direction} is better",
            *(f"- Secondary: {_code(name)}" for name in plan.secondary),
        ], "" if plan.secondary else "Secondary metrics to watch, a bullet each, such as memory."),
        *_section("How to run", [how], ""),
        *_section("Files in scope", [
            *([f"{keeper} decides; this copy is for the reader.", ""] if keeper and plan.scope else []),
            *(f"- {_code(path)}" for path in plan.scope),
        ], "" if plan.scope else scope_hint),
        *_section("Off limits", [f"- {_code(path)}" for path in plan.off_limits],
                  "" if plan.off_limits else "Which files must never change, a bullet each, and why."),
        *_section("Constraints", [f"- {_safe(said)}" for said in promises],
                  "" if promises else "What must hold for a change to count: tests, budgets, dependencies."),
        *_section("What has been tried", [], "What was learned, dead ends first; the log has every run."),
    )) + "\n"  # fmt: skip


def _section(title: str, lines: Sequence[str], hint: str) -> tuple[str, ...]:
    """Give a section; a hint is a comment, which nobody takes for content."""
    said = ("", *lines) if lines else ()
    return ("", f"## {title}", *said, *(("", f"<!-- {hint} -->") if hint else ()))


def _safe(text: str) -> str:
    """Keep a text from opening a comment."""
    return text.replace("<!--", "&lt;!--")


def _code(text: str) -> str:
    """Write a text as code, in more backticks than it has."""
    if "`" not in text:
        return f"`{text}`"
    fence = "`" * (max(map(len, re.findall("`+", text))) + 1)
    return f"{fence} {text} {fence}"


def measure(plan: SessionPlan) -> str:
    """Write the measure script: it runs the command, or says what to put there."""
    named = "".join(f"\n#   METRIC {name}=NUMBER" for name in (plan.metric, *plan.secondary))
    head = f"""#!/usr/bin/env bash
# Measure one run. It must print, at the start of a line of its own:
#{named}
# NUMBER is a plain decimal, without a unit. The last line of a name counts. Any exit status but 0 is a crash.
# This file stays as it is while a segment lasts: runs compare only if they are measured alike.
set -euo pipefail
"""
    if plan.command is None:
        return f"""{head}
# Put the benchmark here and take the last two lines out. To time a command in seconds, for instance:
#   TIMEFORMAT="METRIC {plan.metric}=%R"; time your-command
echo "${{BASH_SOURCE[0]}} {UNFINISHED}: edit it so that it prints METRIC {plan.metric}=NUMBER" >&2
exit 1
"""
    return f"""{head}
# If this command prints something else than METRIC lines, turn it into them here.
{plan.command}
"""


def checks(guard: str) -> str:
    """Write the checks script around its command."""
    return f"""#!/usr/bin/env bash
# Check that a run which was measured is still correct: exit status 0 lets it be kept, any other makes it checks_failed.
set -euo pipefail

{guard}
"""

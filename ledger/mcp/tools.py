"""The tools: which command each is, what it takes, and what kind of answer it gives."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ledger.dialects import names
from ledger.dialects.writing import RESULT_STATUSES
from ledger.mcp import inputs
from ledger.mcp.inputs import Input, pairs, positional, repeated, switch

MOST_ROWS = 1000
DEFAULT_ROWS = 100

LOG = Input("log", inputs.text("The log, a path from the first named folder on. Default: the session of that folder."))
DIALECT = Input("dialect", inputs.text("Read the log as this protocol. Default: what its first record says.", *names()))
DRY_RUN = Input("dry_run", inputs.truth("Check and show everything, write nothing anywhere."), switch)
ASI = Input("asi", inputs.named("What was thought and learned, such as hypothesis, result, next."))
LIMIT = Input(
    "limit",
    inputs.whole(f"At most so many rows. Default: {DEFAULT_ROWS}.", 1, MOST_ROWS),
    lambda _, __: [],  # the rows are counted as they come, as those of a typed statement have to be
)
NARROWING = (
    Input(
        "session",
        inputs.several("Only these sessions: paths of logs, ids or names.", inputs.text("A session.")),
        repeated,
    ),
    Input("metric", inputs.text("Only this metric.")),
    Input("since", inputs.text("Only what was active at or after this time: ISO-8601, UTC.")),
    Input("until", inputs.text("Only what was active at or before this time.")),
    Input("sort", inputs.text("Order by columns, with commas; -COLUMN for descending.")),
    LIMIT,
)


class Tool(NamedTuple):
    """Name a tool, the words of its command, its inputs, and what it says of itself.

    `gives` is `text`, `json` (one value) or `rows` (one JSON object a line). `positional_log` tells how the command
    takes its log, `asks` that it reads the mirror and takes none, `writes` that it changes a session.
    """

    name: str
    about: str
    command: tuple[str, ...]
    inputs: tuple[Input, ...]
    gives: str = "text"
    positional_log: bool = False
    asks: bool = False
    writes: bool = False

    def schema(self) -> dict[str, Any]:
        """Give the JSON schema of the arguments; an unknown one fits it no more than a wrong one."""
        return {
            "type": "object",
            "properties": {one.name: one.schema for one in self.inputs},
            "required": [one.name for one in self.inputs if one.needed],
            "additionalProperties": False,
        }

    def words(self, arguments: Mapping[str, Any], log: str | None, mirror: str | None) -> list[str]:
        """Put the command's words together, of arguments that fit the schema; `log` stands for the one named there."""
        options, behind = [*self.command], list[str]()
        for one in self.inputs:
            if one.name != LOG.name and one.name in arguments:
                (behind if one.make is positional else options).extend(one.words(arguments[one.name]))
        if mirror is not None:
            options.append(f"--db={mirror}")
        if log is not None:
            if self.positional_log:
                behind.append(log)
            else:
                options += LOG.words(log)
        return [*options, "--", *behind] if behind else options


TOOLS: Sequence[Tool] = (
    Tool(
        "status",
        "Show how a session stands: goal, metric, runs, best, streak, verdict, last runs. No session: an error.",
        ("status",),
        (LOG, DIALECT),
        positional_log=True,
    ),
    Tool(
        "verdict",
        "Say whether the loop may go on: continue, or why not. Ask ahead of every iteration. Findings beside it mean"
        " that the log has errors and the loop must stop.",
        ("verdict", "--format=json"),
        (LOG, Input("max_iterations", inputs.whole("Stop after so many runs of the segment; 0: no limit.")), DIALECT),
        gives="json",
        positional_log=True,
    ),
    Tool(
        "check",
        "Report everything that is wrong with a log, or with all logs of a folder: each finding with its code, line and"
        " column. The resource ledger://rules/CODE says what a code means.",
        ("check", "--format=json"),
        (
            Input("log", inputs.text("A log, or a folder to search, from the first named folder on. Default: the"
                                     " session of that folder."), positional),
            Input("select", inputs.several("Report only these codes (L115) or groups (L1).", inputs.text("A code.")),
                  repeated),
            Input("ignore", inputs.several("Leave these codes or groups out.", inputs.text("A code.")), repeated),
            DIALECT,
        ),
        gives="json",
        positional_log=True,
    ),
    Tool(
        "brief",
        "Tell all that an agent needs which has lost its context: goal, rules, runs, dead ends, what to do now.",
        ("brief",),
        (LOG,),
        positional_log=True,
    ),
    Tool(
        "best",
        "List the best kept run of each segment of all sessions.",
        ("best", "--format=jsonl"),
        NARROWING,
        gives="rows",
        asks=True,
    ),
    Tool(
        "compare",
        "Hold sessions of the same metric against each other, ranked by best and by improvement.",
        ("compare", "--format=jsonl"),
        NARROWING,
        gives="rows",
        asks=True,
    ),
    Tool(
        "query",
        "Answer a SELECT on all sessions, read-only. Views: sessions, segments, runs, metrics, best, streaks, compare,"
        " events, findings, lines; their columns: SELECT name FROM pragma_table_info('runs').",
        ("sql", "--format=jsonl"),
        (
            Input("sql", inputs.text("One SELECT, in the mirror's dialect of SQL."), positional, needed=True),
            Input("timeout", inputs.number("Seconds of computing after which it is stopped. Default: 30.",
                                           exclusiveMinimum=0, maximum=600)),
            LIMIT,
        ),
        gives="rows",
        asks=True,
    ),
    Tool(
        "log",
        "Append a run that was measured by hand. Where the session has a measure script, use run: it measures,"
        " decides, logs and reverts by itself.",
        ("log",),
        (
            Input("description", inputs.text("What was tried."), needed=True),
            Input("metric", inputs.number("The primary metric's value; a crash needs none.")),
            Input("status", inputs.text("What became of the run; measured, the default, is only for state-protocol"
                                        " logs.", *RESULT_STATUSES)),
            Input("metrics", inputs.named("Secondary metrics by name.", additionalProperties={"type": "number"})),
            ASI,
            Input("commit", inputs.text("The run's commit. Default: HEAD's for a keep.")),
            Input("samples", inputs.several("The single measurements; metric is their median by default.",
                                            inputs.number("A measurement.")), inputs.joined),
            Input("reason", inputs.text("Why it was decided so (state-protocol).")),
            Input("force", inputs.truth("Log it although a secondary metric of the segment is missing."), switch),
            DRY_RUN,
            LOG,
        ),
        writes=True,
    ),
    Tool(
        "decide",
        "Append a decision about a result of a state-protocol log.",
        ("decide",),
        (
            Input("run", inputs.whole("The result's run.", 1), positional, needed=True),
            Input("action", inputs.text("What is decided.", "keep", "discard", "baseline", "stop"), positional,
                  needed=True),
            Input("reason", inputs.text("Why."), needed=True),
            DRY_RUN,
            LOG,
        ),
        writes=True,
    ),
    Tool(
        "measure",
        "Run the session's measure script and print the metrics; nothing is logged.",
        ("measure", "--format=json"),
        (
            Input("repeat", inputs.whole("Run so many times, take the medians.", 1, 1000)),
            Input("timeout", inputs.number("Seconds for each run. Default: the settings', else 600.",
                                           exclusiveMinimum=0)),
            Input("checks", inputs.truth("Run the checks as well, if the measurement succeeds."), switch),
            LOG,
        ),
        gives="json",
        writes=True,
    ),
    Tool(
        "run",
        "Do one iteration on the changes in the working tree: commit, measure, check, decide, log, revert what is not"
        " kept. Give a description, or baseline to measure the unchanged tree.",
        ("run",),
        (
            Input("description", inputs.text("What was tried; the commit and the log say it.")),
            Input("baseline", inputs.truth("Measure the unchanged tree as the segment's first run."), switch),
            ASI,
            Input("keep_equal", inputs.text("Keep an equal metric, for this reason, such as simpler code.")),
            Input("discard", inputs.text("Discard it whatever the metric, for this reason.")),
            Input("max_regress", inputs.named("Discard it if a secondary metric rises by more percent; negative: if it"
                                              " falls by more.", additionalProperties={"type": "number"}), pairs),
            Input("repeat", inputs.whole("Measure so many times and take the median.", 1, 1000)),
            Input("max_iterations", inputs.whole("Stop after so many runs of the segment; 0: no limit.")),
            LOG,
        ),
        writes=True,
    ),
)  # fmt: skip

BY_NAME = {tool.name: tool for tool in TOOLS}

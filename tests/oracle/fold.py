"""Compute a sound log's views and verdict, slowly and obviously, from protocols.md 2-6.

Nothing here is shared with the package: stdlib JSON, exact decimals, one pass of plain Python a question.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from decimal import MAX_EMAX, MIN_EMIN, Context, Decimal, localcontext
from statistics import median
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

Record = dict[str, Any]
Row = dict[str, Any]
Number = int | Decimal

COLUMNS = {
    "segments": (
        "path segment name metric_name unit direction runs keep discard crash checks_failed other baseline_run baseline"
        " best_run best improvement_pct confidence streak longest_streak first_at last_at"
    ),
    "sessions": (
        "path dialect name metric_name unit direction segments runs keep discard crash checks_failed other baseline"
        " best_run best improvement_pct confidence streak state first_at last_at errors warnings"
    ),
    "runs": "path line segment run status metric delta_pct best_so_far is_best commit description at confidence",
    "metrics": "path segment run name value",
    "best": "path segment run metric improvement_pct confidence commit description at name metric_name unit direction",
    "streaks": "path segment first_run last_run length current",
    "events": "path line segment kind state run at detail",
    "compare": (
        "rank path name metric_name unit direction runs best improvement_pct rank_improvement runs_to_best keep_rate"
        " confidence"
    ),
}
# Wide enough that a difference of 1e308 and 5e-324, and a median of such, is exact.
EXACT = Context(prec=1500, Emax=MAX_EMAX, Emin=MIN_EMIN)
KEPT, FAILED, UNDECIDED = {"keep", "baseline"}, {"discard", "crash"}, {"measured"}
STATUSES = ("keep", "discard", "crash", "checks_failed")
CONCLUDED = {"done", "cancelled", "wall", "blocked"}
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


@dataclass
class Run:
    """A run as the views see it; `at` is in whole milliseconds since the epoch."""

    line: int
    number: int
    status: str
    metric: Number
    commit: str | None
    description: str | None
    at: int | None
    confidence: Number | None = None
    metrics: dict[str, Number] = field(default_factory=dict)
    counted: bool = True  # a codex baseline is a run in no count


@dataclass
class Segment:
    """The region from one effective header to the next."""

    name: str | None
    metric_name: str
    unit: str
    direction: str
    runs: list[Run] = field(default_factory=list)

    def better(self, one: Number, than: Number) -> bool:
        """Say whether a metric is strictly better."""
        return one < than if self.direction == "lower" else one > than

    def best_of(self, runs: Sequence[Run]) -> Run | None:
        """Return the best kept run, of equals the earliest."""
        best: Run | None = None
        for run in runs:
            if run.status in KEPT and (best is None or self.better(run.metric, best.metric)):
                best = run
        return best

    @property
    def best(self) -> Run | None:
        """Return the best kept run of the segment."""
        return self.best_of(self.runs)

    @property
    def baseline(self) -> Run | None:
        """Return the run that is the baseline by decision or event, else the first that is no crash."""
        for run in self.runs:
            if run.status == "baseline":
                return run
        for run in self.runs:
            if run.status != "crash":
                return run
        return None

    @property
    def counted(self) -> list[Run]:
        """Return the runs that counts are made of."""
        return [run for run in self.runs if run.counted]

    def count(self, *statuses: str) -> int:
        """Count the runs of these statuses."""
        return sum(run.status in statuses for run in self.counted)

    def gain(self) -> Decimal | None:
        """Return the improvement of best over baseline in percent, positive if better."""
        best, baseline = self.best, self.baseline
        if best is None or baseline is None or not baseline.metric:
            return None
        change = Decimal(best.metric) - Decimal(baseline.metric)
        return (change if self.direction == "higher" else -change) / abs(Decimal(baseline.metric)) * 100

    def certainty(self) -> Decimal | None:
        """Return the confidence of section 6."""
        best, baseline = self.best, self.baseline
        measured = [Decimal(run.metric) for run in self.runs if run.status != "crash"]
        if best is None or baseline is None or len(measured) < 3 or not self.better(best.metric, baseline.metric):
            return None
        middle = median(measured)
        spread = median([abs(value - middle) for value in measured])
        return abs(Decimal(best.metric) - Decimal(baseline.metric)) / spread if spread else None

    def streaks(self) -> list[list[Run]]:
        """Return the maximal failure streaks, each its failed runs; undecided runs neither end one nor count."""
        streaks: list[list[Run]] = [[]]
        for run in self.runs:
            if run.status in FAILED:
                streaks[-1].append(run)
            elif run.status not in UNDECIDED:
                streaks.append([])
        return [streak for streak in streaks if streak]

    def streak(self) -> list[Run]:
        """Return the failed runs at the end of the segment, in order."""
        failed: list[Run] = []
        for run in reversed(self.runs):
            if run.status in FAILED:
                failed.insert(0, run)
            elif run.status not in UNDECIDED:
                break
        return failed

    @property
    def times(self) -> list[int]:
        """Return the runs' times."""
        return [run.at for run in self.runs if run.at is not None]


@dataclass
class Session:
    """A log, read."""

    segments: list[Segment] = field(default_factory=list)
    events: list[Row] = field(default_factory=list)
    state: str = "none"
    stopped: bool = False  # by a decision of state-protocol, which is no marker

    def shown(self) -> Segment | None:
        """Return the last segment that has runs, else the last."""
        held = [segment for segment in self.segments if segment.runs] or self.segments
        return held[-1] if held else None


def views(path_label: str, data: bytes, dialect: str, run_json: Record | None = None) -> dict[str, list[Row]]:
    """Return the rows of every view, in file order; `session` is left out and `warnings` is None (not computed)."""
    with localcontext(EXACT):
        session = read(data, dialect, run_json)
        makers: dict[str, Callable[[], list[Row]]] = {
            "sessions": lambda: [session_row(session, dialect)],
            "segments": lambda: [segment_row(session, index) for index in range(len(session.segments))],
            "runs": lambda: run_rows(session),
            "best": lambda: best_rows(session),
            "streaks": lambda: streak_rows(session),
            "events": lambda: session.events,
            "compare": lambda: compare_rows(session),
            "metrics": lambda: metric_rows(session),
        }
        return {view: [ordered(view, {"path": path_label, **row}) for row in make()] for view, make in makers.items()}


def ordered(view: str, row: Row) -> Row:
    """Return the row with its view's columns, in their order, and no others."""
    columns = COLUMNS[view].split()
    assert set(columns) == set(row), set(columns) ^ set(row)
    return {column: row[column] for column in columns}


def records(data: bytes) -> list[tuple[int, Record]]:
    """Return each non-blank line's number and object."""
    found = []
    for number, line in enumerate(data.split(b"\n"), 1):
        if line.strip(b" \t\r"):
            found.append((number, json.loads(line, parse_float=Decimal, parse_int=int)))
    return found


def read(data: bytes, dialect: str, run_json: Record | None) -> Session:
    """Read a log of the dialect."""
    if dialect == "codex":
        assert run_json is not None
        return read_codex(records(data), run_json)
    return {"autoresearch": read_autoresearch, "state-protocol": read_state_protocol}[dialect](records(data))


def open_segment(session: Session, segment: Segment) -> None:
    """Open a segment, in place of a last one that has no run."""
    if session.segments and not session.segments[-1].runs:
        session.segments.pop()
    session.segments.append(segment)


def read_autoresearch(found: list[tuple[int, Record]]) -> Session:
    """Fold section 2."""
    session = Session()
    for line, record in found:
        kind = record.get("type")
        if kind is None or (kind in ("run", "result") and record.get("status") in STATUSES):
            run = Run(
                line,
                record["run"],
                record["status"],
                record["metric"],
                record.get("commit"),
                record.get("description"),
                moment(record.get("timestamp")),
                record.get("confidence"),
                {name: value for name, value in (record.get("metrics") or {}).items() if is_number(value)},
            )
            session.segments[-1].runs.append(run)
            continue
        if kind == "config":
            header = Segment(
                record.get("name"),
                first(record, "metricName", "metric_name"),
                first(record, "metricUnit", "metric_unit", "unit") or "",
                first(record, "bestDirection", "direction"),
            )
            open_segment(session, header)
        if kind == "status":
            session.state = record["state"]
        state_key = {"status": "state", "hook": "stage"}.get(kind)
        session.events.append(event_row(session, line, kind, record, state_key, "type"))
    return session


def read_state_protocol(found: list[tuple[int, Record]]) -> Session:
    """Fold section 3."""
    session = Session()
    results: dict[int, Run] = {}
    for line, record in found:
        kind = record["type"]
        if kind == "result":
            number = record["run"]
            results[number] = Run(
                line,
                number,
                "crash" if record.get("status") == "crash" else "measured",
                record["median"] if "median" in record else record["value"],
                record.get("commit"),
                record.get("description"),
                moment(record["timestamp"]),
            )
            session.segments[-1].runs.append(results[number])
            continue
        if kind == "config":
            header = Segment(record["name"], record["metric"], record.get("unit") or "", record["direction"])
            open_segment(session, header)
        elif record["action"] == "stop":
            session.stopped = True
        elif results[record["run"]].status != "crash":
            results[record["run"]].status = record["action"]
        session.events.append(event_row(session, line, kind, record, "action" if kind == "decision" else None, "type"))
    return session


def read_codex(found: list[tuple[int, Record]], run_json: Record) -> Session:
    """Fold section 4."""
    metric = run_json["metric"]
    session = Session([Segment(run_json["goal"], metric["name"], "", metric["direction"])], state="active")
    runs = session.segments[0].runs
    for line, record in found:
        kind, at = record["event"], moment(record["time"])
        if kind == "baseline":
            runs.append(Run(line, 0, "baseline", record["metric"], record["head"], None, at, counted=False))
        elif kind == "iteration":
            number, outcome, trial = record["iteration"], record["outcome"], record["trial_metric"]
            runs.append(Run(line, number, outcome, trial, record["trial_commit"], record["description"], at))
        else:
            session.state = "active" if kind == "resumed" else kind
            session.events.append(event_row(session, line, kind, record, None, "event"))
    return session


def event_row(session: Session, line: int, kind: object, record: Record, state_key: str | None, kind_key: str) -> Row:
    """Return the row of a record that is no run."""
    rest = {key: value for key, value in record.items() if key != kind_key}
    state = rest.pop(state_key) if state_key else None
    number = rest.pop("run") if is_number(rest.get("run")) and isinstance(rest["run"], int) else None
    at = None
    for key in ("timestamp", "time", "created_at"):
        at = moment(rest.get(key))
        if at is not None:
            del rest[key]
            break
    return {
        "line": line,
        "segment": len(session.segments) - 1,
        "kind": kind,
        "state": state,
        "run": number,
        "at": iso(at),
        "detail": plain_deep(rest),
    }


def figures(segment: Segment | None) -> Row:
    """Return the columns that `sessions` takes from one segment."""
    if segment is None:
        keys = "name metric_name unit direction baseline best_run best improvement_pct confidence streak"
        return {key: 0 if key == "streak" else None for key in keys.split()}
    best, baseline = segment.best, segment.baseline
    return {
        **identity(segment),
        "baseline": plain(baseline.metric) if baseline else None,
        "best_run": best.number if best else None,
        "best": plain(best.metric) if best else None,
        "improvement_pct": ratio(segment.gain()),
        "confidence": ratio(segment.certainty()),
        "streak": len(segment.streak()),
    }


def identity(segment: Segment) -> Row:
    """Return what a header says."""
    return {
        "name": segment.name,
        "metric_name": segment.metric_name,
        "unit": segment.unit,
        "direction": segment.direction,
    }


def counts(segments: Sequence[Segment]) -> Row:
    """Return the runs by status, and their times' bounds, over some segments."""
    times = [time for segment in segments for time in segment.times]
    row: Row = {status: sum(segment.count(status) for segment in segments) for status in STATUSES}
    return {
        **row,
        "runs": sum(len(segment.counted) for segment in segments),
        "other": sum(segment.count("measured", "baseline") for segment in segments),
        "first_at": iso(min(times, default=None)),
        "last_at": iso(max(times, default=None)),
    }


def session_row(session: Session, dialect: str) -> Row:
    """Return the row of `sessions`."""
    return {
        **figures(session.shown()),
        **counts(session.segments),
        "dialect": dialect,
        "segments": len(session.segments),
        "state": session.state,
        "errors": 0,
        "warnings": None,
    }


def segment_row(session: Session, index: int) -> Row:
    """Return a row of `segments`."""
    segment = session.segments[index]
    return {
        **figures(segment),
        **counts([segment]),
        "segment": index,
        "baseline_run": segment.baseline.number if segment.baseline else None,
        "longest_streak": max((len(streak) for streak in segment.streaks()), default=0),
    }


def run_rows(session: Session) -> list[Row]:
    """Return the rows of `runs`."""
    rows = []
    for index, segment in enumerate(session.segments):
        best, baseline = segment.best, segment.baseline
        for position, run in enumerate(segment.runs):
            so_far = segment.best_of(segment.runs[: position + 1])
            delta = None
            if run.status != "crash" and baseline is not None and baseline.metric:
                base = Decimal(baseline.metric)
                delta = (Decimal(run.metric) - base) / abs(base) * 100
            rows.append(
                {
                    "line": run.line,
                    "segment": index,
                    "run": run.number,
                    "status": run.status,
                    "metric": plain(run.metric),
                    "delta_pct": ratio(delta),
                    "best_so_far": plain(so_far.metric) if so_far else None,
                    "is_best": run is best,
                    "commit": run.commit,
                    "description": run.description,
                    "at": iso(run.at),
                    "confidence": plain(run.confidence),
                }
            )
    return rows


def metric_rows(session: Session) -> list[Row]:
    """Return the rows of `metrics`: one a number of a run's `metrics`."""
    return [
        {"segment": index, "run": run.number, "name": name, "value": plain(value)}
        for index, segment in enumerate(session.segments)
        for run in segment.runs
        for name, value in run.metrics.items()
    ]


def best_rows(session: Session) -> list[Row]:
    """Return the rows of `best`."""
    return [
        {
            **identity(segment),
            "segment": index,
            "run": best.number,
            "metric": plain(best.metric),
            "improvement_pct": ratio(segment.gain()),
            "confidence": ratio(segment.certainty()),
            "commit": best.commit,
            "description": best.description,
            "at": iso(best.at),
        }
        for index, segment in enumerate(session.segments)
        if (best := segment.best) is not None
    ]


def streak_rows(session: Session) -> list[Row]:
    """Return the rows of `streaks`; `current` marks one that reaches the end of its own segment."""
    return [
        {
            "segment": index,
            "first_run": streak[0].number,
            "last_run": streak[-1].number,
            "length": len(streak),
            "current": streak[-1:] == segment.streak()[-1:],
        }
        for index, segment in enumerate(session.segments)
        for streak in segment.streaks()
    ]


def compare_rows(session: Session) -> list[Row]:
    """Return the rows of `compare`, metrics in the order they first occur; a lone session ranks first."""
    groups: dict[tuple[str, str, str], list[Segment]] = {}
    for segment in session.segments:
        groups.setdefault((segment.metric_name, segment.unit, segment.direction), []).append(segment)
    shown = session.shown()
    rows = []
    for segments in groups.values():
        top: Segment | None = None
        to_best, before = None, 0
        for segment in segments:
            best = segment.best
            if best is not None and (top is None or top.best is None or segment.better(best.metric, top.best.metric)):
                top = segment
                to_best = before + sum(run.counted for run in segment.runs[: segment.runs.index(best) + 1])
            before += len(segment.counted)
        rows.append(
            {
                **identity(segments[0]),
                "name": shown.name if shown else None,
                "rank": 1,
                "rank_improvement": 1,
                "runs": before,
                "best": plain(top.best.metric) if top and top.best else None,
                "improvement_pct": ratio(top.gain()) if top else None,
                "runs_to_best": to_best,
                "keep_rate": sum(segment.count("keep") for segment in segments) / before if before else None,
                "confidence": ratio(top.certainty()) if top else None,
            }
        )
    return rows


def verdict(
    data: bytes, dialect: str, run_json: Record | None, max_iterations: int | None, now: datetime
) -> dict[str, int | str]:
    """Return the six lines of section 5 by name; `max_iterations` is None where no option or settings file sets it."""
    with localcontext(EXACT):
        found = [record for _, record in records(data)]
        if dialect == "codex":
            assert run_json is not None
            session = read_codex(records(data), run_json)
            segment = session.segments[0]
            judged = "continue" if session.state == "active" else "concluded"
            return six(0, len(segment.counted), len(segment.streak()), session.state, 0, judged)
        last_header = max((index for index, record in enumerate(found) if record.get("type") == "config"), default=-1)
        region = found[last_header + 1 :]
        if dialect == "state-protocol":
            return verdict_of_state_protocol(data, found[last_header], max_iterations, now)
        return verdict_of_autoresearch(found, region, max_iterations or 0)


def verdict_of_autoresearch(found: list[Record], region: list[Record], limit: int) -> dict[str, int | str]:
    """Judge a log of section 2 by what its runs state."""
    states = [record["state"] for record in found if record.get("type") == "status"]
    runs = [record for record in region if record.get("type") != "status" and record.get("status") in STATUSES]
    stated = runs[-1].get("segment") or 0 if runs else 0
    statuses = [run["status"] for run in runs if (run.get("segment") or 0) == stated]
    streak = 0
    while streak < len(statuses) and statuses[-1 - streak] in FAILED:
        streak += 1
    acks = [record["backstop_ack"] for record in region if record.get("type") == "status" and "backstop_ack" in record]
    ack = max(acks, default=0)
    if states and states[-1] in CONCLUDED:
        judged = "concluded"
    elif limit and len(statuses) >= limit:
        judged = "max_iterations"
    elif streak > 8:
        judged = "wall"
    elif not limit and statuses and len(statuses) % 200 == 0 and ack < len(statuses):
        judged = "backstop"
    else:
        judged = "continue"
    return six(stated, len(statuses), streak, states[-1] if states else "none", ack, judged)


def verdict_of_state_protocol(
    data: bytes, header: Record, max_iterations: int | None, now: datetime
) -> dict[str, int | str]:
    """Judge a log of section 3; its records state no segment."""
    session = read_state_protocol(records(data))
    segment = session.segments[-1]
    runs, streak = len(segment.runs), len(segment.streak())
    limit = max_iterations if max_iterations is not None else header.get("max_runs") or 0
    started, minutes = moment(header["created_at"]), header.get("max_minutes")
    assert started is not None
    if session.stopped:
        judged = "concluded"
    elif limit and runs >= limit:
        judged = "max_iterations"
    elif minutes and (now - EPOCH) // timedelta(milliseconds=1) - started >= minutes * 60_000:
        judged = "max_minutes"
    elif streak > 8:
        judged = "wall"
    else:
        judged = "continue"
    return six(0, runs, streak, "none", 0, judged)


def six(segment: int, runs: int, streak: int, status: str, ack: int, judged: str) -> dict[str, int | str]:
    """Name the six lines."""
    return {
        "SEGMENT": segment,
        "SEGMENT_RUNS": runs,
        "STREAK": streak,
        "LAST_STATUS": status,
        "BACKSTOP_ACK": ack,
        "VERDICT": judged,
    }


def first(record: Record, *keys: str) -> Any:
    """Return the value of the first of the keys that the record has."""
    return next((record[key] for key in keys if key in record), None)


def is_number(value: object) -> bool:
    """Say whether a JSON value is a number; a boolean is none."""
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def moment(value: object) -> int | None:
    """Return a time in whole milliseconds: a number of seconds, of milliseconds from 1e11 on, or ISO-8601 text."""
    if isinstance(value, str):
        try:
            time = datetime.fromisoformat(value)
        except ValueError:
            return None
        return ((time if time.tzinfo else time.replace(tzinfo=UTC)) - EPOCH) // timedelta(milliseconds=1)
    if not isinstance(value, int | Decimal) or isinstance(value, bool):
        return None
    return int(Decimal(value if value >= 10**11 else value * 1000).to_integral_value("ROUND_FLOOR"))


def iso(milliseconds: int | None) -> str | None:
    """Return a time as the views print it."""
    if milliseconds is None:
        return None
    whole = EPOCH + timedelta(seconds=milliseconds // 1000)
    return f"{whole:%Y-%m-%dT%H:%M:%S}.{milliseconds % 1000:03d}Z"


def plain(value: Any) -> Any:
    """Return a decimal as the nearest float and anything else as it is."""
    return float(value) if isinstance(value, Decimal) else value


def plain_deep(value: Any) -> Any:
    """Return a JSON value with its decimals as floats."""
    if isinstance(value, dict):
        return {key: plain_deep(item) for key, item in value.items()}
    if isinstance(value, list):
        return [plain_deep(item) for item in value]
    return plain(value)


def ratio(value: Decimal | None) -> float | None:
    """Return a derived figure as a float; one past the doubles' range is null, as JSON has no infinity."""
    number = None if value is None else float(value)
    return None if number is None or abs(number) == float("inf") else number

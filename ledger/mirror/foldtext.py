"""The fold's state as JSON text, so that a later sync can go on where the last one stopped."""

import json
import re
from decimal import Decimal
from typing import Any

import orjson

from ledger.fold.run_numbers import RunSet
from ledger.fold.segment import Segment, Streak
from ledger.fold.state import Folding, Result, State
from ledger.log.events import Place, Run

_SEGMENT_PLAIN = (
    "ordinal", "line", "name", "metric_name", "unit", "direction", "settings", "created_ms", "touched", "counts",
    "baseline", "baseline_run", "baseline_decided", "best", "best_run", "runs_to_best", "first_ms", "last_ms",
    "metrics", "lost_run", "lost_header",
)  # fmt: skip
_STATE_PLAIN = (
    "dialect", "records", "last_line", "unread", "unread_total", "headers_lost", "last_run", "time_unit", "units_mixed",
    "marker", "stopped",
)  # fmt: skip
_REPLAY_PLAIN = ("status", "iterations", "spare", "metrics", "heads", "unreverted", "lost")
_LETTERS = {"keep": "k", "discard": "d", "crash": "c", "checks_failed": "f", "baseline": "b", "measured": "m"}
_WORDS = {letter: word for word, letter in _LETTERS.items()}
_LONG = re.compile(r"\d{19}")


def dump(state: State) -> str:
    """Write what folding further events needs.

    What closed segments amounted to stands in the mirror's rows; what the verdict counts is read from the log itself.
    """
    saved = {
        "state": {name: getattr(state, name) for name in _STATE_PLAIN},
        "runs_seen": state.runs_seen.ranges(),
        "runs_lost": state.runs_lost.ranges(),
        "segment": None if state.segment is None else _dump_segment(state.current()),
        "results": [_dump_result(result) for result in state.results.values()],
        "replay": {name: getattr(state.replay, name) for name in _REPLAY_PLAIN},
    }  # fmt: skip
    try:
        return orjson.dumps(saved, default=_number).decode()
    except TypeError:  # an integer past 64 bits
        return json.dumps(saved, default=_number, ensure_ascii=False)


def load(text: str, folding: Folding, config: Any) -> State:
    """Read a state back; `folding` is that of the log's dialect, `config` its run.json if it has one."""
    saved = json.loads(text) if _LONG.search(text) else orjson.loads(text)  # orjson makes a float of a long integer
    state = State(folding, config)
    for name in _STATE_PLAIN[1:]:
        setattr(state, name, saved["state"][name])
    state.runs_seen = RunSet(map(tuple, saved["runs_seen"]))
    state.runs_lost = RunSet(map(tuple, saved["runs_lost"]))
    state.segment = None if saved["segment"] is None else _load_segment(saved["segment"])
    state.results = {item[0]: _load_result(item) for item in saved["results"]}
    for name in _REPLAY_PLAIN:
        setattr(state.replay, name, saved["replay"][name])
    state.replay.metrics = list(map(_exact, state.replay.metrics))
    return state


def _number(value: object) -> Any:
    if isinstance(value, Decimal):
        return {"decimal": str(value)}
    raise TypeError(f"not part of a fold: {value!r}")


def _exact(value: Any) -> Any:
    return Decimal(value["decimal"]) if isinstance(value, dict) else value


def _dump_segment(segment: Segment) -> dict[str, Any]:
    return {
        **{name: getattr(segment, name) for name in _SEGMENT_PLAIN},
        "streak": [segment.streak.current, segment.streak.longest],
        "names": list(segment.names),
        "statuses": "".join(map(_LETTERS.__getitem__, segment.statuses)),
    }


def _load_segment(saved: dict[str, Any]) -> Segment:
    segment = Segment(saved["ordinal"], None)
    for name in _SEGMENT_PLAIN:
        setattr(segment, name, saved[name])
    segment.baseline, segment.best = _exact(segment.baseline), _exact(segment.best)
    segment.settings = {key: _exact(value) for key, value in segment.settings.items()}
    segment.streak = Streak(*saved["streak"])
    segment.names = dict.fromkeys(saved["names"])
    segment.statuses = list(map(_WORDS.__getitem__, saved["statuses"]))
    return segment


def _dump_result(result: Result) -> list[Any]:
    run = result.run
    return [run.run, run.place.line, run.status, run.metric, run.at_ms, result.segment, result.action]


def _load_result(item: list[Any]) -> Result:
    number, line, status, metric, at_ms, segment, action = item
    return Result(Run(Place(line, 0, 0), number, status, _exact(metric), at_ms=at_ms), segment, action)

"""A log that grows is read once: what a history holds is what reading the whole file again would give."""

import json
import os
from itertools import pairwise
from pathlib import Path
from random import Random
from typing import Any

import pytest

from ledger.base.errors import LedgerError
from ledger.dialects.writing import next_run
from ledger.reading.accepted import keys_of
from ledger.session.history import History, kept_open, read
from ledger.session.writer import writing
from tests.oracle import random_logs
from tests.support.cli import HEADER, SOUND, lines, log, run

DIALECTS = ("autoresearch", "state-protocol", "codex")


def seen(history: History) -> list[Any]:
    """Give what a history says."""
    return [
        history.content,
        history.log._replace(state=None),  # type: ignore[arg-type]  # it is no value that compares
        [history.runs(ordinal) for ordinal in sorted(history.chapters)],
        [(one.ordinal, one.line, one.runs, one.best_run, one.streak.current) for one in history.segments()],
        history.reader.records,
        history.state.last_line,
    ]


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("dialect", DIALECTS)
def test_what_others_append_is_read_on(tmp_path: Path, dialect: str, seed: int, kept: bool):
    data, config = random_logs.generate(seed, dialect, 60)
    path = tmp_path / "events.jsonl"
    if config is not None:
        path.with_name("run.json").write_text(json.dumps(config))
    dice = Random(seed)
    ends = [place + 1 for place, byte in enumerate(data) if byte == 10]
    cuts = sorted({*dice.sample(ends, 4), *dice.sample(range(len(data)), 3), len(data)})
    path.write_bytes(data[: cuts[0]])
    with kept_open(path) as history:
        history._keeps_open = kept
        assert seen(history.renew()) == seen(read(path))
        for begin, end in pairwise(cuts):
            with path.open("ab") as file:
                file.write(data[begin:end])
            assert seen(history.renew()) == seen(read(path))


def test_only_what_was_appended_is_folded(tmp_path: Path):
    path = log(tmp_path)
    history = read(path)
    reader = history.reader
    with path.open("ab") as file:
        file.write(lines(run(4, 80, metrics={"mem": 5})))
    assert history.renew().reader is reader and history.state.current().best == 80


def test_what_is_appended_through_it_is_known(tmp_path: Path):
    path = log(tmp_path)
    with kept_open(path) as history:
        for number in range(4, 7):
            with writing(history) as pen:
                reader = history.reader
                pen.append(run(number, 100 - number, metrics={"mem": 5}))
            assert history.renew().reader is reader
            assert seen(history) == seen(read(path))


def test_a_refused_record_leaves_nothing_behind(tmp_path: Path):
    path = log(tmp_path)
    with kept_open(path) as history:
        with pytest.raises(LedgerError, match="would not be sound"), writing(history) as pen:
            pen.append({"run": 4, "metric": "none", "status": "keep"})
        assert path.read_bytes() == SOUND
        assert seen(history.renew()) == seen(read(path))


def test_a_dry_append_leaves_nothing_behind(tmp_path: Path):
    path = log(tmp_path)
    history = History(path)
    with writing(history, dry=True) as pen:
        pen.append(run(4, 80))
        assert history.state.current().runs == 4
    assert seen(history.renew()) == seen(read(path))


OTHER = lines(HEADER, run(1, 100, metrics={"mem": 5}), run(2, 104.5, "discard", metrics={"mem": 6}), run(3, 70))


@pytest.mark.parametrize("kept", [False, True])
@pytest.mark.parametrize("replaced", [False, True])
def test_a_log_that_was_rewritten_is_read_anew(tmp_path: Path, replaced: bool, kept: bool):
    assert len(OTHER) == len(SOUND)
    path = log(tmp_path)
    with kept_open(path) as history:
        history._keeps_open = kept
        history.renew()
        before = path.stat()
        if replaced:
            other = log(tmp_path, OTHER, "other.jsonl")
            other.replace(path)
        else:
            path.write_bytes(OTHER)
        os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns))
        assert history.renew().state.current().best == 70


def test_who_looks_thoroughly_is_not_deceived(tmp_path: Path):
    path = log(tmp_path)
    history = read(path)
    path.write_bytes(OTHER)
    history._stamps = history._stamps_now()  # as if no clock had moved
    assert history.renew().state.current().best == 90
    assert history.renew(thoroughly=True).state.current().best == 70


@pytest.mark.parametrize("data", [SOUND[:-20], lines(HEADER), b""])
def test_a_log_that_was_cut_is_read_anew(tmp_path: Path, data: bytes):
    path = log(tmp_path)
    history = read(path)
    path.write_bytes(data)
    assert seen(history.renew()) == seen(read(path))


def test_a_log_that_was_removed_cannot_be_renewed(tmp_path: Path):
    path = log(tmp_path)
    with kept_open(path) as history:
        history.renew()
        path.unlink()
        with pytest.raises(LedgerError, match="cannot read"):
            history.renew()
        path.write_bytes(OTHER)
        assert history.renew().state.current().best == 70


def test_what_is_said_of_the_log_elsewhere_is_heard(tmp_path: Path):
    path = log(tmp_path, SOUND + b'{"run":4,"metric":NaN}\n')
    history = read(path)
    assert not history.log.ok
    (error,) = [found for found in history.log.diagnostics if found.is_error]
    accepted = {"action": "accept", "code": error.code, "line": error.line, "reason": "lost", "by": "a", "at": "b"}
    (key,) = keys_of(path, [error]).values()
    path.with_name(f"{path.name}.accepted.jsonl").write_text(json.dumps({**accepted, "sha256": key.sha256}) + "\n")
    assert history.renew().log.ok
    assert seen(history) == seen(read(path))


def test_a_log_that_may_not_be_written_can_be_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    path = log(tmp_path)
    monkeypatch.setattr(os, "access", lambda *_: False)
    with kept_open(path) as history:
        assert history.renew().state.current().runs == 3
        with writing(history) as pen:  # the superuser's append goes by the path
            pen.append(run(4, 80))
    assert read(path).state.current().best == 80


def test_records_of_a_run_are_made_for_the_log_as_it_is(tmp_path: Path):
    path = log(tmp_path)
    history = read(path)
    with path.open("ab") as file:
        file.write(lines(run(4, 80, metrics={"mem": 5})))

    with writing(history) as pen:
        assert next_run(pen.state) == 5

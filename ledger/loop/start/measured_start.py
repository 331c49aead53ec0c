"""The start of a session whose baseline is measured first: its configuration, then the log (protocols.md 4, 7)."""

from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from ledger.base.errors import LedgerError
from ledger.base.files import put, sync_folder
from ledger.base.locks import locked
from ledger.base.numbers import Number, text
from ledger.base.paths import show_path
from ledger.base.text import near, plain
from ledger.dialects import by_name
from ledger.dialects.writing import SessionPlan
from ledger.log.jsontext import decode, dump
from ledger.log.source import run_json_of
from ledger.loop.git.repository import Git
from ledger.loop.iteration import preconditions
from ledger.loop.iteration.harness import check_config
from ledger.loop.measuring.measurement import guard, verify
from ledger.loop.start.git_setup import Repository
from ledger.loop.start.session_files import Made, files, refresh, write_files
from ledger.loop.start.session_plan import slug
from ledger.reading.reader import Reader
from ledger.session.files import RUN_LOCK, Session
from ledger.session.writer import start

VERIFY_LOG, GUARD_LOG = "logs/000.verify.log", "logs/000.guard.log"


def begin_measured(plan: SessionPlan, made: Made, now_ms: int, *, git: bool) -> Made:
    """Start a session in a clean repository, its baseline measured. A dry start measures and writes nothing.

    Raises LedgerError, there being no configuration and no log then, for a measurement or a guard that fails.
    """
    session = made.session
    repository = Repository.of(session, fresh=True) if git else None
    known = _repository(session, plan.dialect, detached=git)
    draft = _draft(plan, session, known, now_ms)
    if made.dry:
        _set_up(made, repository, plan, now_ms)
        made.paths.extend(_paths(session, guarded=plan.guard is not None))
        return made
    session.log.parent.mkdir(exist_ok=True)
    with locked(session.side(RUN_LOCK), 0):
        _check_new(session)
        metric, guarded = _measure(made, draft, known)
        _set_up(made, repository, plan, now_ms)
        known.forget()
        draft["branch"] = known.branch()
        baseline = {
            "head": known.head() or "", "metric": metric, "verify_log": VERIFY_LOG,
            "guard_log": GUARD_LOG if guarded else None,
        }  # fmt: skip
        _begin(made, plan, draft, baseline, now_ms)
    return made


def _repository(session: Session, dialect: str, *, detached: bool) -> Git:
    """Give the repository. Raises LedgerError where no such session can start in it."""
    _check_new(session)
    git = Git(session.workdir, session.own())
    git.check_ready(
        nowhere=f"a {dialect} run needs a git repository: git init and commit the code first",
        detached="" if detached else "check out a branch that the kept commits can stay on, or use --git",
        author="who commits",
    )
    if changed := git.look().changed:
        raise LedgerError(
            f"the tree must be clean, these are changed: {preconditions.listed(changed)}; commit them first"
        )
    return git


def _check_new(session: Session) -> None:
    if session.log.exists():
        raise LedgerError(
            f"{near(show_path(session.log))} is a run already, and a run has one goal: once it has ended,"
            " ledger archive moves it aside for another one"
        )


def _draft(plan: SessionPlan, session: Session, git: Git, now_ms: int) -> dict[str, Any]:
    """Make run.json's object, and have the rules judge it while nothing is written yet."""
    moment = datetime.fromtimestamp(now_ms // 1000, UTC)
    run_id = f"{moment:%Y%m%dT%H%M%SZ}-{slug(plan.name)}"
    timeout = session.settings.benchmark_timeout
    dialect = by_name(plan.dialect)
    draft = dialect.loop().run_config(plan, run_id, str(git.top()), git.branch() or "?", timeout, now_ms)
    reader = Reader(dialect)
    reader.configure(draft, _pretty(draft))
    if wrong := next((found for found in reader.diagnostics if found.is_error), None):
        raise LedgerError(f"run.json would not be sound: {wrong.code} {wrong.message}")
    return draft


def _set_up(made: Made, repository: Repository | None, plan: SessionPlan, now_ms: int) -> None:
    if repository is not None:
        repository.set_up(plan.name, now_ms, made)
    write_files(files(plan, made, fresh=True), made)


def _measure(made: Made, config: Mapping[str, Any], git: Git) -> tuple[Number, bool]:
    """Measure the tree as it is; give the metric, and whether a guard was run, and passed."""
    session = made.session
    head, before = git.head(), git.look().untracked
    results = session.log.parent
    measured = verify(session, config, results / VERIFY_LOG)
    if measured.failure or measured.metric is None:
        raise _failed("measurement", measured.failure, measured.tail, results / VERIFY_LOG)
    made.notes.extend(map(plain, measured.warnings))
    checked = guard(session, config, results / GUARD_LOG)
    if checked.status == "fail":
        raise _failed("guard", checked.failure, checked.tail, results / GUARD_LOG)
    git.forget()
    new = git.look().untracked - before
    if git.head() != head or (changed := [path for path in git.look().changed if path not in new]):
        what = "HEAD" if git.head() != head else preconditions.listed(changed)
        raise LedgerError(f"the measurement changed {what}: it must leave what is committed as it is")
    if new:
        preconditions.note_made(session, new)
        made.notes.append(f"the measurement left {preconditions.listed(sorted(new))}: no experiment will commit that")
    return measured.metric, checked.status == "pass"


def _failed(what: str, failure: str, tail: str, output: Path) -> LedgerError:
    said, where = f":\n{tail}" if tail else "", near(show_path(output))
    return LedgerError(
        f"the {what} {plain(failure)}, so there is no baseline and no run; its output is in {where}{said}"
    )


def _begin(made: Made, plan: SessionPlan, config: Mapping[str, Any], baseline: Mapping[str, Any], now_ms: int) -> None:
    """Write the configuration, then the log: the baseline, and the end if that meets the target.

    A configuration without a log is of a run that never began.
    """
    session, dialect, data = made.session, by_name(plan.dialect), _pretty(config)
    place, reader = run_json_of(session.log), Reader(dialect)
    reader.configure(decode(data).value, data)
    events = dialect.loop().measured_opening(reader.state, baseline, now_ms)  # what is appended is judged by start
    put(place, data, durable=True)
    sync_folder(place.parent)
    try:
        pen = start(session.log, plan.dialect, events, run_json=data)
        check_config(session)
    except LedgerError:
        place.unlink(missing_ok=True)
        raise
    made.paths.extend(_paths(session, guarded=baseline["guard_log"] is not None))
    made.notes.append(f"the baseline is {text(baseline['metric'])}")
    refresh(made, pen)
    made.notes.append(
        "the target is met already, so the run is complete; next: ledger archive, then init with another target"
        if len(events) > 1
        else "next: ledger loop --agent CMD, or change the code and ledger run --description TEXT"
    )


def _paths(session: Session, *, guarded: bool) -> list[Path]:
    logs = [VERIFY_LOG, GUARD_LOG] if guarded else [VERIFY_LOG]
    return [*(session.log.parent / name for name in logs), run_json_of(session.log), session.log]


def _pretty(config: Mapping[str, Any]) -> bytes:
    """Write an object with a line a key, its numbers exactly."""
    lines = ",\n".join(f"  {dump(key)}: {dump(value)}" for key, value in config.items())
    return f"{{\n{lines}\n}}\n".encode()

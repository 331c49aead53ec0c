"""The start of a session: its files and first records; on a log that is there, of a new segment (protocols.md 7)."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ledger.base.errors import LedgerError
from ledger.base.paths import canonical, show_path
from ledger.base.text import near
from ledger.dialects import by_name, policy_of
from ledger.dialects.base import AUTO, FLAT
from ledger.dialects.writing import SessionPlan
from ledger.fold.state import State
from ledger.log.source import read_small
from ledger.loop.driving.under_way import check_nothing_under_way
from ledger.loop.git.repository import Git
from ledger.loop.start import templates
from ledger.loop.start.git_setup import Repository
from ledger.loop.start.measured_start import begin_measured
from ledger.loop.start.session_files import Made, files, refresh, write_files
from ledger.loop.start.session_plan import checked, is_glob
from ledger.session.files import Session, has_log, log_here, of_log
from ledger.session.settings import find
from ledger.session.writer import Pen, start, writing

_ANYWHERE = {layout.name: layout for layout in (AUTO, FLAT)}


def begin(
    plan: SessionPlan, folder: Path, now_ms: int, *, layout: str = AUTO.name, log: Path | None = None,
    git: bool = False, dry: bool = False,
) -> Made:  # fmt: skip
    """Start a session in a folder, or a new segment of the one there. A `dry` call writes nothing.

    Existing files are kept. Raises LedgerError, before anything is written, for what no session can be made of.
    """
    plan = checked(plan)
    session = _place(plan, folder, layout, log)
    policy = by_name(plan.dialect).loop()
    top = (Git(session.workdir).top() if policy.scope_from_top else None) or session.workdir
    paths = [path for path in (*plan.scope, *plan.off_limits) if not is_glob(path)]
    made = Made(session, [], [f"there is no {path} yet" for path in paths if not (top / path).exists()], dry)
    if policy.measured_start:
        return begin_measured(plan, made, now_ms, git=git)
    repository = Repository.of(session, fresh=not session.log.exists()) if git else None
    with _pen(plan, made) as pen:
        if repository is not None:
            repository.set_up(plan.name, now_ms, made)
        write_files(files(plan, made, fresh=pen is None), made)
        if repository is not None:
            repository.commit_harness(made)
        _write_header(plan, made, pen, now_ms)
    measure = session.file("measure")
    made.notes.append(
        f"next: make {near(show_path(measure))} measure something, then ledger run --baseline"
        if templates.UNFINISHED.encode() in (read_small(measure) or b"")
        else "next: ledger run --baseline measures the code as it is; ledger loop --agent CMD does so by itself"
    )
    return made


def _place(plan: SessionPlan, folder: Path, layout: str, log: Path | None) -> Session:
    """Find where the session is, or is to be. Raises LedgerError if another one is in the way."""
    due = by_name(plan.dialect).layout
    if log is not None:
        session = of_log(log)
        owned = due or session.layout
        if owned.name not in _ANYWHERE and (session.layout != due or session.log.parent.name != owned.folder):
            raise LedgerError(
                f"a {owned.name} log, and no other, is named {owned.log}: give --log such a name or leave it out"
            )
        return session
    settings = find(folder)
    place = canonical(folder / settings.working_dir) if settings.working_dir else folder
    if not place.is_dir():
        raise LedgerError(f"the settings name a working folder that is not there: {near(show_path(place))}")
    wanted = due or _ANYWHERE[layout]
    if not has_log(place) and not has_log(folder):
        return of_log(place / wanted.log, settings, folder)
    session = of_log(log_here(folder, settings), settings, folder)
    if session.layout != wanted and (session.layout, wanted) != (FLAT, AUTO):  # auto is the default, nobody's wish
        raise LedgerError(
            f"{near(show_path(session.log))} is the session here: conclude it and move it aside with ledger archive,"
            " or name another log with --log"
        )
    return session


@contextmanager
def _pen(plan: SessionPlan, made: Made) -> Iterator[Pen | None]:
    """Lock the log that a new segment goes to; None where there is no log."""
    log = made.session.log
    if not log.exists():
        yield None
        return
    with writing(log, dry=made.dry) as pen:
        if pen.state.dialect != plan.dialect:
            spoken = pen.state.dialect
            raise LedgerError(
                f"{near(show_path(log))} is a {spoken} log: give --dialect {spoken} for a new segment of it, or name"
                " another log with --log"
            )
        policy_of(pen.state).check_open(pen.state)
        check_nothing_under_way(made.session)
        yield pen


def _write_header(plan: SessionPlan, made: Made, pen: Pen | None, now_ms: int) -> None:
    """Append the records that a segment starts with."""
    log = made.session.log
    state = pen.state if pen is not None else State(by_name(plan.dialect).folding)
    lines = by_name(plan.dialect).loop().opening(plan, state, now_ms)
    if pen is None:
        made.paths.append(log)
        if not made.dry:
            refresh(made, start(log, plan.dialect, lines))
        return
    replaced = pen.state.segment is not None and not pen.state.segment.touched
    pen.append(*lines)
    ordinal = pen.state.current().ordinal
    made.notes.append(
        f"segment {ordinal} of {near(show_path(log))} had no run yet: the new header takes the old one's place"
        if replaced
        else f"segment {ordinal} begins in {near(show_path(log))}"
    )
    if not made.dry:
        refresh(made, pen)
